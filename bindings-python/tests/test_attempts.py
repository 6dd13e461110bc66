"""Loops of attempts that are left, forgotten or used twice."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from stormproof import ResilientClient, Retry


@pytest.fixture
def one() -> Iterator[ResilientClient]:
    """A client with one permit. Nothing waits for the garbage collector."""
    gc.collect()
    gc.disable()
    try:
        yield ResilientClient(
            retry=Retry(base=0, max_attempts=3), bulkhead={"max_concurrent": 1}, breaker=False
        )
    finally:
        gc.enable()


def test_a_loop_that_is_left_gives_its_permit_back_at_once(one: ResilientClient) -> None:
    for attempt in one.attempts():
        assert one.stats().running == 1
        break
    assert one.stats().running == 0
    with pytest.raises(RuntimeError, match="inside its loop"), attempt:
        pass


def test_an_exception_outside_of_the_block_gives_the_permit_to_who_waits(
    one: ResilientClient,
) -> None:
    thread = threading.Thread(target=one.call, args=(int,))

    def forgetful() -> None:
        for _ in one.attempts():
            thread.start()
            while not one.stats().queued:
                pass
            raise ValueError("mine")

    with pytest.raises(ValueError, match="mine"):
        forgetful()
    thread.join(5)
    assert not thread.is_alive()
    assert one.stats().running == 0


def test_a_generator_that_is_dropped_within_a_block(one: ResilientClient) -> None:
    def halfway() -> Iterator[int]:
        for attempt in one.attempts():
            with attempt:
                yield attempt.number

    steps = halfway()
    assert (next(steps), one.stats().running) == (1, 1)
    del steps
    assert one.stats().running == 0


def test_loops_leave_nothing_to_the_garbage_collector(one: ResilientClient) -> None:
    def loop() -> None:
        for attempt in one.attempts():
            with attempt:
                if attempt.number < 3:
                    raise ConnectionResetError

    loop()
    gc.collect()
    loop()
    assert gc.collect() == 0


def test_leaving_between_two_attempts_gives_the_token_back(one: ResilientClient) -> None:
    tokens = one.stats().tokens
    for attempt in one.attempts():
        with attempt:
            raise ConnectionResetError
        break  # type: ignore[unreachable]
    assert one.stats().tokens == tokens


@pytest.mark.parametrize("error", [None, ConnectionResetError()])
def test_an_attempt_is_used_once(one: ResilientClient, error: Exception | None) -> None:
    tokens = one.stats().tokens
    with pytest.raises(RuntimeError, match="used once"):
        for attempt in one.attempts():
            with attempt:
                if error is not None:
                    raise error
            with attempt:
                pass
    stats = one.stats()
    assert (stats.running, stats.tokens) == (0, tokens)


def test_a_loop_within_its_own_block(one: ResilientClient) -> None:
    loop = one.attempts()
    with pytest.raises(RuntimeError, match="write `with attempt:`"):
        for attempt in loop:
            with attempt:
                for _ in loop:
                    pass
    assert one.stats().running == 0


def test_a_block_that_outlives_its_loop_is_not_tried_again(one: ResilientClient) -> None:
    loop: Any = one.attempts()
    attempt = next(loop)
    with pytest.raises(ConnectionResetError), attempt:
        del loop
        raise ConnectionResetError
    assert (one.stats().running, one.stats().attempts) == (0, 1)
