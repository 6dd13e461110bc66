"""The client: one dependency and everything that its calls share."""

from __future__ import annotations

from ._calls import Calls
from ._core import Host, Stats, document_error
from ._decisions import decision_of
from ._dependency import Dependency
from ._errors import PolicyError
from ._policy import document

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Callable
    from typing import Any
    from typing_extensions import Self, Unpack

    from ._core import Decision
    from ._dependency import On
    from ._events import EventName, Listener
    from ._policy import PolicyFields
    from ._types import Seconds

__all__ = ["CallOptions", "ResilientClient"]


class ResilientClient(Calls):
    """Guards the calls to one dependency. Make one per dependency and keep it.

    A part of the policy that is left out has its default figures; `False` switches it off
    (`breaker=False`). Durations are seconds or `timedelta`. Besides the policy:

    - `on`: exceptions that are retried although no rule recognises them, as classes or as a
      function that says so.
    - `seed`: a fixed seed for the jitter, for tests only. Equal jitter in every process is the
      storm itself.
    - `on_event`: hears every event.

    Raises `PolicyError` for a policy that cannot be.
    """

    def __init__(
        self,
        *,
        on: On | None = None,
        seed: int | None = None,
        on_event: Listener | None = None,
        **policy: Unpack[PolicyFields],
    ) -> None:
        self._open(Host(document(policy), seed=seed), on, on_event)

    @classmethod
    def from_json(
        cls,
        text: str,
        *,
        on: On | None = None,
        seed: int | None = None,
        on_event: Listener | None = None,
    ) -> Self:
        """A client of a policy document: the same for all hosts, in milliseconds."""
        import json

        document_error(text)
        self: Self = cls.__new__(cls)
        self._open(Host(json.loads(text), document=True, seed=seed), on, on_event)
        return self

    @classmethod
    def from_file(
        cls,
        path: str | os.PathLike[str],
        *,
        on: On | None = None,
        seed: int | None = None,
        on_event: Listener | None = None,
    ) -> Self:
        """A client of the policy document in a file."""
        try:
            with open(path, encoding="utf-8") as file:
                text = file.read()
        except (OSError, ValueError) as error:
            message = f"{path}: {error}"
            raise PolicyError(message, "unreadable_file", "", str(path), str(error)) from error
        return cls.from_json(text, on=on, seed=seed, on_event=on_event)

    def _open(self, host: Host, on: On | None, on_event: Listener | None) -> None:
        self._bind(host)
        self._dependency = Dependency(host, on)
        if on_event is not None:
            self.on("*", on_event)

    @property
    def name(self) -> str:
        """What the dependency is called in events and explanations."""
        return self._dependency.host.name

    def on(self, event: EventName | str, listener: Listener) -> Callable[[], None]:
        """Calls `listener` for each event of this name (`*`: each of all).

        Returns a function that takes the listener away again. Listeners run in the thread or task
        of the call that they hear of. They can never change a decision: one that raises is
        reported to the log `stormproof` and ignored.
        """
        dependency = self._dependency
        remove = dependency.listeners.add(event, listener)
        dependency.host.listening = True
        return remove

    def stats(self) -> Stats:
        """What the client has done and how it stands, read at once."""
        return self._dependency.host.snapshot()

    def explain(self, decision: Decision | object) -> str:
        """One plain sentence that says why a call ended as it did, the same in all hosts.

        Takes a decision, or an error or response that a call ended with.
        """
        found = decision_of(decision) or decision
        return self._dependency.host.explain(found)  # type: ignore[arg-type]

    @staticmethod
    def decision_of(ending: object) -> Decision | None:
        """Why a call ended with this error or response; `None` where no call did."""
        return decision_of(ending)

    def force_open(self) -> None:
        """The circuit refuses everybody until further notice."""
        self._control("force_open")

    def force_closed(self) -> None:
        """The circuit lets everybody go and counts nothing until further notice."""
        self._control("force_closed")

    def metrics_only(self) -> None:
        """The circuit runs by itself and refuses nobody."""
        self._control("metrics_only")

    def reset(self) -> None:
        """The circuit is closed and automatic, as new."""
        self._control("reset")

    def _control(self, order: str) -> None:
        change = self._dependency.host.control(order)
        if change is not None:
            self._dependency.tell_circuit(change)

    def close(self) -> None:
        """No call starts from now on; those that are under way end as they would."""
        self._dependency.host.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}: {self.stats().circuit}>"


class CallOptions(Calls):
    """A client for calls with options: what `with_options` returns."""

    def __init__(self, dependency: Dependency, given: dict[str, Any]) -> None:
        timeout, deadline = given.get("timeout"), given.get("deadline")
        self._bind(
            dependency.host,
            safety=given.get("safety"),
            key=given.get("idempotency_key"),
            timeout_ns=None if timeout is None else _nanos(timeout),
            deadline_ns=None if deadline is None else _nanos(deadline),
        )
        self._dependency = dependency
        self._given = given

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self._given.items())
        return f"<CallOptions of {self._dependency.host.name!r}: {given}>"


def _nanos(span: Seconds) -> int:
    # A `timedelta`, without the time that its import takes.
    seconds = span.total_seconds() if hasattr(span, "total_seconds") else span
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)):
        raise TypeError(f"{span!r} is no time: seconds or timedelta")
    if not 0 <= seconds < 2**33:
        raise ValueError(f"{span!r} is no time: from 0 to {2**33} seconds")
    return round(seconds * 1_000_000_000)
