"""What an exception or a response means: the one place that knows.

Classes of libraries are recognised by module and name, so that none has to be imported.
"""

from __future__ import annotations

import errno

from ._core import Classification, classify_status
from ._errors import RefusedError
from ._headers import retry_after_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from ._dependency import On
    from ._types import Safety

NETWORK = Classification("network")
NOT_SENT = Classification("network", phase="not_sent")
TIMEOUT = Classification("timeout")
CONNECT_TIMEOUT = Classification("timeout", phase="not_sent")
#: The caller's own mistake: nothing was sent, and a repetition would be the same.
MISTAKE = Classification("client")
#: The answer came whole and could not be understood.
CONTRACT = Classification("contract")
UNCLASSIFIED = Classification("unclassified")
SUCCESS = Classification("success")

#: No chain of causes that anybody reads is longer.
MAX_CHAIN = 16

#: The class says little, what it wraps says more.
WRAPPER = object()
#: The exception carries an answer.
ANSWER = object()

_RULES: dict[str, dict[object, str]] = {
    "builtins": {
        TIMEOUT: "TimeoutError",
        NOT_SENT: "ConnectionRefusedError",
        NETWORK: "ConnectionError",
    },
    "asyncio": {TIMEOUT: "TimeoutError", NETWORK: "IncompleteReadError"},
    "concurrent": {TIMEOUT: "TimeoutError"},
    "socket": {TIMEOUT: "timeout", NOT_SENT: "gaierror herror"},
    "ssl": {MISTAKE: "SSLCertVerificationError", NETWORK: "SSLError"},
    "http": {MISTAKE: "InvalidURL", NETWORK: "HTTPException"},
    "urllib": {ANSWER: "HTTPError", WRAPPER: "URLError"},
    "httpx": {
        NOT_SENT: "ConnectError",
        CONNECT_TIMEOUT: "ConnectTimeout PoolTimeout",
        TIMEOUT: "TimeoutException",
        MISTAKE: "UnsupportedProtocol LocalProtocolError InvalidURL TooManyRedirects StreamError"
        " CookieConflict",
        CONTRACT: "DecodingError",
        ANSWER: "HTTPStatusError",
        NETWORK: "RequestError",
    },
    "httpcore": {
        NOT_SENT: "ConnectError",
        CONNECT_TIMEOUT: "ConnectTimeout PoolTimeout",
        TIMEOUT: "TimeoutException",
        MISTAKE: "UnsupportedProtocol LocalProtocolError",
        NETWORK: "NetworkError ProtocolError ProxyError ConnectionNotAvailable",
    },
    "requests": {
        CONNECT_TIMEOUT: "ConnectTimeout",
        TIMEOUT: "Timeout",
        MISTAKE: "InvalidURL InvalidSchema MissingSchema InvalidHeader InvalidProxyURL URLRequired"
        " TooManyRedirects UnrewindableBodyError StreamConsumedError InvalidJSONError",
        CONTRACT: "JSONDecodeError ContentDecodingError",
        ANSWER: "HTTPError",
        WRAPPER: "RequestException",
    },
    "urllib3": {
        NOT_SENT: "NewConnectionError NameResolutionError",
        CONNECT_TIMEOUT: "ConnectTimeoutError EmptyPoolError",
        TIMEOUT: "TimeoutError",
        MISTAKE: "LocationValueError URLSchemeUnknown ProxySchemeUnknown InvalidHeader"
        " UnrewindableBodyError BodyNotHttplibCompatible",
        CONTRACT: "DecodeError",
        WRAPPER: "HTTPError",
    },
    "aiohttp": {
        NOT_SENT: "ClientConnectorError",
        CONNECT_TIMEOUT: "ConnectionTimeoutError",
        TIMEOUT: "ServerTimeoutError",
        MISTAKE: "InvalidURL NonHttpUrlClientError TooManyRedirects ServerFingerprintMismatch"
        " ClientConnectorCertificateError",
        CONTRACT: "ContentTypeError",
        ANSWER: "ClientResponseError",
        NETWORK: "ClientError",
    },
}

_BY_NAME: dict[tuple[str, str], object] = {
    (module, name): rule
    for module, rules in _RULES.items()
    for rule, names in rules.items()
    for name in names.split()
}

_RESPONSES = {
    ("httpx", "Response"): "status_code",
    ("requests", "Response"): "status_code",
    ("aiohttp", "ClientResponse"): "status",
    ("urllib3", "BaseHTTPResponse"): "status",
    ("urllib3", "HTTPResponse"): "status",
}

_NETWORK_CODES = frozenset(
    getattr(errno, name, None)
    for name in (
        "ECONNABORTED ECONNRESET EHOSTDOWN EHOSTUNREACH ENETDOWN ENETRESET ENETUNREACH ENOTCONN"
        " EPIPE ESHUTDOWN"
    ).split()
) - {None}


