"""Time limits of running attempts in asyncio: one timer for all attempts of a loop.

A timer per attempt would cost more than the rest of a quick call. Limits are kept in slots of about
2 ms, and only the earliest slot has a timer.
"""

from __future__ import annotations

import asyncio
import heapq
import sys

from ._core import monotonic_ns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: Nanoseconds, as a power of two.
SLOT_BITS = 21
#: What an alarm cancels with, where a task cannot count its cancellations (before Python 3.11).
MESSAGE = "stormproof: the attempt took too long"


class Alarm:
    """Cancels one task at an instant of `time.monotonic_ns()`, unless it is stopped before."""

    __slots__ = ("_cancelling", "_slot", "_task", "fired", "until")

    def __init__(self, task: asyncio.Task[Any], until: int, slot: set[Alarm]) -> None:
        self.fired = False
        self.until = until
        self._slot = slot
        self._task = task
        self._cancelling = _cancelling(task)
        slot.add(self)

    def ring(self) -> None:
        """The time is over."""
        self.fired = True
        self._task.cancel(MESSAGE)

    def stop(self) -> None:
        """The operation has ended."""
        self._slot.discard(self)

    def took_back(self, ended: BaseException | None) -> bool:
        """Was it this alarm alone that ended the operation? Takes its cancellation back.

        `ended` is the exception that the operation ended with.
        """
        if not self.fired:
            return False
        if sys.version_info >= (3, 11):
            return self._task.uncancel() <= self._cancelling
        return not isinstance(ended, asyncio.CancelledError) or ended.args == (MESSAGE,)


def _cancelling(task: asyncio.Task[Any]) -> int:
    if sys.version_info >= (3, 11):
        return task.cancelling()
    return 0


class Watch:
    """The alarms of one loop."""

    __slots__ = ("_handle", "_order", "_slots", "loop")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self._slots: dict[int, set[Alarm]] = {}
        self._order: list[int] = []
        self._handle: asyncio.TimerHandle | None = None

    def set(self, task: asyncio.Task[Any], until: int) -> Alarm:
        """An alarm that cancels `task` at `until`."""
        place = (until >> SLOT_BITS) + 1
        slot = self._slots.get(place)
        if slot is None:
            slot = self._slots[place] = set()
            heapq.heappush(self._order, place)
            if self._order[0] == place:
                self._arm()
        return Alarm(task, until, slot)

    def _arm(self) -> None:
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None
        if self._order:
            left = (self._order[0] << SLOT_BITS) - monotonic_ns()
            self._handle = self.loop.call_later(max(left, 0) / 1e9, self._ring)

    def _ring(self) -> None:
        now = monotonic_ns()
        while self._order and self._order[0] << SLOT_BITS <= now:
            for alarm in self._slots.pop(heapq.heappop(self._order)):
                alarm.ring()
        # Slots that nobody is left in need no timer.
        while self._order and not self._slots[self._order[0]]:
            del self._slots[heapq.heappop(self._order)]
        self._arm()


_NAME = "__stormproof_watch__"


def watch(loop: asyncio.AbstractEventLoop) -> Watch:
    """The watch of a loop. The loop itself keeps it, so that it lives as long."""
    found = getattr(loop, _NAME, None)
    if not isinstance(found, Watch):
        found = Watch(loop)
        try:
            setattr(loop, _NAME, found)
        except AttributeError:  # A loop that takes no attribute gets a watch for each attempt.
            pass
    return found
