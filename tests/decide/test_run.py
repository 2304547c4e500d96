import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from decide.consultation import Order
from decide.evidence import Far, collect
from decide.fault import StoreError, StoreFault
from decide.ladder import Role
from decide.ledger import RowKind
from decide.level import TieBreak
from decide.ports import Caps, CapSpent, Claim, Claimed, Reservation
from decide.question import LevelName, Option, Question, UsageError
from decide.receipt import Receipt
from decide.reply import Failure, Reply, Trouble, Usage
from decide.ruling import Outcome
from decide.run import ask, briefs
from decide.rungs.http import Request, Response
from decide.seat import Token, TokenState, Wall
from decide.snapshot import Source, SourceKind
from decide.watch import Ended, Event, PassIn, PassOut, Waiting
from tests.decide.fakes import (
    NOW,
    QUESTION,
    Answer,
    Known,
    MemoryStore,
    Scripted,
    access_of,
    by_place,
    declines,
    fails,
    hangs,
    in_turn,
    rung,
    says,
    seat,
    setup_of,
)

CAPPED = fails(Failure.SEAT_CAPPED, clears_at=NOW + timedelta(hours=3))
NO_LOGIN = fails(Failure.NEEDS_LOGIN)
TIMED_OUT = fails(Failure.TIMEOUT, billed=True)
MALFORMED = says("opt_z")

PATHS: dict[str, tuple[Answer, Answer, Outcome, int, str | None]] = {
    "agreed": (says("opt_a"), says("opt_a"), Outcome.AGREED, 0, "opt_a"),
    "reconsidered, stays": (says("opt_a"), says("opt_b"), Outcome.RECONSIDERED, 0, "opt_a"),
    "reconsidered, turns": (
        in_turn(says("opt_a"), says("opt_a"), says("opt_b")),
        says("opt_b"),
        Outcome.RECONSIDERED,
        0,
        "opt_b",
    ),
    "reconsidered, flips": (
        in_turn(says("opt_a"), says("opt_a"), by_place(0)),
        says("opt_b"),
        Outcome.NEEDS_HUMAN,
        3,
        None,
    ),
    "reconsidered, walled": (
        in_turn(says("opt_a"), says("opt_a"), CAPPED),
        says("opt_b"),
        Outcome.WALLED,
        4,
        None,
    ),
    "reconsidered, timed out": (
        in_turn(says("opt_a"), says("opt_a"), TIMED_OUT),
        says("opt_b"),
        Outcome.ERROR,
        2,
        None,
    ),
    "primary missing": (CAPPED, says("opt_b"), Outcome.SINGLE_RUNG, 0, "opt_b"),
    "second missing": (says("opt_b"), NO_LOGIN, Outcome.SINGLE_RUNG, 0, "opt_b"),
    "position bias": (by_place(0), says("opt_a"), Outcome.NEEDS_HUMAN, 3, None),
    "declined": (declines(), says("opt_a"), Outcome.NEEDS_HUMAN, 3, None),
    "declined beside a missing rung": (CAPPED, declines("insufficient_evidence"), Outcome.NEEDS_HUMAN, 3, None),
    "touches money": (says("opt_a", touches=["money"]), says("opt_a"), Outcome.NEEDS_HUMAN, 3, None),
    "both walled": (CAPPED, NO_LOGIN, Outcome.WALLED, 4, None),
    "one may clear": (TIMED_OUT, NO_LOGIN, Outcome.ERROR, 2, None),
    "no valid option": (MALFORMED, says("opt_a"), Outcome.ERROR, 2, None),
    "second unsure of itself": (
        says("opt_a"),
        in_turn(says("opt_a"), MALFORMED),
        Outcome.SINGLE_RUNG,
        0,
        "opt_a",
    ),
}


