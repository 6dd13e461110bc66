"""Bytes as a program against the compiled half of the package, and what holds whatever it does.

Nothing that Python hands in makes Rust panic: not a value of a wrong type, a NaN, an integer beyond
all words, a call that is used twice, an object whose methods raise or come back in the middle of a
call. An exception is an exception, the books are in order at the end, and nothing is held.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import stormproof
from stormproof import _core

#: Programs do not call each other deeper than this.
DEEPEST = 3
#: Longer programs only repeat themselves.
LONGEST = 400

SAFETIES = ["idempotent", "keyed", "unsafe", "once"]
KINDS = ["success", "network", "timeout", "server", "throttled", "client", "business", "cancelled"]
ORDERS = ["force_open", "force_closed", "metrics_only", "reset"]


def check(data: bytes) -> None:
    """Runs the program that the bytes are, and raises `AssertionError` where something fails."""
    defects: list[str] = []

    def on_unraisable(unraisable: Any) -> None:
        # Not kept: its traceback holds calls.
        defects.extend(_defects(unraisable.exc_value))

    before = sys.unraisablehook
    sys.unraisablehook = on_unraisable
    try:
        program = Program(data)
        program.run()
        program.close()
    finally:
        sys.unraisablehook = before
    assert not defects, defects


def _defects(error: BaseException | None) -> list[str]:
    """What of an error and its causes is one of Rust's, of the interpreter's, or of a check."""
    found = []
    while error is not None:
        is_panic = type(error).__name__ == "PanicException"
        if is_panic or isinstance(error, (SystemError, AssertionError)):
            found.append(repr(error))
        error = error.__cause__ or error.__context__
    return found


class Program:
    """A few objects, and operations on them as the bytes say."""

    def __init__(self, data: bytes) -> None:
        self.rest: Iterator[int] = iter(data[:LONGEST])
        self.depth = 0
        self.is_over = False
        self.things: list[Any] = [Strange(self), self.operation, str, object()]
        self.engines = [EngineBooks(self)]
        self.hosts = [HostBooks(self)]
        self.operations: list[Callable[[], object]] = [
            self.new_engine,
            self.new_host,
            self.any_function,
            self.classification,
            self.any_attribute,
            self.any_attribute,
            self.client,
            *[self.on_engine] * 5,
            *[self.on_host] * 5,
        ]

    def byte(self) -> int:
        """The next byte; 0 once there is none."""
        byte = next(self.rest, None)
        self.is_over = self.is_over or byte is None
        return byte or 0

    def pick(self, things: Any) -> Any:
        return things[self.byte() % len(things)]

    def run(self) -> None:
        while not self.is_over:
            self.one()

    def one(self) -> None:
        """One operation, whatever it raises."""
        if self.depth >= DEEPEST:
            return
        self.depth += 1
        try:
            self.pick(self.operations)()
        except BaseException as error:
            defects = _defects(error)
            assert not defects, defects
        finally:
            self.depth -= 1

    def close(self) -> None:
        for engine in self.engines:
            engine.close()
        for host in self.hosts:
            host.close()

    def value(self) -> Any:
        """Any value at all, the odd ones above all."""
        draw = self.byte()
        if draw < 160:
            return VALUES[draw % len(VALUES)]
        if draw < 200:
            return self.pick(self.things)
        return int.from_bytes(bytes(self.byte() for _ in range(draw % 9)), "big") - draw % 3

    def operation(self, *_args: object, **_kwargs: object) -> Any:
        """What Rust calls: comes back, returns something, raises something."""
        draw = self.byte() % 8
        for _ in range(draw % 3):
            self.one()
        if draw == 5:
            raise ValueError("no")
        if draw == 6:
            raise ConnectionError("gone")
        if draw == 7:
            raise Stop
        return self.value()

    def keep(self, thing: Any) -> None:
        self.things.append(thing)
        del self.things[4:-40]

    def new_engine(self) -> None:
        policy = self.policy() if self.byte() % 2 else LIVELY[self.byte() % len(LIVELY)]
        self.keep(_core.Engine(policy, seed=self.byte()))
        self.engines.append(EngineBooks(self))

    def new_host(self) -> None:
        kwargs = {"document": bool(self.byte() % 2)}
        self.keep(_core.Host(self.policy(), **kwargs))
        self.hosts.append(HostBooks(self))

    def policy(self) -> Any:
        """A mapping, or something that looks like one."""
        if self.byte() % 8 == 0:
            return self.value()
        fields: dict[Any, Any] = {}
        for _ in range(self.byte() % 6):
            row = self.pick(KNOBS)
            path = row["path"] if self.byte() % 2 else row["name"]
            *above, field = path.split(".")
            into = fields
            for key in above:
                into = into.setdefault(key, {}) if isinstance(into, dict) else {}
            choices = row["choices"]
            if isinstance(into, dict):
                into[field] = self.pick(choices) if choices and self.byte() % 4 else self.value()
        return fields

    def any_function(self) -> None:
        name = self.pick(FUNCTIONS)
        arguments = [self.value() for _ in range(self.byte() % 6)]
        keywords = {} if self.byte() % 2 else {"wall_ms": self.value()}
        self.keep(getattr(_core, name)(*arguments, **keywords))

    def classification(self) -> None:
        """An outcome whose numbers are anything."""
        status, retry_after = (503, self.value()) if self.byte() % 2 else (self.value(), None)
        phase = self.pick(["unknown", "not_sent"])
        self.keep(_core.Classification(self.pick(KINDS), status, phase, retry_after))

    def any_attribute(self) -> None:
        """Something of an object: read, written, called with whatever."""
        thing = self.pick(self.things)
        names = [name for name in dir(type(thing)) if name not in UNTOUCHED]
        name = self.pick(names)
        attribute = getattr(thing, name)
        draw = self.byte()
        if draw % 8 == 0:
            setattr(thing, name, self.value())
        elif callable(attribute) and type(thing).__module__.startswith("stormproof"):
            self.keep(attribute(*[self.value() for _ in range(draw % 5)]))
        repr(thing)

    def client(self) -> None:
        """A client that calls back: into this program."""
        client = stormproof.ResilientClient(
            retry={"base": 0, "cap": 0, "max_attempts": 3},
            bulkhead={"max_concurrent": 2, "max_queue": 0},
            on=self.operation if self.byte() % 4 == 0 else None,
            on_event=self.operation if self.byte() % 4 == 0 else None,
        )
        is_known = self.byte() % 2 == 0
        if is_known:
            self.keep(client)
        try:
            client.call(self.operation, *([1] if self.byte() % 2 else []))
        finally:
            # Of a client that it knows, the operation may have begun more calls.
            assert is_known or client.stats().running == 0, "nothing runs after a call"

    def on_engine(self) -> None:
        self.pick(self.engines).event()

    def on_host(self) -> None:
        self.pick(self.hosts).event()


class EngineBooks:
    """An engine without a clock, and the calls that its host knows of."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.engine = _core.Engine(LIVELY[program.byte() % len(LIVELY)], seed=1)
        self.now = 0
        self.started = 0
        self.finished = 0
        self.open: dict[int, Any] = {}
        self.cut: list[int] = []
        self.given: list[int] = []

    def event(self) -> None:
        program, engine = self.program, self.engine
        self.now += (0, 0, 1, 10**6, 5 * 10**7, 10**9, 10**10, 2**62)[program.byte() % 8]
        self.now = min(self.now, 2**64 - 1)
        draw = program.byte() % 12
        if draw < 3:
            deadline = self.now + 10**8 if draw == 0 else None
            deadline = min(deadline, 2**64 - 1) if deadline else None
            step = engine.start(self.now, safety=program.pick(SAFETIES), deadline=deadline)
            self.started += 1
            self.enter(step)
        elif draw < 9 and self.open:
            self.current(draw)
        elif draw == 9 and self.given:
            self.stale(program.pick(self.given))
        elif draw == 10:
            engine.control(self.now, program.pick(ORDERS))
        else:
            while (step := engine.poll_ready(self.now, word=0)) is not None:
                self.moved(step, cut=False)

    def outcome(self) -> _core.Classification:
        return _core.Classification(
            self.program.pick(KINDS), status=self.program.pick([0, 429, 503]), retry_after=None
        )

    def current(self, draw: int) -> None:
        call = self.program.pick(list(self.open))
        ran = self.open[call].action == "attempt"
        if draw < 5:
            step = self.engine.settle(self.now, call, self.outcome(), word=2**64 - 1)
        elif draw < 8:
            step = self.engine.elapsed(self.now, call)
        else:
            step = self.engine.cancel(self.now, call)
        assert step.previous == call, step
        stays = step.action == "stale" or (step.call == call and step.action != "finish")
        if not stays:
            self.moved(step, cut=ran and draw >= 5)

    def moved(self, step: _core.Step, *, cut: bool) -> None:
        del self.open[step.previous]
        if cut:
            self.cut.append(step.previous)
        self.enter(step)

    def enter(self, step: _core.Step) -> None:
        assert step.action in ("attempt", "wait", "queue", "finish"), step
        if step.action != "finish":
            assert step.call not in self.given, "an id is never given again"
            self.given.append(step.call)
            self.open[step.call] = step
            return
        self.finished += 1
        assert step.decision is not None
        assert self.engine.explain(step.decision, "it")

    def stale(self, call: int) -> None:
        if call in self.open:
            return
        step = self.engine.settle(self.now, call, self.outcome())
        assert step.action == "stale", step
        assert call in self.cut or not step.late, step

    def close(self) -> None:
        for call in list(self.open):
            if self.open[call].action == "attempt":
                step = self.engine.settle(self.now, call, _core.Classification("success"))
            else:
                step = self.engine.cancel(self.now, call)
            self.moved(step, cut=False)
        for call in self.cut:
            assert self.engine.settle(self.now, call, _core.Classification("success")).action == "stale"
        stats = self.engine.snapshot(self.now)
        assert self.started == self.finished == stats.calls
        assert (stats.running, stats.queued, stats.abandoned) == (0, 0, 0), stats


