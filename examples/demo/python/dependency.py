"""One dependency, called with stormproof. Everything else in this program is load and paper."""

import httpx
from stormproof import Event, ResilientClient


class Dependency:
    """Calls `url` by the policy document in the file `policy`."""

    def __init__(self, http: httpx.AsyncClient, url: str, policy: str) -> None:
        self.client = ResilientClient.from_file(policy)
        self.client.on("retry_scheduled", self.on_retry)
        self.http = http
        self.url = url
        self.waits: list[float] = []

    async def call(self) -> str | None:
        """One call. Returns why it failed; `None` for a value."""
        outcome = await self.client.aexecute(self.http.get, self.url)
        return None if outcome.decision.reason == "success" else outcome.decision.reason

    def on_retry(self, event: Event) -> None:
        self.waits.append((event.wait or 0.0) * 1e3)

    def standing(self) -> dict[str, object]:
        stats = self.client.stats()
        return {
            "attempts": stats.attempts,
            "retries": stats.retries,
            "refused": sum(stats.refusals.values()),
            "circuit": stats.circuit,
            "tokens": stats.tokens,
            "running": stats.running,
            "queued": stats.queued,
        }

    def take_waits(self) -> list[float]:
        waits, self.waits = self.waits, []
        return waits
