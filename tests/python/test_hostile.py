"""A server that answers as it likes, and what it can and cannot do to a client.

SECURITY.md names each test.
"""

from __future__ import annotations

import asyncio
import functools
import json
import sys
import time
from collections.abc import Callable
from typing import Any

import httpx
import pytest
import requests
from conftest import FaultServer

import stormproof
from stormproof import (
    AttemptTimeoutError,
    Bulkhead,
    CircuitBreaker,
    CircuitOpenError,
    Outcome,
    PolicyError,
    ResilientClient,
    Retry,
    parse_retry_after,
)

EMPTY = "connection: close\r\ncontent-length: 0\r\n\r\n"
MANY = 10_000_000


def raw(*parts: str | dict[str, Any]) -> dict[str, Any]:
    return {"fault": "raw", "parts": [{"text": p} if isinstance(p, str) else p for p in parts]}


def drip(text: str, times: int = MANY, every_ms: int = 20) -> dict[str, Any]:
    return {"text": text, "times": times, "every_ms": every_ms}


def client(**options: Any) -> ResilientClient:
    alone = {"breaker": False, "budget": False, "retry": Retry(base=0.001, max_attempts=2)}
    return ResilientClient(**{"name": "shop", **alone, **options})


def time_left() -> float | None:
    attempt = stormproof.attempt()
    assert attempt is not None
    return attempt.timeout


def by_httpx(one: ResilientClient, url: str) -> Outcome[Any]:
    with httpx.Client(verify=False) as web:
        return one.execute(lambda: web.get(url, timeout=time_left()))


def by_requests(one: ResilientClient, url: str) -> Outcome[Any]:
    return one.execute(lambda: requests.get(url, timeout=time_left()))


def by_asyncio(one: ResilientClient, url: str) -> Outcome[Any]:
    async def call() -> Outcome[httpx.Response]:
        async with httpx.AsyncClient(verify=False) as web:
            return await one.aexecute(functools.partial(web.get, url, timeout=None))

    return asyncio.run(call())


Get = Callable[[ResilientClient, str], Outcome[Any]]
libraries = pytest.mark.parametrize("get", [by_httpx, by_requests, by_asyncio])


def failures_until_well(server: FaultServer, get: Get, step: Any, **options: Any) -> Any:
    """The kinds of the attempts that failed before the server answered 200 to one."""
    one = client(**options)
    outcome = get(one, server.script(step))
    assert outcome.value.status_code == 200
    assert (one.stats().running, one.stats().abandoned) == (0, 0)
    return one.stats().failures


def assert_open(server: FaultServer, at_most: int) -> None:
    """Waits until no more connections than so many are open."""
    for _ in range(100):
        if server.open_connections() <= at_most:
            return
        time.sleep(0.02)
    raise AssertionError(f"{server.open_connections()} connections are open")


@libraries
@pytest.mark.parametrize(
    "header",
    [
        ("retry-after", "9" * 200),
        ("retry-after", "Fri, 31 Dec 9999 23:59:59 GMT"),
        ("retry-after-ms", "99999999999999999999.9"),
        ("x-ms-retry-after-ms", "60001"),
    ],
)
def test_nobody_waits_for_ever_because_retry_after_says_so(
    server: FaultServer, get: Get, header: tuple[str, str]
) -> None:
    one = client()
    outcome = get(one, server.script({"status": 503, "headers": [header]}))
    assert (outcome.decision.reason, outcome.decision.attempts) == ("retry_after_too_long", 1)
    assert one.stats().total_wait == 0


@libraries
def test_nobody_comes_back_early_because_retry_after_says_so(server: FaultServer, get: Get) -> None:
    one = client(retry=Retry(base=0.03, jitter="none", factor=1, max_attempts=5))
    steps = [
        {"status": 503, "headers": [["retry-after", "0"]]},
        {"status": 503, "headers": [["retry-after", "Thu, 01 Jan 1970 00:00:00 GMT"]]},
        {"status": 503, "headers": [["retry-after-ms", "0.0001"]]},
        {"status": 503, "retry_after_date_ms": 0, "date_skew_ms": 315_360_000_000},
    ]
    assert get(one, server.script(*steps)).value.status_code == 200
    assert one.stats().total_wait == pytest.approx(4 * 0.03)
    assert one.stats().retry_after_adopted == 0