@pytest.mark.parametrize("path", PATHS)
async def test_each_path_ends_in_its_outcome_exit_code_and_answer(path: str) -> None:
    primary, second, outcome, code, option = PATHS[path]
    store = MemoryStore()
    done = await ask(QUESTION, setup=setup_of(primary, second, store))
    assert (done.outcome, done.exit_code, done.option_id) == (outcome, code, option)
    decisions = [row for row in store.rows if row.kind is RowKind.DECISION]
    assert [(row.result, row.level, row.receipt) for row in decisions] == [(outcome.value, "medium", done.id)]
    assert store.receipts[done.id] == json.loads(json.dumps(done.document))
    assert not store.reserved
    assert (done.document["retry_after_s"] is not None) == (
        code == 2 or path in ("both walled", "reconsidered, walled")
    )


async def test_four_calls_are_in_flight_at_once() -> None:
    primary, second = Scripted(says("opt_a")), Scripted(says("opt_a"))
    both: list[int] = []

    async def counting(brief: Any, access: Any) -> Reply:
        both.append(primary.out + second.out)
        return await says("opt_a")(brief, access)

    primary.answer = second.answer = counting
    await ask(QUESTION, setup=setup_of(primary, second))
    assert both == [4, 3, 2, 1] or both[0] == 4
    assert (primary.most_out, second.most_out) == (2, 2)


async def test_both_rungs_get_both_orders_of_one_snapshot() -> None:
    primary, second = Scripted(says("opt_a")), Scripted(says("opt_a"))
    sources = (Source(SourceKind.TEXT, "the cache misses 40 % of the time"),)
    await ask(QUESTION, setup=setup_of(primary, second), sources=sources)
    for one in (primary, second):
        forward, backward = sorted(one.briefs, key=lambda brief: brief.order)
        assert (forward.order, backward.order) == (Order.FORWARD, Order.REVERSED)
        assert forward.options == tuple(reversed(backward.options)) == ("opt_a", "opt_b")
        assert all("the cache misses 40 % of the time" in brief.text for brief in one.briefs)
    everyone = primary.briefs + second.briefs
    assert len({brief.snapshot for brief in everyone}) == 1
    assert len({brief.nonce for brief in everyone}) == 4


@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.sampled_from(["opt_a", "opt_b", "no", "cut"]), min_size=4, max_size=6),
    st.sampled_from(list(TieBreak)),
)
def test_no_rung_ever_sees_the_others_answer(script: list[str], tie_break: TieBreak) -> None:
    count = iter(range(1_000))

    def speak(who: str) -> Answer:
        async def answer(brief: Any, access: Any) -> Reply:
            word = script[next(count) % len(script)]
            if word == "no":
                return await declines(rationale=f"SAID-BY-{who}")(brief, access)
            if word == "cut":
                return Reply(trouble=Trouble(Failure.TIMEOUT))
            return await says(word, rationale=f"SAID-BY-{who}")(brief, access)

        return answer

    primary, second = Scripted(speak("fable")), Scripted(speak("astra"))
    asyncio.run(ask(QUESTION, setup=setup_of(primary, second, tie_break=tie_break)))
    seen = [brief.text for brief in second.briefs] + [brief.text for brief in primary.briefs[:2]]
    assert not any("SAID-BY" in text for text in seen)
    assert len(primary.briefs) + len(second.briefs) <= 9
    if tie_break is TieBreak.FRESH:
        assert not any("SAID-BY" in brief.text for brief in primary.briefs)


async def test_rationales_are_shown_unattributed_where_the_configuration_says_so() -> None:
    primary = Scripted(says("opt_b", rationale="older is safer"))
    second = Scripted(says("opt_a", rationale="newer is faster"))
    await ask(QUESTION, setup=setup_of(primary, second, tie_break=TieBreak.WITH_RATIONALES))
    assert len(primary.briefs) == 4
    for brief in primary.briefs[2:]:
        assert brief.text.index("newer is faster") < brief.text.index("older is safer")
        assert "fable" not in brief.text
        assert "astra" not in brief.text


async def test_at_most_one_reconsideration() -> None:
    primary, second = Scripted(says("opt_a")), Scripted(says("opt_b"))
    done = await ask(QUESTION, setup=setup_of(primary, second))
    assert (len(primary.briefs), len(second.briefs)) == (4, 2)
    assert [one["role"] for one in done.document["passes"]].count("reconsideration") == 2


