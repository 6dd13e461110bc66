"""The errors that stormproof raises itself. A dependency's own errors pass through unchanged."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ._core import Decision

__all__ = [
    "AttemptTimeoutError",
    "BulkheadFullError",
    "CircuitOpenError",
    "DeadlineExceededError",
    "PolicyError",
    "QueueTimeoutError",
    "RefusedError",
    "StormproofError",
]


class PolicyError(ValueError):
    """A policy that no client is built from.

    `code` is the kind of fault and `field` the path in the policy document (`retry.baseMs`), both
    the same in all hosts; `value` is what stands there, `allowed` says what may.
    """

    def __init__(self, message: str, code: str, field: str, value: object, allowed: str) -> None:
        super().__init__(message)
        self.code = code
        self.field = field
        self.value = value
        self.allowed = allowed

    def __reduce__(self) -> tuple[type[PolicyError], tuple[object, ...]]:
        return type(self), (self.args[0], self.code, self.field, self.value, self.allowed)


class StormproofError(Exception):
    """Base of what stormproof itself raises while it works."""


class ClosedError(StormproofError, RuntimeError):
    """The client was closed before the call began."""


class RefusedError(StormproofError):
    """No attempt was started: the dependency was not asked, or not asked again.

    `reason` is the reason code, `retry_after` the seconds after which it makes sense to come back
    (`None` where that is not known), `decision` all that is known. `__cause__` is the last failure
    of the dependency, if there was one.
    """

    def __init__(self, message: str, decision: Decision) -> None:
        super().__init__(message)
        self.decision = decision
        self.reason: str = decision.reason
        self.retry_after: float | None = decision.retry_after

    def __reduce__(self) -> tuple[type[RefusedError], tuple[object, ...]]:
        return type(self), (self.args[0], self.decision)


class CircuitOpenError(RefusedError):
    """The circuit refuses."""


class BulkheadFullError(RefusedError):
    """No permit and no place in the queue was free."""


class QueueTimeoutError(RefusedError):
    """No permit came free in time."""


class DeadlineExceededError(RefusedError):
    """The deadline of the call passed."""


class AttemptTimeoutError(StormproofError, TimeoutError):
    """An attempt was cut at its time limit. Raised where that was the last attempt."""


_REFUSALS: dict[str, Callable[[str, Decision], RefusedError]] = {
    "circuit_open": CircuitOpenError,
    "bulkhead_full": BulkheadFullError,
    "queue_timeout": QueueTimeoutError,
    "deadline_exceeded": DeadlineExceededError,
}


def refusal(decision: Decision, message: str) -> RefusedError:
    """The error of a call that was refused."""
    return _REFUSALS.get(decision.reason, RefusedError)(message, decision)
