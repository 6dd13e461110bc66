"""The host of calls in asyncio: it awaits, sleeps and waits as the engine says.

A cancellation from outside always passes through. At its time limit an attempt is cancelled; its
operation has ended, one way or the other, before the call goes on.
"""

from __future__ import annotations

import asyncio
from functools import partial

from ._alarm import Alarm, watch
from ._blocking import LONGEST_SLEEP
from ._errors import AttemptTimeoutError
from ._responses import aclose

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ._calls import Calls
    from ._core import Call
    from ._dependency import Dependency
    from ._outcome import Outcome


async def run(
    caller: Calls,
    operation: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    """A whole call."""
    return (await conduct(caller, operation, args, kwargs)).unwrap()


async def conduct(
    caller: Calls,
    operation: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Outcome[Any]:
    """Does what the engine says until the call is over."""
    dependency = caller._dependency
    call = caller._begin()
    value: Any = None
    error: Exception | None = None
    try:
        dependency.on_begun(call)
        while True:
            action = call.action
            if action == "attempt":
                value, error = await _attempt(dependency, call, operation, args, kwargs)
            elif action == "wait":
                await aclose(value)
                await sleep(call)
            elif action == "queue":
                await stand_in_line(call)
            else:
                return dependency.conclude(call, value, error)
    except BaseException:
        call.cancel()
        raise
    finally:
        # The error's traceback holds this frame: no cycle.
        value = error = None


async def _attempt(
    dependency: Dependency,
    call: Call,
    operation: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> tuple[Any, Exception | None]:
    dependency.on_attempt(call)
    alarm = set_alarm(call)
    token = call.enter()
    value: Any = None
    failure: Exception | asyncio.CancelledError | None = None
    try:
        value = await operation(*args, **kwargs)
    except (Exception, asyncio.CancelledError) as ended:
        failure = ended
    finally:
        call.leave(token)
        if alarm is not None:
            alarm.stop()
    try:
        return value, settle(dependency, call, alarm, value, failure)
    finally:
        failure = None


def set_alarm(call: Call) -> Alarm | None:
    """The alarm of an attempt; `None` where it has no time limit."""
    until = call.until_ns
    if until is None:
        return None
    task = asyncio.current_task()
    if task is None:
        return None
    return watch(asyncio.get_running_loop()).set(task, until)


def settle(
    dependency: Dependency,
    call: Call,
    alarm: Alarm | None,
    value: Any,
    failure: Exception | asyncio.CancelledError | None,
) -> Exception | None:
    """Tells the engine how an attempt ended, and answers its error.

    What an operation makes of our own cancellation says nothing about the dependency: the attempt
    timed out. A value counts, however late. Somebody else's cancellation is raised again.
    """
    ours = alarm is not None and alarm.took_back(failure)
    try:
        if failure is not None and ours:
            late = AttemptTimeoutError("the attempt took too long")
            late.__cause__ = failure
            dependency.on_timed_out(call, late)
            return late
        if isinstance(failure, asyncio.CancelledError):
            raise failure
        dependency.on_ended(call, value, failure)
        return failure
    finally:
        failure = None


async def sleep(call: Call) -> None:
    """Waits before the next attempt."""
    await asyncio.sleep(min(call.time_left or 0.0, LONGEST_SLEEP))
    call.wake()


async def stand_in_line(call: Call) -> None:
    """Waits for a permit."""
    loop = asyncio.get_running_loop()
    while call.action == "queue":
        turn: asyncio.Future[None] = loop.create_future()
        if not call.park(partial(loop.call_soon_threadsafe, _resolve, turn)):
            return
        left = call.time_to_look
        timer = None if left is None else loop.call_later(min(left, LONGEST_SLEEP), _resolve, turn)
        try:
            await turn
        finally:
            if timer is not None:
                timer.cancel()
        call.look()


def _resolve(turn: asyncio.Future[None]) -> None:
    if not turn.done():
        turn.set_result(None)
