"""Whose cancellation it was that ended an operation: ours, or somebody else's.

From Python 3.11 on a task counts who cancels it. Before, it is asked whether it is being cancelled
already, and listened to from our own cancellation on.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from asyncio import Task
    from collections.abc import Callable
    from typing import Any

if sys.version_info >= (3, 11):

    class Ours:
        """Our cancellation of a task."""

        __slots__ = ("_before", "_task")

        def __init__(self, task: Task[Any]) -> None:
            self._task = task
            self._before = task.cancelling()

        def cancel(self) -> bool:
            """Cancels the task. Answers no, and does nothing, where that has to wait."""
            self._task.cancel()
            return True

        def take_back(self) -> bool:
            """The operation has ended: was nobody else in it?"""
            return self._task.uncancel() <= self._before

else:
    import asyncio
    from time import monotonic
    from weakref import ref

    #: Seconds in which a cancellation that came before ours is waited for.
    GRACE = 0.1
    _NAME = "__stormproof_cancellations__"

    class Ours:
        """Our cancellation of a task."""

        __slots__ = ("_before", "_heard", "_task")

        def __init__(self, task: Task[Any]) -> None:
            self._task = task
            self._heard = _listen(task)
            self._before = 0

        def cancel(self) -> bool:
            """Cancels the task. Answers no, and does nothing, where that has to wait."""
            heard = self._heard
            if monotonic() - heard.latest < GRACE or _is_being_cancelled(self._task):
                return False
            # Those of before were taken back: by time limits of other libraries.
            self._before = heard.count
            self._task.cancel()
            return True

        def take_back(self) -> bool:
            """The operation has ended: was nobody else in it?"""
            heard = self._heard
            heard.count -= 1
            alone = heard.count <= self._before
            if alone:
                heard.latest = -GRACE
            return alone

    class Heard:
        """The cancellations of a task."""

        __slots__ = ("count", "latest")

        def __init__(self) -> None:
            self.count = 0
            self.latest = -GRACE

    def _listen(task: Task[Any]) -> Heard:
        heard = getattr(task, _NAME, None)
        if isinstance(heard, Heard):
            return heard
        heard = Heard()
        listened_to = ref(task)

        def cancel(*args: Any, **kwargs: Any) -> bool:
            if not _will_come_again(args or tuple(kwargs.values())):
                heard.count += 1
                heard.latest = monotonic()
            task = listened_to()
            return task is not None and type(task).cancel(task, *args, **kwargs)

        setattr(task, _NAME, heard)
        setattr(task, "cancel", cancel)
        return heard

    def _will_come_again(message: tuple[Any, ...]) -> bool:
        """Is it a scope of anyio, which cancels whoever is inside until they have left?"""
        return bool(message) and "cancel scope" in str(message[0])

    def _is_being_cancelled(task: Task[Any]) -> bool:
        """Does a cancellation wait in the task, or in what it waits for?"""
        link: Any = task
        while link is not None:
            if getattr(link, "_must_cancel", False) or getattr(link, "_cancel_requested", False):
                return True
            if link is not task and asyncio.isfuture(link) and link.cancelled():
                return True
            link = getattr(link, "_fut_waiter", None)
        return False
