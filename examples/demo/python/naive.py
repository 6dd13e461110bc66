"""What people write without a library: four tries, 100 ms apart."""

import asyncio

import httpx

TRIES = 4
WAIT = 0.1
TIMEOUT = 1.0


class Naive:
    """The loop and its two counters."""

    def __init__(self, http: httpx.AsyncClient, url: str) -> None:
        self.http = http
        self.url = url
        self.attempts = 0
        self.retries = 0
        self.waits: list[float] = []

    async def call(self) -> str | None:
        """One call. Returns why it failed; `None` for a value."""
        for number in range(1, TRIES + 1):
            self.attempts += 1
            failure = await self.try_once()
            if failure is None or number == TRIES:
                return failure
            self.retries += 1
            self.waits.append(WAIT * 1e3)
            await asyncio.sleep(WAIT)
        raise AssertionError("the loop ends with the last try")

    async def try_once(self) -> str | None:
        try:
            response = await asyncio.wait_for(self.http.get(self.url), TIMEOUT)
        except (asyncio.TimeoutError, httpx.TimeoutException):
            return "timeout"
        except httpx.HTTPError:
            return "network"
        return None if response.is_success else "status"

    def standing(self) -> dict[str, object]:
        return {
            "attempts": self.attempts,
            "retries": self.retries,
            "refused": 0,
            "circuit": None,
            "running": 0,
            "queued": 0,
        }

    def take_waits(self) -> list[float]:
        waits, self.waits = self.waits, []
        return waits
