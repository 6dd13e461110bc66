"""Calls in asyncio: time limits, cancellation, the queue."""

from __future__ import annotations

import asyncio
import gc
import sys
import time
import weakref
from typing import Any

import httpx
import pytest

import stormproof
from stormproof import (
    AttemptTimeoutError,
    CircuitOpenError,
    DeadlineExceededError,
    QueueTimeoutError,
    ResilientClient,
    Retry,
)

FAST = Retry(base=0, max_attempts=3)


def client(**options: Any) -> ResilientClient:
    return ResilientClient(**{"retry": FAST, "breaker": False, **options})


async def hang() -> None:
    await asyncio.sleep(60)


class Flaky:
    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)
        self.calls = 0

    async def __call__(self) -> str:
        self.calls += 1
        await asyncio.sleep(0)
        if self.errors:
            raise self.errors.pop(0)
        return "ok"


async def test_fails_then_succeeds() -> None:
    operation = Flaky(ConnectionResetError(), TimeoutError())
    assert await client().acall(operation) == "ok"
    assert operation.calls == 3
    outcome = await client().aexecute(Flaky(ValueError("x")))
    assert (outcome.ok, outcome.kind) == (False, "permanent")


async def test_the_last_error_is_raised_itself() -> None:
    errors = [ConnectionResetError() for _ in range(3)]
    with pytest.raises(ConnectionResetError) as caught:
        await client().acall(Flaky(*errors))
    assert caught.value is errors[-1]


async def test_an_attempt_is_cut_at_its_limit() -> None:
    one = client(attempt_timeout=0.02, bulkhead={"max_concurrent": 1})
    start = time.monotonic()
    with pytest.raises(AttemptTimeoutError) as caught:
        await one.acall(hang)
    assert 0.06 <= time.monotonic() - start < 0.5
    assert isinstance(caught.value, TimeoutError)
    stats = one.stats()
    assert (stats.attempts, stats.running, stats.abandoned) == (3, 0, 0)
    assert one.decision_of(caught.value).last_kind == "timeout"  # type: ignore[union-attr]


async def test_a_fresh_limit_for_each_attempt() -> None:
    calls = 0

    async def operation() -> str:
        nonlocal calls
        calls += 1
        await asyncio.sleep(60 if calls == 1 else 0.03)
        return "ok"

    assert await client(attempt_timeout=0.05).acall(operation) == "ok"
    assert calls == 2


async def test_the_deadline_cuts() -> None:
    one = client(attempt_timeout=None, overall_timeout=0.02)
    with pytest.raises(DeadlineExceededError):
        await one.acall(hang)
    assert one.stats().running == 0
    with pytest.raises(DeadlineExceededError) as caught:
        await one.with_options(timeout=0.01).acall(hang)
    assert caught.value.decision.attempts == 1


async def test_the_dependencys_own_timeout_is_not_ours() -> None:
    async def operation() -> None:
        raise TimeoutError("theirs")

    with pytest.raises(TimeoutError) as caught:
        await client(attempt_timeout=5).acall(operation)
    assert not isinstance(caught.value, AttemptTimeoutError)


async def test_an_operation_that_swallows_its_cancellation_counts() -> None:
    async def stubborn() -> str:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            pass
        return "late"

    one = client(attempt_timeout=0.01)
    assert await one.acall(stubborn) == "late"
    assert one.stats().successes == 1
    # Nothing is left of the cancellation.
    task = asyncio.current_task()
    assert task is not None
    if sys.version_info >= (3, 11):
        assert task.cancelling() == 0
    await asyncio.sleep(0)


async def test_what_an_operation_makes_of_our_cancellation_is_our_timeout() -> None:
    async def operation() -> None:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            raise ValueError("cleanup") from None

    one = client(attempt_timeout=0.01)
    with pytest.raises(AttemptTimeoutError):
        await one.acall(operation)
    assert one.stats().failures["timeout"] == 3