NEVER_ENDING_HEADS = {
    "hang": "hang",
    "lines": raw("HTTP/1.1 200 OK\r\n", drip("x-a: b\r\n")),
    "one line": raw("HTTP/1.1 200 OK\r\nx-a: ", drip("b")),
    "interim answers": raw(drip("HTTP/1.1 103 Early Hints\r\n\r\n")),
    "body": raw("HTTP/1.1 503 x\r\ncontent-length: 60000\r\n\r\n", drip("a", 60_000)),
    "chunks": raw("HTTP/1.1 503 x\r\ntransfer-encoding: chunked\r\n\r\n", drip("1\r\na\r\n")),
}


@pytest.mark.parametrize("step", NEVER_ENDING_HEADS.values(), ids=NEVER_ENDING_HEADS.keys())
def test_in_asyncio_an_answer_that_never_ends_costs_one_attempt(
    server: FaultServer, step: Any
) -> None:
    assert failures_until_well(server, by_asyncio, step, attempt_timeout=0.5) == {"timeout": 1}
    assert_open(server, 0)


@pytest.mark.parametrize("get", [by_httpx, by_requests])
def test_blocking_libraries_wait_as_long_as_something_drips(server: FaultServer, get: Get) -> None:
    # Their timeouts are those of a single read. SECURITY.md says what to do about it.
    one = client(attempt_timeout=0.3)
    slow = raw("HTTP/1.1 200 OK\r\n", drip("x-a: b\r\n", times=10, every_ms=50), EMPTY)
    start = time.monotonic()
    assert get(one, server.script(slow)).decision.attempts == 1
    assert time.monotonic() - start >= 0.5
    assert failures_until_well(server, get, "hang", attempt_timeout=0.3) == {"timeout": 1}


@libraries
def test_a_head_that_is_too_long_costs_one_attempt(server: FaultServer, get: Get) -> None:
    heads = [
        raw("HTTP/1.1 200 OK\r\n", {"text": "x-a: b\r\n", "times": MANY}),
        raw("HTTP/1.1 503 x\r\nretry-after: ", {"text": "9", "times": MANY}, "\r\n\r\n"),
    ]
    for head in heads:
        assert failures_until_well(server, get, head) == {"network": 1}


@libraries
def test_retry_after_in_many_lines_is_none(server: FaultServer, get: Get) -> None:
    one = client()
    lines = {"text": "retry-after: 1\r\n", "times": 90}
    outcome = get(one, server.script(raw("HTTP/1.1 503 x\r\n", lines, EMPTY)))
    assert outcome.value.status_code == 200
    assert (one.stats().failures, one.stats().retry_after_adopted) == ({"server": 1}, 0)


@libraries
@pytest.mark.parametrize("status", ["000 x", "-1 x", "99 x", "1000 x", "2e2 x", "x"])
def test_a_status_that_is_none_is_a_broken_answer(
    server: FaultServer, get: Get, status: str
) -> None:
    step = raw(f"HTTP/1.1 {status}\r\n{EMPTY}")
    assert failures_until_well(server, get, step) == {"network": 1}


@libraries
@pytest.mark.parametrize("status", [600, 999])
def test_a_status_of_no_known_kind_is_permanent(
    server: FaultServer, get: Get, status: int
) -> None:
    outcome = get(client(), server.script(raw(f"HTTP/1.1 {status} x\r\n{EMPTY}")))
    assert outcome.value.status_code == status
    assert (outcome.decision.attempts, outcome.decision.last_kind) == (1, "client")


