"""The log of the host."""

import json
import time
from typing import Any

from stormproof._core import monotonic_ns


def now() -> float:
    """The clock of the log: the client's own reading of `time.monotonic()`, in milliseconds."""
    return monotonic_ns() / 1e6


class Journal:
    """The clock's readings go into the lines, the lines later into the file."""

    def __init__(self, path: str) -> None:
        self.file = open(path, "w", encoding="utf-8")
        self.lines: list[dict[str, Any]] = []

    def start(self) -> None:
        self.write({"e": "start", "t": now(), "wall": time.time() * 1e3, "host": "python"})

    def write(self, line: dict[str, Any]) -> None:
        self.lines.append(line)

    def flush(self) -> None:
        lines, self.lines = self.lines, []
        self.file.writelines(f"{json.dumps(line)}\n" for line in lines)
        self.file.flush()

    def close(self) -> None:
        self.flush()
        self.file.close()
