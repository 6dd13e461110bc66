"""The types hold: for users, and between the stubs and what they stand for."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
CONFIG = HERE.parent / "pyproject.toml"


def run(cache: Path, *arguments: str) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", *arguments],
        capture_output=True, text=True, check=False, cwd=cache,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_programs_of_users(tmp_path: Path) -> None:
    program = str(HERE / "typed_program.py")
    run(tmp_path, "mypy", "--strict", f"--config-file={CONFIG}", "--warn-unused-ignores", program)


def test_stubs(tmp_path: Path) -> None:
    run(tmp_path, "mypy.stubtest", "stormproof._core", "--concise", "--ignore-disjoint-bases")