@pytest.mark.parametrize("library", ["httpx", "httpx asynchronous", "requests"])
@pytest.mark.parametrize("ending", ["circuit_open", "success"])
def test_unread_answers_give_their_connections_back(
    server: FaultServer, library: str, ending: str
) -> None:
    """A pool that is full of them would let no probe through, and the circuit never close."""
    endless = raw("HTTP/1.1 503 x\r\ncontent-length: 60000\r\n\r\n", drip("a", 60_000))
    options: dict[str, Any] = {"retry": Retry(base=0.001, max_attempts=3)}
    if ending == "circuit_open":
        options["breaker"] = CircuitBreaker(failure_threshold=1)
    one = client(**options)
    before = server.open_connections()
    few = httpx.Limits(max_connections=2)

    def urls() -> list[str]:
        return [server.script(endless, endless) for _ in range(4)]

    def check(outcome: Outcome[Any]) -> None:
        assert outcome.decision.reason == ending
        if ending == "circuit_open":
            assert isinstance(outcome.error, CircuitOpenError)
        one.reset()

    def blocking(send: Callable[[str], Any], closing: Callable[[], None]) -> None:
        for url in urls():
            outcome = one.execute(send, url)
            check(outcome)
            if outcome.error is None:
                outcome.value.close()
        closing()

    async def asynchronous() -> None:
        async with httpx.AsyncClient(limits=few, timeout=1) as web:

            async def send(url: str) -> httpx.Response:
                return await web.send(web.build_request("GET", url), stream=True)

            for url in urls():
                outcome = await one.aexecute(send, url)
                check(outcome)
                if outcome.error is None:
                    await outcome.value.aclose()

    if library == "httpx":
        web = httpx.Client(limits=few, timeout=1)
        blocking(lambda url: web.send(web.build_request("GET", url), stream=True), web.close)
    elif library == "requests":
        session = requests.Session()
        blocking(lambda url: session.get(url, stream=True, timeout=1), session.close)
    else:
        asyncio.run(asynchronous())
    assert one.stats().failures == {"server": 4 if ending == "circuit_open" else 8}
    assert_open(server, before)


@libraries
def test_retry_after_keeps_the_circuit_open_no_longer_than_allowed(
    server: FaultServer, get: Get
) -> None:
    one = client(breaker=CircuitBreaker(failure_threshold=1))
    get(one, server.script({"status": 503, "headers": [["retry-after", "9" * 100]]}))
    stats = one.stats()
    assert stats.circuit == "open"
    # The longest wait allowed, and half of the open time as its jitter.
    assert stats.open_for is not None and stats.open_for <= 62.5


def test_a_redirect_is_an_answer_to_httpx_and_followed_by_requests(server: FaultServer) -> None:
    elsewhere = server.script().replace("127.0.0.1", "localhost")
    away = {"status": 307, "headers": [["location", elsewhere]]}
    headers = {"authorization": "Bearer secret", "idempotency-key": "order-17"}
    one = client()
    url = server.script(away, after=away)

    def send(library: Any) -> Any:
        return one.call(functools.partial(library.post, url, headers=headers, timeout=5))

    assert send(httpx).status_code == 307
    assert server.log(elsewhere) == []
    assert send(requests).status_code == 200
    (seen,) = server.log(elsewhere)
    sent = dict(seen["headers"])
    # The key is requests' to keep or to drop, and it keeps it.
    assert ("authorization" in sent, sent["idempotency-key"]) == (False, "order-17")


def test_a_circle_of_redirects_is_one_attempt(server: FaultServer) -> None:
    circle = server.script(after={"status": 302, "headers": [["location", "?again"]]})
    outcome = by_requests(client(), circle)
    assert isinstance(outcome.error, requests.TooManyRedirects)
    assert (outcome.decision.reason, outcome.decision.attempts) == ("permanent", 1)
    assert len(server.log(circle)) == 31


@pytest.mark.parametrize("hostile", ["__str__", "__repr__", "args", "__cause__", "__class__"])
def test_an_error_that_resists_being_read_is_raised_itself(hostile: str) -> None:
    def refuse(*_: object) -> Any:
        raise RuntimeError("not to be read")

    member = refuse if hostile.endswith(("str__", "repr__")) else property(refuse)
    error: Exception = type("Hostile", (Exception,), {hostile: member})()
    one = client()

    def operation() -> None:
        raise error

    with pytest.raises(BaseException) as caught:
        one.call(operation)
    assert caught.value is error
    assert one.stats().failures == {"unclassified": 1}
    assert one.stats().running == 0


