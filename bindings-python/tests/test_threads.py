"""One client in many threads, signals, and forks."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from stormproof import (
    BulkheadFullError,
    CircuitOpenError,
    DeadlineExceededError,
    QueueTimeoutError,
    ResilientClient,
    Retry,
)


def client(**options: Any) -> ResilientClient:
    return ResilientClient(**{"retry": Retry(base=0), "breaker": False, **options})


def test_sixteen_threads_and_three_permits() -> None:
    one = client(bulkhead={"max_concurrent": 3, "max_queue": 100})
    lock = threading.Lock()
    running = peak = 0

    def operation(number: int) -> int:
        nonlocal running, peak
        with lock:
            running += 1
            peak = max(peak, running)
        time.sleep(0.0002)
        with lock:
            running -= 1
        if number % 5 == 0:
            raise ValueError(number)
        return number

    def work(thread: int) -> int:
        done = 0
        for number in range(100):
            outcome = one.execute(operation, number)
            done += outcome.ok or isinstance(outcome.error, ValueError)
        return done

    with ThreadPoolExecutor(16) as threads:
        assert sum(threads.map(work, range(16))) == 1600
    assert peak == 3
    stats = one.stats()
    assert (stats.running, stats.queued, stats.calls) == (0, 0, 1600)


def test_thousands_of_quick_calls() -> None:
    one = client(bulkhead={"max_concurrent": 2, "max_queue": 100})
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda _: [one.call(int) for _ in range(5000)], range(8)))
    stats = one.stats()
    assert (stats.running, stats.queued, stats.successes) == (0, 0, 40_000)


def test_whatever_happens_every_permit_comes_back() -> None:
    """Threads and loops, failures, timeouts, interrupts and cancellations on one client."""
    one = client(
        retry=Retry(base=0.0005),
        bulkhead={"max_concurrent": 3, "max_queue": 30, "queue_timeout": 0.02},
        attempt_timeout=0.004,
        overall_timeout=0.05,
    )
    stop = time.monotonic() + 1
    failures = (ConnectionResetError, TimeoutError, ValueError, KeyboardInterrupt)

    def operation() -> None:
        time.sleep(random.random() * 0.002)
        if random.random() < 0.4:
            raise random.choice(failures)

    async def aoperation() -> None:
        await asyncio.sleep(random.random() * 0.01)
        if random.random() < 0.4:
            raise random.choice(failures[:3])

    def thread(_: int) -> None:
        while time.monotonic() < stop:
            with contextlib.suppress(Exception, KeyboardInterrupt):
                one.call(operation)

    async def tasks() -> None:
        running: list[asyncio.Future[Any]] = []
        while time.monotonic() < stop:
            running.append(asyncio.ensure_future(one.aexecute(aoperation)))
            if random.random() < 0.3:
                random.choice(running).cancel()
            await asyncio.sleep(random.random() * 0.002)
        await asyncio.gather(*running, return_exceptions=True)

    with ThreadPoolExecutor(8) as threads:
        for _ in range(5):
            threads.submit(thread, 0)
        for _ in range(3):
            threads.submit(lambda: asyncio.run(tasks()))
    assert (one.stats().running, one.stats().queued, one.stats().abandoned) == (0, 0, 0)


def hold(one: ResilientClient) -> tuple[threading.Event, threading.Thread]:
    free, held = threading.Event(), threading.Event()

    def operation() -> None:
        held.set()
        free.wait(10)

    thread = threading.Thread(target=one.call, args=(operation,))
    thread.start()
    held.wait(10)
    return free, thread


def test_the_queue_is_bounded_in_length_and_time() -> None:
    one = client(bulkhead={"max_concurrent": 1, "max_queue": 0})
    free, thread = hold(one)
    assert isinstance(one.execute(int).error, BulkheadFullError)
    free.set()
    thread.join()
    one = client(bulkhead={"max_concurrent": 1, "queue_timeout": 0.02})
    free, thread = hold(one)
    assert isinstance(one.execute(int).error, QueueTimeoutError)
    assert isinstance(one.with_options(timeout=0.01).execute(int).error, DeadlineExceededError)
    free.set()
    thread.join()
    assert one.call(int) == 0


def test_waiters_hear_that_the_circuit_opened() -> None:
    one = client(bulkhead={"max_concurrent": 1})
    free, thread = hold(one)
    with ThreadPoolExecutor(4) as threads:
        waiting = [threads.submit(one.execute, int) for _ in range(4)]
        while one.stats().queued < 4:
            time.sleep(0.001)
        one.force_open()
        for outcome in waiting:
            assert isinstance(outcome.result(5).error, CircuitOpenError)
    free.set()
    thread.join()


def test_an_operation_that_raises_at_once_gives_its_permit_back() -> None:
    """BH-06"""
    one = client(bulkhead={"max_concurrent": 1, "max_queue": 0})

    def broken() -> None:
        raise KeyError("x")

    for operation in (broken, lambda: object(), broken, lambda: 3):
        one.execute(operation)
    assert one.call(lambda: "runs") == "runs"


@pytest.mark.skipif(sys.platform == "win32", reason="signals of a console")
def test_ctrl_c_ends_waits() -> None:
    def fail() -> None:
        raise ConnectionResetError

    def send() -> None:
        os.kill(os.getpid(), signal.SIGINT)

    one = client(
        retry=Retry(base=15, jitter="none"), bulkhead={"max_concurrent": 1}, overall_timeout=None
    )
    for prepare in (False, True):
        free, thread = hold(one) if prepare else (None, None)
        timer = threading.Timer(0.05, send)
        timer.start()
        start = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            one.call(fail)
        assert time.monotonic() - start < 2
        timer.join()
        if free is not None and thread is not None:
            free.set()
            thread.join()
        assert (one.stats().running, one.stats().queued) == (0, 0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_fork_shares_neither_words_nor_permits() -> None:
    program = """
