"""The ways to call an operation: the same for a client and for a client with options."""

from __future__ import annotations

from ._core import Caller
from ._typing import overload

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from typing import Any, Protocol

    from ._attempts import Attempts
    from ._client import CallOptions
    from ._dependency import Dependency
    from ._outcome import Outcome
    from ._types import P, Safety, Seconds, T

    class Decorator(Protocol):
        """Keeps the type of what it decorates."""

        def __call__(self, operation: Callable[P, T], /) -> Callable[P, T]: ...


class Calls(Caller):
    """Calls operations: again where that is worth it, not at all where it is not.

    `call` raises what the last attempt raised, unchanged, or a `RefusedError` where no attempt was
    made; `execute` returns an `Outcome` instead. Responses of httpx, requests, urllib3 and aiohttp
    are judged by their status and handed back, whatever it is.
    """

    _dependency: Dependency
    _given: dict[str, Any] = {}

    async def acall(
        self, operation: Callable[P, Awaitable[T]], /, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Awaits `operation(*args, **kwargs)`: as `call` does, for asyncio.

        An attempt is cancelled at its time limit. An operation that swallows its cancellation
        holds the call.
        """
        from ._asynchronous import acall

        # asyncio is imported by those who need it, and from now on without asking.
        setattr(Calls, "acall", acall)
        result: T = await acall(self, operation, *args, **kwargs)
        return result

    def execute(
        self, operation: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs
    ) -> Outcome[T]:
        """Does what `call` does, and returns how it ended instead of raising."""
        from ._blocking import conduct

        return conduct(self, self._begin(), operation, args, kwargs)

    async def aexecute(
        self, operation: Callable[P, Awaitable[T]], /, *args: P.args, **kwargs: P.kwargs
    ) -> Outcome[T]:
        """Does what `acall` does, and returns how it ended instead of raising."""
        from ._asynchronous import conduct

        return await conduct(self, self._begin(), operation, args, kwargs)

    def attempts(self) -> Attempts:
        """The attempts of one call, for a block of code instead of a function.

        `for attempt in client.attempts():` and in it `with attempt:`; in a coroutine `async for`.
        A block that ends without an exception is a success and ends the loop.
        """
        from ._attempts import Attempts

        return Attempts(self)

    def with_options(
        self,
        *,
        safety: Safety | None = None,
        idempotency_key: str | None = None,
        timeout: Seconds | None = None,
        deadline: float | None = None,
    ) -> CallOptions:
        """The same client for calls with options. What is left out is as it was.

        `safety` says whether the operation may be repeated; `idempotency_key` is the key of each
        call and implies `keyed` (`keyed` alone draws a key for each call). `timeout` is the time
        that a call may take, `deadline` an instant of `time.monotonic()`: the earliest of these
        and of the policy's `overall_timeout` holds. Raises `ValueError` for what is no key.
        """
        from ._client import CallOptions

        given = {
            "safety": safety,
            "idempotency_key": idempotency_key,
            "timeout": timeout,
            "deadline": deadline,
        }
        named = {name: value for name, value in given.items() if value is not None}
        return CallOptions(self._dependency, {**self._given, **named})

    @overload
    def __call__(self, operation: Callable[P, T], /) -> Callable[P, T]: ...

    @overload
    def __call__(
        self,
        *,
        safety: Safety | None = None,
        idempotency_key: str | None = None,
        timeout: Seconds | None = None,
    ) -> Decorator: ...

    def __call__(self, *operation: Any, **options: Any) -> Any:
        """Decorates a function, a method or a coroutine function.

        Options are those of `with_options`. A decorated function keeps its type.
        """
        from ._decorator import decorate

        caller = self.with_options(**options) if options else self
        return decorate(caller, *operation) if operation else caller
