"""The same scripted calls in every host: with the same seed each must decide the same."""

import json

import httpx
from stormproof import Event, ResilientClient

#: The script of the demo is over after these.
CALLS = 8


class Trace:
    """What was decided in one call."""

    def __init__(self, client: ResilientClient, sum_ns: int) -> None:
        self.client = client
        self.sum_ns = sum_ns
        self.attempts: list[str] = []
        self.waits_ns: list[int] = []

    def __call__(self, event: Event) -> None:
        if event.name == "attempt_failed":
            self.attempts.append(str(event.kind))
        elif event.name == "call_succeeded":
            self.attempts.append("success")
        elif event.name == "retry_scheduled":
            # The engine's own sum: exact, where `wait` is shortened by what was lost on the way.
            total = self.client.stats().total_wait_ns
            self.waits_ns.append(total - self.sum_ns)
            self.sum_ns = total


async def run_trace(http: httpx.AsyncClient, url: str, policy: str, seed: int) -> None:
    """Makes the calls and prints what was decided in each."""
    client = ResilientClient.from_file(policy, seed=seed)
    for call in range(1, CALLS + 1):
        trace = Trace(client, client.stats().total_wait_ns)
        remove = client.on("*", trace)
        outcome = await client.aexecute(http.get, url)
        remove()
        line = {
            "call": call,
            "attempts": trace.attempts,
            "waits_ns": trace.waits_ns,
            "reason": outcome.decision.reason,
        }
        print(json.dumps(line), flush=True)
