"""What is done at each attempt, and what is written down of it."""

import asyncio

import httpx
import stormproof
from journal import Journal, now
from stormproof import ResilientClient


class Operations:
    """One request, read to its end."""

    def __init__(
        self, client: ResilientClient, http: httpx.AsyncClient, url: str, journal: Journal
    ) -> None:
        self.client = client
        self.http = http
        self.url = url
        self.journal = journal

    async def send(self, call: int, method: str) -> httpx.Response:
        attempt = stormproof.attempt()
        assert attempt is not None
        before = now()
        left = (attempt.timeout or 0.0) * 1e3
        until = [before + left, now() + left] if left > 0 else None
        name = {"call": call, "n": attempt.number}
        circuit = self.client.stats().circuit
        self.journal.write({"e": "try", "t": now(), **name, "until": until, "circuit": circuit})
        how, status = "network", None
        try:
            headers = {"x-call": str(call), **attempt.headers}
            content = b"pay" if method == "POST" else None
            response = await self.http.request(method, self.url, headers=headers, content=content)
            how, status = "answer", response.status_code
            return response
        except asyncio.CancelledError:
            how = "cut"
            raise
        finally:
            read = status is not None and status < 400
            end = {"how": how, "status": status, "read": read}
            self.journal.write({"e": "ended", "t": now(), **name, **end})