import os, threading, time, sys
from stormproof import ResilientClient, Retry
def fail(): raise ConnectionResetError
one = ResilientClient(retry=Retry(base=0.001), bulkhead={"max_concurrent": 1}, breaker=False)
started, free = threading.Event(), threading.Event()
thread = threading.Thread(target=one.call, args=(lambda: (started.set(), free.wait()),))
thread.start(); started.wait()
def child(write):
    # The permit of the parent's thread is not out in this process.
    one.execute(fail)
    os.write(write, f"{one.stats().total_wait_ns} {one.stats().running}\\n".encode())
    os._exit(0)
read, write = os.pipe()
for _ in range(3):
    pid = os.fork()
    if pid == 0: child(write)
    os.waitpid(pid, 0)
# A fork within an operation: both processes go on.
def operation():
    return os.fork()
free.set(); thread.join()
pid = one.call(operation)
if pid == 0:
    os.write(write, f"in {one.stats().running} {one.call(int)}\\n".encode()); os._exit(0)
os.waitpid(pid, 0)
print(os.read(read, 4096).decode(), end="")
print("parent", one.stats().running)
"""
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        capture_output=True, text=True, timeout=20, check=False,
    )
    assert ran.returncode == 0, ran.stderr
    lines = ran.stdout.split("\n")
    waits = [line.split() for line in lines[:3]]
    assert len({wait for wait, _ in waits}) == 3, "equal jitter after a fork"
    assert [running for _, running in waits] == ["0"] * 3
    assert lines[3:5] == ["in 0 0", "parent 0"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_threads_of_a_forked_process_begin_anew_together() -> None:
    program = """
import os, sys, threading
from stormproof import ResilientClient
one = ResilientClient(bulkhead={"max_concurrent": 2}, breaker=False, overall_timeout=2)
one.call(int)
def child():
    sys.setswitchinterval(1e-5)
    done = []
    together = threading.Barrier(6)
    def work():
        together.wait()
        for _ in range(50): done.append(one.call(int))
    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    stats = one.stats()
    os._exit((stats.calls, stats.running, stats.queued, len(done)) != (300, 0, 0, 300))
for _ in range(20):
    pid = os.fork()
    if pid == 0: child()
    assert os.waitpid(pid, 0)[1] == 0
"""
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        capture_output=True, text=True, timeout=60, check=False,
    )
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize("waiting", ["thread", "task"])
def test_a_signal_while_somebody_is_woken_is_not_lost(waiting: str) -> None:
    one = client(bulkhead={"max_concurrent": 1})
    ours = ("/_asynchronous.py", "/threading.py")

    def interrupt(frame: Any, event: str, argument: object) -> None:
        if frame.f_code.co_name in ("_wake", "set") and frame.f_code.co_filename.endswith(ours):
            sys.settrace(None)
            raise KeyboardInterrupt

    def wait() -> None:
        if waiting == "thread":
            one.call(int)
        else:
            asyncio.run(one.acall(asyncio.sleep, 0))

    def operation() -> None:
        thread.start()
        while not one.stats().queued:
            time.sleep(0.001)
        time.sleep(0.05)
        sys.settrace(interrupt)

    before = sys.gettrace()
    thread = threading.Thread(target=wait)
    interrupted = False
    try:
        one.call(operation)
        for _ in range(1000):
            pass
    except KeyboardInterrupt:
        interrupted = True
    finally:
        # Threads are woken by what no signal gets into.
        in_between = sys.gettrace() is None
        sys.settrace(before)
    thread.join(5)
    assert not thread.is_alive()
    assert interrupted == (waiting == "task") == in_between
    assert one.stats().running == 0