def classify(
    outcome: object, *, safety: Safety = "idempotent", on: On | None = None
) -> Classification:
    """What an exception, or a response of httpx, requests, urllib3 or aiohttp, means.

    Any other value is a success. `on` makes exceptions that no rule recognises retryable, as it
    does for a client; statuses are read by the default table.
    """
    found = read(outcome, on) if isinstance(outcome, BaseException) else read_value(outcome)
    if isinstance(found, tuple):
        return classify_status(found[0], found[1], safety)
    return found


def is_retryable(outcome: object) -> bool:
    """May an operation that ended in this exception or response be repeated at all?"""
    return classify(outcome).is_retryable


def read(error: BaseException, on: On | None = None) -> Classification | tuple[int, int | None]:
    """What an exception means, or the status and Retry-After (milliseconds) it carries."""
    if not isinstance(error, Exception):
        return Classification("cancelled")
    try:
        found = Classification(error.reason) if isinstance(error, RefusedError) else _read_chain(error)
    except Exception:  # It resists being read.
        found = None
    if found is not None:
        return found
    return NETWORK if on is not None and _says_yes(on, error) else UNCLASSIFIED


def read_value(value: object) -> Classification | tuple[int, int | None]:
    """What a returned value means, or the status and Retry-After of a response."""
    attribute = response_status(type(value))
    if attribute is None:
        return SUCCESS
    return _answer(value, attribute) or SUCCESS


def response_status(cls: type) -> str | None:
    """Where a response class keeps its status; `None` for classes that are no responses."""
    for base in cls.__mro__:
        attribute = _RESPONSES.get((_library(base), base.__name__))
        if attribute is not None:
            return attribute
    return None


def _says_yes(on: On, error: Exception) -> bool:
    if isinstance(on, (type, tuple)):
        return isinstance(error, on)
    try:
        return bool(on(error))
    except Exception:  # The caller is to see what the dependency did, not this.
        import logging

        logging.getLogger("stormproof").exception("`on` raised for %r", error)
        return False


def _read_chain(error: Exception) -> Classification | tuple[int, int | None] | None:
    fallback: Classification | None = None
    found: Classification | tuple[int, int | None] | None = None
    for link in _chain(error):
        rule = _rule(link)
        if rule is MISTAKE and type(link).__name__ == "SSLCertVerificationError":
            return MISTAKE
        if found is not None or rule is None:
            continue
        if isinstance(rule, Classification):
            found = rule
        elif rule is WRAPPER:
            fallback = NETWORK
        else:
            found = _answer_of(link)
    return fallback if found is None else found


def _rule(error: BaseException) -> object:
    if isinstance(error, RefusedError):
        return Classification(error.reason)
    for base in type(error).__mro__:
        rule = _BY_NAME.get((_library(base), base.__name__))
        if rule is not None:
            return rule
    if isinstance(error, OSError) and error.errno in _NETWORK_CODES:
        return NETWORK
    return None


def _library(cls: type) -> str:
    return str(cls.__module__).partition(".")[0]


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The exception, what it wraps, and what it came from: each once, the nearest first."""
    waiting = [error]
    seen: set[int] = set()
    while waiting and len(seen) < MAX_CHAIN:
        link = waiting.pop(0)
        if id(link) in seen:
            continue
        seen.add(id(link))
        yield link
        args = _attribute(link, "args")
        wrapped = args[:2] if isinstance(args, tuple) else ()
        inside = [_attribute(link, "reason"), *wrapped, link.__cause__]
        if link.__cause__ is None and not link.__suppress_context__:
            inside.append(link.__context__)
        parts = _attribute(link, "exceptions")
        if isinstance(parts, tuple) and len(parts) == 1:
            inside.append(parts[0])
        waiting.extend(part for part in inside if isinstance(part, BaseException))


def _answer_of(error: BaseException) -> tuple[int, int | None] | None:
    """The answer that an exception carries itself, or in its `response`."""
    response = _attribute(error, "response")
    if response is not None:
        attribute = response_status(type(response)) or "status_code"
        return _answer(response, attribute)
    return _answer(error, "status") or _answer(error, "code")


def _answer(holder: object, attribute: str) -> tuple[int, int | None] | None:
    status = _attribute(holder, attribute)
    if not isinstance(status, int) or not 0 <= status <= 999:
        return None
    try:
        return status, retry_after_of(getattr(holder, "headers", None))
    except Exception:  # Headers of no known make.
        return status, None


def _attribute(holder: object, name: str) -> object:
    """The attribute; `None` also where its class computes it and fails."""
    try:
        return getattr(holder, name, None)
    except Exception:
        return None