class HostBooks:
    """A host with a clock, and calls in the hands of Python."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.host = _core.Host(HOSTS[program.byte() % len(HOSTS)], seed=1)
        self.caller = _core.Caller()
        self.caller._bind(self.host, safety="idempotent")
        self.calls: list[_core.Call] = []
        #: Was a call told something that no host would tell it?
        self.is_misused = False
        program.keep(self.host)

    def event(self) -> None:
        program = self.program
        draw = program.byte() % 16
        if draw < 4 or not self.calls:
            self.calls.append(self.caller._enter() if draw % 2 else self.caller._begin())
        elif draw < 12:
            self.proper(program.pick(self.calls))
        elif draw < 14:
            self.calls.remove(program.pick(self.calls))
        elif draw == 14:
            self.host.control(program.pick(ORDERS))
        else:
            self.improper(program.pick(self.calls))

    def proper(self, call: _core.Call) -> None:
        """What a host tells a call that stands as this one does."""
        program, draw = self.program, self.program.byte() % 8
        action = call.action
        if action == "attempt":
            call.enter()
            repr(_core.attempt())
            call.leave()
            if draw == 0:
                call.cancel()
            elif draw < 4:
                call.answer(program.pick([200, 404, 429, 503, 65_535]), None, bool(draw % 2))
            elif draw < 7:
                call.settle(_core.Classification(program.pick(KINDS)))
            else:
                call.succeed(object())
        elif action == "wait":
            call.wake() if draw else call.cancel()
        elif action == "queue":
            parked = draw > 4 and call.park(program.operation)
            if not parked:
                call.look() if draw else call.cancel()
        else:
            assert (call.decision is not None) == (action == "finish")

    def improper(self, call: _core.Call) -> None:
        self.is_misused = True
        names = [name for name in dir(call) if name not in UNTOUCHED]
        attribute = getattr(call, self.program.pick(names))
        if callable(attribute):
            attribute(*[self.program.value() for _ in range(self.program.byte() % 4)])

    def close(self) -> None:
        self.calls.clear()
        stats = self.host.snapshot()
        if not self.is_misused:
            assert stats.running <= stats.abandoned, stats
            assert stats.queued == 0, stats


class Stop(BaseException):
    """No error of an operation's: somebody wants to stop."""


