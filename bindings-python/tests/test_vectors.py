"""The vectors that all hosts share: same inputs, same steps."""

import sys
from pathlib import Path

from vector_runner import Runner

VECTORS = Path(__file__).parents[2] / "tests/vectors"


def test_vectors() -> None:
    runner = Runner()
    for path in sorted(VECTORS.glob("*.json")):
        runner.run_file(path)
    line = (
        f"vectors python: {runner.passed} passed, {len(runner.failures)} failed, "
        f"steps {runner.steps:016x}"
    )
    sys.stdout.write(f"\n{line}\n")
    sys.stdout.flush()
    assert not runner.failures, "\n".join(runner.failures[:20])
