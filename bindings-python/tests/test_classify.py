"""What exceptions and responses mean (C1-C8)."""

from __future__ import annotations

import asyncio
import concurrent.futures
import http.client
import socket
import ssl
import urllib.error
from email.message import Message
from typing import Any

import aiohttp
import httpx
import pytest
import requests
import urllib3
from aiohttp.client_reqrep import ConnectionKey
from multidict import CIMultiDict, CIMultiDictProxy
from yarl import URL

from stormproof import CircuitOpenError, Classify, ResilientClient, classify, is_retryable
from stormproof import parse_retry_after

REQUEST = httpx.Request("GET", "http://x/")
KEY: Any = ConnectionKey("x", 80, False, True, None, None, None)
POOL: Any = None


def chained(error: BaseException, cause: BaseException) -> BaseException:
    error.__cause__ = cause
    return error


def reset() -> ConnectionResetError:
    return ConnectionResetError(104, "reset")


# PY-01: the connection was never made, so nothing was sent.
NOT_SENT = [
    httpx.ConnectError("x"),
    httpx.ConnectTimeout("x"),
    httpx.PoolTimeout("x"),
    urllib3.exceptions.NewConnectionError(POOL, "x"),
    urllib3.exceptions.NameResolutionError("x", POOL, socket.gaierror(-2, "x")),
    urllib3.exceptions.ConnectTimeoutError("x"),
    requests.ConnectionError(
        urllib3.exceptions.MaxRetryError(
            POOL, "/", urllib3.exceptions.NewConnectionError(POOL, "x")
        )
    ),
    requests.ConnectTimeout("x"),
    aiohttp.ClientConnectorError(KEY, OSError(111, "x")),
    aiohttp.ClientConnectorDNSError(KEY, OSError(-2, "x")),
    aiohttp.ConnectionTimeoutError("x"),
    ConnectionRefusedError(111, "x"),
    socket.gaierror(-2, "x"),
    urllib.error.URLError(ConnectionRefusedError(111, "x")),
]

# PY-03: permanent, although their base classes are transient.
MISTAKES = [
    httpx.UnsupportedProtocol("x"),
    httpx.LocalProtocolError("x"),
    httpx.TooManyRedirects("x"),
    httpx.InvalidURL("x"),
    requests.exceptions.InvalidURL("x"),
    requests.exceptions.InvalidSchema("x"),
    requests.exceptions.MissingSchema("x"),
    requests.TooManyRedirects("x"),
    aiohttp.InvalidURL("x"),
    aiohttp.ClientConnectorCertificateError(KEY, ssl.SSLCertVerificationError("x")),
    ssl.SSLCertVerificationError("x"),
    chained(httpx.ConnectError("x"), ssl.SSLCertVerificationError(1, "x")),
    requests.exceptions.SSLError(
        urllib3.exceptions.MaxRetryError(
            POOL, "/", urllib3.exceptions.SSLError(ssl.SSLCertVerificationError(1, "x"))
        )
    ),
    http.client.InvalidURL("x"),
    urllib3.exceptions.LocationParseError("x"),
]

# DC-15
TIMEOUTS = [
    TimeoutError("x"),
    asyncio.TimeoutError(),
    socket.timeout("x"),
    concurrent.futures.TimeoutError(),
    httpx.ReadTimeout("x"),
    httpx.WriteTimeout("x"),
    requests.ReadTimeout("x"),
    requests.Timeout("x"),
    urllib3.exceptions.ReadTimeoutError(POOL, "/", "x"),
    aiohttp.ServerTimeoutError("x"),
    aiohttp.SocketTimeoutError("x"),
]

NETWORK = [
    reset(),
    BrokenPipeError(32, "x"),
    ConnectionAbortedError(103, "x"),
    OSError(101, "network unreachable"),
    http.client.RemoteDisconnected("x"),
    http.client.IncompleteRead(b""),
    asyncio.IncompleteReadError(b"", 3),
    ssl.SSLError("x"),
    httpx.ReadError("x"),
    httpx.RemoteProtocolError("x"),
    httpx.ProxyError("x"),
    requests.ConnectionError("x"),
    requests.exceptions.ChunkedEncodingError("x"),
    urllib3.exceptions.ProtocolError("x", reset()),
    aiohttp.ServerDisconnectedError(),
    aiohttp.ClientPayloadError("x"),
    aiohttp.ClientOSError(104, "x"),
    chained(RuntimeError("mine"), reset()),
]

