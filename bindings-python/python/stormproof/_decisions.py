"""The decision behind an error or a response, kept at the object itself."""

from __future__ import annotations

from ._core import Decision
from ._errors import RefusedError

_NAME = "__stormproof_decision__"


def remember(ending: object, decision: Decision) -> None:
    """Keeps why a call ended with this object. Objects that take no attribute are left alone."""
    try:
        setattr(ending, _NAME, decision)
    except Exception:  # Whatever it has against attributes.
        pass


def decision_of(ending: object) -> Decision | None:
    """Why a call ended with this error or response; `None` where no call did."""
    try:
        if isinstance(ending, RefusedError):
            return ending.decision
        decision = getattr(ending, _NAME, None)
    except Exception:  # Whatever it has against being read.
        return None
    return decision if isinstance(decision, Decision) else None
