"""Acts: recorded before they start and after they end, begun at most once, and never again once nobody knows."""

from dataclasses import replace

import pytest

from decide.handoff.act import Act, ActEnd, ActState, Runner
from decide.handoff.execution import Fate, Refusal, Surface, withdrawn
from decide.handoff.ports import NewClick
from decide.ledger import RowKind
from decide.store.audit import Verified
from decide.store.store import SqlStore
from tests.decide.store.handed import LINE, RULED, TTL, acted, acting, body, later, minted, rows_of
from tests.decide.store.work import NOW, dead_pid, opened

RUN = replace(RULED, fate=Fate.RUN, reason="class read is below write: it runs without a click", kind="read")
REFUSED = withdrawn(RULED, Refusal.STORE, why="no room")
GONE = dead_pid()
DAY = 24 * 3600


async def test_an_act_waits_until_it_is_begun_and_ends_once(store: SqlStore) -> None:
    await acted(store, acting("a1"))
    due = Act("a1", "q-a1", "t1", "ada", Surface.CHAT, LINE, Runner.DAEMON, ActState.DUE, NOW)
    assert await store.handoff.due_acts() == (due,)
    assert await store.handoff.begin("a1", RUN, later(1)) is True
    assert await store.handoff.begin("a1", RUN, later(2)) is False
    running = replace(
        due,
        state=ActState.RUNNING,
        fate=Fate.RUN,
        reason=RUN.reason,
        command="stop",
        kind="read",
        words=("unit", "stop", "web"),
        started_at=later(1),
    )
    assert await store.handoff.act("a1") == running
    assert await store.handoff.due_acts() == ()
    end = ActEnd(False, 3, "no such\0 unit \udcff", "it ended with 3")
    for at in (4, 9):
        await store.handoff.finish("a1", end, later(at))
    await store.handoff.finish("a1", ActEnd(True, 0), later(9))
    assert await store.handoff.act("a1") == replace(running, state=ActState.FAILED, end=end, ended_at=later(4))
    began, ended = await rows_of(store, RowKind.ACT)
    assert (began.result, began.stage, began.call_id, body(began)) == ("running", "read", "a1", {"line": LINE})
    assert (ended.result, ended.duration_us) == ("failed", 3_000_000)
    assert body(ended) == {"line": LINE, "code": 3, "why": "it ended with 3"}
    assert isinstance(await store.verify(), Verified)


async def test_an_act_that_is_refused_says_why_and_is_not_begun(store: SqlStore) -> None:
    await acted(store, acting("a1"))
    for _ in range(2):
        await store.handoff.refuse("a1", REFUSED, later(1))
    act = await store.handoff.act("a1")
    assert (act.state, act.fate, act.reason, act.words) == (ActState.REFUSED, Fate.REFUSE, REFUSED.reason, ())
    assert await store.handoff.begin("a1", RUN, later(2)) is False
    await store.handoff.finish("a1", ActEnd(True, 0), later(3))
    assert (await store.handoff.act("a1")).state is ActState.REFUSED
    assert [row.result for row in await rows_of(store, RowKind.ACT)] == ["refused"]


async def test_an_act_of_a_command_line_is_not_the_daemons(store: SqlStore) -> None:
    await acted(store, acting("a2"), at=later(5))
    await acted(store, acting("a1"))
    await acted(store, acting("mine", runner=Runner.ASK))
    assert [one.id for one in await store.handoff.due_acts()] == ["a1", "a2"]
    assert (await store.handoff.act("mi")).id == "mine"


@pytest.mark.parametrize("named", ["a", "b", ""])
async def test_what_names_no_act_or_several_is_told(store: SqlStore, named: str) -> None:
    await acted(store, acting("a1"))
    await acted(store, acting("a2"))
    for what in (store.handoff.act(named), store.handoff.begin(named, RUN, NOW)):
        with pytest.raises(LookupError, match=r"there is no act|several acts begin with 'a': a1, a2"):
            await what


@pytest.mark.parametrize(
    ("host", "pid", "at", "state"),
    [
        pytest.param("here", GONE, 1, ActState.UNKNOWN, id="its process is gone"),
        pytest.param("here", 1, 9 * DAY, ActState.RUNNING, id="its process works"),
        pytest.param("there", GONE, DAY - 1, ActState.RUNNING, id="another host's, for less than a day"),
        pytest.param("there", 1, DAY, ActState.UNKNOWN, id="another host's, for a day"),
    ],
)
@pytest.mark.parametrize("clicked", [False, True], ids=["begun", "clicked"])
async def test_an_act_whose_process_is_gone_is_told_unknown_once_and_never_begun_again(
    target: str, store: SqlStore, host: str, pid: int, at: float, state: ActState, clicked: bool
) -> None:
    async with await opened(target, host=host, pid=pid) as other:
        if clicked:
            await minted(store, "1")
            assert (await other.handoff.press("1", "ada", NOW)).consumed
        else:
            await acted(store, acting("act-1"))
            assert await other.handoff.begin("act-1", RUN, NOW)
    lost = int(state is ActState.UNKNOWN)
    assert [await store.handoff.sweep(later(at)), await store.handoff.sweep(later(at))] == [lost, 0]
    act = await store.handoff.act("act-1")
    assert (act.state, act.ended_at) == (state, later(at) if lost else None)
    assert await store.handoff.begin("act-1", RUN, later(at)) is False
    await store.handoff.refuse("act-1", REFUSED, later(at))
    assert (await store.handoff.act("act-1")).state is state
    assert await store.handoff.due_acts() == ()
    if clicked:
        again = await store.handoff.press("1", "ada", later(at))
        assert again.refusal is Refusal.ALREADY_CONSUMED
        assert (await store.handoff.mint("act-1", RULED, NewClick("2", later(at), TTL))) == again.click
    assert [row.result for row in await rows_of(store, RowKind.ACT)] == ["running", *["unknown"] * lost]


async def test_what_this_process_runs_is_not_lost(store: SqlStore) -> None:
    await acted(store, acting("a1"))
    await store.handoff.begin("a1", RUN, NOW)
    assert await store.handoff.sweep(later(99 * DAY)) == 0
