"""Every block of the package's README runs."""

from __future__ import annotations

import re
from typing import Any

import pytest
from conftest import ROOT, FaultServer

from stormproof import ResilientClient

BLOCK = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)


def test_readme(server: FaultServer, capsys: pytest.CaptureFixture[str]) -> None:
    text = (ROOT / "bindings-python/README.md").read_text(encoding="utf-8")
    blocks = BLOCK.findall(text)
    assert len(blocks) == text.count("```") // 2
    url = server.script(503)
    names: dict[str, Any] = {"__name__": "readme"}
    for language, block in blocks:
        if language == "json":
            assert ResilientClient.from_json(block).name == "billing"
            continue
        assert language == "python"
        source = block.replace("https://shop.example", url)
        exec(compile(source, "README.md", "exec"), names)
    assert names["response"].status_code == 200
    assert names["pay"](3).status_code == names["pay_once"](3).status_code == 200
    keys = [dict(request["headers"]).get("idempotency-key") for request in server.log(url)]
    assert keys[-2] is None and keys[-1]
    said = capsys.readouterr().out
    for line in re.findall(r"print\(.*\)  # ((?:retry|out_of).*)", text):
        assert line in said


def test_front_page(server: FaultServer, capsys: pytest.CaptureFixture[str]) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = [block for language, block in BLOCK.findall(text) if language == "python"]
    assert len(blocks) == 1
    answer = {"status": 200, "body": {"json": {"balance": 42}}}
    url = server.script(503, answer, after=answer)
    exec(compile(blocks[0].replace("https://payments.example", url), "README.md", "exec"), {})
    assert capsys.readouterr().out == "42\n"
    assert len(server.log(url)) == 2
