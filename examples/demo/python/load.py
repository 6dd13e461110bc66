"""Calls at a steady rate, started whether or not the earlier ones have ended, as users do."""

import asyncio
import json
from collections import Counter
from time import monotonic
from typing import Protocol

#: Seconds between two lines of the report.
PERIOD = 0.25


class Caller(Protocol):
    """Something that makes calls."""

    async def call(self) -> str | None: ...
    def standing(self) -> dict[str, object]: ...
    def take_waits(self) -> list[float]: ...


async def run_load(caller: Caller, rate: float, seconds: float) -> int:
    """Starts `rate` calls a second for `seconds`, waits for the last, returns how many were lost."""
    report = Report(caller)
    printer = asyncio.create_task(report.go_on())
    calls = []
    for number in range(int(rate * seconds)):
        due = report.start + number / rate
        await asyncio.sleep(max(0.0, due - monotonic()))
        calls.append(asyncio.create_task(report.count(caller)))
    await asyncio.gather(*calls, return_exceptions=True)
    printer.cancel()
    return report.close()


class Report:
    """What has become of the calls, as the lines of JSON that the demo draws."""

    def __init__(self, caller: Caller) -> None:
        self.caller = caller
        self.start = monotonic()
        self.started = 0
        self.ok = 0
        self.failed: Counter[str] = Counter()
        self.latencies: list[float] = []

    async def count(self, caller: Caller) -> None:
        self.started += 1
        begin = monotonic()
        reason = await caller.call()
        self.latencies.append((monotonic() - begin) * 1e3)
        if reason is None:
            self.ok += 1
        else:
            self.failed[reason] += 1

    async def go_on(self) -> None:
        while True:
            await asyncio.sleep(PERIOD)
            show(self.line())

    def close(self) -> int:
        lost = self.started - self.done()
        show({**self.line(), "summary": True, "lost": lost})
        return lost

    def done(self) -> int:
        return self.ok + self.failed.total()

    def line(self) -> dict[str, object]:
        latencies, self.latencies = self.latencies, []
        return {
            "t_ms": int((monotonic() - self.start) * 1e3),
            "calls": self.started,
            "done": self.done(),
            "ok": self.ok,
            "failed": self.failed,
            **self.caller.standing(),
            "waits_ms": [round(wait, 1) for wait in self.caller.take_waits()],
            "latencies_ms": [round(latency, 1) for latency in latencies],
        }


def show(line: object) -> None:
    print(json.dumps(line), flush=True)
