"""Blocking calls elsewhere: results, exceptions, and calls that never come back."""

import asyncio
import threading

import pytest

from canary.offload import STUCK_PER_OWNER, Offloader, StuckError


async def test_a_result_and_an_exception_come_back() -> None:
    run = Offloader().owned("a")
    assert await run(lambda: 5) == 5

    def fail() -> int:
        raise KeyError("x")

    with pytest.raises(KeyError):
        await run(fail)


async def test_calls_that_never_come_back_stop_further_ones_of_their_owner_only() -> None:
    offloader, gate = Offloader(), threading.Event()
    stuck = [asyncio.ensure_future(offloader.owned("a")(gate.wait)) for _ in range(STUCK_PER_OWNER)]
    await asyncio.sleep(0)
    with pytest.raises(StuckError, match="4 earlier reads of a"):
        await offloader.owned("a")(lambda: 5)
    assert await offloader.owned("b")(lambda: 5) == 5
    gate.set()
    assert await asyncio.gather(*stuck) == [True] * STUCK_PER_OWNER
    assert await offloader.owned("a")(lambda: 5) == 5


async def test_a_call_that_was_given_up_does_no_harm_when_it_comes_back() -> None:
    offloader, gate = Offloader(), threading.Event()
    given_up = asyncio.ensure_future(offloader.owned("a")(gate.wait))
    await asyncio.sleep(0)
    given_up.cancel()
    with pytest.raises(asyncio.CancelledError):
        await given_up
    gate.set()
    assert await offloader.owned("a")(lambda: 5) == 5
