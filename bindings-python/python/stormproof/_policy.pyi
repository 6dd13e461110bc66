"""The parts of a policy. Written by scripts/policy_stub.py from the core's table of knobs."""

from collections.abc import Iterable
from typing import Any, ClassVar, Literal, TypedDict

from ._types import Safety, Seconds

class Section:
    fields: dict[str, Any]
    __hash__: ClassVar[None]  # type: ignore[assignment]
    def __eq__(self, other: object) -> bool: ...

class Retry(Section):
    """Whether, when and how often an operation is tried again.

    - `max_attempts`: How many times an operation is tried at most, the first try included.
      Default 4: three retries ride out a gap of about 0.3 s; longer gaps need a larger base.
    - `base`: The ceiling of the delay before the first retry. Default 100 ms.
    - `cap`: No own delay is longer than this. Default 20 s; `None`: 100 years.
    - `factor`: By what the ceiling grows from retry to retry. Default 2.
    - `jitter`: How delays are spread below the ceiling. Default `full`: anything from 0 to the
      ceiling.
    - `min_delay`: The lower end of the interval of `full` jitter. Default 0.
    - `wait_for_circuit`: Does a retry that the circuit refuses sleep until the circuit may be
      asked, instead of ending the call? Default no.
    - `unsafe`: When an unsafe call is repeated: `never`, when the request `certain`ly had no
      effect (default), `always`.
    """

    def __init__(
        self,
        *,
        max_attempts: int = ...,
        base: Seconds = ...,
        cap: Seconds | None = ...,
        factor: float = ...,
        jitter: Literal["none", "full", "equal", "decorrelated"] = ...,
        min_delay: Seconds = ...,
        wait_for_circuit: bool = ...,
        unsafe: Literal["never", "certain", "always"] = ...,
    ) -> None: ...

class CircuitBreaker(Section):
    """When the dependency is left alone, and how it is asked again.

    - `rolling_window`: The window in which outcomes count. Default 10 s.
    - `failure_rate`: Opens at this part of failures among the outcomes of the window, once
      there are `minimum_calls`. Default 0.8 unless another rule is named; `None`: off.
    - `minimum_calls`: How many outcomes the window must hold before a rate can open the
      circuit. Default 20.
    - `no_success_failures`: Opens at this many failures in a window without any healthy
      outcome. Default 5 unless another rule is named; `None`: off.
    - `failure_threshold`: Opens at this many failures within the window, counted exactly; a
      success does not wipe them. Off unless named.
    - `consecutive_failures`: Opens at this many failures in a row, none of them followed by a
      gap as long as the window. Off unless named.
    - `slow_call_rate`: Opens at this part of slow outcomes, once there are `minimum_calls`. Off
      unless named.
    - `slow_call_duration`: An attempt that takes this long is slow. Needed by `slow_call_rate`.
    - `open_duration`: How long an open circuit refuses. Default 5 s.
    - `open_jitter`: Adds up to half of the open time at random, so that a fleet does not probe
      in one instant. Default yes.
    - `open_growth`: By what the open time grows with each opening that no closing came between.
      Default 1.
    - `open_cap`: The longest that a growing open time gets. Default 10 × `open_duration`, at
      most 100 years.
    - `honor_retry_after`: Does the Retry-After of the answer that opens the circuit lengthen
      the open time? Default yes.
    - `probes`: How many probes a half-open circuit lets go at once. Default 1.
    - `success_threshold`: How many probes must succeed to close the circuit. Default 2.
    - `probe_lease`: How long a probe holds its slot. Default `open_duration`; with
      `open_growth` above 1 the longer of that and `attempt_timeout`.
    - `count_429`: Is being throttled a failure to the breaker? Default no: who throttles is
      alive.
    - `count_deadline`: Is an attempt that the deadline cuts off a failure to the breaker?
      Default yes.
    - `scope`: What is admitted and counted: every `attempt` (default) or whole `call`s.
    """

    def __init__(
        self,
        *,
        rolling_window: Seconds = ...,
        failure_rate: float | None = ...,
        minimum_calls: int = ...,
        no_success_failures: int | None = ...,
        failure_threshold: int | None = ...,
        consecutive_failures: int | None = ...,
        slow_call_rate: float | None = ...,
        slow_call_duration: Seconds | None = ...,
        open_duration: Seconds = ...,
        open_jitter: bool = ...,
        open_growth: float = ...,
        open_cap: Seconds | None = ...,
        honor_retry_after: bool = ...,
        probes: int = ...,
        success_threshold: int = ...,
        probe_lease: Seconds | None = ...,
        count_429: bool = ...,
        count_deadline: bool = ...,
        scope: Literal["attempt", "call"] = ...,
    ) -> None: ...

