"""Reads vector files and drives `_core.Engine` with them."""

from __future__ import annotations

import json
import math
from decimal import Decimal
from pathlib import Path
from typing import Any

from stormproof import Classification, Decision, PolicyError, _core

PRIME = 0x100000001B3
BASIS = 0xCBF29CE484222325
MASK = (1 << 64) - 1

Json = dict[str, Any]


def nanos(ms: float) -> int:
    """Milliseconds with up to six decimals as whole nanoseconds."""
    return min(int((Decimal(repr(ms)) * 1_000_000).to_integral_value()), MASK)


def plain(value: Any) -> Any:
    """The document with the numbers that JSON has no word for."""
    if isinstance(value, dict):
        if set(value) == {"$number"}:
            return {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}[value["$number"]]
        return {key: plain(inner) for key, inner in value.items()}
    return [plain(inner) for inner in value] if isinstance(value, list) else value


def outcome_of(given: Json) -> Classification:
    after = given.get("retry_after_ms")
    return Classification(
        given["kind"],
        given.get("status", 0),
        given.get("phase", "unknown"),
        None if after is None else after / 1000,
    )


class Names:
    """The ids that the calls of a vector have had."""

    def __init__(self) -> None:
        self.ids: dict[str, list[int]] = {}

    def find(self, name: str) -> int:
        call, _, place = name.partition("#")
        return self.ids[call][int(place) if place else -1]

    def begin(self, name: str, step: _core.Step) -> None:
        self.ids[name] = [step.call] if step.call and step.action != "finish" else [0]

    def renew(self, step: _core.Step) -> str | None:
        for name, ids in self.ids.items():
            if ids[-1] == step.previous and step.previous:
                if step.call != step.previous:
                    ids.append(step.call)
                return name
        return None


class Runner:
    """Runs vectors; keeps what failed and the hash of all steps."""

    def __init__(self) -> None:
        self.passed = 0
        self.failures: list[str] = []
        self.steps = BASIS

    def run_file(self, path: Path) -> None:
        for vector in json.loads(path.read_text(encoding="utf-8"))["vectors"]:
            try:
                self.run(vector)
                self.passed += 1
            except Exception as error:
                self.failures.append(f"{path.name} {vector['id']}: {type(error).__name__}: {error}")

    def run(self, vector: Json) -> None:
        if "steps" in vector:
            self.run_steps(vector)
        elif "policy_error" in vector:
            try:
                _core.Engine(plain(vector["policy"]))
            except PolicyError as error:
                got = {"code": error.code, "field": error.field}
                expect(got, vector["policy_error"])
            else:
                raise AssertionError("the policy was taken")
        elif "policy_ok" in vector:
            _core.Engine(plain(vector["policy"]))
        elif "retry_after" in vector:
            expect({"delay_ms": retry_after(vector["retry_after"])}, vector, only=["delay_ms"])
        elif "classify" in vector:
            given = vector["classify"]
            engine = _core.Engine(plain(given.get("policy", {})))
            got = engine.classify(given["status"], given.get("retry_after_ms"), given.get("safety"))
            expect({"kind": got.kind}, vector, only=["kind"])
        elif "method" in vector:
            got = _core.is_idempotent_method(vector["method"])
            expect({"idempotent": got}, vector, only=["idempotent"])
        elif "key" in vector:
            got = _core.key_header_value(vector["key"], vector.get("form", "raw"))
            expect({"header": got}, vector, only=["header"])
        else:
            raise AssertionError("a vector of no known kind")

    def run_steps(self, vector: Json) -> None:
        engine = _core.Engine(plain(vector["policy"]), seed=0)
        names = Names()
        safeties: dict[str, str] = {}
        wrong = []
        for place, given in enumerate(vector["steps"]):
            now = nanos(given["at"])
            expected = given.get("expect", {})
            if "snapshot" in given:
                got = snapshot(engine.snapshot(now))
            else:
                event = next(iter(set(given) & VERBS))
                id_before = names.find(given[event]) if event in NAMING else None
                step = EVENTS[event](engine, now, given, id_before, safeties)
                self.hash(step)
                if event == "start":
                    names.begin(given["start"], step)
                    called = given["start"]
                else:
                    called = names.renew(step) if step is not None else None
                got = facts(step, now, called, id_before)
            try:
                expect(got, expected)
            except AssertionError as error:
                wrong.append(f"step {place}: {error}")
        assert not wrong, "; ".join(wrong)

    def hash(self, step: _core.Step | None) -> None:
        for byte in line(step).encode():
            self.steps = ((self.steps ^ byte) * PRIME) & MASK


def word(given: Json) -> int:
    return int(given.get("word", "0"), 16)


