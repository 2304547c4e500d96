"""Clicks: pressed at most once, by their requester, in time, and at most one of a thread is pending."""

from datetime import timedelta

import pytest
from sqlalchemy.exc import IntegrityError

from decide.fault import StoreError
from decide.handoff.act import ActState
from decide.handoff.click import Click, ClickState, Pressed
from decide.handoff.entry import HandoffError
from decide.handoff.execution import Fate, Refusal, refused
from decide.handoff.ports import NewClick, ThreadBusy
from decide.ledger import RowKind
from decide.store.audit import Verified
from decide.store.store import SqlStore
from tests.decide.store.handed import LINE, RULED, TTL, acted, acting, body, later, minted, rows_of, told_of
from tests.decide.store.work import NOW, opened, sql

CLICK = Click("c1", "t1", "ada", LINE, "stop", "write", "act-c1", NOW, NOW + TTL)
EXPIRES = TTL.total_seconds()


async def test_a_minted_click_is_what_its_act_stands_for(store: SqlStore) -> None:
    assert await minted(store, "c1") == CLICK
    assert await store.handoff.click("c1") == CLICK
    act = await store.handoff.act("act-c1")
    assert (act.state, act.click_id, act.fate, act.kind) == (ActState.CLICKED, "c1", Fate.CLICK, "write")
    assert await store.handoff.due_acts() == ()
    assert await store.handoff.mint("act-c1", RULED, NewClick("c2", NOW, TTL)) == CLICK
    (row,) = await rows_of(store, RowKind.CLICK)
    assert (row.result, row.stage, row.call_id, row.question) == ("minted", "none", "c1", "q-act-c1")
    assert body(row) == {"user": "ada"}


async def test_the_first_press_in_time_consumes_it_and_starts_its_act(store: SqlStore) -> None:
    await minted(store, "c1")
    pressed = await store.handoff.press("c1", "ada", later(30))
    assert pressed == Pressed(await store.handoff.click("c1"))
    assert pressed.click is not None
    assert (pressed.click.state, pressed.click.closed_at) == (ClickState.CONSUMED, later(30))
    act = await store.handoff.act("act-c1")
    assert (act.state, act.started_at) == (ActState.RUNNING, later(30))
    consumed = (await rows_of(store, RowKind.CLICK))[-1]
    assert (consumed.result, consumed.stage, consumed.duration_us) == ("consumed", "none", 30_000_000)
    (started,) = await rows_of(store, RowKind.ACT)
    assert (started.result, started.stage, body(started)) == ("running", "write", {"line": LINE})
    assert started.at == consumed.at == later(30)
    assert isinstance(await store.verify(), Verified)


@pytest.mark.parametrize(
    ("presses", "refusals"),
    [
        pytest.param([("ada", 0), ("ada", 0.013)], [None, Refusal.ALREADY_CONSUMED], id="CNF-01 pressed twice"),
        pytest.param([("bo", 1), ("ada", 2)], [Refusal.OTHER_USER, None], id="CNF-02 by another user"),
        pytest.param([("ada", EXPIRES - 0.1)], [None], id="CNF-05 just in time"),
        pytest.param([("ada", EXPIRES)], [Refusal.EXPIRED], id="CNF-05 as it expires"),
        pytest.param(
            [("ada", 86_400), ("ada", 1)], [Refusal.EXPIRED] * 2, id="CNF-05 late, and the clock steps back"
        ),
        pytest.param([("bo", EXPIRES), ("ada", 1)], [Refusal.OTHER_USER, Refusal.EXPIRED], id="another user, late"),
        pytest.param(
            [("ada", 0), ("ada", 3.1), ("bo", 4), ("ada", 9_999)],
            [None, Refusal.ALREADY_CONSUMED, Refusal.OTHER_USER, Refusal.ALREADY_CONSUMED],
            id="CNF-10 told again and again",
        ),
    ],
)
async def test_presses(store: SqlStore, presses: list[tuple[str, float]], refusals: list[Refusal | None]) -> None:
    await minted(store, "c1")
    got = [await store.handoff.press("c1", user, later(at)) for user, at in presses]
    assert [one.refusal for one in got] == refusals
    expired = Refusal.EXPIRED in refusals
    rows = await told_of(store, RowKind.CLICK)
    assert rows.count(("consumed", "none")) == refusals.count(None)
    assert rows.count(("expired", "none")) == int(expired)
    assert [stage for event, stage in rows if event == "refused"] == [one for one in refusals if one is not None]
    assert len(await rows_of(store, RowKind.ACT)) == refusals.count(None)
    state = ClickState.EXPIRED if expired else ClickState.CONSUMED
    assert (await store.handoff.click("c1")).state is state
    assert [one.click.expires_at for one in got if one.click] == [NOW + TTL] * len(got)


@pytest.mark.parametrize("click_id", ["unknown", "c", "C1", "", "c1\0", "\udcff", "x" * 9_000])
async def test_an_id_that_is_none_is_refused_and_recorded(store: SqlStore, click_id: str) -> None:
    await minted(store, "c1")
    assert await store.handoff.press(click_id, "ada" * 99, NOW) == Pressed(None, Refusal.UNKNOWN_CLICK)
    row = (await rows_of(store, RowKind.CLICK))[-1]
    assert (row.result, row.stage, row.question) == ("refused", "unknown_click", "")
    assert len(row.call_id) <= 128
    assert len(body(row)["user"]) == 128
    with pytest.raises(LookupError, match="there is no click"):
        await store.handoff.click(click_id)
    assert (await store.handoff.click("c1")).state is ClickState.PENDING