CONTRACT = [
    httpx.DecodingError("x"),
    requests.exceptions.ContentDecodingError("x"),
    requests.exceptions.JSONDecodeError("x", "", 0),
    urllib3.exceptions.DecodeError("x"),
]

NOBODYS = [
    ValueError("x"),
    KeyError("x"),
    FileNotFoundError(2, "x"),
    PermissionError(13, "x"),
    ZeroDivisionError(),
]


@pytest.mark.parametrize("error", NOT_SENT, ids=repr)
def test_not_sent(error: Exception) -> None:
    found = classify(error)
    assert found.phase == "not_sent"
    assert found.kind in ("network", "timeout")
    client = ResilientClient(retry={"base": 0, "max_attempts": 2}, breaker=False)  # type: ignore[arg-type]
    failed = client.with_options(safety="unsafe").execute(raising, error)
    assert failed.decision.attempts == 2


def raising(error: Exception) -> None:
    raise error


@pytest.mark.parametrize("error", MISTAKES, ids=repr)
def test_mistakes(error: Exception) -> None:
    found = classify(error, on=Exception)
    assert (found.kind, found.status, found.is_retryable) == ("client", 0, False)


@pytest.mark.parametrize("error", TIMEOUTS, ids=repr)
def test_timeouts(error: Exception) -> None:
    found = classify(error)
    assert (found.kind, found.phase) == ("timeout", "unknown")


@pytest.mark.parametrize("error", NETWORK, ids=repr)
def test_network(error: Exception) -> None:
    found = classify(error)
    assert (found.kind, found.phase) == ("network", "unknown")


@pytest.mark.parametrize("error", CONTRACT, ids=repr)
def test_contract(error: Exception) -> None:
    assert classify(error).kind == "contract"


@pytest.mark.parametrize("error", NOBODYS, ids=repr)
def test_unclassified_unless_somebody_says_so(error: Exception) -> None:
    assert classify(error).kind == "unclassified"
    assert not is_retryable(error)
    assert classify(error, on=type(error)).kind == "network"
    assert classify(error, on=(OSError, type(error))).is_retryable
    assert classify(error, on=lambda _: True).is_retryable
    assert not classify(error, on=lambda _: False).is_retryable


@pytest.mark.parametrize("error", [asyncio.CancelledError(), KeyboardInterrupt(), SystemExit()])
def test_cancellations_are_nobodys_fault(error: BaseException) -> None:
    assert classify(error, on=lambda _: True).kind == "cancelled"


def test_chains_may_be_circles() -> None:
    first, second = ValueError("a"), ValueError("b")
    first.__cause__, second.__cause__ = second, first
    assert classify(first).kind == "unclassified"
    long = error = ValueError("0")
    for number in range(100):
        error.__cause__ = ValueError(str(number))
        error = error.__cause__
    error.__cause__ = reset()
    assert classify(long).kind == "unclassified"


def test_a_context_that_was_suppressed_is_not_looked_at() -> None:
    try:
        try:
            raise reset()
        except ConnectionResetError:
            raise ValueError("x") from None
    except ValueError as error:
        assert classify(error).kind == "unclassified"


def test_refusals_of_another_client_pass_through() -> None:
    inner = ResilientClient()
    inner.force_open()
    outer = ResilientClient(retry={"base": 0})  # type: ignore[arg-type]
    outcome = outer.execute(inner.call, print)
    assert isinstance(outcome.error, CircuitOpenError)
    assert (outcome.decision.reason, outcome.decision.attempts) == ("permanent", 1)
    assert classify(outcome.error).kind == "circuit_open"
    assert outer.stats().circuit == "closed"


HEADERS = {"Retry-After": "7"}


def aiohttp_error(status: int) -> aiohttp.ClientResponseError:
    info: Any = None
    headers = CIMultiDictProxy(CIMultiDict(HEADERS))
    return aiohttp.ClientResponseError(info, (), status=status, headers=headers)


def requests_response(status: int) -> requests.Response:
    response = requests.Response()
    response.status_code = status
    response.headers.update(HEADERS)
    return response


def urllib_error(status: int) -> urllib.error.HTTPError:
    message = Message()
    message["Retry-After"] = "7"
    return urllib.error.HTTPError("http://x/", status, "x", message, None)