def start(engine: _core.Engine, now: int, given: Json, _: Any, safeties: dict[str, str]) -> _core.Step:
    safety = safeties[given["start"]] = given.get("safety", "idempotent")
    deadline = given.get("deadline")
    return engine.start(
        now,
        safety=safety,
        deadline=None if deadline is None else nanos(deadline),
        cancelled=given.get("cancelled", False),
    )


def settle(engine: _core.Engine, now: int, given: Json, call: int, _: Any) -> _core.Step:
    return engine.settle(now, call, outcome_of(given["outcome"]), word=word(given))


def answer(engine: _core.Engine, now: int, given: Json, call: int, safeties: dict[str, str]) -> _core.Step:
    safety = safeties[given["answer"].partition("#")[0]]
    outcome = engine.classify(given["status"], given.get("retry_after_ms"), safety)
    return engine.settle(now, call, outcome, word=word(given))


EVENTS: dict[str, Any] = {
    "start": start,
    "settle": settle,
    "answer": answer,
    "elapsed": lambda engine, now, given, call, _: engine.elapsed(now, call, word=word(given)),
    "cancel": lambda engine, now, given, call, _: engine.cancel(now, call, word=word(given)),
    "poll": lambda engine, now, given, *_: engine.poll_ready(now, word=word(given)),
    "control": lambda engine, now, given, *_: engine.control(now, given["control"]),
}
VERBS = set(EVENTS)
NAMING = VERBS - {"start", "poll", "control"}


def facts(step: _core.Step | None, now: int, called: str | None, id_before: int | None) -> Json:
    if step is None:
        return {"action": "none"}
    got: Json = {
        "action": step.action,
        "until": step.until,
        "number": step.number,
        "why": step.why,
        "late": step.late,
        "poll_at": step.poll_at,
        "circuit": None if step.circuit is None else list(step.circuit),
        "call": called,
        "same_id": step.call == id_before,
    }
    if step.decision is not None:
        got |= decided(step.decision)
    return got


def decided(decision: Decision) -> Json:
    return {
        "reason": decision.reason,
        "own_error": decision.own_error,
        "attempts": decision.attempts,
        "last_kind": decision.last_kind,
        "last_status": decision.last_status,
        "retry_at": decision.retry_at_ns,
        "forced": decision.forced,
        "total_wait": decision.total_wait_ns,
        "tokens": decision.tokens,
    }


def snapshot(stats: _core.Stats) -> Json:
    names = (
        "circuit tokens capacity running queued abandoned calls attempts retries successes"
        " retry_after_adopted late_results failures refusals"
    )
    got = {name: getattr(stats, name) for name in names.split()}
    return got | {"open_until": stats.open_until_ns, "total_wait": stats.total_wait_ns}


IN_MS = {"until", "poll_at", "retry_at", "total_wait", "open_until"}


def expect(got: Json, expected: Json, only: list[str] | None = None) -> None:
    for name in only or expected:
        want = expected[name]
        have = got.get(name)
        if name in IN_MS and want is not None:
            want = nanos(want)
        if isinstance(want, dict):
            have = {kind: have.get(kind, 0) for kind in want}
        assert have == want, f"{name} is {have!r}, expected {want!r}"


def retry_after(given: Json) -> int | None:
    def field(name: str) -> bytes | None:
        lines = given["fields"].get(name)
        return None if lines is None else ", ".join(lines).encode("latin-1")

    names = ("retry-after", "date", "retry-after-ms", "x-ms-retry-after-ms")
    return _core.retry_after_ms(*map(field, names), wall_ms=given["wall_ms"])


def line(step: _core.Step | None) -> str:
    """What two hosts compare of a step."""
    if step is None:
        return "none\n"
    detail = "-"
    if step.action == "attempt":
        detail = str(step.number)
    elif step.action == "wait":
        detail = str(step.why)
    elif step.action == "stale":
        detail = "1" if step.late else "0"
    change = "-" if step.circuit is None else "{}>{}:{}".format(*step.circuit)
    parts = [step.action, step.call, step.previous, dash(step.poll_at), dash(step.until)]
    parts += [detail, change, decision_line(step.decision)]
    return " ".join(map(str, parts)) + "\n"


def dash(value: object) -> object:
    return "-" if value is None else value


def decision_line(decision: Decision | None) -> str:
    if decision is None:
        return "-"
    tokens = None if decision.tokens is None else round(decision.tokens * 1000)
    parts = (
        decision.reason,
        decision.attempts,
        dash(decision.last_kind),
        decision.last_status,
        dash(decision.retry_at_ns),
        int(decision.forced),
        decision.total_wait_ns,
        dash(tokens),
    )
    return ",".join(map(str, parts))
