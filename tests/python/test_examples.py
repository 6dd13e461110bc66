"""The examples run."""

from __future__ import annotations

import subprocess
import sys

from conftest import ROOT, FaultServer


def test_httpx_client(server: FaultServer) -> None:
    url = server.script(503, "reset_before", 404)
    program = ROOT / "examples/python/httpx_client.py"
    ran = subprocess.run(
        [sys.executable, program, url, "3"], capture_output=True, text=True, check=True, timeout=30
    )
    lines = ran.stdout.splitlines()
    assert "server, again in" in lines[0]
    assert "network, again in" in lines[1]
    assert lines[2].startswith("1 404 Not retried: a repetition would not change the answer.")
    assert lines[3].startswith("2 200 Succeeded at attempt 1 of 4.")
    assert "calls=3, attempts=5" in lines[-1]
