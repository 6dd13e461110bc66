"""Blocking calls: retries, results, errors, events, options, decorators."""

from __future__ import annotations

import asyncio
import gc
import pickle
import time
import weakref
from datetime import timedelta
from typing import Any

import httpx
import pytest

import stormproof
from stormproof import (
    BulkheadFullError,
    CircuitOpenError,
    DeadlineExceededError,
    Decision,
    QueueTimeoutError,
    RefusedError,
    ResilientClient,
    Retry,
    RetryBudget,
)

FAST = Retry(base=0, max_attempts=3)


class Flaky:
    """Fails so many times, then returns."""

    def __init__(self, *errors: BaseException, value: Any = "ok") -> None:
        self.errors = list(errors)
        self.value = value
        self.calls = 0

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.calls += 1
        if self.errors:
            raise self.errors.pop(0)
        return self.value


def reset() -> ConnectionResetError:
    return ConnectionResetError("reset")


def client(**options: Any) -> ResilientClient:
    return ResilientClient(**{"retry": FAST, "name": "payments", **options})


def test_fails_then_succeeds() -> None:
    operation = Flaky(reset(), TimeoutError())
    one = client()
    assert one.call(operation) == "ok"
    assert operation.calls == 3
    stats = one.stats()
    assert (stats.calls, stats.attempts, stats.retries, stats.successes) == (1, 3, 2, 1)
    assert stats.failures == {"network": 1, "timeout": 1}
    assert (stats.running, stats.queued) == (0, 0)


def test_arguments_pass_through() -> None:
    def operation(*args: Any, **kwargs: Any) -> Any:
        return args, kwargs

    one = client()
    assert one.call(operation) == ((), {})
    assert one.call(operation, 1) == ((1,), {})
    assert one.call(operation, 1, 2, key=3, operation=4) == ((1, 2), {"key": 3, "operation": 4})
    with pytest.raises(TypeError):
        one.call()  # type: ignore[call-arg]


def test_the_last_error_is_raised_itself() -> None:
    errors = [reset(), reset(), reset()]
    operation = Flaky(*errors)
    one = client()
    with pytest.raises(ConnectionResetError) as caught:
        one.call(operation)
    assert caught.value is errors[-1]
    assert caught.value.__cause__ is None
    decision = one.decision_of(caught.value)
    assert decision is not None
    assert (decision.reason, decision.attempts, decision.last_kind) == (
        "attempts_exhausted",
        3,
        "network",
    )
    assert one.explain(caught.value) == (
        "Given up: all attempts were made. Attempt 3 of 3 got a network failure from payments."
    )
    assert one.explain(decision) == one.explain(caught.value)
    assert stormproof.decision_of(ValueError()) is None


def test_unclassified_errors_are_not_retried_unless_named() -> None:
    operation = Flaky(ValueError("x"))
    with pytest.raises(ValueError):
        client().call(operation)
    assert operation.calls == 1
    assert client(on=ValueError).call(Flaky(ValueError("x"))) == "ok"
    assert client(on=(KeyError, ValueError)).call(Flaky(ValueError("x"))) == "ok"
    broken = client(on=lambda error: 1 / 0)  # type: ignore[arg-type, return-value]
    assert isinstance(broken.execute(Flaky(ValueError("x"))).error, ValueError)
    for nonsense in (3, "x", (int,), [ValueError]):
        with pytest.raises(TypeError):
            client(on=nonsense)
    assert client(on=lambda error: "x" in str(error)).call(Flaky(ValueError("x"))) == "ok"


def test_an_empty_budget_ends_with_the_dependencys_error() -> None:
    operation = Flaky(reset())
    one = client(budget=RetryBudget(capacity=0))
    heard = []
    one.on("call_failed", heard.append)
    with pytest.raises(ConnectionResetError) as caught:
        one.call(operation)
    assert operation.calls == 1
    assert one.decision_of(caught.value).reason == "budget_exhausted"  # type: ignore[union-attr]
    assert heard[0].decision.reason == "budget_exhausted"
    assert one.stats().total_wait == 0


def test_one_call_does_not_exhaust_another() -> None:
    one = client(breaker=False)
    with pytest.raises(ConnectionResetError):
        one.call(Flaky(*(reset() for _ in range(9))))
    assert one.call(Flaky(reset())) == "ok"


