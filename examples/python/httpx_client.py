"""Gets an address as often as is asked, through a client that survives what the server does.

    python httpx_client.py http://127.0.0.1:8000/ 20
"""

from __future__ import annotations

import sys

import httpx

import stormproof
from stormproof import Bulkhead, ResilientClient, Retry

shop = ResilientClient(
    name="shop",
    retry=Retry(max_attempts=4, base=0.1),
    bulkhead=Bulkhead(max_concurrent=10),
    attempt_timeout=2.0,
    overall_timeout=10.0,
)
http = httpx.Client()


@shop
def get(url: str) -> httpx.Response:
    """One attempt. It is told how long it may take: nothing else can stop a blocking call."""
    attempt = stormproof.attempt()
    assert attempt is not None
    return http.get(url, timeout=attempt.timeout, headers=attempt.headers)


def main(url: str, times: int) -> None:
    shop.on("retry_scheduled", lambda e: print(f"  {e.kind}, again in {e.wait:.2f} s ({e.why})"))
    shop.on("circuit_changed", lambda e: print(f"  circuit: {e.circuit}"))
    for number in range(1, times + 1):
        try:
            response = get(url)
            print(number, response.status_code, shop.explain(response))
        except (httpx.HTTPError, stormproof.StormproofError) as error:
            print(number, type(error).__name__, shop.explain(error))
    print(shop.stats())


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1)
