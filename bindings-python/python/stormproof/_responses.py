"""What an operation returned, where it is not simply a value."""

from __future__ import annotations

from ._classify import response_status

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable


def forgotten(value: object) -> bool:
    """Is this a coroutine that nobody awaits? It is closed."""
    if type(value).__name__ != "coroutine":
        return False
    close_coroutine = getattr(value, "close", None)
    if close_coroutine is None:
        return False
    close_coroutine()
    return True


def is_plain(cls: type) -> bool:
    """Are the instances of this class values, whatever is in them?"""
    return cls.__name__ != "coroutine" and response_status(cls) is None


def close(value: object) -> None:
    """Gives the connection of a response back before the next attempt: unread bodies hold it."""
    closing = _closing(value, "close")
    if closing is not None:
        try:
            closing()
        except Exception:  # It has failed already, and is thrown away.
            pass


async def aclose(value: object) -> None:
    """The same for the responses of asynchronous clients."""
    closing = _closing(value, "aclose")
    if closing is None:
        close(value)
        return
    try:
        waiting: Awaitable[object] = closing()
        await waiting
    except Exception:  # The response of a blocking client, or one that is thrown away anyhow.
        close(value)


def _closing(value: object, name: str) -> Callable[[], Awaitable[object]] | None:
    if value is None or response_status(type(value)) is None:
        return None
    return getattr(value, name, None)
