"""Retry-After in the headers of a response."""

from __future__ import annotations

import time

from ._core import retry_after_ms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


_FIELDS = ("retry-after", "date", "retry-after-ms", "x-ms-retry-after-ms")


def parse_retry_after(
    value: str | bytes, *, date: str | bytes | None = None, now: float | None = None
) -> float | None:
    """The seconds that a `Retry-After` value asks for (RFC 9110 §10.2.3).

    A date is compared with the response's `date` where that is valid, else with `now` (seconds
    since 1970; the wall clock's where it is left out). `None` where the value means nothing.
    """
    wall = time.time() if now is None else now
    found = retry_after_ms(_bytes(value), _bytes(date), wall_ms=max(0, int(wall * 1000)))
    return None if found is None else found / 1000


def retry_after_of(headers: object) -> int | None:
    """The milliseconds that the headers of a response ask for."""
    find = _finder(headers)
    if find is None:
        return None
    values = [_bytes(find(name)) for name in _FIELDS]
    if values[0] is None and values[2] is None and values[3] is None:
        return None
    return retry_after_ms(*values, wall_ms=int(time.time() * 1000))


def _finder(headers: object) -> Callable[[str], object] | None:
    """Finds a field by name; the lines of one that was sent more than once are joined."""
    for lines_of in ("getall", "get_all"):
        lines = getattr(headers, lines_of, None)
        if lines is not None:
            return lambda name: ", ".join(map(str, lines(name, None) or ())) or None
    find = getattr(headers, "get", None)
    return find if callable(find) else None


def _bytes(value: object) -> bytes | None:
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        try:
            return value.encode("latin-1")
        except UnicodeEncodeError:
            return None
    return None
