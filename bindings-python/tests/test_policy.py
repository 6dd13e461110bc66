"""Policies: Python's spelling of the one table of knobs."""

from __future__ import annotations

import json
import math
import pickle
import subprocess
import sys
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import stormproof
from stormproof import PolicyError, ResilientClient, Retry, _core

SECTIONS = {
    "retry": stormproof.Retry,
    "breaker": stormproof.CircuitBreaker,
    "budget": stormproof.RetryBudget,
    "bulkhead": stormproof.Bulkhead,
    "retry_after": stormproof.RetryAfter,
    "idempotency": stormproof.Idempotency,
    "propagate": stormproof.Propagate,
}
GOOD = {"count": 2, "span": 1.5, "number": 1, "number or auto": "auto", "flag": True, "text": "X"}


def policy_with(name: str, value: object) -> dict[str, Any]:
    group, _, field = name.rpartition(".")
    return {group: SECTIONS[group](**{field: value})} if group else {field: value}


def refused(**policy: Any) -> PolicyError:
    with pytest.raises(PolicyError) as caught:
        ResilientClient(**policy)
    return caught.value


@pytest.mark.parametrize("knob", _core.knobs(), ids=lambda knob: knob["path"])
def test_every_knob_has_a_keyword(knob: dict[str, Any]) -> None:
    value = knob["choices"][0] if knob["takes"] == "choice" else GOOD[knob["takes"]]
    try:
        ResilientClient(**policy_with(knob["name"], value))
    except PolicyError as error:
        # A value can contradict another knob's default, which only a known name can.
        assert error.code == "contradiction", error


@pytest.mark.parametrize("knob", _core.knobs(), ids=lambda knob: knob["path"])
@pytest.mark.parametrize(
    "value",
    [None, True, "nonsense \ud800", math.nan, math.inf, -1, 10**400, -(10**400), Decimal("0.1")]
    + [object(), [1], b"x", 1j, timedelta(days=-3), timedelta.max],
    ids=repr,
)
def test_no_value_crashes(knob: dict[str, Any], value: object) -> None:
    try:
        ResilientClient(**policy_with(knob["name"], value))
    except PolicyError as error:
        assert error.field == knob["path"]
        assert knob["name"] in str(error)


def test_durations_are_exact() -> None:
    for seconds in (0.1, 0.007, 1e-9, 20, timedelta(milliseconds=1), timedelta(microseconds=7)):
        client = ResilientClient(
            retry=Retry(base=seconds, jitter="none", max_attempts=2), overall_timeout=None
        )
        waits = []
        client.on("retry_scheduled", lambda event: waits.append(event.wait))
        client.force_closed()
        with pytest.raises(ConnectionError):
            if seconds != 20:
                client.call(fail_with, ConnectionResetError())
            else:
                raise ConnectionError
        expected = seconds.total_seconds() if isinstance(seconds, timedelta) else seconds
        assert client.stats().total_wait == (0 if seconds == 20 else expected)


def fail_with(error: Exception) -> None:
    raise error


def test_errors_speak_python_and_name_the_document() -> None:
    error = refused(retry=Retry(base=-1))
    assert str(error) == (
        "retry.base: -1 is not allowed; allowed: a duration from 0 s to 36525 days"
    )
    assert (error.code, error.field, error.value) == ("out_of_range", "retry.baseMs", -1)
    assert isinstance(error, ValueError)

    error = refused(retry=Retry(base=30))
    assert (error.code, error.field) == ("contradiction", "retry.capMs")
    assert str(error) == "retry.cap: 20 s is not allowed; allowed: at least retry.base (30 s)"

    error = refused(retry=Retry(base="fast"))
    assert (error.code, error.value) == ("wrong_type", "fast")

    error = refused(preset="nonsense")
    assert (error.code, error.field) == ("unknown_name", "preset")


@pytest.mark.parametrize(
    ("policy", "field"),
    [
        ({"retries": 3}, "retries"),
        ({"retry": Retry(tries=3)}, "retry.tries"),
        # The document's own spelling is in milliseconds: it must not pass as seconds.
        ({"retry": Retry(baseMs=100)}, "retry.baseMs"),
        ({"retry": Retry(base_ms=100)}, "retry.base_ms"),
        ({"attemptTimeoutMs": 100}, "attemptTimeoutMs"),
    ],
)
def test_unknown_keywords(policy: dict[str, Any], field: str) -> None:
    error = refused(**policy)
    assert (error.code, error.field) == ("unknown_field", field)
    assert str(error).startswith(f"{field} is not a field of a policy; ")


def test_off_and_lists() -> None:
    ResilientClient(retry=False, breaker=False, budget=False, bulkhead=False)
    client = ResilientClient(classify=stormproof.Classify(transient=[404], success={418}))
    assert client.name == "the dependency"
    error = refused(classify=stormproof.Classify(transient=[404], success=[404]))
    assert error.code == "contradiction"
    assert refused(classify=stormproof.Classify(transient=[404.5])).code == "out_of_range"
    assert refused(classify=stormproof.Classify(transient=404)).code == "wrong_type"
    assert refused(classify=stormproof.Classify(transient="x")).code == "wrong_type"


def test_documents(tmp_path: Path) -> None:
    document = {"name": "orders", "retry": {"baseMs": 5, "maxAttempts": 2}}
    client = ResilientClient.from_json(json.dumps(document))
    assert client.name == "orders"
    path = tmp_path / "policy.json"
    path.write_text(json.dumps(document))
    assert ResilientClient.from_file(path).name == "orders"

    for text, code, field in [
        ("{", "bad_document", ""),
        ("[]", "bad_document", ""),
        ('{"retry": {"base": 1}}', "unknown_field", "retry.base"),
        ('{"retry": {"baseMs": -1}}', "out_of_range", "retry.baseMs"),
    ]:
        with pytest.raises(PolicyError) as caught:
            ResilientClient.from_json(text)
        assert (caught.value.code, caught.value.field) == (code, field)
    with pytest.raises(PolicyError) as caught:
        ResilientClient.from_file(tmp_path / "none.json")
    assert caught.value.code == "unreadable_file"
    (tmp_path / "bytes.json").write_bytes(b"\xff")
    with pytest.raises(PolicyError) as caught:
        ResilientClient.from_file(tmp_path / "bytes.json")
    assert caught.value.code == "unreadable_file"


def test_policy_errors_pickle() -> None:
    error = pickle.loads(pickle.dumps(refused(retry=Retry(base=-1))))
    assert (error.code, error.field, error.value) == ("out_of_range", "retry.baseMs", -1)
    assert "retry.base: -1" in str(error)


def test_the_stub_is_that_of_the_table() -> None:
    script = Path(__file__).parents[1] / "scripts/policy_stub.py"
    checked = subprocess.run([sys.executable, script, "--check"], check=False)
    assert checked.returncode == 0, f"run {script}"


def test_a_file_name_that_cannot_be() -> None:
    with pytest.raises(PolicyError) as caught:
        ResilientClient.from_file("a\0b")
    assert caught.value.code == "unreadable_file"
