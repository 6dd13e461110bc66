"""Functions that call through a client."""

from __future__ import annotations

import functools
import inspect

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ._calls import Calls


def decorate(caller: Calls, operation: Callable[..., Any]) -> Callable[..., Any]:
    """`operation`, called through `caller`: blocking or not, as it is itself."""
    if not callable(operation):
        raise TypeError(f"{operation!r} is not callable")
    if inspect.isgeneratorfunction(operation) or inspect.isasyncgenfunction(operation):
        raise TypeError("a generator cannot be called again halfway: use client.attempts() in it")
    call = caller.call

    @functools.wraps(operation)
    def blocking(*args: Any, **kwargs: Any) -> Any:
        return call(operation, *args, **kwargs)

    @functools.wraps(operation)
    async def asynchronous(*args: Any, **kwargs: Any) -> Any:
        return await caller.acall(operation, *args, **kwargs)

    # An object may have a coroutine function for its call.
    called = getattr(type(operation), "__call__", None)
    coroutine = inspect.iscoroutinefunction(operation) or inspect.iscoroutinefunction(called)
    return asynchronous if coroutine else blocking
