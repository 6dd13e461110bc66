"""How a call ended, as a value."""

from __future__ import annotations

from ._core import Classification
from ._typing import Of, T

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    from ._core import Decision

    Group = Literal["success", "transient", "permanent", "refused"]


class Outcome(Of[T]):
    """How a call ended: with a value or with an error, and why.

    `ok` says whether it succeeded. `value` is what the operation returned: of a successful call,
    and of one that ended with a failing response. `error` is what `call` would have raised.
    `decision` says why the call ended.
    """

    __slots__ = ("_value", "decision", "error")

    def __init__(self, value: T | None, error: Exception | None, decision: Decision) -> None:
        self._value = value
        self.error = error
        self.decision = decision

    @property
    def ok(self) -> bool:
        """Did the dependency do what it was asked?"""
        return self.decision.reason == "success"

    @property
    def value(self) -> T:
        """What the operation returned. Raises the error where there is one."""
        return self.unwrap()

    @property
    def kind(self) -> Group:
        """`success`, `transient` (it may work later), `permanent` or `refused` (not asked)."""
        if self.ok:
            return "success"
        if self.decision.own_error:
            return "refused"
        return Classification(self.decision.last_kind or "unclassified").group

    def unwrap(self) -> T:
        """The value; raises the error where there is one."""
        if self.error is None:
            return self._value  # type: ignore[return-value]
        try:
            raise self.error
        finally:
            # The error's traceback holds this frame: no cycle.
            del self

    def __repr__(self) -> str:
        what = repr(self._value) if self.error is None else repr(self.error)
        return f"<Outcome {self.kind}: {what}>"