def test_an_open_circuit_refuses_at_once() -> None:
    one = client(retry=Retry(base=0, max_attempts=9), budget=False)
    operation = Flaky(*(reset() for _ in range(20)))
    with pytest.raises(CircuitOpenError) as caught:
        one.call(operation)
    # Five failures without a success open it (CB-19): no sixth attempt, and no sleep before it.
    assert operation.calls == 5
    assert isinstance(caught.value.__cause__, ConnectionResetError)
    error = caught.value
    assert error.reason == "circuit_open"
    assert error.retry_after is not None and 4 < error.retry_after <= 7.5
    assert error.decision.own_error
    with pytest.raises(CircuitOpenError) as caught:
        one.call(operation)
    assert operation.calls == 5
    assert caught.value.__cause__ is None
    assert one.stats().circuit == "open"
    assert one.stats().failures == {"network": 5}
    assert one.stats().refusals == {"circuit_open": 2}
    one.reset()
    assert one.call(lambda: 1) == 1


def test_controls() -> None:
    one = client()
    changes = []
    one.on("circuit_changed", lambda event: changes.append(event.circuit))
    one.force_open()
    with pytest.raises(CircuitOpenError) as caught:
        one.call(print)
    assert (caught.value.retry_after, caught.value.decision.forced) == (None, True)
    one.force_closed()
    assert one.stats().circuit == "forced_closed"
    one.metrics_only()
    one.reset()
    assert one.stats().circuit == "closed"
    assert changes[0] == ("closed", "forced_open", "manual")


def test_refusals_pickle() -> None:
    one = client()
    one.force_open()
    error = one.execute(print).error
    assert isinstance(error, CircuitOpenError)
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is CircuitOpenError
    assert (str(copy), copy.reason, copy.decision) == (str(error), error.reason, error.decision)
    for kind in (RefusedError, BulkheadFullError, QueueTimeoutError, DeadlineExceededError):
        copy = pickle.loads(pickle.dumps(kind("x", error.decision)))
        assert type(copy) is kind and copy.decision == error.decision
    late = pickle.loads(pickle.dumps(stormproof.AttemptTimeoutError("x")))
    assert isinstance(late, TimeoutError)
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(error.decision, protocol)) == error.decision
    # An error that carries a decision is still the user's own.
    with pytest.raises(ConnectionResetError) as caught:
        client().call(Flaky(reset(), reset(), reset()))
    assert stormproof.decision_of(pickle.loads(pickle.dumps(caught.value)))


def test_outcomes() -> None:
    good = client().execute(lambda: 7)
    assert (good.ok, good.value, good.error, good.kind) == (True, 7, None, "success")
    assert good.decision.attempts == 1
    bad = client().execute(Flaky(reset(), reset(), reset()))
    assert (bad.ok, bad.kind) == (False, "transient")
    with pytest.raises(ConnectionResetError):
        _ = bad.value
    assert client().execute(Flaky(ValueError())).kind == "permanent"
    one = client()
    one.force_open()
    refused = one.execute(print)
    assert refused.kind == "refused" and isinstance(refused.error, CircuitOpenError)


def test_responses_are_handed_back() -> None:
    statuses = [503, 503, 200]
    one = client()
    response = one.call(lambda: httpx.Response(statuses.pop(0)))
    assert response.status_code == 200
    response = one.call(lambda: httpx.Response(404))
    assert response.status_code == 404
    assert one.decision_of(response).reason == "permanent"  # type: ignore[union-attr]
    outcome = client().execute(lambda: httpx.Response(500))
    assert not outcome.ok and outcome.error is None
    assert outcome.value.status_code == 500
    assert outcome.decision.attempts == 3


def test_unread_responses_are_closed_before_the_next_attempt() -> None:
    closed = []

    class Response(httpx.Response):
        def close(self) -> None:
            closed.append(self.status_code)

    statuses = [503, 200]
    client().call(lambda: Response(statuses.pop(0)))
    # Once as it is made of bytes, once more by us.
    assert closed.count(503) == 2


