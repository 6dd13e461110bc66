"""What is needed of `typing` while the program runs: importing it takes longer than all of ours."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Generic, overload

    from ._types import T

    class Of(Generic[T]):
        """A class that is generic in one type."""

else:
    T = None

    def overload(function):
        """Does what `typing.overload` does to a program that runs."""
        return function

    class Of:
        """A class that is generic in one type."""

        __slots__ = ()

        def __class_getitem__(cls, item):
            return cls


__all__ = ["Of", "T", "overload"]