GATED = {
    "question": (Question("Shall we refund the customer 40 dollars?", QUESTION.options), says("opt_a")),
    "an option's text": (
        replace(QUESTION, options=(Option("opt_a", "Pay the supplier a 300 EUR deposit"), Option("opt_b", "Wait"))),
        says("opt_a"),
    ),
    "a declared act": (
        replace(QUESTION, options=(Option("opt_a", "Go", acts=("money",)), Option("opt_b", "Wait"))),
        says("opt_a"),
    ),
    "a verdict's touches": (QUESTION, says("opt_a", touches=["money"])),
}


@pytest.mark.parametrize("path", GATED)
async def test_each_path_alone_holds_an_agreed_answer(path: str) -> None:
    question, answer = GATED[path]
    store = MemoryStore()
    done = await ask(question, setup=setup_of(answer, answer, store))
    assert (done.outcome, done.exit_code) == (Outcome.NEEDS_HUMAN, 3)
    assert done.document["gate"]
    assert [row.gate_row for row in store.rows if row.kind is RowKind.GATE] == [
        gate["row"] for gate in done.document["gate"]
    ]
    without = await ask(QUESTION, setup=setup_of(says("opt_a"), says("opt_a")))
    assert without.outcome is Outcome.AGREED


@pytest.mark.parametrize(
    ("source", "kept", "apart"),
    [
        (Source(SourceKind.TEXT, "known"), None, 0),
        (Source(SourceKind.FILE, "to be read"), None, 1),
        (Source(SourceKind.TEXT, "known"), "[]", 1),
    ],
    ids=["evidence that is known", "evidence that is read", "a question that is resumed"],
)
async def test_what_is_known_before_the_claim_is_reserved_with_it(
    source: Source, kept: str | None, apart: int
) -> None:
    reserved: list[Reservation] = []

    class Store(MemoryStore):
        async def reserve(self, reservation: Reservation) -> CapSpent | None:
            reserved.append(reservation)
            return await super().reserve(reservation)

        async def claim(self, claim: Claim) -> Claimed:
            claimed = await super().claim(claim)
            reserved.clear()
            return claimed

    known = {QUESTION.key: Known(QUESTION.digest, kept)} if kept else {}
    setup = setup_of(says("opt_a"), says("opt_a"), Store(questions=known))
    done = await ask(QUESTION, setup=setup, sources=(source,))
    assert (done.outcome, len(reserved)) == (Outcome.AGREED, apart)


async def test_an_authority_row_asks_nobody_and_reserves_nothing() -> None:
    primary, second, store = Scripted(says("opt_a")), Scripted(says("opt_a")), MemoryStore()
    question = replace(QUESTION, options=(Option("opt_a", "Go", acts=("production_write",)), Option("opt_b", "Wait")))
    done = await ask(question, setup=setup_of(primary, second, store, caps=Caps(passes_per_day=1)))
    assert done.outcome is Outcome.NEEDS_HUMAN
    assert done.document["non_vote"]["kind"] == "outside_authority"
    assert not primary.briefs
    assert not second.briefs
    assert not store.charged
    kinds = [row.kind for row in store.rows]
    assert kinds == [RowKind.QUESTION, RowKind.GATE, RowKind.DECISION]


@pytest.mark.parametrize(
    ("caps", "why"),
    [
        (Caps(passes_per_day=8), "passes_per_day"),
        (Caps(micro_usd_per_day=4_499_999), "usd_per_day"),
    ],
)
async def test_a_spent_cap_holds_until_the_day_rolls(caps: Caps, why: str) -> None:
    primary, store = Scripted(says("opt_a")), MemoryStore()
    setup = setup_of(primary, says("opt_a"), store, caps=caps)
    done = await ask(QUESTION, setup=setup)
    assert (done.outcome, done.exit_code) == (Outcome.HELD, 2)
    assert why in done.document["why"]
    assert done.document["retry_at"] == "2026-10-16T00:00:00+00:00"
    assert not primary.briefs
    assert done.document["attempts"] == 0
    roomy = replace(setup, caps=Caps(passes_per_day=9, micro_usd_per_day=4_500_000))
    assert (await ask(QUESTION, setup=roomy)).outcome is Outcome.AGREED
    assert [row.kind for row in store.rows].count(RowKind.QUESTION) == 1


