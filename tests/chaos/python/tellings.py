"""What the client tells by itself and when it is asked."""

from contextvars import ContextVar
from typing import Any

from journal import Journal, now
from stormproof import Event, ResilientClient

#: The call that this task is in.
current: ContextVar["int | None"] = ContextVar("current", default=None)


def look(client: ResilientClient) -> dict[str, Any]:
    """How the client stands."""
    stats = client.stats()
    until = stats.open_until_ns
    return {
        "e": "state",
        "t": now(),
        "running": stats.running,
        "queued": stats.queued,
        "circuit": stats.circuit,
        "open_until": None if until is None else until / 1e6,
    }


def listen(client: ResilientClient, journal: Journal) -> None:
    """Writes down everything that the client tells."""

    def write(event: Event) -> None:
        line: dict[str, Any] = {"e": "event", "t": now(), "name": event.name, "call": current.get()}
        if event.attempt is not None:
            line["n"] = event.attempt
        if event.decision is not None:
            line["reason"] = event.decision.reason
        elif event.kind is not None:
            line["kind"] = event.kind
        if event.wait is not None:
            line["wait"] = event.wait * 1e3
        if event.circuit is not None:
            line["from"], line["to"] = event.circuit[:2]
        journal.write(line)
        if event.circuit is not None:
            journal.write(look(client))

    client.on("*", write)
