"""The fault server, built and started once."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

ROOT = Path(__file__).parents[2]


class FaultServer:
    """A server that fails as it is told to."""

    def __init__(self, port: int, control_port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self._control = httpx.Client(base_url=f"http://127.0.0.1:{control_port}/_")
        self._scripts = 0

    def script(self, *steps: Any, after: Any = 200) -> str:
        """The address of a script that starts here."""
        self._scripts += 1
        name = f"t{self._scripts}"
        body = {"steps": steps, "after": {"status": after} if isinstance(after, int) else after}
        self._control.post(f"/script/{name}", json=body).raise_for_status()
        return f"{self.url}/s/{name}"

    def log(self, url: str) -> list[dict[str, Any]]:
        """The requests that have arrived there."""
        requests: list[dict[str, Any]] = self._control.get(f"/log/{url.rpartition('/')[2]}").json()
        return requests

    def open_connections(self) -> int:
        """How many sockets are open to the port that fails."""
        count: int = self._control.get("/connections").json()["open"]
        return count


@pytest.fixture(scope="session")
def server() -> Iterator[FaultServer]:
    build = ["cargo", "build", "--quiet", "--package", "fault-server", "--message-format=json"]
    built = subprocess.run(build, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    artifacts = map(json.loads, built.stdout.splitlines())
    program = next(name for item in artifacts if (name := item.get("executable")))
    with subprocess.Popen(
        [program, "--exit-with-stdin"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ,
    ) as process:
        assert process.stdout is not None and process.stdin is not None
        ports = json.loads(process.stdout.readline())
        yield FaultServer(ports["port"], ports["control_port"])
        process.stdin.close()
