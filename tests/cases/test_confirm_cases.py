"""Cases of confirmations (kind 7): one press consumes, by its requester and in time, whichever way it comes."""

import asyncio
import sqlite3
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from decide.handoff.click import Click, ClickState
from decide.handoff.ports import ThreadBusy
from tests.cases.adapter import given, when
from tests.cases.confirming import HTTP, WAYS, Scene, scene

NOW = datetime(2026, 10, 15, 12, 0, tzinfo=UTC)


async def offered(one: Scene, requester: str = "U1", line: str = "stop run 1", **more: timedelta) -> Click:
    """A click that was offered."""
    click = await one.offer(line, requester=requester, thread=f"t{one.made}", **more)
    assert isinstance(click, Click)
    return click


async def state(one: Scene, click: Click) -> ClickState:
    """Where a click stands."""
    return (await one.reaching.store.click(click.id)).state


@pytest.mark.parametrize("way", WAYS)
async def test_cnf_01_two_presses_run_the_action_once(tmp_path: Path, way: str) -> None:
    case = given("CNF-01")
    async with scene(tmp_path, now=NOW) as one:
        click = await offered(one, case["user"])
        presses = [one.press(click.id, case["user"], way=way, of=click) for _ in case["clicks"]]
        answers = await asyncio.gather(*presses)
        one.effects.free.set()
        again = await one.press(click.id, case["user"], way=way, of=click)
        assert one.effects.ran == [("stop", "run", "1")]
        assert "pressed" in again.seen
        assert {answer.status for answer in answers} <= {200, 409}
        events = await one.events()
        assert events["consumed", "none"] == 1
        assert events["refused", "already_consumed"] == 2


@pytest.mark.parametrize("way", WAYS)
async def test_cnf_02_only_the_requester_may_press(tmp_path: Path, way: str) -> None:
    case = given("CNF-02")
    async with scene(tmp_path, now=NOW) as one:
        click = await offered(one, case["requester"])
        # whoever holds a signed link presses in its requester's name, so another user comes without it
        other = await one.press(click.id, case["click_by"], way="page" if way == "link" else way)
        assert case["requester"] in other.seen or "not" in other.seen
        assert (one.effects.ran, await state(one, click)) == ([], ClickState.PENDING)
        assert (await one.reaching.store.click(click.id)).expires_at == click.expires_at
        assert (await one.events())["refused", "other_user"] == 1
        own = await one.press(click.id, case["requester"], way=way, of=click)
        assert own.status == 200
        assert await state(one, click) is ClickState.CONSUMED


@pytest.mark.parametrize("way", WAYS)
async def test_cnf_05_expiry_is_the_same_on_every_way_and_counted_once(tmp_path: Path, way: str) -> None:
    case = given("CNF-05")
    ttl = timedelta(seconds=case["ttl_s"])
    async with scene(tmp_path, now=when(case["created"])) as one:
        found = []
        for moment in case["clicks_at"]:
            one.clock.wall = when(case["created"])
            click = await offered(one, ttl=ttl)
            one.clock.wall = when(moment)
            await one.press(click.id, "U1", way=way, of=click)
            found.append(await state(one, click))
            await one.reaching.store.sweep(one.clock.now())
            one.clock.wall = when(case["created"])  # a clock that steps back revives nothing
            await one.press(click.id, "U1", way=way, of=click)
            assert await state(one, click) is found[-1]
        one.effects.free.set()
        assert found == [ClickState.CONSUMED, ClickState.EXPIRED, ClickState.EXPIRED]
        assert (await one.events())["expired", "none"] == 2
        assert len(one.effects.ran) == 1


async def test_cnf_06_no_click_lives_for_ever(tmp_path: Path) -> None:
    assert given("CNF-06")["row"]["expires_at"] is None
    async with scene(tmp_path, now=NOW) as one:
        click = await offered(one)
        with sqlite3.connect(tmp_path / "ledger.db") as raw:
            for never in (None, 0):
                with pytest.raises(sqlite3.IntegrityError):
                    raw.execute("UPDATE clicks SET expires_us = ? WHERE click_id = ?", (never, click.id))
        raw.close()
        with pytest.raises(ValueError, match="expires after it was minted"):
            Click("c", "t", "U1", "x", "x", "write", "a", NOW, NOW)


@pytest.mark.parametrize("way", WAYS)
async def test_cnf_08_a_click_survives_a_restart_and_an_unknown_one_is_answered(tmp_path: Path, way: str) -> None:
    assert given("CNF-08")["steps"][1] == "restart"
    async with scene(tmp_path, now=NOW) as one:
        click = await offered(one)
        await one.restart()
        pressed = await one.press(click.id, "U1", way=way, of=click)
        assert (pressed.status, await state(one, click)) == (200, ClickState.CONSUMED)
        unknown = await one.press("cf_unknown", "U1", way="page" if way == "link" else way)
        assert "no such click" in unknown.seen
        assert len(one.effects.ran) == 1


@pytest.mark.parametrize("way", WAYS)
async def test_cnf_09_a_thread_has_one_pending_click_and_a_press_is_that_clicks(tmp_path: Path, way: str) -> None:
    case = given("CNF-09")
    async with scene(tmp_path, now=NOW) as one:
        first, second = [
            await one.offer(offer["cmd"], requester="U1", thread=case["thread"]) for offer in case["offers"]
        ]
        assert isinstance(first, Click)
        assert isinstance(second, ThreadBusy)
        assert second.first == first
        refused = await one.reaching.store.act("answer-r2")
        assert case["offers"][0]["cmd"] in refused.reason
        other = await offered(one, line="deploy")
        await one.press(other.id, "U1", way=way, of=other)
        assert (await state(one, first), await state(one, other)) == (ClickState.PENDING, ClickState.CONSUMED)
        assert one.effects.ran == [("deploy",)]


@pytest.mark.parametrize("way", HTTP)
async def test_cnf_10_an_event_that_is_delivered_again_is_answered_with_the_first_outcome(
    tmp_path: Path, way: str
) -> None:
    deliveries = given("CNF-10")["deliveries"]
    async with scene(tmp_path, now=NOW) as one:
        click = await offered(one)
        one.effects.free.set()
        answers = []
        for delivery in deliveries:
            one.clock.wall = NOW + timedelta(seconds=delivery["t"])
            answers.append(await one.press(click.id, "U1", way=way, of=click))
        assert [answer.status for answer in answers] == [200, 200, 200]
        assert all("pressed" in answer.seen and "done" in answer.seen for answer in answers[1:])
        assert len(one.effects.ran) == 1


@pytest.mark.parametrize("way", HTTP)
async def test_cnf_11_the_answer_does_not_wait_for_the_action(tmp_path: Path, way: str) -> None:
    assert given("CNF-11")["action_duration_s"] > given("CNF-11")["platform_deadline_s"]
    async with scene(tmp_path, now=NOW) as one:
        click = await offered(one)
        answer = await one.press(click.id, "U1", way=way, of=click)  # its action has not been let go
        assert (answer.status, "in progress" in answer.seen) == (200, True)
        assert await state(one, click) is ClickState.CONSUMED
        assert "<button" not in answer.seen.partition('id="main"')[2]
