"""stormproof keeps a program standing when what it depends on falls, and lets that get up again.

Make one `ResilientClient` per dependency and call through it:

    payments = ResilientClient(name="payments", retry=Retry(max_attempts=4))
    order = payments.call(fetch_order, 17)

The tour: `ResilientClient` with the parts of its policy (`Retry`, `CircuitBreaker`, `RetryBudget`,
`Bulkhead`, `RetryAfter`, `Classify`, `Idempotency`, `Propagate`; `PolicyError` says what is wrong
with one). How calls end: `Outcome`, `Decision`, the `RefusedError` family, `AttemptTimeoutError`.
Inside an operation: `attempt()`. What an exception or a response means: `classify`,
`is_retryable`, `parse_retry_after`, `decision_of`.
"""

from ._classify import classify, is_retryable
from ._client import CallOptions, ResilientClient
from ._core import Attempt, Classification, Decision, Stats, __version__
from ._decisions import decision_of
from ._errors import (
    AttemptTimeoutError,
    BulkheadFullError,
    CircuitOpenError,
    ClosedError,
    DeadlineExceededError,
    PolicyError,
    QueueTimeoutError,
    RefusedError,
    StormproofError,
)
from ._events import Event
from ._headers import parse_retry_after
from ._outcome import Outcome
from ._policy import (
    Bulkhead,
    CircuitBreaker,
    Classify,
    Idempotency,
    Propagate,
    Retry,
    RetryAfter,
    RetryBudget,
)

__all__ = [
    "Attempt",
    "AttemptTimeoutError",
    "Bulkhead",
    "BulkheadFullError",
    "CallOptions",
    "CircuitBreaker",
    "CircuitOpenError",
    "Classification",
    "Classify",
    "ClosedError",
    "DeadlineExceededError",
    "Decision",
    "Event",
    "Idempotency",
    "Outcome",
    "PolicyError",
    "Propagate",
    "QueueTimeoutError",
    "RefusedError",
    "ResilientClient",
    "Retry",
    "RetryAfter",
    "RetryBudget",
    "Stats",
    "StormproofError",
    "__version__",
    "attempt",
    "classify",
    "decision_of",
    "is_retryable",
    "parse_retry_after",
]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._core import attempt


def __getattr__(name: str) -> object:
    if name != "attempt":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    # Keeping the current attempt at hand costs every call: it begins when somebody wants it.
    from ._core import attempt, track_attempts

    track_attempts()
    globals()["attempt"] = attempt
    return attempt


def _name_publicly() -> None:
    """Tracebacks and pickles name what is public by its public place."""
    for name in __all__:
        member = globals().get(name)
        if isinstance(member, type) and member.__module__.startswith("stormproof._"):
            member.__module__ = __name__


_name_publicly()
