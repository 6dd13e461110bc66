"""The parts of a policy. Their fields are those of the policy document, in Python's spelling."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Section:
    """One part of a policy. Its fields are checked when a client is made of it."""

    __slots__ = ("fields",)

    def __init__(self, **fields: Any) -> None:
        self.fields = fields

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.fields == self.fields  # type: ignore[attr-defined]

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        named = ", ".join(f"{name}={value!r}" for name, value in self.fields.items())
        return f"{type(self).__name__}({named})"


class Retry(Section):
    """Whether, when and how often an operation is tried again."""

    __slots__ = ()


class CircuitBreaker(Section):
    """When the dependency is left alone, and how it is asked again."""

    __slots__ = ()


class RetryBudget(Section):
    """How many retries the dependency can be asked to bear."""

    __slots__ = ()


class Bulkhead(Section):
    """How many attempts run at once, and how many calls wait."""

    __slots__ = ()


class RetryAfter(Section):
    """How far a dependency may say when to come back."""

    __slots__ = ()


class Classify(Section):
    """Statuses that mean something else than usual: lists of numbers from 100 to 999."""

    __slots__ = ()


class Idempotency(Section):
    """Which calls carry a key, and how it is sent."""

    __slots__ = ()


class Propagate(Section):
    """The headers that tell the dependency how much time is left and which attempt it sees."""

    __slots__ = ()


def document(policy: object) -> dict[str, object]:
    """The fields of a policy, whatever they were given as."""
    given: dict[str, object] = dict(policy)  # type: ignore[call-overload]
    return {
        name: value.fields if isinstance(value, Section) else value
        for name, value in given.items()
    }