def test_interrupts_pass_untouched_and_are_neutral() -> None:
    for interrupt in (KeyboardInterrupt(), SystemExit(3), GeneratorExit(), asyncio.CancelledError()):
        one = client(on=BaseException, bulkhead={"max_concurrent": 1})
        operation = Flaky(interrupt)
        with pytest.raises(type(interrupt)) as caught:
            one.call(operation)
        assert caught.value is interrupt
        assert operation.calls == 1
        stats = one.stats()
        assert (stats.running, stats.retries, stats.circuit) == (0, 0, "closed")
        assert one.call(lambda: "still works") == "still works"


def test_a_listener_that_raises_changes_nothing(caplog: pytest.LogCaptureFixture) -> None:
    def broken(event: object) -> None:
        raise RuntimeError("logger down")

    one = client(on_event=broken)
    assert one.call(Flaky(reset())) == "ok"
    assert "a listener of" in caplog.text


def test_events() -> None:
    events: list[stormproof.Event] = []
    one = client(on_event=events.append)
    one.call(Flaky(reset()))
    names = [event.name for event in events]
    assert names == [
        "attempt_started",
        "attempt_failed",
        "retry_scheduled",
        "attempt_started",
        "call_succeeded",
    ]
    assert events[1].kind == "network"
    assert (events[2].attempt, events[2].why) == (2, "backoff")
    events.clear()
    one.force_open()
    one.execute(print)
    assert [event.name for event in events] == ["circuit_changed", "refused"]
    heard: list[object] = []
    quiet = client()
    remove = quiet.on("call_succeeded", heard.append)
    quiet.call(int)
    remove()
    quiet.call(int)
    assert len(heard) == 1
    with pytest.raises(ValueError):
        quiet.on("nonsense", heard.append)


def test_a_call_that_is_given_up_has_one_ending() -> None:
    """V1"""
    endings: list[tuple[str, str | None]] = []

    def hear(event: stormproof.Event) -> None:
        if event.name in ("call_succeeded", "call_failed", "refused"):
            endings.append((event.name, event.kind))

    def interrupted() -> None:
        raise KeyboardInterrupt

    async def coroutine() -> None: ...

    one = client(on_event=hear)
    with pytest.raises(KeyboardInterrupt):
        one.call(interrupted)
    with pytest.raises(KeyboardInterrupt):
        one.execute(interrupted)
    with pytest.raises(TypeError, match="acall"):
        one.call(coroutine)
    for attempt in one.attempts():
        break
    del attempt
    with pytest.raises(KeyboardInterrupt):
        for attempt in one.attempts():
            with attempt:
                raise KeyboardInterrupt
    assert endings == [("refused", "cancelled")] * 5


def test_the_current_attempt() -> None:
    seen = []

    def operation() -> None:
        attempt = stormproof.attempt()
        assert attempt is not None
        seen.append((attempt.number, attempt.timeout, attempt.idempotency_key))
        if len(seen) < 3:
            raise reset()

    assert stormproof.attempt() is None
    client(attempt_timeout=5).call(operation)
    assert stormproof.attempt() is None
    assert [number for number, _, _ in seen] == [1, 2, 3]
    assert all(4.9 < left <= 5 for _, left, _ in seen)
    assert seen[0][2] is None


def test_attempts_nest() -> None:
    outer = client(attempt_timeout=50, overall_timeout=None)
    inner = client(attempt_timeout=5)

    def timeouts() -> float:
        attempt = stormproof.attempt()
        assert attempt is not None and attempt.timeout is not None
        return round(attempt.timeout)

    assert outer.call(lambda: (timeouts(), inner.call(timeouts), timeouts())) == (50, 5, 50)


def test_keys() -> None:
    keys = []

    def operation() -> None:
        attempt = stormproof.attempt()
        assert attempt is not None
        keys.append(attempt.idempotency_key)
        if len(keys) % 2:
            raise reset()

    one = client()
    keyed = one.with_options(safety="keyed")
    keyed.call(operation)
    keyed.call(operation)
    assert keys[0] == keys[1] != keys[2] == keys[3]
    one.with_options(idempotency_key="order-17").call(operation)
    assert keys[4:] == ["order-17", "order-17"]
    keyed.with_options(timeout=5).call(operation)
    assert keys[6] == keys[7] is not None
    for nonsense in ("", "two words", "ü", "x" * 256):
        with pytest.raises(ValueError):
            one.with_options(idempotency_key=nonsense)