ANSWERS = {
    "httpx error": lambda status: httpx.HTTPStatusError(
        "x", request=REQUEST, response=httpx.Response(status, headers=HEADERS)
    ),
    "requests error": lambda status: requests.HTTPError(response=requests_response(status)),
    "aiohttp error": aiohttp_error,
    "urllib error": urllib_error,
    "httpx": lambda status: httpx.Response(status, headers=HEADERS),
    "requests": requests_response,
    "urllib3": lambda status: urllib3.HTTPResponse(status=status, headers=HEADERS),
}


@pytest.mark.parametrize("make", ANSWERS.values(), ids=ANSWERS.keys())
def test_answers(make: Any) -> None:
    found = classify(make(503))
    assert (found.kind, found.status, found.retry_after) == ("server", 503, 7)
    assert classify(make(429)).kind == "throttled"
    assert classify(make(404)).kind == "client"
    assert classify(make(501)).kind == "client"
    assert classify(make(409), safety="keyed").kind == "throttled"


def test_other_objects_with_a_status_are_values() -> None:
    class Response:
        status_code = 503

    assert classify(Response()).kind == "success"
    assert classify(None).kind == "success"


def test_content_type_is_contract() -> None:
    info: Any = None
    assert classify(aiohttp.ContentTypeError(info, (), status=200)).kind == "contract"
    assert URL("http://x/")


def test_retry_after() -> None:
    assert parse_retry_after("120") == 120
    assert parse_retry_after(b"1.5") == 1.5
    date = "Thu, 15 Jan 2026 12:00:00 GMT"
    assert parse_retry_after("Thu, 15 Jan 2026 12:02:00 GMT", date=date) == 120
    assert parse_retry_after("Thu, 15 Jan 2026 12:02:00 GMT", now=1768478400.0) == 120
    for nonsense in ("0x10", "1e3", "-5", " ", "soon", "\u0661"):
        assert parse_retry_after(nonsense) is None


class Resists(ConnectionResetError):
    """Its attributes cannot be read."""

    @property
    def reason(self) -> str:
        raise RuntimeError("reason")

    @property
    def exceptions(self) -> Any:
        raise RuntimeError("exceptions")

    @property
    def args(self) -> Any:  # type: ignore[override]
        raise RuntimeError("args")

    def __setattr__(self, name: str, value: object) -> None:
        raise RuntimeError(name)

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(name)


class ResistsAltogether(Exception):
    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError(name)


@pytest.mark.parametrize("cls", [Resists, ResistsAltogether])
def test_errors_that_resist_being_read_are_raised_themselves(cls: type[Exception]) -> None:
    error = cls()

    def operation() -> None:
        raise error

    one = ResilientClient(retry=False, breaker=False)
    caught: Any = None
    try:
        one.call(operation)
    except Exception as raised:
        caught = raised
    assert caught is error
    one.explain(one.execute(operation).decision)
    assert one.decision_of(error) is None
    assert classify(Resists()).kind == "network"
    assert classify(ResistsAltogether()).kind == "unclassified"


def test_responses_that_resist_being_read_are_handed_back() -> None:
    class Odd(httpx.Response):
        @property
        def headers(self) -> Any:
            raise RuntimeError("headers")

    response = Odd.__new__(Odd)
    response.__dict__["status_code"] = 503
    assert ResilientClient(retry=False).call(lambda: response) is response
    assert classify(response).kind == "server"


def test_a_response_without_a_status_says_nothing_of_others() -> None:
    one = ResilientClient(retry=False, breaker=False)
    one.execute(requests.Response)
    failed = requests.Response()
    failed.status_code = 503
    assert one.call(lambda: failed) is failed
    assert one.stats().failures == {"server": 1}


def test_a_raised_answer_is_no_success() -> None:
    """A policy that takes a status for a success does not make a value of an exception."""
    request = httpx.Request("GET", "http://example.invalid")
    error = httpx.HTTPStatusError("404", request=request, response=httpx.Response(404))
    client = ResilientClient(classify=Classify(success=[404]))

    def missing() -> None:
        raise error

    outcome = client.execute(missing)
    assert (outcome.ok, outcome.error) == (False, error)
    assert outcome.decision.reason == "permanent"
