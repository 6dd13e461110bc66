"""Writes `_policy.pyi` from the core's table of knobs, so that editors know every field.

`python bindings-python/scripts/policy_stub.py` writes the file; with `--check` it only says whether
it is up to date.
"""

from __future__ import annotations

import re
import sys
import textwrap
from pathlib import Path

from stormproof import _core, _policy

TARGET = Path(__file__).parents[1] / "python/stormproof/_policy.pyi"

SECTIONS = {
    "retry": "Retry",
    "breaker": "CircuitBreaker",
    "budget": "RetryBudget",
    "bulkhead": "Bulkhead",
    "retry_after": "RetryAfter",
    "classify": "Classify",
    "idempotency": "Idempotency",
    "propagate": "Propagate",
}
CAN_BE_OFF = ("retry", "breaker", "budget", "bulkhead")
PRESETS, CLASSES = _core.known_names()
TYPES = {
    "count": "int",
    "span": "Seconds",
    "number": "float",
    "number or auto": 'float | Literal["auto"]',
    "flag": "bool",
    "text": "str",
}
HEAD = '''\
"""The parts of a policy. Written by scripts/policy_stub.py from the core's table of knobs."""

from collections.abc import Iterable
from typing import Any, ClassVar, Literal, TypedDict

from ._types import Safety, Seconds

class Section:
    fields: dict[str, Any]
    __hash__: ClassVar[None]  # type: ignore[assignment]
    def __eq__(self, other: object) -> bool: ...

'''


def literal(names: list[str]) -> str:
    return f"Literal[{', '.join(map(repr, names))}]".replace("'", '"')


def annotation(knob: dict[str, object]) -> str:
    takes = str(knob["takes"])
    choices = [str(choice) for choice in knob["choices"]]  # type: ignore[attr-defined]
    kind = literal(choices) if takes == "choice" else TYPES[takes]
    return f"{kind} | None" if knob["nullable"] else kind


def in_python(doc: str) -> str:
    """The table speaks of other knobs and of values as the document spells them."""
    spelled = {str(knob["path"]).split(".")[-1]: str(knob["name"]).split(".")[-1] for knob in KNOBS}

    def word(match: re.Match[str]) -> str:
        name = match[1]
        return f"`{'None' if name == 'null' else spelled.get(name, name)}`"

    return re.sub(r"`([^`]+)`", word, " ".join(doc.split()))


def paragraph(text: str, indent: int, first: str = "") -> str:
    return textwrap.fill(
        text,
        96,
        initial_indent=" " * indent + first,
        subsequent_indent=" " * (indent + 2 * bool(first)),
        break_on_hyphens=False,
    )


KNOBS = _core.knobs()


def section(name: str, title: str) -> str:
    fields = []
    docs = []
    if name == "classify":
        fields = [f"{cls}: Iterable[int] = ..." for cls in CLASSES]
        docs = [f"    - `{cls}`: statuses that count as this." for cls in CLASSES]
    for knob in KNOBS:
        group, _, field = str(knob["name"]).rpartition(".")
        if group == name:
            fields.append(f"{field}: {annotation(knob)} = ...")
            docs.append(paragraph(f"`{field}`: {in_python(str(knob['doc']))}", 4, "- "))
    summary = (getattr(_policy, title).__doc__ or "").strip()
    arguments = "".join(f"        {field},\n" for field in fields)
    listed = "\n".join(docs)
    return (
        f'class {title}(Section):\n    """{summary}\n\n{listed}\n    """\n\n'
        f"    def __init__(\n        self,\n        *,\n{arguments}    ) -> None: ...\n\n"
    )


def policy_fields() -> str:
    lines = []
    for name, title in SECTIONS.items():
        off = " | Literal[False]" if name in CAN_BE_OFF else ""
        lines.append(f"    {name}: {title}{off}\n")
    for knob in KNOBS:
        if "." not in str(knob["name"]):
            kind = "Safety" if knob["name"] == "safety" else annotation(knob)
            lines.append(f"    {knob['name']}: {kind}\n")
            lines.append(f'    """{in_python(str(knob["doc"]))}"""\n')
    lines.append(f"    preset: {literal(PRESETS)}\n")
    lines.append('    """The figures where nothing else is set."""\n')
    return (
        "class PolicyFields(TypedDict, total=False):\n"
        '    """What `ResilientClient` takes of a policy."""\n\n' + "".join(lines)
    )


def stub() -> str:
    parts = [section(name, title) for name, title in SECTIONS.items()]
    end = "\ndef document(policy: PolicyFields) -> dict[str, object]: ...\n"
    return HEAD + "".join(parts) + policy_fields() + end


def main() -> int:
    text = stub()
    if "--check" in sys.argv:
        return 0 if TARGET.read_text(encoding="utf-8") == text else 1
    TARGET.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