class RetryBudget(Section):
    """How many retries the dependency can be asked to bear.

    - `capacity`: The tokens that the retry budget can hold. Default `auto`: a fifth of the
      calls of the last 10 s, at least 5 and at most 1,000.
    - `initial`: The tokens that it holds at first. Default: all it can hold, and 5 for `auto`.
    - `cost`: What a retry costs. Default 1.
    - `cost_network`: What a retry after a `network` failure costs. Default: `cost`.
    - `cost_timeout`: What a retry after a `timeout` costs. Default: `cost`.
    - `cost_server`: What a retry after a `server` failure costs. Default: `cost`.
    - `cost_throttled`: What a retry after being `throttled` costs. Default: `cost`.
    - `refill_per_success`: What a success brings back. Default 0.1.
    - `refill_per_second`: What a second brings back, so that a drained bucket is not empty for
      ever. Default 0.01.
    """

    def __init__(
        self,
        *,
        capacity: float | Literal["auto"] = ...,
        initial: float | None = ...,
        cost: float = ...,
        cost_network: float | None = ...,
        cost_timeout: float | None = ...,
        cost_server: float | None = ...,
        cost_throttled: float | None = ...,
        refill_per_success: float = ...,
        refill_per_second: float = ...,
    ) -> None: ...

class Bulkhead(Section):
    """How many attempts run at once, and how many calls wait.

    - `max_concurrent`: How many attempts run at once at most. Default `None`: endless. Size it
      so that the sum over all processes stays below 0.2 × the requests that the dependency can
      answer in one `attempt_timeout`.
    - `max_queue`: How many calls wait for a permit at most. Default 100; 0 refuses at once.
    - `queue_timeout`: How long a call waits for a permit at most. Default `None`: until its
      deadline.
    - `release`: When the permit of an attempt that timed out comes back: when the operation
      really ends (`settled`, default) or when the `timeout` fires.
    - `abandoned_lease`: When the permit of an abandoned attempt that never ends comes back all
      the same. Default 60 s.
    """

    def __init__(
        self,
        *,
        max_concurrent: int | None = ...,
        max_queue: int = ...,
        queue_timeout: Seconds | None = ...,
        release: Literal["settled", "timeout"] = ...,
        abandoned_lease: Seconds = ...,
    ) -> None: ...

class RetryAfter(Section):
    """How far a dependency may say when to come back.

    - `max`: The longest Retry-After that is waited for; a longer one ends the call. Default 60
      s.
    - `combine`: How Retry-After meets the own delay: what was asked plus a `spread` (default),
      or the `max` of the two.
    """

    def __init__(
        self,
        *,
        max: Seconds = ...,
        combine: Literal["spread", "max"] = ...,
    ) -> None: ...

class Classify(Section):
    """Statuses that mean something else than usual: lists of numbers from 100 to 999.

    - `success`: statuses that count as this.
    - `transient`: statuses that count as this.
    - `throttled`: statuses that count as this.
    - `permanent`: statuses that count as this.
    """

    def __init__(
        self,
        *,
        success: Iterable[int] = ...,
        transient: Iterable[int] = ...,
        throttled: Iterable[int] = ...,
        permanent: Iterable[int] = ...,
    ) -> None: ...

class Idempotency(Section):
    """Which calls carry a key, and how it is sent.

    - `auto`: Does every call of an HTTP client whose method is not idempotent carry a key of
      its own? Default no: a server that ignores the header must not turn a POST into a
      retryable call.
    - `form`: How the key is written: `raw` (default) or `ietf`, in quotes.
    - `header`: The header that carries the key. Default `Idempotency-Key`.
    """

    def __init__(
        self,
        *,
        auto: bool = ...,
        form: Literal["raw", "ietf"] = ...,
        header: str = ...,
    ) -> None: ...

class Propagate(Section):
    """The headers that tell the dependency how much time is left and which attempt it sees.

    - `time_left_header`: The header that tells the dependency the milliseconds left. Default
      `None`: none is sent.
    - `attempt_header`: The header that tells the dependency the number of the attempt. Default
      `None`: none is sent.
    """

    def __init__(
        self,
        *,
        time_left_header: str | None = ...,
        attempt_header: str | None = ...,
    ) -> None: ...

class PolicyFields(TypedDict, total=False):
    """What `ResilientClient` takes of a policy."""

    retry: Retry | Literal[False]
    breaker: CircuitBreaker | Literal[False]
    budget: RetryBudget | Literal[False]
    bulkhead: Bulkhead | Literal[False]
    retry_after: RetryAfter
    classify: Classify
    idempotency: Idempotency
    propagate: Propagate
    attempt_timeout: Seconds | None
    """How long one attempt may take. Default 10 s; `None`: no limit."""
    overall_timeout: Seconds | None
    """How long a call may take with its queueing, attempts and waits. Default 30 s; `None`: no limit."""
    safety: Safety
    """Whether an operation that nothing else is known of may be repeated. Default `idempotent`."""
    max_calls: int | None
    """How many calls may be under way at once, abandoned attempts included. Default `None`: 1,048,576. Further calls are refused with `bulkhead_full`."""
    name: str
    """What the dependency is called in events and explanations."""
    preset: Literal["default", "article", "ephemeral", "interactive", "background", "payment"]
    """The figures where nothing else is set."""

def document(policy: PolicyFields) -> dict[str, object]: ...