@pytest.mark.parametrize("where", ["claim", "reserve", "settle", "end"])
@pytest.mark.parametrize("fault", list(StoreFault))
async def test_a_store_that_cannot_be_used_holds_and_says_what_helps(where: str, fault: StoreFault) -> None:
    primary = Scripted(says("opt_a"))
    store = MemoryStore(fault=StoreError(fault, "disk on fire"), fault_in=frozenset({where, "hold"}))
    done = await ask(QUESTION, setup=setup_of(primary, says("opt_a"), store))
    assert (done.outcome, done.exit_code, done.stored) == (Outcome.HELD, 4, False)
    assert fault.value in done.document["why"]
    assert "disk on fire" in done.document["why"]
    assert done.option_id is None
    if where in ("claim", "reserve"):
        assert not primary.briefs


async def test_a_reservation_whose_answer_was_lost_stays_charged_and_asks_nobody() -> None:
    class Lost(MemoryStore):
        async def claim(self, claim: Claim) -> Claimed:
            await super().claim(claim)
            raise StoreError(StoreFault.UNREADABLE, "the connection was lost")

        async def release(self, run_id: str) -> None:
            raise ValueError(f"run {run_id!r} reserved calls; it ends, and is not released")

    primary, store = Scripted(says("opt_a")), Lost()
    done = await ask(QUESTION, setup=setup_of(primary, says("opt_a"), store))
    assert (done.outcome, done.exit_code) == (Outcome.HELD, 4)
    assert "connection was lost" in done.document["why"]
    assert (primary.briefs, len(store.reserved)) == ([], 9)


async def test_a_decided_question_is_not_asked_again() -> None:
    primary, store = Scripted(says("opt_a")), MemoryStore()
    setup = setup_of(primary, says("opt_a"), store)
    first = await ask(QUESTION, setup=setup)
    rows = list(store.rows)
    again = await ask(replace(QUESTION, text=f"  {QUESTION.text} \n"), setup=setup)
    assert again.document == first.document
    assert len(primary.briefs) == 2
    assert store.rows == rows


async def test_a_retry_asks_only_what_is_missing_on_the_same_snapshot() -> None:
    store = MemoryStore()
    primary, second = Scripted(says("opt_a")), Scripted(in_turn(says("opt_a"), TIMED_OUT, TIMED_OUT, says("opt_b")))
    setup = setup_of(primary, second, store)
    primary.answer = in_turn(says("opt_b"), TIMED_OUT, TIMED_OUT, says("opt_b"))
    first = await ask(QUESTION, setup=setup, sources=(Source(SourceKind.TEXT, "as it was"),))
    assert (first.outcome, first.exit_code) == (Outcome.ERROR, 2)
    assert first.document["retry_after_s"] == 60
    second.answer = says("opt_a")
    retried = await ask(QUESTION, setup=setup, sources=(Source(SourceKind.TEXT, "as it is now"),))
    assert retried.document["attempts"] == 2
    assert len(primary.briefs) == 3 + 1 + 2
    assert len(second.briefs) == 3 + 1
    assert all("as it was" in brief.text for brief in primary.briefs + second.briefs)
    assert retried.document["snapshot"]["digest"] == first.document["snapshot"]["digest"]
    assert [one["kept"] for one in retried.document["passes"]].count(True) == 2
    assert [row.kind for row in store.rows].count(RowKind.QUESTION) == 1


async def test_an_id_used_for_another_question_is_refused_and_spends_nothing() -> None:
    store = MemoryStore()
    setup = setup_of(says("opt_a"), says("opt_a"), store)
    await ask(replace(QUESTION, id="q-1"), setup=setup)
    rows = list(store.rows)
    with pytest.raises(UsageError, match="q-1"):
        await ask(replace(QUESTION, id="q-1", text="Another one?"), setup=setup)
    assert store.rows == rows


