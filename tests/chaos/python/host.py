"""Makes calls by the policy and writes down what happens. Each step is answered on stdout and waits
for a line on stdin: warm, rest, rested, load, drained, rest, rested.

python host.py --url URL --policy FILE --log FILE --seed N --calls N --seconds S
"""

import argparse
import asyncio
import random
import sys
import threading

import httpx
from journal import Journal
from operations import Operations
from rest import measure
from stormproof import ResilientClient
from tellings import listen
from users import Users


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("--url", "--policy", "--log"):
        parser.add_argument(name, required=True)
    for name in ("--seed", "--calls", "--seconds"):
        parser.add_argument(name, required=True, type=int)
    return parser.parse_args()


async def main() -> None:
    args = arguments()
    journal = Journal(args.log)
    journal.start()
    client = ResilientClient.from_file(args.policy)
    listen(client, journal)
    # The policy sets the limits, not the HTTP library.
    limits = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(timeout=None, limits=limits, trust_env=False) as http:
        users = Users(client, Operations(client, http, args.url, journal), journal, random.Random(args.seed))
        await users.burst(args.calls)
    await rest(client, journal, "before", "warm")
    await line()
    async with httpx.AsyncClient(timeout=None, limits=limits, trust_env=False) as http:
        users.operations.http = http
        await users.load(args.calls, args.seconds)
    await rest(client, journal, "after", "drained")
    client.close()
    journal.close()


async def rest(client: ResilientClient, journal: Journal, stage: str, done: str) -> None:
    journal.flush()
    say(done)
    await line()
    journal.write({"e": "rest", "stage": stage, **await measure(client)})
    journal.flush()
    say("rested")


def say(word: str) -> None:
    print(word, flush=True)


lines: "asyncio.Queue[str]"


async def line() -> str:
    return await lines.get()


def read_stdin(loop: asyncio.AbstractEventLoop, over: threading.Event) -> None:
    """No host outlives the one who started it."""
    for text in sys.stdin:
        loop.call_soon_threadsafe(lines.put_nowait, text)
    if not over.is_set():
        import os

        os._exit(1)


async def run() -> None:
    global lines
    lines = asyncio.Queue()
    over = threading.Event()
    loop = asyncio.get_running_loop()
    threading.Thread(target=read_stdin, args=(loop, over), daemon=True).start()
    await main()
    over.set()


if __name__ == "__main__":
    asyncio.run(run())
