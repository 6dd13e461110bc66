"""What the process holds while nothing happens, and what the client has counted."""

import asyncio
import gc
import os
from typing import Any

from journal import now
from stormproof import ResilientClient

#: Seconds until the sockets of a dead server are closed.
PATIENCE = 5.0

#: How many more blocks of memory Python may hold: less than one for each call of a run in CI.
SLACK = 10_000


async def measure(client: ResilientClient) -> dict[str, Any]:
    end = now() + PATIENCE * 1e3
    while True:
        await asyncio.sleep(0.05)
        if not open_files()["sockets"] or now() > end:
            break
    loop = asyncio.get_running_loop()
    for _ in range(3):
        gc.collect()
        # What finalizers let go of is free after the next round.
        await asyncio.sleep(0)
    # Pending timers are nowhere to be had in public.
    timers = [timer for timer in getattr(loop, "_scheduled", ()) if not timer.cancelled()]
    import sys

    return {
        "t": now(),
        **counted(client),
        **open_files(),
        "timers": len(timers),
        "tasks": len(asyncio.all_tasks()),
        "memory": sys.getallocatedblocks(),
        "memory_slack": SLACK,
    }


def counted(client: ResilientClient) -> dict[str, Any]:
    stats = client.stats()
    names = "running queued abandoned calls attempts retries successes failures refusals".split()
    return {name: getattr(stats, name) for name in names}


def open_files() -> dict[str, "int | None"]:
    try:
        names = os.listdir("/proc/self/fd")
    except OSError:
        return {"files": None, "sockets": None}
    files = sockets = 0
    for name in names:
        try:
            target = os.readlink(f"/proc/self/fd/{name}")
        except OSError:
            # The one that lists the others is closed by now.
            continue
        files += 1
        sockets += target.startswith("socket:")
    return {"files": files, "sockets": sockets}
