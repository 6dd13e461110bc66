"""Calls one dependency N times a second, whatever becomes of the calls, and prints a line of JSON
four times a second. `dependency.py` is the part to learn from.

python host.py --url URL --policy FILE [--host-name NAME] [--rate N] [--seconds S] [--naive | --trace SEED]
"""

import argparse
import asyncio
import sys

import httpx
from dependency import Dependency
from load import Caller, run_load
from naive import Naive
from stdin import wait_for_line
from trace_calls import run_trace


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", required=True)
    parser.add_argument("--policy", required=True)
    parser.add_argument("--host-name", default="python")
    parser.add_argument("--rate", type=float, default=25)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--naive", action="store_true")
    parser.add_argument("--trace", type=int)
    parser.add_argument("--start-with-stdin", action="store_true")
    return parser.parse_args()


async def main() -> int:
    """Answers how many calls were lost."""
    args = arguments()
    # The policy sets the limits, not the HTTP library.
    limits = httpx.Limits(max_connections=None)
    headers = {"x-host": args.host_name}
    async with httpx.AsyncClient(
        headers=headers, timeout=None, limits=limits, trust_env=False
    ) as http:
        if args.trace is not None:
            await run_trace(http, args.url, args.policy, args.trace)
            return 0
        caller: Caller = (
            Naive(http, args.url) if args.naive else Dependency(http, args.url, args.policy)
        )
        if args.start_with_stdin:
            wait_for_line()
        return await run_load(caller, args.rate, args.seconds)


if __name__ == "__main__":
    sys.exit(1 if asyncio.run(main()) else 0)
