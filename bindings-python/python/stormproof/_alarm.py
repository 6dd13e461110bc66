"""Time limits of running attempts in asyncio: one timer for all attempts of a loop.

A timer per attempt would cost more than the rest of a quick call. Limits are kept in slots of about
2 ms, and only the earliest slot has a timer.
"""

from __future__ import annotations

import asyncio
import heapq

from ._cancellation import Ours
from ._core import monotonic_ns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    Slot: TypeAlias = "set[Alarm]"

#: Nanoseconds, as a power of two.
SLOT_BITS = 21
#: No fewer slots are worth sweeping.
ROOM = 1024


class Alarm:
    """Cancels one task at an instant of `time.monotonic_ns()`, unless it is stopped before."""

    __slots__ = ("_ours", "_slot", "fired", "until")

    def __init__(self, task: asyncio.Task[Any], until: int, slot: Slot) -> None:
        self.fired = False
        self.until = until
        self._ours = Ours(task)
        self._slot = slot
        slot.add(self)

    def ring(self) -> bool:
        """The time is over. Answers no where this is not the moment to say so."""
        self.fired = self._ours.cancel()
        return self.fired

    def wait_in(self, slot: Slot) -> None:
        """It is going to ring with that slot."""
        self._slot = slot
        slot.add(self)

    def stop(self) -> None:
        """The operation has ended."""
        self._slot.discard(self)

    def took_back(self) -> bool:
        """Was it this alarm alone that ended the operation? Takes its cancellation back."""
        return self.fired and self._ours.take_back()


class Watch:
    """The alarms of one loop."""

    __slots__ = ("_handle", "_order", "_room", "_slots", "loop")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self._slots: dict[int, Slot] = {}
        self._order: list[int] = []
        self._room = ROOM
        self._handle: asyncio.TimerHandle | None = None

    def set(self, task: asyncio.Task[Any], until: int) -> Alarm:
        """An alarm that cancels `task` at `until`."""
        return Alarm(task, until, self._slot((until >> SLOT_BITS) + 1))

    def _slot(self, place: int) -> Slot:
        slot = self._slots.get(place)
        if slot is None:
            if len(self._slots) >= self._room:
                self._sweep()
            slot = self._slots[place] = set()
            heapq.heappush(self._order, place)
            if self._order[0] == place:
                self._arm()
        return slot

    def _sweep(self) -> None:
        """The slots that nobody is left in would pile up where limits are long."""
        self._slots = {place: slot for place, slot in self._slots.items() if slot}
        self._order = sorted(self._slots)
        self._room = max(ROOM, 2 * len(self._slots))

    def _arm(self) -> None:
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None
        if self._order:
            left = (self._order[0] << SLOT_BITS) - monotonic_ns()
            self._handle = self.loop.call_later(max(left, 0) / 1e9, self._ring)

    def _ring(self) -> None:
        now = monotonic_ns()
        while self._order and self._order[0] << SLOT_BITS <= now:
            place = heapq.heappop(self._order)
            for alarm in tuple(self._slots.pop(place)):
                self._ring_one(alarm, (now >> SLOT_BITS) + 1)
        # Slots that nobody is left in need no timer.
        while self._order and not self._slots[self._order[0]]:
            del self._slots[heapq.heappop(self._order)]
        self._arm()

    def _ring_one(self, alarm: Alarm, later: int) -> None:
        try:
            if not alarm.ring():
                alarm.wait_in(self._slot(later))
        except Exception as error:  # What one task waits for must not silence the others.
            message = "a task could not be cancelled at its time limit"
            self.loop.call_exception_handler({"message": message, "exception": error})


_NAME = "__stormproof_watch__"


def watch(loop: asyncio.AbstractEventLoop) -> Watch:
    """The watch of a loop. The loop itself keeps it, so that it lives as long."""
    found = getattr(loop, _NAME, None)
    if not isinstance(found, Watch):
        found = Watch(loop)
        try:
            setattr(loop, _NAME, found)
        except AttributeError:  # A loop that takes no attribute gets a watch for each attempt.
            pass
    return found