async def test_a_question_that_another_run_works_is_waited_for() -> None:
    store, events = MemoryStore(), list[Event]()
    store.questions[QUESTION.key] = Known(QUESTION.digest, run="other")
    setup = setup_of(says("opt_a"), says("opt_a"), store)

    async def freed(seconds: float) -> None:
        store.questions[QUESTION.key].run = None

    done = await ask(QUESTION, setup=replace(setup, sleep=freed), watch=events.append)
    assert done.outcome is Outcome.AGREED
    assert Waiting("other", "elsewhere") in events


async def test_an_unpriced_model_is_refused_under_a_usd_cap_and_counted_without() -> None:
    store = MemoryStore()
    setup = setup_of(says("opt_a"), says("opt_a"), store, price=lambda usage, model: None)
    capped = replace(setup, caps=Caps(micro_usd_per_day=20_000_000))
    with pytest.raises(UsageError, match=r"unpriced_model.*fable-model"):
        await ask(QUESTION, setup=capped)
    assert not store.questions
    await ask(QUESTION, setup=setup)
    passes = [row for row in store.rows if row.kind is RowKind.PASS]
    assert {(row.source, row.micro_usd, row.input_tokens) for row in passes} == {("", 0, 1_000)}


async def test_a_pass_without_usage_is_charged_at_its_worst_case() -> None:
    async def silent(brief: Any, access: Any) -> Reply:
        return replace(await says("opt_a")(brief, access), usage=None)

    store = MemoryStore()
    await ask(QUESTION, setup=setup_of(silent, says("opt_a"), store))
    assert sorted(store.charged.values()) == [1_100, 1_100, 500_000, 500_000]


async def test_the_clients_own_figure_comes_before_the_table() -> None:
    async def priced(brief: Any, access: Any) -> Reply:
        return replace(await says("opt_a")(brief, access), cost_micro_usd=61_400)

    store = MemoryStore()
    done = await ask(QUESTION, setup=setup_of(priced, says("opt_a"), store))
    costs = {(one["rung"], one["cost"]["usd"], one["cost"]["source"]) for one in done.document["passes"]}
    assert costs == {("fable", "0.0614", "provider"), ("astra", "0.0011", "price_table")}


async def test_a_walled_seat_gives_way_to_the_next_and_is_on_record() -> None:
    async def by_seat(brief: Any, access: Any) -> Reply:
        return await (CAPPED if access.seat == "desk-1" else says("opt_a"))(brief, access)

    store = MemoryStore()
    seats = [access_of(seat("desk-1")), access_of(seat("desk-2"))]
    primary = rung("fable", by_seat, role=Role.PRIMARY, seats=seats)
    done = await ask(QUESTION, setup=setup_of(by_seat, says("opt_a"), store, primary=primary))
    assert done.outcome is Outcome.AGREED
    assert {one["seat"] for one in done.document["passes"] if one["rung"] == "fable"} == {"desk-2"}
    refused = [row for row in store.rows if row.kind is RowKind.REFUSED]
    assert {(row.rung, row.seat, row.result) for row in refused} == {("fable", "desk-1", "seat_capped")}
    assert {row.clears_at for row in refused} == {NOW + timedelta(hours=3)}
    assert len(store.charged) == 4


async def test_a_rung_without_a_usable_seat_is_never_called() -> None:
    walled = seat("desk", wall=Wall(NOW, NOW + timedelta(minutes=30)))
    primary = Scripted(says("opt_a"))
    given = rung("fable", primary, role=Role.PRIMARY, seats=[access_of(walled)])
    done = await ask(QUESTION, setup=setup_of(primary, CAPPED, primary=given))
    assert done.outcome is Outcome.WALLED
    assert done.document["retry_at"] == (NOW + timedelta(minutes=30)).isoformat()
    assert not primary.briefs