def test_headers() -> None:
    one = client(
        idempotency=stormproof.Idempotency(auto=True, form="ietf", header="Key"),
        propagate=stormproof.Propagate(time_left_header="X-Left", attempt_header="X-Attempt"),
    )
    headers = one.call(lambda: stormproof.attempt().headers)  # type: ignore[union-attr]
    assert headers["X-Attempt"] == "1"
    assert 9_000 < int(headers["X-Left"]) <= 10_000
    assert headers["Key"].startswith('"') and len(headers["Key"]) == 34


def test_safety() -> None:
    one = client()
    unsafe = one.with_options(safety="unsafe")
    outcome = unsafe.execute(Flaky(reset()))
    assert outcome.decision.reason == "unsafe_to_retry"
    assert unsafe.call(Flaky(ConnectionRefusedError())) == "ok"
    assert client(safety="unsafe").execute(Flaky(reset())).decision.reason == "unsafe_to_retry"
    payment = client(preset="payment")
    assert payment.execute(Flaky(ConnectionRefusedError())).decision.attempts == 1
    keyed = payment.with_options(idempotency_key="a")
    assert keyed.call(Flaky(reset())) == "ok"
    with pytest.raises(ValueError):
        one.with_options(safety="maybe")  # type: ignore[arg-type]


def test_deadlines() -> None:
    one = client(retry=Retry(base=10, jitter="none"))
    start = time.monotonic()
    hurried = one.with_options(timeout=0.5).execute(Flaky(reset()))
    assert hurried.decision.reason == "deadline_too_near"
    assert isinstance(hurried.error, ConnectionResetError)
    past = one.with_options(deadline=time.monotonic()).execute(Flaky())
    assert isinstance(past.error, DeadlineExceededError)
    assert past.decision.attempts == 0
    assert time.monotonic() - start < 0.5
    left = one.with_options(deadline=time.monotonic() + 2).call(lambda: stormproof.attempt().timeout)  # type: ignore[union-attr]
    assert left is not None and 1.9 < left <= 2
    for nonsense in (-1.0, float("nan"), float("inf")):
        with pytest.raises(ValueError):
            one.with_options(timeout=nonsense)


def test_a_late_result_counts() -> None:
    one = client(attempt_timeout=0.01, overall_timeout=0.02)
    assert one.call(lambda: time.sleep(0.03)) is None
    assert one.stats().successes == 1


def test_a_coroutine_is_refused() -> None:
    async def operation() -> None: ...

    one = client(bulkhead={"max_concurrent": 1})
    for _ in range(3):
        with pytest.raises(TypeError, match="acall"):
            one.call(operation)
    assert one.stats().running == 0


def test_decorators() -> None:
    one = client()

    @one
    def double(number: int) -> int:
        """Twice."""
        return number * 2

    assert (double(4), double.__name__, double.__doc__) == (8, "double", "Twice.")

    class Shop:
        def __init__(self) -> None:
            self.calls = 0

        @one(safety="keyed")
        def charge(self, amount: int) -> str | None:
            self.calls += 1
            if self.calls == 1:
                raise reset()
            return stormproof.attempt().idempotency_key  # type: ignore[union-attr]

        @staticmethod
        @one
        def static() -> int:
            return 1

        @classmethod
        @one
        def cls(cls) -> type:
            return cls

    shop = Shop()
    assert shop.charge(3) and shop.calls == 2
    assert (Shop.static(), shop.cls()) == (1, Shop)

    def generator() -> Any:
        yield

    with pytest.raises(TypeError):
        one(generator)
    with pytest.raises(TypeError):
        one(3)  # type: ignore[call-overload]


def test_loops() -> None:
    one = client()
    seen = []
    for attempt in one.attempts():
        with attempt:
            seen.append(attempt.number)
            assert stormproof.attempt().number == attempt.number  # type: ignore[union-attr]
            if attempt.number < 3:
                raise reset()
    assert seen == [1, 2, 3]
    assert one.stats().successes == 1
    last = [reset() for _ in range(3)]
    with pytest.raises(ConnectionResetError) as caught:
        for attempt in one.attempts():
            with attempt:
                raise last[attempt.number - 1]
    assert caught.value is last[2]
    assert one.decision_of(caught.value).attempts == 3  # type: ignore[union-attr]
    one.force_open()
    with pytest.raises(CircuitOpenError):
        for attempt in one.attempts():
            raise AssertionError