@pytest.mark.parametrize("on", [Exception, (ValueError,), BaseException, lambda error: True])
@pytest.mark.parametrize("where", ["attempt", "wait", "queue"])
async def test_cancellation_passes_through(where: str, on: Any) -> None:
    """DC-12"""
    calls = 0

    async def operation() -> None:
        nonlocal calls
        calls += 1
        if where == "attempt":
            await hang()
        raise ConnectionResetError

    one = client(on=on, retry=Retry(base=15, jitter="none"), bulkhead={"max_concurrent": 1}, overall_timeout=None)
    holder = asyncio.ensure_future(one.acall(hang)) if where == "queue" else None
    await asyncio.sleep(0)
    task = asyncio.ensure_future(one.acall(operation))
    await asyncio.sleep(0.02)
    start = time.monotonic()
    task.cancel("why")
    with pytest.raises(asyncio.CancelledError) as caught:
        await task
    assert time.monotonic() - start < 0.1
    assert caught.value.args == ("why",) or sys.version_info < (3, 11)
    assert calls == (0 if where == "queue" else 1)
    if holder is not None:
        assert (one.stats().running, one.stats().queued) == (1, 0)
        holder.cancel()
        with pytest.raises(asyncio.CancelledError):
            await holder
    stats = one.stats()
    assert (stats.running, stats.queued, stats.circuit) == (0, 0, "closed")
    assert stats.failures.get("unclassified") is None


@pytest.mark.parametrize("where", ["attempt", "wait", "queue", "refused in the queue"])
async def test_a_cancelled_call_has_one_ending(where: str) -> None:
    """V1"""
    endings: list[str | None] = []

    def hear(event: stormproof.Event) -> None:
        if event.name in ("call_succeeded", "call_failed", "refused"):
            endings.append(event.kind)

    async def operation() -> None:
        if where == "attempt":
            await hang()
        raise ConnectionResetError

    one = client(retry=Retry(base=15, jitter="none"), bulkhead={"max_concurrent": 1})
    holder = asyncio.ensure_future(one.acall(hang)) if "queue" in where else None
    await asyncio.sleep(0)
    one.on("*", hear)
    task = asyncio.ensure_future(one.acall(operation))
    await asyncio.sleep(0.02)
    if where == "refused in the queue":
        # The engine has ended the call, and the task has not heard of it yet.
        one.force_open()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert endings == ["circuit_open" if where == "refused in the queue" else "cancelled"]
    if holder is not None:
        holder.cancel()
        with pytest.raises(asyncio.CancelledError):
            await holder


async def test_a_call_cancelled_while_its_answer_is_closed_has_one_ending(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """V1"""
    endings: list[str | None] = []

    async def answer() -> httpx.Response:
        return httpx.Response(503)

    async def never_closes(value: object) -> None:
        await hang()

    monkeypatch.setattr("stormproof._asynchronous.aclose", never_closes)
    one = client(breaker={"no_success_failures": 1})
    one.on("refused", lambda event: endings.append(event.kind))
    task = asyncio.ensure_future(one.acall(answer))
    await asyncio.sleep(0.02)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert endings == ["circuit_open"]


async def test_a_timeout_around_the_call_wins() -> None:
    one = client(attempt_timeout=0.05, bulkhead={"max_concurrent": 1})
    with pytest.raises(asyncio.TimeoutError) as caught:
        await asyncio.wait_for(one.acall(hang), 0.01)
    assert not isinstance(caught.value, AttemptTimeoutError)
    if sys.version_info >= (3, 11):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await one.acall(hang)
    assert one.stats().running == 0


@pytest.mark.skipif(sys.version_info < (3, 11), reason="tasks count cancellations from 3.11 on")
async def test_both_cancel_at_once() -> None:
    one = client(attempt_timeout=0.02, bulkhead={"max_concurrent": 1})

    async def operation() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.05)

    task = asyncio.ensure_future(one.acall(operation))
    await asyncio.sleep(0.04)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert one.stats().running == 0


async def test_the_queue_is_fair_and_loses_no_permit() -> None:
    one = client(bulkhead={"max_concurrent": 3, "max_queue": 1000})
    running = peak = 0
    order: list[int] = []

    async def operation(number: int) -> None:
        nonlocal running, peak
        running += 1
        peak = max(peak, running)
        order.append(number)
        try:
            await asyncio.sleep(0.0005)
        finally:
            running -= 1

    tasks = [asyncio.ensure_future(one.acall(operation, number)) for number in range(300)]
    await asyncio.sleep(0.005)
    for task in tasks[::7]:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert peak == 3
    assert order == sorted(order)
    assert (one.stats().running, one.stats().queued) == (0, 0)


async def test_the_queue_ends_by_time() -> None:
    one = client(bulkhead={"max_concurrent": 1, "queue_timeout": 0.02})
    holder = asyncio.ensure_future(one.acall(hang))
    await asyncio.sleep(0)
    with pytest.raises(QueueTimeoutError):
        await one.acall(hang)
    with pytest.raises(DeadlineExceededError):
        await one.with_options(timeout=0.01).acall(hang)
    holder.cancel()
    await asyncio.gather(holder, return_exceptions=True)
    assert one.stats().running == 0