@pytest.mark.parametrize(
    ("token", "together"),
    [
        (Token(TokenState.REFRESHABLE, expires_at=NOW - timedelta(hours=1)), 1),
        (Token(TokenState.LIVE, expires_at=NOW + timedelta(minutes=5)), 1),
        (Token(TokenState.LIVE, expires_at=NOW + timedelta(minutes=7)), 2),
        (Token(TokenState.LIVE), 2),
    ],
)
async def test_one_client_goes_first_where_a_login_is_about_to_renew(token: Token, together: int) -> None:
    primary = Scripted(says("opt_a"))
    seats = [access_of(seat("desk", token=token), renews=True)]
    given = rung("fable", primary, role=Role.PRIMARY, seats=seats)
    await ask(QUESTION, setup=setup_of(primary, says("opt_a"), primary=given))
    assert (primary.most_out, len(primary.briefs)) == (together, 2)


async def test_a_substituted_model_is_no_second_opinion() -> None:
    done = await ask(QUESTION, setup=setup_of(says("opt_b", model="astra-model"), says("opt_b")))
    assert done.outcome is Outcome.SINGLE_RUNG
    assert done.document["fallback"] == {"from": "fable", "to": "astra", "reason": "substituted"}
    assert done.document["answered_by"] == {"model": "astra-model", "from": "reported"}


async def test_a_rung_that_fails_by_our_fault_is_told_and_costs_the_worst(caplog: pytest.LogCaptureFixture) -> None:
    async def broken(brief: Any, access: Any) -> Reply:
        raise LookupError("a fault of ours")

    store = MemoryStore()
    done = await ask(QUESTION, setup=setup_of(broken, says("opt_a"), store))
    assert done.outcome is Outcome.SINGLE_RUNG
    assert "fault of rungwatch" in caplog.text
    assert max(store.charged.values()) == 500_000


async def test_a_run_that_is_told_to_stop_says_so_and_settles() -> None:
    store, events = MemoryStore(), list[Event]()
    setup = setup_of(Scripted(hangs), Scripted(says("opt_a")), store)
    answered = asyncio.Event()

    def watch(event: Event) -> None:
        events.append(event)
        if sum(isinstance(event, PassIn) for event in events) == 2:
            answered.set()

    task = asyncio.create_task(ask(QUESTION, setup=setup, watch=watch))
    await answered.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    done = next(event.receipt for event in events if isinstance(event, Ended))
    assert (done.outcome, done.exit_code) == (Outcome.CANCELLED, 130)
    assert store.receipts[done.id]["outcome"] == "cancelled"
    assert not store.reserved
    assert sorted(store.charged.values()) == [1_100, 1_100, 500_000, 500_000]
    assert [row.result for row in store.rows if row.kind is RowKind.PASS].count("cancelled") == 2
    assert done.document["attempts"] == 0
    assert sum(isinstance(event, PassOut) for event in events) == 4
    after = await ask(QUESTION, setup=replace(setup, primary=rung("fable", says("opt_a"), role=Role.PRIMARY)))
    assert after.outcome is Outcome.AGREED


async def test_evidence_that_cannot_be_read_gives_the_question_back() -> None:
    store = MemoryStore()
    setup = setup_of(says("opt_a"), says("opt_a"), store)

    async def missing(sources: Sequence[Source]) -> Any:
        raise UsageError("there is no such file")

    with pytest.raises(UsageError, match="no such file"):
        await ask(QUESTION, setup=replace(setup, freeze=missing))
    assert (await ask(QUESTION, setup=setup)).outcome is Outcome.AGREED


async def test_a_level_changes_the_brief_and_no_rule() -> None:
    long = Source(SourceKind.TEXT, "x" * 60_000)
    receipts: list[Receipt] = []
    for level in LevelName:
        primary = Scripted(says("opt_a"))
        setup = setup_of(primary, says("opt_a"))
        receipts.append(await ask(QUESTION, setup=setup, sources=(long,), level=level))
        assert {access.effort for access in primary.accesses} == {level.value}
    low, medium, high = receipts
    assert low.document["snapshot"]["sources"][0]["cut"] == {"kept_chars": 24_000, "of_chars": 60_000}
    assert medium.document["snapshot"]["sources"][0]["cut"] is None
    assert low.document["snapshot"]["digest"] == medium.document["snapshot"]["digest"]
    assert low.document["consultations"] == medium.document["consultations"] == high.document["consultations"]