class Strange:
    """Whatever it is asked, it calls back or raises."""

    def __init__(self, program: Program) -> None:
        self.program = program

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return self.program.operation

    def __call__(self, *args: object) -> Any:
        return self.program.operation(*args)

    def __eq__(self, other: object) -> bool:
        return bool(self.program.operation())

    def __hash__(self) -> int:
        return 1

    def __index__(self) -> int:
        self.program.one()
        return 2**65

    def __float__(self) -> float:
        self.program.one()
        return float("nan")

    def __len__(self) -> int:
        return 2

    def __iter__(self) -> Iterator[Any]:
        self.program.one()
        return iter([("retry", self.program.operation()), 7])

    def __getitem__(self, key: object) -> Any:
        return self.program.operation()


class Name(str):
    """A text that is more than one."""


KNOBS = _core.knobs()
FUNCTIONS = [
    "Attempt",
    "Call",
    "Caller",
    "Classification",
    "Decision",
    "Engine",
    "Host",
    "attempt",
    "classify_status",
    "document_error",
    "is_idempotent_method",
    "is_key",
    "key_header_value",
    "knobs",
    "known_names",
    "monotonic_ns",
    "retry_after_ms",
]
#: What is Python's own, or ends the program.
UNTOUCHED = {
    "__class__",
    "__dict__",
    "__doc__",
    "__init_subclass__",
    "__new__",
    "__subclasshook__",
    # A number names a file that is open.
    "from_file",
}
VALUES: list[Any] = [
    None,
    True,
    False,
    0,
    1,
    -1,
    65_536,
    2**31,
    2**53 + 1,
    2**64 - 1,
    2**64,
    -(2**70),
    10**400,
    0.0,
    -0.0,
    0.5,
    1e-10,
    1e308,
    float("nan"),
    float("inf"),
    float("-inf"),
    "",
    "success",
    "server",
    "idempotent",
    "not_sent",
    "reset",
    "auto",
    "raw",
    "\ud800",
    "\0",
    "é" * 300,
    '{"retry": {"base\\\\Ms": 1}}',
    '{"name": ',
    Name("timeout"),
    b"",
    b"120",
    b"Thu, 15 Jan 2026 12:00:00 GMT",
    b"\xff" * 300,
    bytearray(b"1"),
    (),
    [],
    [429, "x", None],
    {},
    {"retry": {"base.ms": {"a": 1}}},
    {"\\": 1, 5: None},
    {1: 2}.items(),
    object,
    ValueError("an error"),
]
LIVELY: list[dict[str, object]] = [
    {
        "bulkhead": {"maxConcurrent": 1, "maxQueue": 2, "abandonedLeaseMs": 500},
        "breaker": {"failureThreshold": 3, "openDurationMs": 50},
        "attemptTimeoutMs": 40,
    },
    {"bulkhead": {"maxConcurrent": 2, "release": "timeout"}, "retry": {"waitForCircuit": True}},
    {"maxCalls": 1, "attemptTimeoutMs": 1, "overallTimeoutMs": None},
]
HOSTS: list[dict[str, object]] = [
    {"retry": {"base": 0, "cap": 0}, "bulkhead": {"max_concurrent": 1, "max_queue": 3}},
    {"retry": False, "breaker": {"failure_threshold": 1}, "bulkhead": {"max_concurrent": 2}},
    {"idempotency": {"auto": True, "form": "ietf"}, "propagate": {"attempt_header": "x-attempt"}},
]
