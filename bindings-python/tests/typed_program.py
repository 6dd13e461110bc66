"""A program as users write it. Not run: a type checker reads it."""

from __future__ import annotations

from collections.abc import Awaitable
from datetime import timedelta

from typing_extensions import assert_type

from stormproof import (
    Bulkhead,
    Classification,
    Decision,
    Outcome,
    ResilientClient,
    Retry,
    Stats,
    attempt,
    classify,
)

client = ResilientClient(
    name="shop",
    retry=Retry(max_attempts=4, base=0.1, cap=timedelta(seconds=20), jitter="full"),
    breaker=False,
    bulkhead=Bulkhead(max_concurrent=10),
    attempt_timeout=None,
    safety="keyed",
    preset="payment",
    on=(ValueError, KeyError),
)

ResilientClient(retries=3)  # type: ignore[call-arg]
Retry(base="fast")  # type: ignore[arg-type]
Retry(baseMs=3)  # type: ignore[call-arg]
ResilientClient(retry=True)  # type: ignore[arg-type]


@client
def double(number: int, *, by: int = 2) -> int:
    return number * by


@client(safety="keyed")
def keyed(number: int) -> str:
    return str(number)


@client
async def later(number: int) -> str:
    return str(number)


class Shop:
    @client
    def charge(self, amount: int) -> bytes:
        return bytes(amount)


def use() -> None:
    assert_type(double(3, by=4), int)
    assert_type(keyed(3), str)
    assert_type(Shop().charge(3), bytes)
    double("x")  # type: ignore[arg-type]
    double(3, to=3)  # type: ignore[call-arg]
    assert_type(client.call(double, 3, by=1), int)
    client.call(double, "x")  # type: ignore[arg-type]
    outcome = client.execute(keyed, 3)
    assert_type(outcome, Outcome[str])
    assert_type(outcome.value, str)
    assert_type(outcome.decision, Decision)
    assert_type(client.stats(), Stats)
    assert_type(classify(ValueError()), Classification)
    now = attempt()
    if now is not None:
        assert_type(now.timeout, float | None)
    for one in client.attempts():
        with one:
            assert_type(one.number, int)
    with client.with_options(timeout=3) as options:  # type: ignore[attr-defined]
        del options


async def ause() -> None:
    assert_type(await later(3), str)
    assert_type(await client.acall(later, 3), str)
    assert_type(await client.aexecute(later, 3), Outcome[str])
    waiting: Awaitable[str] = later(3)
    await waiting
    async for one in client.attempts():
        async with one:
            assert_type(one.timeout, float | None)
