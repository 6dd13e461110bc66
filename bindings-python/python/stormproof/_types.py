"""Names of types that stand in more than one signature. Imported by type checkers only."""

from __future__ import annotations

from datetime import timedelta
from typing import Literal, TypeAlias, TypeVar

from typing_extensions import ParamSpec

P = ParamSpec("P")
T = TypeVar("T")

#: Seconds, or a span.
Seconds: TypeAlias = "float | timedelta"
Safety: TypeAlias = Literal["idempotent", "keyed", "unsafe"]

#: What the engine says to do next.
Action: TypeAlias = Literal["attempt", "wait", "queue", "finish", "stale"]
#: A change of the circuit: from, to, cause.
Change: TypeAlias = tuple[str, str, str]
