"""People who call, whatever becomes of it, and call again."""

import asyncio
import contextlib
import random
import uuid
from collections.abc import Awaitable, Callable

from journal import Journal, now
from operations import Operations
from stormproof import ResilientClient, decision_of
from tellings import current, look

#: Seconds between two looks at the client.
SAMPLE = 0.02
#: What a user does after a refusal; after anything else the next call comes soon. Seconds.
SULK = (0.5, 2.0)
PAUSE = 0.05
#: Users come one after the other, within this time.
ARRIVAL = 2.0
#: Nobody gives a call more time.
LONGEST = 20.0
#: After the load whoever still calls leaves within this time.
LEAVE = (1.0, 5.0)

REFUSALS = ("circuit_open", "bulkhead_full")
SAFETIES = ("idempotent", "keyed", "unsafe")


class Users:
    """As many as there are to be calls at once."""

    def __init__(
        self, client: ResilientClient, operations: Operations, journal: Journal, dice: random.Random
    ) -> None:
        self.client = client
        self.operations = operations
        self.journal = journal
        self.dice = dice
        self.calls = 0

    async def burst(self, count: int) -> None:
        """So many calls at once, one each."""
        async def user() -> None:
            await asyncio.sleep(self.dice.uniform(0.0, ARRIVAL))
            await self.call(60.0, None)

        await self.while_looking(user, count)

    async def load(self, count: int, seconds: float) -> None:
        """So many users for so long, and until the last call has ended."""
        end = now() + seconds * 1e3

        async def user() -> None:
            await asyncio.sleep(self.dice.uniform(0.0, ARRIVAL))
            while now() < end:
                left = (end - now()) / 1e3
                cancel = None
                if self.dice.random() < 0.15:
                    cancel = self.dice.uniform(0.0, 4.0)
                elif left < LONGEST:
                    cancel = left + self.dice.uniform(*LEAVE)
                reason = await self.call(self.dice.uniform(0.3, LONGEST), cancel)
                await asyncio.sleep(
                    self.dice.uniform(*SULK) if reason in REFUSALS else self.dice.uniform(0.0, PAUSE)
                )

        await self.while_looking(user, count)

    async def while_looking(self, user: Callable[[], Awaitable[object]], count: int) -> None:
        async def sample() -> None:
            while True:
                self.journal.write(look(self.client))
                self.journal.flush()
                await asyncio.sleep(SAMPLE)

        sampler = asyncio.create_task(sample())
        await asyncio.gather(*(user() for _ in range(count)))
        sampler.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await sampler

    async def call(self, within: float, cancel: float | None) -> str:
        """One call. Returns why it ended."""
        self.calls += 1
        call = self.calls
        safety = self.dice.choices(SAFETIES, (6, 2, 2))[0]
        start = now()
        deadline = start + within * 1e3
        line = {"e": "call", "t": start, "call": call, "safety": safety}
        self.journal.write({**line, "within": within * 1e3, "deadline": deadline})
        task = asyncio.create_task(self.conduct(call, safety, deadline / 1e3))
        timer = None
        if cancel is not None:
            timer = asyncio.get_running_loop().call_later(cancel, self.cancel, call, task)
        try:
            reason, attempts = await task
        except asyncio.CancelledError:
            reason, attempts = "cancelled", None
        if timer is not None:
            timer.cancel()
        self.journal.write({"e": "end", "t": now(), "call": call, "reason": reason, "attempts": attempts})
        return reason

    def cancel(self, call: int, task: "asyncio.Task[object]") -> None:
        if not task.done():
            self.journal.write({"e": "cancel", "t": now(), "call": call})
            task.cancel()

    async def conduct(self, call: int, safety: str, deadline: float) -> tuple[str, int | None]:
        """Returns why the call ended, and how many attempts the client counted."""
        current.set(call)
        method = "GET" if safety == "idempotent" else "POST"
        caller = self.client.with_options(safety=safety, deadline=deadline)
        way = self.dice.choice(("acall", "aexecute", "own key"))
        if way == "own key" and safety == "keyed":
            caller = self.client.with_options(idempotency_key=uuid.uuid4().hex, deadline=deadline)
        if way == "aexecute":
            outcome = await caller.aexecute(self.operations.send, call, method)
            return outcome.decision.reason, outcome.decision.attempts
        try:
            response = await caller.acall(self.operations.send, call, method)
        except Exception as error:
            decision = getattr(error, "decision", None) or decision_of(error)
            return (decision.reason, decision.attempts) if decision else (f"none: {error!r}", None)
        decision = decision_of(response)
        return (decision.reason, decision.attempts) if decision else ("success", None)