async def test_both_briefs_can_be_looked_at_without_a_store() -> None:
    setup = setup_of(says("opt_a"), says("opt_a"), MemoryStore(fault=StoreError(StoreFault.BROKEN, "not to be used")))
    frozen = await setup.freeze((Source(SourceKind.TEXT, "evidence"),))
    forward, backward = briefs(QUESTION, frozen, setup, LevelName.LOW)
    assert forward.options == tuple(reversed(backward.options))
    assert "evidence" in forward.text


def test_two_rungs_that_one_model_could_answer_are_refused() -> None:
    setup = setup_of(says("opt_a"), says("opt_a"))
    shared = replace(setup.second, accepted=frozenset({"Fable-Model-20261014"}))
    with pytest.raises(UsageError, match="Fable-Model-20261014"):
        replace(setup, second=shared)


def test_usage_counts_each_token_once() -> None:
    assert Usage(1, 2, 3, 4, 5).total == 15


async def test_a_file_that_changes_under_the_run_changes_nothing(tmp_path: Path) -> None:
    log, far = tmp_path / "app.log", Far(nowhere, {})
    log.write_text("as it was when it was frozen")

    async def meddles(brief: Any, access: Any) -> Reply:
        log.write_text("changed while the rungs were asked")
        return await says("opt_a")(brief, access)

    primary, second = Scripted(meddles), Scripted(says("opt_b"))
    setup = setup_of(primary, second, freeze=partial(collect, folder=tmp_path, far=far))
    done = await ask(QUESTION, setup=setup, sources=(Source(SourceKind.FILE, "app.log"),))
    assert done.outcome is Outcome.RECONSIDERED
    everyone = primary.briefs + second.briefs
    assert len(everyone) == 6
    assert all("as it was when it was frozen" in brief.text for brief in everyone)
    assert len({brief.snapshot for brief in everyone}) == 1


async def nowhere(request: Request) -> Response:
    """A network that is not to be used."""
    raise AssertionError(request.url)


@pytest.mark.parametrize("change", ["the rungs swap their roles", "the rung takes another model"])
async def test_what_stands_of_an_attempt_is_the_same_rungs_word_on_a_model_it_accepts(change: str) -> None:
    store = MemoryStore()
    first = setup_of(says("opt_a"), MALFORMED, store)
    assert (await ask(QUESTION, setup=first)).outcome is Outcome.ERROR
    answers = Scripted(says("opt_a")), Scripted(says("opt_a"))
    if change == "the rungs swap their roles":
        primary = rung("astra", answers[0], role=Role.PRIMARY)
        second = rung("fable", answers[1], role=Role.SECOND)
    else:
        primary = rung("fable", answers[0], role=Role.PRIMARY, model="newer")
        second = rung("astra", answers[1], role=Role.SECOND)
    done = await ask(QUESTION, setup=replace(first, primary=primary, second=second))
    assert done.outcome is Outcome.AGREED
    assert not any(one["kept"] for one in done.document["passes"])
    assert [len(one.briefs) for one in answers] == [2, 2]


async def test_a_paid_call_that_spoils_a_seat_is_told_to_whoever_reads_next() -> None:
    store = MemoryStore()
    await ask(QUESTION, setup=setup_of(says("opt_b", model="another"), says("opt_b"), store))
    kinds = [(row.kind, row.result, row.micro_usd > 0) for row in store.rows if row.rung == "fable"]
    assert (RowKind.PASS, "substituted", True) in kinds
    assert (RowKind.REFUSED, "substituted", False) in kinds


async def test_a_store_that_dies_under_a_run_leaves_the_calls_on_the_receipt() -> None:
    store = MemoryStore(fault=StoreError(StoreFault.UNWRITABLE, "disk full"), fault_in=frozenset({"settle", "end"}))
    done = await ask(QUESTION, setup=setup_of(says("opt_a"), says("opt_a"), store))
    assert (done.outcome, done.exit_code) == (Outcome.HELD, 4)
    assert len(done.document["passes"]) == 4
    assert "stay charged" in done.document["why"]