async def test_a_thread_has_one_pending_click(store: SqlStore) -> None:
    first = await minted(store, "c1")
    await acted(store, acting("act-2"), at=later(1))
    assert await store.handoff.mint("act-2", RULED, NewClick("c2", later(1), TTL)) == ThreadBusy(first)
    act = await store.handoff.act("act-2")
    assert (act.state, act.fate, act.click_id) == (ActState.REFUSED, Fate.REFUSE, "")
    assert act.reason == refused(Refusal.THREAD_BUSY, first=LINE)
    row = (await rows_of(store, RowKind.CLICK))[-1]
    assert (row.result, row.stage, row.call_id) == ("refused", "thread_busy", "c2")
    assert (await store.handoff.press("c2", "ada", later(2))).refusal is Refusal.UNKNOWN_CLICK
    assert (await store.handoff.click("c1")).state is ClickState.PENDING
    assert (await minted(store, "c3", "another thread", at=later(2))).id == "c3"
    with pytest.raises(HandoffError, match="act act-2 is refused; only one that is not begun"):
        await store.handoff.mint("act-2", RULED, NewClick("c4", later(3), TTL))


@pytest.mark.parametrize("over", ["consumed", "expired"])
async def test_a_thread_is_free_once_its_click_is_over(store: SqlStore, over: str) -> None:
    await minted(store, "c1")
    if over == "consumed":
        await store.handoff.press("c1", "ada", later(1))
    assert (await minted(store, "c2", at=later(EXPIRES))).state is ClickState.PENDING
    assert (await store.handoff.click("c1")).state == over
    assert (await told_of(store, RowKind.CLICK)).count(("expired", "none")) == int(over == "expired")


@pytest.mark.parametrize("meets", ["sweep", "press", "press of another", "press of none", "mint"])
async def test_whoever_meets_an_expired_click_counts_it_once(store: SqlStore, meets: str) -> None:
    await minted(store, "c1")
    await minted(store, "c2", "t2", at=later(1), ttl=timedelta(days=9))
    await acted(store, acting("act-3", "t3"))
    at = later(EXPIRES)
    for _ in range(2):
        match meets:
            case "sweep":
                await store.handoff.sweep(at)
            case "press":
                await store.handoff.press("c1", "ada", at)
            case "press of another":
                await store.handoff.press("c2", "ada", at)
            case "press of none":
                await store.handoff.press("none", "ada", at)
            case _:
                await store.handoff.mint("act-3", RULED, NewClick("c3", at, TTL))
    assert (await store.handoff.click("c1")).closed_at == at
    assert await store.handoff.sweep(at) == 0
    (row,) = [one for one in await rows_of(store, RowKind.CLICK) if one.result == "expired"]
    assert (row.call_id, row.question, row.duration_us) == ("c1", "q-act-c1", EXPIRES * 1_000_000)


async def test_a_click_survives_a_restart(target: str, store: SqlStore) -> None:
    await minted(store, "c1")
    async with await opened(target) as again:
        assert (await again.handoff.press("c1", "ada", later(1))).consumed
    assert (await store.handoff.press("c1", "ada", later(2))).refusal is Refusal.ALREADY_CONSUMED


async def test_an_id_is_never_used_again(store: SqlStore) -> None:
    await minted(store, "c1")
    await store.handoff.sweep(later(9_999))
    await acted(store, acting("act-2"))
    with pytest.raises(ValueError, match="click id 'c1' was used before"):
        await store.handoff.mint("act-2", RULED, NewClick("c1", later(9_999), TTL))
    with pytest.raises(ValueError, match="a click expires after it was minted"):
        await store.handoff.mint("act-2", RULED, NewClick("c2", NOW, timedelta()))
    assert (await store.handoff.act("act-2")).state is ActState.DUE


@pytest.mark.parametrize(
    ("change", "names"),
    [
        ("UPDATE clicks SET expires_us = NULL WHERE click_id = 'c1'", "expires_us"),
        ("UPDATE clicks SET expires_us = minted_us WHERE click_id = 'c1'", "click_expires"),
        ("UPDATE clicks SET state = 'pending' WHERE click_id = 'c1'", "(?i)unique"),
    ],
    ids=["no expiry", "expired when made", "two pending"],
)
async def test_the_database_itself_takes_no_click_that_breaks_the_rules(
    target: str, store: SqlStore, change: str, names: str
) -> None:
    await minted(store, "c1")
    await store.handoff.sweep(later(9_999))
    await minted(store, "c2")
    with pytest.raises(IntegrityError, match=names):
        sql(target, change)


async def test_a_press_that_cannot_start_its_act_consumes_nothing(target: str, store: SqlStore) -> None:
    await minted(store, "c1")
    sql(target, "ALTER TABLE acts RENAME TO elsewhere")
    before = await store.last_seq()
    with pytest.raises(StoreError, match="cannot be written"):
        await store.handoff.press("c1", "ada", later(1))
    sql(target, "ALTER TABLE elsewhere RENAME TO acts")
    assert await store.last_seq() == before
    assert (await store.handoff.press("c1", "ada", later(1))).consumed


async def test_clicks_are_read_the_latest_first_and_page_by_page(store: SqlStore) -> None:
    for number in range(4):
        await minted(store, f"c{number}", f"t{number}", at=later(number // 2))
    assert [one.id for one in await store.handoff.clicks(3)] == ["c3", "c2", "c1"]
    assert [one.id for one in await store.handoff.clicks(3, "c1")] == ["c0"]
    facts = await store.handoff.handoff_facts()
    assert (facts.clicks, facts.oldest_click_at) == (4, NOW)
    await store.handoff.press("c0", "ada", later(2))
    facts = await store.handoff.handoff_facts()
    assert (facts.clicks, facts.oldest_click_at) == (3, NOW)
    with pytest.raises(LookupError, match="there is no click 'c'"):
        await store.handoff.clicks(3, "c")
