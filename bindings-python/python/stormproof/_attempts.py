"""The attempts of one call as a loop around a block of code."""

from __future__ import annotations

from weakref import ref

from ._blocking import sleep, stand_in_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self

    from ._alarm import Alarm
    from ._calls import Calls
    from ._core import Attempt, Call
    from ._dependency import Dependency


class Attempts:
    """The attempts of one call: `for attempt in client.attempts(): with attempt: …`.

    In a coroutine `async for`. A block that ends without an exception is a success. One that raises
    is tried again where that is worth it; else its exception goes on, unchanged, or a
    `RefusedError` comes instead of a further attempt. A loop that is left before its block begins,
    or between two, gives up the call.
    """

    __slots__ = ("__weakref__", "_call", "_caller", "_current", "error")

    def __init__(self, caller: Calls) -> None:
        self._caller = caller
        self._call: Call | None = None
        self._current: Block | None = None
        #: What the last block raised.
        self.error: Exception | None = None

    def __del__(self) -> None:
        current = self._current
        if self._call is not None and (current is None or current.ended or not current.entered):
            self._caller._dependency.give_up(self._call)

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Block:
        call = self._next_call()
        try:
            while call.action in ("wait", "queue"):
                (sleep if call.action == "wait" else stand_in_line)(call)
            return self._block(call, StopIteration, asynchronous=False)
        except StopIteration:
            raise
        except BaseException as gone:
            self._caller._dependency.give_up(call, gone)
            raise

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Block:
        from . import _asynchronous as host

        call = self._next_call()
        try:
            while call.action in ("wait", "queue"):
                await (host.sleep if call.action == "wait" else host.stand_in_line)(call)
            return self._block(call, StopAsyncIteration, asynchronous=True)
        except StopAsyncIteration:
            raise
        except BaseException as gone:
            self._caller._dependency.give_up(call, gone)
            raise

    def _next_call(self) -> Call:
        if self._current is not None and not self._current.ended:
            if self._call is not None:
                self._caller._dependency.give_up(self._call)
            raise RuntimeError("the attempt before was not used: write `with attempt:`")
        if self._call is None:
            self._call = self._caller._begin()
            self._caller._dependency.on_begun(self._call)
        return self._call

    def _block(self, call: Call, end: type[Exception], *, asynchronous: bool) -> Block:
        if call.action == "attempt":
            self._current = Block(self, self._caller._dependency, call, asynchronous)
            return self._current
        if self._current is not None and self._current.succeeded:
            raise end
        error, self.error = self.error, None
        try:
            outcome = self._caller._dependency.conclude(call, None, error)
            outcome.unwrap()
        finally:
            error = None
        raise end

    def __repr__(self) -> str:
        return f"<Attempts of {self._caller._dependency.host.name!r}>"


class Block:
    """One attempt: a context manager around the code that is tried."""

    # The loop holds its block, never the block its loop: who leaves the loop frees it at once.
    __slots__ = (
        "_alarm",
        "_asynchronous",
        "_attempts",
        "_call",
        "_dependency",
        "_view",
        "ended",
        "entered",
        "succeeded",
    )

    def __init__(
        self, attempts: Attempts, dependency: Dependency, call: Call, asynchronous: bool
    ) -> None:
        self._attempts = ref(attempts)
        self._dependency = dependency
        self._call = call
        self._asynchronous = asynchronous
        self._view = call.attempt()
        self._alarm: Alarm | None = None
        self.entered = False
        self.ended = False
        self.succeeded = False

    @property
    def number(self) -> int:
        """1 for the first try."""
        return self._view.number

    @property
    def timeout(self) -> float | None:
        """The seconds left for this attempt; `None`: no limit."""
        return self._view.timeout

    @property
    def idempotency_key(self) -> str | None:
        """The key of the call, the same for all its attempts."""
        return self._view.idempotency_key

    @property
    def headers(self) -> dict[str, str]:
        """The headers to send with this attempt."""
        return self._view.headers

    def __enter__(self) -> Self:
        if self.entered or self._call.action != "attempt":
            raise RuntimeError("an attempt is used once, inside its loop")
        self._dependency.on_attempt(self._call)
        if self._asynchronous:
            from ._asynchronous import set_alarm

            self._alarm = set_alarm(self._call)
        self._call.enter()
        self.entered = True
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool:
        call = self._call
        call.leave()
        self.ended = True
        try:
            return self._settle(call, error)
        except BaseException as gone:
            self._dependency.give_up(call, gone)
            raise
        finally:
            error = None

    async def __aenter__(self) -> Self:
        return self.__enter__()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool:
        return self.__exit__(kind, error, traceback)

    def _settle(self, call: Call, error: BaseException | None) -> bool:
        """Is the exception swallowed, because there is another attempt?"""
        alarm = self._alarm
        if alarm is not None:
            alarm.stop()
        if call.action != "attempt":
            # The loop went on without its block.
            if alarm is not None:
                alarm.took_back()
            return False
        try:
            failure = self._report(call, alarm, error)
            return self._go_on(call, error, failure)
        finally:
            error = failure = None

    def _report(
        self, call: Call, alarm: Alarm | None, error: BaseException | None
    ) -> Exception | None:
        if alarm is not None:
            import asyncio

            from . import _asynchronous as host

            if error is None or isinstance(error, (Exception, asyncio.CancelledError)):
                return host.settle(self._dependency, call, alarm, None, error)
        if error is not None and not isinstance(error, Exception):
            raise error
        self._dependency.on_ended(call, None, error)
        return error

    def _go_on(
        self, call: Call, error: BaseException | None, failure: Exception | None
    ) -> bool:
        attempts = self._attempts()
        try:
            if call.action == "wait":
                if attempts is None:
                    # Nobody is left to try again.
                    self._dependency.give_up(call, failure)
                    if failure is not None and failure is not error:
                        raise failure
                    return False
                attempts.error = failure
                return True
            outcome = self._dependency.conclude(call, None, failure)
            self.succeeded = outcome.ok
            if outcome.error is not None and outcome.error is not error:
                outcome.unwrap()
            return False
        finally:
            outcome = error = failure = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<Block {self._view!r}>"