def test_loops_give_back_what_they_hold() -> None:
    one = client(bulkhead={"max_concurrent": 1})
    for attempt in one.attempts():
        with attempt:
            break
    assert (one.stats().running, one.stats().successes) == (0, 1)
    for _ in one.attempts():
        assert one.stats().running == 1
        break
    del _
    gc.collect()
    assert one.stats().running == 0
    with pytest.raises(RuntimeError, match="with attempt"):
        for _ in one.attempts():
            pass
    assert one.stats().running == 0
    with pytest.raises(KeyboardInterrupt):
        for attempt in one.attempts():
            with attempt:
                raise KeyboardInterrupt
    assert one.stats().running == 0


def test_closing() -> None:
    with client() as one:
        one.call(int)
    with pytest.raises(RuntimeError, match="closed"):
        one.call(int)


def test_errors_are_freed_at_once() -> None:
    class Mine(ConnectionError):
        pass

    gc.collect()
    gc.disable()
    try:
        for run in (
            lambda: client().call(raise_new, Mine),
            lambda: client().execute(raise_new, Mine).unwrap(),
            lambda: client().with_options(safety="unsafe").call(raise_new, Mine),
        ):
            error: Any = None
            try:
                run()
            except Mine as caught:
                error = weakref.ref(caught)
            assert error() is None
    finally:
        gc.enable()


def raise_new(kind: type[Exception]) -> None:
    raise kind("x")


def test_a_client_and_what_it_called_can_be_freed() -> None:
    def make() -> weakref.ref[Any]:
        one = client()

        class Answer:
            def again(self) -> Any:
                return one.call(Answer)

        one.call(Answer)
        one.on("call_failed", lambda event: print(one))
        return weakref.ref(one)

    found = make()
    gc.collect()
    assert found() is None


def test_seeds() -> None:
    def waits(seed: int | None) -> float:
        one = client(retry=Retry(base=0.001), seed=seed, breaker=False)
        one.execute(Flaky(*(reset() for _ in range(4))))
        return one.stats().total_wait

    assert waits(7) == waits(7)
    assert len({waits(None) for _ in range(5)}) == 5


def test_subclasses() -> None:
    class Mine(ResilientClient):
        def __init__(self, name: str) -> None:
            super().__init__(name=name, retry=FAST)

    assert Mine("x").call(Flaky(reset())) == "ok"
    assert isinstance(Decision, type)

    class Broken(ResilientClient):
        def __init__(self) -> None: ...

    with pytest.raises(RuntimeError, match="__init__"):
        Broken().call(int)


def test_an_object_with_a_coroutine_function_for_its_call() -> None:
    class Operation:
        async def __call__(self, number: int) -> int:
            return number

    decorated: Any = client()(Operation())
    assert asyncio.run(decorated(3)) == 3


def test_a_coroutine_is_refused_after_one_was_a_value() -> None:
    async def inner() -> None: ...

    async def forgetful() -> Any:
        return inner()

    one = client()
    asyncio.run(one.acall(forgetful)).close()
    with pytest.raises(TypeError, match="acall"):
        one.call(inner)


@pytest.mark.parametrize("time", ["5", True, [], {}, object(), 1j])
def test_what_is_no_time(time: Any) -> None:
    for options in ({"timeout": time}, {"deadline": time}):
        with pytest.raises(TypeError, match="is no time"):
            client().with_options(**options)


@pytest.mark.parametrize("time", [-1, float("nan"), float("inf"), 10**400, timedelta.max])
def test_what_is_not_allowed_as_a_time(time: Any) -> None:
    with pytest.raises(ValueError, match="is no time"):
        client().with_options(timeout=time)


def test_on_takes_no_other_classes() -> None:
    with pytest.raises(TypeError, match="`on` takes"):
        ResilientClient(on=int)  # type: ignore[arg-type]


def test_a_closed_client_says_so() -> None:
    one = client()
    one.close()
    with pytest.raises(stormproof.ClosedError, match="is closed"):
        one.call(int)


def test_an_automatic_key_makes_nothing_repeatable() -> None:
    one = client(preset="payment", idempotency=stormproof.Idempotency(auto=True))
    operation = Flaky(reset(), reset())
    with pytest.raises(ConnectionResetError):
        one.call(operation)
    assert operation.calls == 1
