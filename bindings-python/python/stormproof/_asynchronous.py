"""The host of calls in asyncio: it awaits, sleeps and waits as the engine says.

A cancellation from outside always passes through. At its time limit an attempt is cancelled; its
operation has ended, one way or the other, before the call goes on.
"""

from __future__ import annotations

import asyncio
from functools import partial
from weakref import ref

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


async def acall(
    caller: Calls, operation: Callable[..., Any], /, *args: Any, **kwargs: Any
) -> Any:
    """A whole call. One that succeeds at once takes the shortest way."""
    call = caller._enter()
    if not call.entered:
        return (await conduct(caller, call, operation, args, kwargs)).unwrap()
    alarm: Alarm | None = None
    value: Any = None
    failure: Exception | asyncio.CancelledError | None = None
    try:
        alarm = set_alarm(call)
        value = await operation(*args, **kwargs)
        if alarm is not None:
            alarm.stop()
        if (alarm is None or not alarm.fired) and call.succeed(value):
            return value
    except (Exception, asyncio.CancelledError) as ended:
        failure = ended
    except BaseException as gone:
        caller._dependency.give_up(call, gone)
        raise
    finally:
        call.leave()
        if alarm is not None:
            alarm.stop()
    try:
        first = Ended(alarm, value, failure)
        return (await conduct(caller, call, operation, args, kwargs, first)).unwrap()
    finally:
        # The error's traceback holds this frame: no cycle.
        first = failure = None  # type: ignore[assignment]


class Ended:
    """How an attempt ended."""

    __slots__ = ("alarm", "failure", "value")

    def __init__(
        self,
        alarm: Alarm | None,
        value: Any,
        failure: Exception | asyncio.CancelledError | None,
    ) -> None:
        self.alarm = alarm
        self.value = value
        self.failure = failure


async def conduct(
    caller: Calls,
    call: Call,
    operation: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    first: Ended | None = None,
) -> Outcome[Any]:
    """Does what the engine says until the call is over. `first`: how its first attempt ended."""
    dependency = caller._dependency
    value: Any = None
    error: Exception | None = None
    ended = first
    is_told = False
    try:
        dependency.on_begun(call)
        while True:
            action = call.action
            if action == "attempt":
                ended = ended or await _attempt(dependency, call, operation, args, kwargs)
                value = ended.value
                error = settle(dependency, call, ended.alarm, value, ended.failure)
                ended = first = None
            elif action == "wait":
                await aclose(value)
                await sleep(call)
            elif action == "queue":
                await stand_in_line(call)
            else:
                if call.decision is not None and call.decision.own_error:
                    await aclose(value)  # Nobody gets to see it.
                is_told = True
                return dependency.conclude(call, value, error)
    except BaseException as gone:
        dependency.give_up(call, gone, is_told=is_told)
        raise
    finally:
        value = error = ended = first = None


async def _attempt(
    dependency: Dependency,
    call: Call,
    operation: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Ended:
    dependency.on_attempt(call)
    alarm = set_alarm(call)
    call.enter()
    try:
        return Ended(alarm, await operation(*args, **kwargs), None)
    except (Exception, asyncio.CancelledError) as failure:
        return Ended(alarm, None, failure)
    finally:
        call.leave()
        if alarm is not None:
            alarm.stop()


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
    try:
        ours = alarm is not None and alarm.took_back()
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
        # The line must not keep a loop alive that was closed on its tasks.
        if not call.park(partial(_wake, ref(turn))):
            return
        left = call.time_to_look
        timer = None if left is None else loop.call_later(min(left, LONGEST_SLEEP), _resolve, turn)
        try:
            await turn
        finally:
            if timer is not None:
                timer.cancel()
        call.look()


def _wake(turn: ref[asyncio.Future[None]]) -> None:
    """Called from any thread."""
    waiting = turn()
    if waiting is not None:
        waiting.get_loop().call_soon_threadsafe(_resolve, waiting)


def _resolve(turn: asyncio.Future[None]) -> None:
    if not turn.done():
        turn.set_result(None)
