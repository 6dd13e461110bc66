"""python replay.py FOLDER: replays the trace in FOLDER through the extension module of the wheel."""

import hashlib
import json
import struct
import sys
from pathlib import Path
from typing import Any

from stormproof import Classification, Decision, Stats, _core

RECORD = struct.Struct("<BBBxHxxQQQQ")
NONE = 1 << 63
ACTIONS = ["attempt", "wait", "queue", "finish", "stale"]
NOTHING, SNAPSHOT, TEXT = 5, 6, 7

Json = dict[str, Any]


def or_none(number: int) -> int | None:
    return None if number == NONE else number


def none(number: int | None) -> int:
    return NONE if number is None else number


class Names:
    """Names by number, and numbers by name."""

    def __init__(self, names: dict[str, list[str]]) -> None:
        self.of = names
        self.code = {
            group: {name: place for place, name in enumerate(members)} for group, members in names.items()
        }

    def safety(self, code: int) -> str | None:
        """That of the policy has no name."""
        safeties = self.of["safeties"]
        return safeties[code] if code < len(safeties) else None


class Digest:
    """The digest that tests/trace/README.md describes."""

    def __init__(self, names: Names) -> None:
        self.code = names.code
        self.kinds = names.of["kinds"]
        self.open = bytearray(32)
        self.steps = 0

    def words(self, *words: int) -> None:
        self.open += struct.pack(f"<{len(words)}Q", *words)

    def step(self, step: _core.Step | None) -> None:
        if step is None:
            return self.words(NOTHING)
        action = step.action
        detail = planned = change = 0
        if action == "attempt":
            detail = none(step.number)
        elif action == "wait":
            detail, planned = self.code["whys"][str(step.why)], none(step.planned)
        elif action == "stale":
            detail = int(step.late)
        if step.circuit is not None:
            start, end, cause = step.circuit
            circuits = self.code["circuits"]
            change = 1 << 24 | circuits[start] << 16 | circuits[end] << 8 | self.code["causes"][cause]
        number, poll_at, until = ACTIONS.index(action), none(step.poll_at), none(step.until)
        self.words(number, step.call, step.previous, poll_at, until, detail, planned, change)
        if step.decision is not None:
            self.decision(step.decision)
        self.steps += 1
        return None

    def decision(self, decision: Decision) -> None:
        kind, tokens = decision.last_kind, decision.tokens
        self.words(
            self.code["reasons"][decision.reason],
            decision.attempts,
            NONE if kind is None else self.code["kinds"][kind],
            decision.last_status,
            decision.at_ns,
            none(decision.retry_at_ns),
            int(decision.forced),
            decision.total_wait_ns,
            thousandths(tokens),
        )

    def snapshot(self, stats: Stats) -> None:
        self.words(
            SNAPSHOT,
            self.code["circuits"][stats.circuit],
            none(stats.open_until_ns),
            thousandths(stats.tokens),
            thousandths(stats.capacity),
            stats.running,
            stats.queued,
            stats.abandoned,
            stats.calls,
            stats.attempts,
            stats.retries,
            stats.successes,
            stats.retry_after_adopted,
            stats.total_wait_ns,
            stats.late_results,
            *(counts.get(kind, 0) for counts in (stats.failures, stats.refusals) for kind in self.kinds),
        )

    def text(self, text: str) -> None:
        encoded = text.encode()
        self.words(TEXT, len(encoded))
        self.open += encoded + bytes(-len(encoded) % 8)

    def close_block(self) -> str:
        """Each block begins with the digest of the one before it."""
        block = hashlib.sha256(self.open).digest()
        self.open = bytearray(block)
        return block[:8].hex()


def thousandths(tokens: float | None) -> int:
    return NONE if tokens is None else round(tokens * 1000)


def ask(engine: _core.Engine, names: Names, fields: tuple[int, ...]) -> _core.Step | None:
    operation, code, flag, status, now, call, word, extra = fields
    match operation:
        case 1:
            safety, deadline = names.safety(code), or_none(extra)
            return engine.start(now, safety=safety, deadline=deadline, cancelled=flag == 1)
        case 2:
            asked = or_none(extra)
            seconds = None if asked is None else asked / 1000
            kind, phase = names.of["kinds"][code], names.of["phases"][flag]
            return engine.settle(now, call, Classification(kind, status, phase, seconds), word=word)
        case 3:
            outcome = engine.classify(status, or_none(extra), names.safety(code))
            return engine.settle(now, call, outcome, word=word)
        case 4:
            return engine.elapsed(now, call, word=word)
        case 5:
            return engine.cancel(now, call, word=word)
        case 6:
            return engine.poll_ready(now, word=word)
        case 7:
            return engine.control(now, names.of["controls"][code])
    raise ValueError(f"there is no operation {operation}")


def main(folder: Path) -> None:
    trace: Json = json.loads((folder / "trace.json").read_text())
    names = Names(trace["names"])
    digest = Digest(names)
    engine = _core.Engine({})
    step: _core.Step | None = None
    blocks: list[str] = []
    for fields in RECORD.iter_unpack((folder / "inputs.bin").read_bytes()):
        operation, now, extra = fields[0], fields[4], fields[7]
        if operation == 0:
            engine = _core.Engine(trace["policies"][extra])
        elif operation == 8:
            digest.snapshot(engine.snapshot(now))
        elif operation == 9:
            assert step is not None and step.decision is not None
            digest.text(engine.explain(step.decision, trace["name"]))
        else:
            step = ask(engine, names, fields)
            digest.step(step)
            if step is not None and digest.steps % trace["block"] == 0:
                blocks.append(digest.close_block())
    for place, block in enumerate(blocks):
        print(f"block {place + 1} {block}")
    print(f"trace Python: {digest.steps} steps, hash {blocks[-1]}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
