"""The host of blocking calls: it calls, sleeps and waits as the engine says.

An operation that is late cannot be cut here: it is told how much time it has
(`stormproof.attempt().timeout`), and what it returns counts, however late.
"""

from __future__ import annotations

import time

from ._responses import close, forgotten

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ._calls import Calls
    from ._core import Call
    from ._dependency import Dependency
    from ._outcome import Outcome

#: Seconds. Systems refuse to sleep for centuries; who wakes early goes back to sleep.
LONGEST_SLEEP = 3600.0


def run(
    caller: Calls, operation: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any] | None
) -> Any:
    """A whole call."""
    return go_on(caller, caller._begin(), operation, args, kwargs)


def go_on(
    caller: Calls,
    call: Call,
    operation: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any] | None,
) -> Any:
    """The rest of a call that has been started."""
    return conduct(caller, call, operation, args, kwargs or {}).unwrap()


def resume(
    caller: Calls,
    call: Call,
    operation: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any] | None,
    value: Any,
    error: BaseException | None,
) -> Any:
    """The rest of a call whose first attempt has ended."""
    try:
        try:
            if error is not None and not isinstance(error, Exception):
                raise error
            first = _checked(value, error)
        except BaseException as gone:
            caller._dependency.give_up(call, gone)
            raise
        return conduct(caller, call, operation, args, kwargs or {}, first).unwrap()
    finally:
        # The error's traceback holds this frame: no cycle.
        first = error = None  # type: ignore[assignment]


def conduct(
    caller: Calls,
    call: Call,
    operation: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    ended: tuple[Any, Exception | None] | None = None,
) -> Outcome[Any]:
    """Does what the engine says until the call is over. `ended`: how its first attempt did."""
    dependency = caller._dependency
    value, error = ended or (None, None)
    is_told = False
    try:
        dependency.on_begun(call)
        if ended is not None:
            ended = None
            dependency.on_ended(call, value, error)
        while True:
            action = call.action
            if action == "attempt":
                value, error = _attempt(dependency, call, operation, args, kwargs)
                dependency.on_ended(call, value, error)
            elif action == "wait":
                close(value)
                sleep(call)
            elif action == "queue":
                stand_in_line(call)
            else:
                if call.decision is not None and call.decision.own_error:
                    close(value)  # Nobody gets to see it.
                is_told = True
                return dependency.conclude(call, value, error)
    except BaseException as gone:
        dependency.give_up(call, gone, is_told=is_told)
        raise
    finally:
        value = error = ended = None


def _attempt(
    dependency: Dependency,
    call: Call,
    operation: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> tuple[Any, Exception | None]:
    dependency.on_attempt(call)
    call.enter()
    try:
        value = operation(*args, **kwargs)
    except Exception as error:
        return None, error
    finally:
        call.leave()
    return _checked(value, None)


def _checked(value: Any, error: Exception | None) -> tuple[Any, Exception | None]:
    if error is None and forgotten(value):
        raise TypeError("the operation is a coroutine function: await acall(...) instead")
    return value, error


def sleep(call: Call) -> None:
    """Waits before the next attempt. Ctrl-C interrupts it."""
    time.sleep(min(call.time_left or 0.0, LONGEST_SLEEP))
    call.wake()


def stand_in_line(call: Call) -> None:
    """Waits for a permit. Ctrl-C interrupts it."""
    from threading import Lock

    # Whoever wakes runs no Python for it, so that no signal can get lost in between.
    turn = Lock()
    turn.acquire()
    while call.action == "queue" and call.park(turn.release):
        left = call.time_to_look
        turn.acquire(timeout=LONGEST_SLEEP if left is None else min(left, LONGEST_SLEEP))
        call.look()
