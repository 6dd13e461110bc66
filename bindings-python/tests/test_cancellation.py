"""Whose cancellation it was: our time limit's, or somebody else's."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import pytest

from stormproof import AttemptTimeoutError, ResilientClient, Retry
from stormproof._alarm import ROOM, watch

LIMIT = 0.01


def client(**options: Any) -> ResilientClient:
    return ResilientClient(
        **{
            "retry": Retry(base=0, max_attempts=2),
            "breaker": False,
            "budget": False,
            "attempt_timeout": LIMIT,
            **options,
        }
    )


async def hang() -> None:
    await asyncio.sleep(60)


async def gather() -> None:
    await asyncio.gather(hang(), hang())


async def task() -> None:
    await asyncio.ensure_future(hang())


async def task_in_task() -> None:
    await asyncio.ensure_future(task())


async def wait_for() -> None:
    await asyncio.wait_for(hang(), 30)


async def shield() -> None:
    await asyncio.shield(asyncio.sleep(0.05))


async def raised_anew() -> None:
    try:
        await hang()
    except asyncio.CancelledError:
        raise asyncio.CancelledError from None


async def cleans_up() -> None:
    try:
        await hang()
    finally:
        await asyncio.sleep(0.001)


async def get() -> None:
    server = await asyncio.start_server(lambda reader, writer: hang(), "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with httpx.AsyncClient(timeout=30) as http:
        await http.get(f"http://127.0.0.1:{port}/")


OPERATIONS = [hang, gather, task, task_in_task, wait_for, shield, raised_anew, cleans_up, get]


@pytest.mark.parametrize("operation", OPERATIONS)
async def test_our_limit_is_a_timeout_whatever_is_awaited(
    operation: Callable[[], Awaitable[None]],
) -> None:
    with pytest.raises(AttemptTimeoutError):
        await client().acall(operation)
    # Nothing of it is left in the task.
    await asyncio.sleep(0)


async def test_a_cancellation_at_any_instant_is_heard() -> None:
    words = random.Random(7)
    one = client(bulkhead={"max_concurrent": 3, "max_queue": 1000}, attempt_timeout=0.004)
    operations = [hang, gather, task, task_in_task, wait_for, cleans_up]
    cancelled: set[int] = set()

    def cancel(number: int) -> None:
        if tasks[number].cancel():
            cancelled.add(number)

    async def nested(number: int) -> None:
        operation = operations[number % len(operations)]
        await (one.acall(operation) if number % 2 else client().acall(one.acall, operation))

    loop = asyncio.get_running_loop()
    tasks = [asyncio.ensure_future(nested(number)) for number in range(200)]
    for number in range(0, 200, 2):
        loop.call_later(words.random() * 0.3, cancel, number)
    ended = await asyncio.gather(*tasks, return_exceptions=True)
    for number, error in enumerate(ended):
        expected = asyncio.CancelledError if number in cancelled else AttemptTimeoutError
        assert isinstance(error, expected), (number, error)
    assert (one.stats().running, one.stats().queued) == (0, 0)


async def test_a_task_that_cannot_be_cancelled_does_not_silence_the_others() -> None:
    class Stubborn(asyncio.Future[None]):
        def cancel(self) -> bool:  # type: ignore[override]
            """As before Python 3.9: without a message."""
            raise RuntimeError("never")

    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda loop, context: None)
    stubborn = Stubborn(loop=loop)

    async def operation() -> None:
        await stubborn

    held = asyncio.ensure_future(client().acall(operation))
    for _ in range(2):
        with pytest.raises(AttemptTimeoutError):
            await asyncio.wait_for(client().acall(hang), 5)
    stubborn.set_result(None)
    await held


async def test_long_limits_do_not_pile_up() -> None:
    loop = asyncio.get_running_loop()
    alarms, me = watch(loop), asyncio.current_task()
    assert me is not None
    kept = alarms.set(me, 10**18)
    for place in range(5 * ROOM):
        alarms.set(me, 2 * 10**18 + (place << 21)).stop()
    assert len(alarms._slots) <= ROOM + 1
    assert kept in alarms._slots[(10**18 >> 21) + 1]
    kept.stop()
