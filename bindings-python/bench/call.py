"""What a call that succeeds at once costs, in nanoseconds over the bare call.

    cargo xtask build python && .venv/bin/python bindings-python/bench/call.py

The best of many short runs: the rest is other programs. An operation that takes no time is called
bare and through clients in turn, so that a slow moment meets both.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import stormproof
from stormproof import Bulkhead, ResilientClient, Retry

ROUNDS = 60
CALLS = 5_000
OFF: dict[str, Any] = {"breaker": False, "budget": False, "bulkhead": False}
NO_LIMITS: dict[str, Any] = {"attempt_timeout": None, "overall_timeout": None}


def operation() -> None:
    """Takes no time."""


async def aoperation() -> None:
    """Takes no time."""


def loop(call: Callable[..., Any], *args: Any) -> float:
    start = time.perf_counter_ns()
    for _ in range(CALLS):
        call(*args)
    return (time.perf_counter_ns() - start) / CALLS


async def aloop(call: Callable[..., Any], *args: Any) -> float:
    start = time.perf_counter_ns()
    for _ in range(CALLS):
        await call(*args)
    return (time.perf_counter_ns() - start) / CALLS


def clients() -> dict[str, ResilientClient]:
    everything: dict[str, Any] = {"bulkhead": Bulkhead(max_concurrent=10)}
    return {
        "retry only": ResilientClient(retry=Retry(), **OFF, **NO_LIMITS),
        "all policies": ResilientClient(**everything),
        "all policies, no time limits": ResilientClient(**everything, **NO_LIMITS),
    }


def blocking() -> dict[str, float]:
    best: dict[str, float] = {}
    for _ in range(ROUNDS):
        for name, client in CLIENTS.items():
            keep(best, name, loop(client.call, operation))
        keep(best, "bare", loop(operation))
    return best


async def asynchronous() -> dict[str, float]:
    best: dict[str, float] = {}
    for _ in range(ROUNDS):
        for name, client in CLIENTS.items():
            keep(best, name, await aloop(client.acall, aoperation))
        keep(best, "bare", await aloop(aoperation))
    return best


def keep(best: dict[str, float], name: str, nanos: float) -> None:
    best[name] = min(nanos, best.get(name, nanos))


def starting(code: str) -> float:
    start = time.perf_counter_ns()
    subprocess.run([sys.executable, "-I", "-c", code], check=True)
    return (time.perf_counter_ns() - start) / 1e6


def report(title: str, best: dict[str, float]) -> None:
    bare = best.pop("bare")
    print(f"{title}: bare {bare:.0f} ns")
    for name, nanos in best.items():
        print(f"  {name}: +{nanos - bare:.0f} ns ({nanos / bare:.1f} x)")


CLIENTS = clients()


def main() -> None:
    report("call", blocking())
    report("acall", asyncio.run(asynchronous()))
    stormproof.attempt()
    report("call, in a program that asks for attempt()", blocking())
    empty = min(starting("pass") for _ in range(20))
    ours = min(starting("import stormproof") for _ in range(20))
    print(f"import stormproof: +{ours - empty:.1f} ms over {empty:.1f} ms")


if __name__ == "__main__":
    main()
