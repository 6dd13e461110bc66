"""What observers hear. They can never change a decision: one that raises is reported and ignored."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Literal

    from ._core import Decision

    EventName = Literal[
        "attempt_started",
        "attempt_failed",
        "retry_scheduled",
        "call_succeeded",
        "call_failed",
        "refused",
        "circuit_changed",
    ]
    Listener = Callable[["Event"], object]

NAMES = (
    "attempt_started",
    "attempt_failed",
    "retry_scheduled",
    "call_succeeded",
    "call_failed",
    "refused",
    "circuit_changed",
)


class Event:
    """Something that happened. What does not belong to the event is `None`.

    `attempt`: the number of the attempt, in `retry_scheduled` that of the one to come. `kind`: what
    it ended in, in `refused` what the call did. `error`: the exception that it
    or the call ended with. `wait`: the seconds until the next attempt, `why` what they are for
    (`backoff`, `retry_after`, `circuit`). `decision`: why the call ended. `circuit`: the states
    before and after, and the cause.
    """

    __slots__ = (
        "attempt",
        "circuit",
        "client",
        "decision",
        "error",
        "kind",
        "name",
        "wait",
        "why",
    )

    def __init__(
        self,
        name: EventName,
        client: str,
        *,
        attempt: int | None = None,
        kind: str | None = None,
        error: BaseException | None = None,
        wait: float | None = None,
        why: str | None = None,
        decision: Decision | None = None,
        circuit: tuple[str, str, str] | None = None,
    ) -> None:
        self.name = name
        self.client = client
        self.attempt = attempt
        self.kind = kind
        self.error = error
        self.wait = wait
        self.why = why
        self.decision = decision
        self.circuit = circuit

    def __repr__(self) -> str:
        facts = ((slot, getattr(self, slot)) for slot in self.__slots__ if slot != "name")
        told = ", ".join(f"{name}={fact!r}" for name, fact in facts if fact is not None)
        return f"<Event {self.name}: {told}>"


class Listeners:
    """Who wants to hear what."""

    __slots__ = ("_by_name",)

    def __init__(self) -> None:
        self._by_name: dict[str, tuple[Listener, ...]] = {}

    def add(self, name: str, listener: Listener) -> Callable[[], None]:
        """Adds a listener; what this returns takes it away again. `*` hears everything."""
        if name != "*" and name not in NAMES:
            raise ValueError(f"{name!r} is no event: one of {', '.join(NAMES)}, or *")
        if not callable(listener):
            raise TypeError("a listener must be callable")
        self._by_name[name] = (*self._by_name.get(name, ()), listener)

        def remove() -> None:
            left = list(self._by_name.get(name, ()))
            if listener in left:
                left.remove(listener)
            self._by_name[name] = tuple(left)

        return remove

    def tell(self, event: Event) -> None:
        """Tells everybody who wants to hear it."""
        for listener in (*self._by_name.get(event.name, ()), *self._by_name.get("*", ())):
            try:
                listener(event)
            except Exception:
                _report(event)


def _report(event: Event) -> None:
    import logging

    logging.getLogger("stormproof").exception("a listener of %r raised", event.name)
