"""A real client against a server that really fails."""

from __future__ import annotations

import socket
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import httpx
import pytest
import pytest_asyncio
from conftest import FaultServer

import stormproof
from stormproof import (
    AttemptTimeoutError,
    CircuitBreaker,
    CircuitOpenError,
    Outcome,
    ResilientClient,
    Retry,
)

Get = Callable[..., Awaitable[Outcome[httpx.Response]]]


@pytest_asyncio.fixture(params=["blocking", "asyncio"])
async def get(request: pytest.FixtureRequest) -> AsyncIterator[Get]:
    """Gets an address through a client: with httpx.Client or with httpx.AsyncClient."""
    with httpx.Client() as blocking:
        async with httpx.AsyncClient() as asynchronous:

            def operation(url: str) -> httpx.Response:
                attempt = stormproof.attempt()
                assert attempt is not None
                return blocking.get(url, timeout=attempt.timeout, headers=attempt.headers)

            async def aoperation(url: str) -> httpx.Response:
                attempt = stormproof.attempt()
                assert attempt is not None
                return await asynchronous.get(url, timeout=None, headers=attempt.headers)

            async def outcome(client: Any, url: str) -> Outcome[httpx.Response]:
                if request.param == "blocking":
                    return client.execute(operation, url)  # type: ignore[no-any-return]
                return await client.aexecute(aoperation, url)  # type: ignore[no-any-return]

            yield outcome


def client(**options: Any) -> ResilientClient:
    return ResilientClient(**{"name": "shop", "retry": Retry(base=0.001), **options})


async def test_503_then_success(server: FaultServer, get: Get) -> None:
    url = server.script(503, 502)
    outcome = await get(client(), url)
    assert outcome.value.status_code == 200
    assert outcome.decision.attempts == 3
    assert len(server.log(url)) == 3


async def test_the_last_answer_is_handed_back(server: FaultServer, get: Get) -> None:
    outcome = await get(client(), server.script(after=500))
    assert outcome.value.status_code == 500
    assert (outcome.kind, outcome.decision.reason) == ("transient", "attempts_exhausted")
    outcome = await get(client(), server.script(after=404))
    assert (outcome.kind, outcome.decision.attempts) == ("permanent", 1)


async def test_retry_after_is_a_floor(server: FaultServer, get: Get) -> None:
    url = server.script({"status": 429, "headers": [["retry-after", "1"]]})
    one = client()
    start = time.monotonic()
    outcome = await get(one, url)
    assert outcome.value.status_code == 200
    first, second = (request["at_ms"] for request in server.log(url))
    assert 1000 <= second - first < 2500
    assert time.monotonic() - start < 3
    assert one.stats().retry_after_adopted == 1


async def test_retry_after_as_a_date_and_too_long(server: FaultServer, get: Get) -> None:
    late = {"status": 503, "retry_after_date_ms": 3_600_000, "date_skew_ms": -86_400_000}
    outcome = await get(client(), server.script(late))
    assert outcome.value.status_code == 503
    assert outcome.decision.reason == "retry_after_too_long"
    assert outcome.decision.retry_after == pytest.approx(3600, abs=1)


@pytest.mark.parametrize("fault", ["reset_before", "reset_inside", "close_before", "cut_body", "garbage"])
async def test_broken_connections(server: FaultServer, get: Get, fault: str) -> None:
    url = server.script(fault)
    one = client()
    outcome = await get(one, url)
    assert outcome.value.status_code == 200
    assert one.stats().failures == {"network": 1}
    # A write that may have acted is not repeated.
    url = server.script(fault)
    outcome = await get(one.with_options(safety="unsafe"), url)
    assert outcome.decision.reason == "unsafe_to_retry"
    assert isinstance(outcome.error, httpx.TransportError)
    assert len(server.log(url)) == 1


async def test_a_refused_connection_is_safe_to_repeat(get: Get) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/"
    outcome = await get(client(retry=Retry(base=0.001, max_attempts=3)).with_options(safety="unsafe"), url)
    assert isinstance(outcome.error, httpx.ConnectError)
    assert (outcome.decision.attempts, outcome.decision.reason) == (3, "attempts_exhausted")


async def test_a_mistake_is_not_repeated(get: Get) -> None:
    outcome = await get(client(), "ftp://127.0.0.1/")
    assert isinstance(outcome.error, httpx.UnsupportedProtocol)
    assert (outcome.decision.attempts, outcome.kind) == (1, "permanent")


async def test_a_hanging_server_costs_an_attempt(server: FaultServer, get: Get) -> None:
    url = server.script("hang", "hang")
    one = client(attempt_timeout=0.1, bulkhead=stormproof.Bulkhead(max_concurrent=1))
    outcome = await get(one, url)
    assert outcome.value.status_code == 200
    assert one.stats().failures == {"timeout": 2}
    assert one.stats().running == 0
    outcome = await get(one.with_options(timeout=0.05), server.script(after={"fault": "hang"}))
    assert outcome.error is not None
    assert isinstance(
        outcome.error, (httpx.ReadTimeout, AttemptTimeoutError, stormproof.DeadlineExceededError)
    )


async def test_one_key_for_all_attempts(server: FaultServer, get: Get) -> None:
    url = server.script("reset_before", 503)
    await get(client().with_options(safety="keyed"), url)
    keys = {dict(request["headers"])["idempotency-key"] for request in server.log(url)}
    assert len(server.log(url)) == 3
    assert len(keys) == 1


async def test_an_outage_opens_the_circuit_and_ends(server: FaultServer, get: Get) -> None:
    url = server.script(*[503] * 5)
    one = client(
        breaker=CircuitBreaker(failure_threshold=5, open_duration=0.2, open_jitter=False),
        retry=Retry(base=0, max_attempts=9),
    )
    outcome = await get(one, url)
    assert isinstance(outcome.error, CircuitOpenError)
    assert len(server.log(url)) == 5
    outcome = await get(one, url)
    assert (outcome.kind, outcome.decision.attempts) == ("refused", 0)
    assert len(server.log(url)) == 5
    time.sleep(0.21)
    assert one.stats().circuit == "half_open"
    for _ in range(2):
        assert (await get(one, url)).ok
    assert one.stats().circuit == "closed"