def test_chains_of_causes_may_be_deep() -> None:
    error: Exception = ConnectionError("far below")
    for _ in range(100_000):
        above = RuntimeError("above")
        above.__cause__ = error
        error = above
    assert stormproof.classify(error).kind == "unclassified"
    # Or freeing the chain would recurse.
    while (below := error.__cause__) is not None:
        error.__cause__ = None
        error = below  # type: ignore[assignment]


def test_headers_that_resist_being_read_are_none() -> None:
    class Resisting:
        def __getattr__(self, name: str) -> Any:
            raise RuntimeError(name)

    answer = httpx.Response(503)
    object.__setattr__(answer, "headers", Resisting())
    one = client()
    assert one.call(lambda: answer) is answer
    assert one.stats().failures == {"server": 2}


def test_a_value_of_ten_million_bytes_is_not_read() -> None:
    for value in ("9" * MANY, b"9" * MANY, "1, " * 1000, "\u0661" * 300, "\ud800"):
        assert parse_retry_after(value) is None
    assert parse_retry_after("120", date="9" * MANY, now=0) == 120
    assert parse_retry_after("Fri, 31 Dec 9999 23:59:59 GMT", now=-1e300) == pytest.approx(
        253402300799
    )


def test_attempts_that_never_end_are_bounded() -> None:
    one = client(retry=False, max_calls=3, bulkhead=Bulkhead(max_concurrent=2, max_queue=1))

    async def course() -> list[Any]:
        async def hang() -> None:
            await asyncio.sleep(3600)

        with_limit = one.with_options(timeout=0.2)
        return await asyncio.gather(*(with_limit.aexecute(hang) for _ in range(50)))

    outcomes = asyncio.run(course())
    reasons = [outcome.decision.reason for outcome in outcomes]
    assert reasons.count("bulkhead_full") == 47
    assert reasons.count("deadline_exceeded") == 3
    assert (one.stats().running, one.stats().queued) == (0, 0)


def test_a_cancellation_that_is_swallowed_holds_its_own_call_only() -> None:
    one = client(retry=False, attempt_timeout=0.05)

    async def stubborn() -> str:
        for _ in range(3):
            try:
                await asyncio.sleep(0.1)
            except asyncio.CancelledError:
                pass
        return "late"

    async def hang() -> None:
        await asyncio.sleep(3600)

    async def course() -> tuple[Outcome[str], Outcome[None]]:
        return await asyncio.gather(one.aexecute(stubborn), one.aexecute(hang))

    held, cut = asyncio.run(course())
    assert held.value == "late"
    assert isinstance(cut.error, AttemptTimeoutError)


DOCUMENTS = [
    '{"__proto__": {"polluted": 1}}',
    '{"__class__": 1, "__init__": 2}',
    '{"retry": {"__dict__": {"maxAttempts": 9}}}',
    '{"a":' * 200_000 + "1" + "}" * 200_000,
    '{"retry":' + "[" * 200_000 + "]" * 200_000 + "}",
    '{"' + "x" * 1_000_000 + '": 1}',
    '{"name": "' + "x" * 1_000_000 + '"}',
    '{"retry": {"maxAttempts": 1e400}}',
    '{"retry": {"maxAttempts": ' + "9" * 100_000 + "}}",
    '{"name": "\\ud800"}',
]


@pytest.mark.parametrize("text", DOCUMENTS, ids=[text[:40] for text in DOCUMENTS])
def test_a_policy_document_is_refused_and_does_nothing_else(text: str) -> None:
    with pytest.raises(PolicyError) as caught:
        ResilientClient.from_json(text)
    assert not any(character < " " for character in str(caught.value))


def test_a_policy_document_forges_no_line_of_a_log() -> None:
    for text in ("shop\nINFO all is well", "\x1b[2J", "a\x85b", "a\u2028b"):
        for document in ({"name": text}, {text: 1}, {"retry": {text: 1}}):
            with pytest.raises(PolicyError) as caught:
                ResilientClient.from_json(json.dumps(document))
            assert text not in str(caught.value)
            assert str(caught.value).isprintable()


def test_deep_values_of_a_policy_are_refused() -> None:
    deep: Any = 1
    for _ in range(sys.getrecursionlimit() * 10):
        deep = {"a": deep}
    with pytest.raises(PolicyError) as caught:
        ResilientClient(retry=deep)
    assert caught.value.code == "unknown_field"
