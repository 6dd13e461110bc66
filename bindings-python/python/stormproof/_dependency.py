"""What the calls to one dependency share on this side of the engine."""

from __future__ import annotations

from ._classify import TIMEOUT, read, read_value
from ._decisions import remember
from ._errors import refusal
from ._events import Event, Listeners
from ._outcome import Outcome
from ._responses import is_plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeAlias

    from ._core import Call, Host

    On: TypeAlias = "type[Exception] | tuple[type[Exception], ...] | Callable[[Exception], bool]"


class Dependency:
    """Tells the engine how attempts ended, and the observers what happened."""

    __slots__ = ("host", "listeners", "on")

    def __init__(self, host: Host, on: On | None) -> None:
        classes = on if isinstance(on, tuple) else () if on is None or _is_function(on) else (on,)
        for cls in classes:
            if not (isinstance(cls, type) and issubclass(cls, BaseException)):
                raise TypeError(f"`on` takes exception classes or a function, not {cls!r}")
        self.host = host
        self.on = on
        self.listeners = Listeners()

    def on_begun(self, call: Call) -> None:
        """A call was started: an attempt, a place in the queue, or a refusal."""
        if self.host.listening:
            self._tell_change(call)

    def on_attempt(self, call: Call) -> None:
        """An attempt begins."""
        if self.host.listening:
            self._tell_change(call)
            self.listeners.tell(Event("attempt_started", self.host.name, attempt=call.number))

    def on_ended(self, call: Call, value: object, error: Exception | None) -> None:
        """An attempt ended by itself."""
        number = call.number
        found = read_value(value) if error is None else read(error, self.on)
        if isinstance(found, tuple):
            found = call.answer(*found, error is not None)
        else:
            call.settle(found)
            if error is None and is_plain(type(value)):
                self.host.add_plain(type(value))
        if self.host.listening:
            self._tell_ended(call, number, found.kind, error)

    def on_timed_out(self, call: Call, error: Exception) -> None:
        """An attempt was cut at its time limit and has ended."""
        number = call.number
        if not call.time_out():
            call.settle(TIMEOUT)
        if self.host.listening:
            self._tell_ended(call, number, "timeout", error)

    def conclude(self, call: Call, value: Any, error: Exception | None) -> Outcome[Any]:
        """How the call ended. `value` and `error` are those of the last attempt."""
        decision = call.decision
        if decision is None:
            raise RuntimeError("the call has not ended")
        if decision.own_error:
            refused = refusal(decision, self.host.explain(decision))
            refused.__cause__ = error
            value, error = None, refused
        elif error is not None:
            remember(error, decision)
        elif decision.last_status:
            remember(value, decision)
        if self.host.listening:
            self._tell_concluded(call, error)
        return Outcome(value, error, decision)

    def give_up(
        self, call: Call, error: BaseException | None = None, *, is_told: bool = True
    ) -> None:
        """The caller has gone: what the call holds comes back. `is_told`: if it was over, observers
        have heard of that."""
        was_over = call.action in ("finish", "stale")
        call.cancel()
        if self.host.listening and not (was_over and is_told):
            self._tell_change(call)
            self._tell_concluded(call, error)

    def _tell_change(self, call: Call) -> None:
        change = call.change
        if change is not None:
            self.tell_circuit(change)

    def tell_circuit(self, change: tuple[str, str, str]) -> None:
        """The circuit changed its state."""
        self.listeners.tell(Event("circuit_changed", self.host.name, circuit=change))

    def _tell_ended(self, call: Call, number: int, kind: str, error: Exception | None) -> None:
        name = self.host.name
        if kind != "success":
            self.listeners.tell(Event("attempt_failed", name, attempt=number, kind=kind, error=error))
        self._tell_change(call)
        if call.action == "wait":
            event = Event(
                "retry_scheduled",
                name,
                attempt=number + 1,
                kind=kind,
                wait=call.planned_wait,
                why=call.why,
            )
            self.listeners.tell(event)

    def _tell_concluded(self, call: Call, error: BaseException | None) -> None:
        decision = call.decision
        if decision is None:
            return
        name = self.host.name
        if decision.reason == "success":
            self.listeners.tell(Event("call_succeeded", name, decision=decision))
            return
        if decision.own_error:
            event = Event("refused", name, kind=decision.reason, error=error, decision=decision)
        else:
            event = Event("call_failed", name, error=error, decision=decision)
        self.listeners.tell(event)


def _is_function(on: On) -> bool:
    return callable(on) and not isinstance(on, type)