async def test_a_circuit_that_opens_ends_the_queue() -> None:
    one = client(bulkhead={"max_concurrent": 1})
    holder = asyncio.ensure_future(one.acall(hang))
    await asyncio.sleep(0)
    waiters = [asyncio.ensure_future(one.acall(hang)) for _ in range(5)]
    await asyncio.sleep(0)
    one.force_open()
    for outcome in await asyncio.gather(*waiters, return_exceptions=True):
        assert isinstance(outcome, CircuitOpenError)
    holder.cancel()
    await asyncio.gather(holder, return_exceptions=True)


async def test_loops() -> None:
    one = client(attempt_timeout=0.02)
    seen = []
    async for attempt in one.attempts():
        with attempt:
            seen.append(attempt.number)
            if attempt.number == 1:
                raise ConnectionResetError
            if attempt.number == 2:
                await hang()
    assert seen == [1, 2, 3]
    with pytest.raises(AttemptTimeoutError):
        async for attempt in one.attempts():
            async with attempt:
                await hang()
    assert one.stats().running == 0
    task = asyncio.ensure_future(looping(client()))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def looping(one: ResilientClient) -> None:
    async for attempt in one.attempts():
        with attempt:
            await hang()


async def test_decorated() -> None:
    one = client()
    calls = 0

    @one(safety="keyed")
    async def charge(amount: int) -> tuple[int, str | None]:
        nonlocal calls
        calls += 1
        if calls == 1:
            raise ConnectionResetError
        attempt = stormproof.attempt()
        assert attempt is not None
        return amount, attempt.idempotency_key

    assert asyncio.iscoroutinefunction(charge)
    amount, key = await charge(3)
    assert amount == 3 and key


async def test_the_current_attempt_belongs_to_its_task() -> None:
    one = client(bulkhead=False)

    async def operation(key: str) -> bool:
        before = stormproof.attempt()
        await asyncio.sleep(0.001)
        after = stormproof.attempt()
        assert before is not None and after is not None
        return before.idempotency_key == after.idempotency_key == key

    calls = [one.with_options(idempotency_key=f"k{n}").acall(operation, f"k{n}") for n in range(50)]
    assert all(await asyncio.gather(*calls))
    assert stormproof.attempt() is None


async def test_responses() -> None:
    statuses = [503, 200]

    async def operation() -> httpx.Response:
        return httpx.Response(statuses.pop(0))

    assert (await client().acall(operation)).status_code == 200


async def test_events() -> None:
    events: list[stormproof.Event] = []
    one = client(on_event=events.append, attempt_timeout=0.01)
    calls = 0

    async def operation() -> None:
        nonlocal calls
        calls += 1
        if calls == 1:
            await hang()

    await one.acall(operation)
    names = [event.name for event in events]
    assert names == [
        "attempt_started",
        "attempt_failed",
        "retry_scheduled",
        "attempt_started",
        "call_succeeded",
    ]
    assert events[1].kind == "timeout"


async def test_errors_are_freed_at_once() -> None:
    class Mine(ConnectionError):
        pass

    async def operation() -> None:
        raise Mine

    gc.collect()
    gc.disable()
    try:
        error: Any = None
        try:
            await client().acall(operation)
        except Mine as caught:
            error = weakref.ref(caught)
        assert error() is None
    finally:
        gc.enable()


def test_one_client_for_many_loops() -> None:
    one = client(bulkhead={"max_concurrent": 2, "max_queue": 500})

    async def many() -> int:
        results = await asyncio.gather(*(one.acall(quick, number) for number in range(50)))
        return sum(results)

    async def quick(number: int) -> int:
        await asyncio.sleep(0.0002)
        return number

    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(4) as threads:
        sums = list(threads.map(lambda _: asyncio.run(many()), range(8)))
    assert sums == [1225] * 8
    assert (one.stats().running, one.stats().queued) == (0, 0)


def test_a_loop_that_is_closed_on_its_tasks_loses_nothing() -> None:
    one = client(bulkhead={"max_concurrent": 1})
    loop = asyncio.new_event_loop()
    tasks = [loop.create_task(one.acall(hang)) for _ in range(3)]
    loop.run_until_complete(asyncio.sleep(0.01))
    assert (one.stats().running, one.stats().queued) == (1, 2)
    loop.set_exception_handler(lambda *_: None)
    loop.close()
    del tasks, loop
    gc.collect()
    assert (one.stats().running, one.stats().queued) == (0, 0)
