"""The saved inputs of the fuzzer, against the package as it is installed."""

from __future__ import annotations

from contextvars import copy_context
from pathlib import Path

import boundary

CORPUS = Path(__file__).parents[2] / "tests" / "fuzz" / "corpus" / "python_boundary"


def test_saved_inputs() -> None:
    files = sorted(CORPUS.iterdir())
    assert files, "there are saved inputs"
    for file in files:
        try:
            # A program may begin an attempt and never leave it: that stays in a context of its own.
            copy_context().run(boundary.check, file.read_bytes())
        except AssertionError as error:
            raise AssertionError(f"{file.name}: {error}") from error
    print(f"fuzz python_boundary: {len(files)} inputs")
