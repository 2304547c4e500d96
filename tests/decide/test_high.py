"""Level high: three votes an order, one re-read of a split, one look for faults in an agreed answer (design 4.4)."""

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from decide.brief import Brief
from decide.consultation import Order
from decide.ladder import Role
from decide.ledger import RowKind
from decide.level import LEVELS, Level, TieBreak, least_passes
from decide.ports import Access, Ask, CapSpent, Reservation
from decide.question import LevelName, Option, UsageError
from decide.receipt_schema import RECEIPT_SCHEMA
from decide.reply import Failure, Finish, Reply, Trouble, Usage
from decide.ruling import Outcome
from decide.run import ask
from decide.setup import Setup
from decide.verdict import Decline
from decide.watch import Ended, Event, PassOut
from tests.decide.fakes import (
    QUESTION,
    MemoryStore,
    access_of,
    by_place,
    declines,
    fails,
    hangs,
    rung,
    says,
    seat,
    setup_of,
)
from tests.decide.voters import Task, tasks, voter

SCHEMA = jsonschema.Draft202012Validator(RECEIPT_SCHEMA)
HIGH = LevelName.HIGH
THREE = replace(QUESTION, options=(*QUESTION.options, Option("opt_c", "Write our own")))
A, B, C = (says(option) for option in ("opt_a", "opt_b", "opt_c"))
LATE = fails(Failure.TIMEOUT, billed=True)
CAPPED = fails(Failure.SEAT_CAPPED)
MALFORMED = says("opt_z")


async def refuses(brief: Brief, access: Access) -> Reply:
    """A model that will not say."""
    return Reply("no", models=(access.model,), finish=Finish.REFUSAL, usage=Usage(input=1_000, output=100))


async def nameless(brief: Brief, access: Access) -> Reply:
    """A model whose wire does not name it."""
    return replace(await B(brief, access), models=())


@dataclass(frozen=True)
class Path:
    """One way through the ladder at high: what both rungs say, and what the receipt must hold of it."""

    primary: Callable[[], Ask]
    second: Callable[[], Ask]
    outcome: Outcome
    option: str | None
    roles: dict[str, int]
    check: str | None = None
    skipped: tuple[tuple[str, str], ...] = ()
    why: str = ""


VOTES = {"vote": 12}
CHECKED = {**VOTES, "cross_check": 1}
AGAIN = {**CHECKED, "reconsideration": 6}
FINDING: dict[str, Any] = {"primary": lambda: voter(A), "second": lambda: voter(A, check=B), "check": "finding"}


def _checked(check: Ask, why: str) -> dict[str, Any]:
    """A check that comes to nothing, after which the agreement stands."""
    skipped = (("cross_check", why),)
    base = {"primary": lambda: voter(A), "second": lambda: voter(A, check=check), "check": "skipped"}
    return base | {"outcome": Outcome.AGREED, "option": "opt_a", "roles": CHECKED, "skipped": skipped}


PATHS: dict[str, Path] = {
    "agreed, no fault": Path(
        lambda: voter(A),
        lambda: voter(A),
        Outcome.AGREED,
        "opt_a",
        CHECKED,
        "no_fault",
        why="fable and astra name the same option, and a cross-check found no fault",
    ),
    "one vote of an order is outvoted": Path(
        lambda: voter(A, B, A, backward=[B, A, A]), lambda: voter(A), Outcome.AGREED, "opt_a", CHECKED, "no_fault"
    ),
    "one vote of an order is lost": Path(
        lambda: voter(A, LATE, A), lambda: voter(A), Outcome.AGREED, "opt_a", CHECKED, "no_fault"
    ),
    "the orders differ": Path(
        lambda: voter(A, backward=[B]), lambda: voter(A), Outcome.NEEDS_HUMAN, None, VOTES, why="order of the options"
    ),
    "picks by place": Path(
        lambda: voter(by_place(0)), lambda: voter(A), Outcome.NEEDS_HUMAN, None, VOTES, why="order of the options"
    ),
    "a split that its re-read ends": Path(
        lambda: voter(A, B, C, backward=[A], reread=A),
        lambda: voter(A),
        Outcome.AGREED,
        "opt_a",
        {**CHECKED, "reread": 1},
        "no_fault",
    ),
    "a split of two verdicts": Path(
        lambda: voter(A, B, LATE, backward=[A], reread=A),
        lambda: voter(A),
        Outcome.AGREED,
        "opt_a",
        {**CHECKED, "reread": 1},
        "no_fault",
    ),
    "a split whose re-read names none of them": Path(
        lambda: voter(A, B, LATE, reread=C),
        lambda: voter(A),
        Outcome.NEEDS_HUMAN,
        None,
        {**VOTES, "reread": 2},
        why="fable was split over the answer",
    ),
    "a split whose re-read declines": Path(
        lambda: voter(A, B, C, reread=declines()),
        lambda: voter(A),
        Outcome.NEEDS_HUMAN,
        None,
        {**VOTES, "reread": 2},
        why="fable says that a person must decide",
    ),
    "a split whose re-read brings nothing": Path(
        lambda: voter(A, B, C, reread=LATE), lambda: voter(A), Outcome.ERROR, None, {**VOTES, "reread": 2}
    ),
    "an order short of verdicts is asked once more": Path(
        lambda: voter(A, LATE, LATE, A, backward=[A]),
        lambda: voter(A),
        Outcome.AGREED,
        "opt_a",
        {**CHECKED, "repeat": 1},
        "no_fault",
    ),
    "asked once more it is split, and gets no second extra pass": Path(
        lambda: voter(A, LATE, LATE, B, backward=[A], reread=A),
        lambda: voter(A),
        Outcome.NEEDS_HUMAN,
        None,
        {**VOTES, "repeat": 1},
        why="fable was split over the answer",
    ),
    "both orders of both rungs are split": Path(
        lambda: voter(A, B, C, reread=A),
        lambda: voter(C, B, A, reread=A),
        Outcome.AGREED,
        "opt_a",
        {**CHECKED, "reread": 4},
        "no_fault",
    ),
    "the rungs differ": Path(
        lambda: voter(A),
        lambda: voter(B),
        Outcome.RECONSIDERED,
        "opt_a",
        {**VOTES, "reconsideration": 6},
        why="fable and astra differed, and fable reconsidered once",
    ),
    "the reconsideration is split as well": Path(
        lambda: voter(A, A, A, A, B, C, backward=[A], reread=B),
        lambda: voter(B),
        Outcome.NEEDS_HUMAN,
        None,
        {**VOTES, "reconsideration": 7},
        why="fable, reconsidering, changed its answer with the order",
    ),
    "one rung alone is not checked": Path(
        lambda: voter(A), lambda: voter(CAPPED), Outcome.SINGLE_RUNG, "opt_a", {"vote": 6}
    ),
    "a finding, and the primary stays": Path(
        **FINDING,
        outcome=Outcome.RECONSIDERED,
        option="opt_a",
        roles=AGAIN,
        why="named the same option, a cross-check found a fault in it, and fable reconsidered once",
    ),
    "a finding, and the primary turns": Path(
        **FINDING | {"primary": lambda: voter(A, again=B)}, outcome=Outcome.RECONSIDERED, option="opt_b", roles=AGAIN
    ),
    "a finding, and the primary declines": Path(
        **FINDING | {"primary": lambda: voter(A, again=declines())},
        outcome=Outcome.NEEDS_HUMAN,
        option=None,
        roles=AGAIN,
        why="found a fault (opt_b is to be taken instead: it is simpler); fable, reconsidering, says that a person",
    ),
    "a finding, and the primary flips": Path(
        **FINDING | {"primary": lambda: voter(A, again=by_place(0))},
        outcome=Outcome.NEEDS_HUMAN,
        option=None,
        roles=AGAIN,
    ),
    "a finding, and the primary touches a policy row": Path(
        **FINDING | {"primary": lambda: voter(A, again=says("opt_a", touches=["money"]))},
        outcome=Outcome.NEEDS_HUMAN,
        option=None,
        roles=AGAIN,
    ),
    "a finding, and the primary times out": Path(
        **FINDING | {"primary": lambda: voter(A, again=LATE)},
        outcome=Outcome.AGREED,
        option="opt_a",
        roles=AGAIN,
        why="fable, reconsidering, was not reached (timeout), so that the agreement stands",
    ),
    "a finding, and the primary is walled": Path(
        **FINDING | {"primary": lambda: voter(A, again=CAPPED)},
        outcome=Outcome.AGREED,
        option="opt_a",
        roles=CHECKED,
        why="fable, reconsidering, was not reached (seat_capped), so that the agreement stands",
    ),
    "a finding, and the primary is malformed": Path(
        **FINDING | {"primary": lambda: voter(A, again=MALFORMED)},
        outcome=Outcome.AGREED,
        option="opt_a",
        roles=AGAIN | {"reconsideration": 8},
        why="gave no whole answer (malformed), so that the agreement stands",
    ),
    "a finding, and an unknown model reconsiders": Path(
        **FINDING | {"primary": lambda: voter(A, again=nameless)},
        outcome=Outcome.ERROR,
        option=None,
        roles=AGAIN,
    ),
    "evidence is found to be missing": Path(
        lambda: voter(A),
        lambda: voter(A, check=declines("insufficient_evidence", gap="the log")),
        Outcome.RECONSIDERED,
        "opt_a",
        AGAIN,
        "finding",
    ),
    "the check times out": Path(**_checked(LATE, "timeout"), why="; the cross-check was skipped (timeout)"),
    "the check is malformed": Path(**_checked(MALFORMED, "malformed")),
    "the check is substituted": Path(**_checked(says("opt_b", model="another"), "substituted")),
    "the check is refused": Path(**_checked(refuses, "model_refusal")),
    "the check meets a wall": Path(**_checked(CAPPED, "seat_capped") | {"roles": VOTES}),
    "the check touches a policy row": Path(
        lambda: voter(A),
        lambda: voter(A, check=says("opt_a", touches=["money"])),
        Outcome.NEEDS_HUMAN,
        None,
        CHECKED,
        "held",
        why="the cross-check answered, and a policy row holds the answer for a person (money)",
    ),
    "the check touches an authority": Path(
        lambda: voter(A),
        lambda: voter(A, check=declines("insufficient_evidence", touches=["production_write"])),
        Outcome.NEEDS_HUMAN,
        None,
        CHECKED,
        "held",
    ),
}


PRESET = {
    "name": "high",
    "votes": 3,
    "effort": "high",
    "one_sentence": False,
    "evidence_budget": None,
    "max_passes": 24,
    "split_reread": True,
    "cross_check": True,
    "models": {},
    "tie_break": "fresh",
}


def pinned(setup: Setup, *, pins: bool) -> Setup:
    """The ladder with calls that pin their model, or that leave it open."""
    return replace(
        setup,
        primary=replace(setup.primary, pins_model=pins),
        second=replace(setup.second, pins_model=pins),
    )


@pytest.mark.parametrize("name", PATHS)
async def test_each_path(name: str) -> None:
    path, store = PATHS[name], MemoryStore()
    setup = pinned(setup_of(path.primary(), path.second(), store), pins="an unknown model" not in name)
    done = await ask(THREE, setup=setup, level=HIGH)
    told = json.loads(json.dumps(done.document))
    SCHEMA.validate(told)
    assert (done.outcome, done.option_id) == (path.outcome, path.option)
    assert path.why in told["why"]
    assert Counter(one["role"] for one in told["passes"]) == path.roles
    assert (told["cross_check"] and told["cross_check"]["result"]) == path.check
    assert tuple((one["check"], one["why"]) for one in told["skipped_checks"]) == path.skipped
    rows = [row for row in store.rows if row.kind is RowKind.SKIPPED]
    assert [(row.result, row.level) for row in rows] == [(check, "high") for check, _ in path.skipped]
    assert not store.reserved
    assert sorted(store.charged) == sorted(one["call_id"] for one in told["passes"])
    assert len(told["passes"]) <= LEVELS[HIGH].max_passes
    assert told["level"] == PRESET


async def test_all_twelve_votes_are_out_at_once_and_alike() -> None:
    primary, second = voter(A), voter(A)
    both: list[int] = []

    def watch(event: Event) -> None:
        if isinstance(event, PassOut):
            both.append(primary.out + second.out)

    await ask(QUESTION, setup=setup_of(primary, second), level=HIGH, watch=watch)
    assert (primary.most_out, second.most_out) == (6, 6)
    votes = [*primary.briefs, *second.briefs[:6]]
    for order in Order:
        alike = {brief.text.replace(brief.nonce, "") for brief in votes if brief.order is order}
        assert len(alike) == 1
    assert len({brief.nonce for brief in votes}) == 12


async def test_a_reread_shows_what_disagreed_and_nothing_of_who_or_why() -> None:
    said = says("opt_a", rationale="SAID-A"), says("opt_c", rationale="SAID-C"), LATE
    primary = voter(*said, backward=[A], reread=A)
    await ask(THREE, setup=setup_of(primary, voter(A)), level=HIGH)
    (brief,) = [one for one in primary.briefs if Task.REREAD in tasks(one)]
    told = brief.text.partition(Task.REREAD)[2].partition("\n\n#")[0]
    assert 'split between "opt_a", "opt_c"' in told
    assert "opt_b" not in told
    assert "SAID" not in brief.text
    assert brief.order is Order.FORWARD
    assert brief.options == ("opt_a", "opt_b", "opt_c")


async def test_a_check_sees_the_answer_and_not_whose_it_is_or_why() -> None:
    primary, second = voter(says("opt_b", rationale="SAID-FABLE")), voter(says("opt_b", rationale="SAID-ASTRA"))
    await ask(QUESTION, setup=setup_of(primary, second), level=HIGH)
    (brief,) = [one for one in second.briefs if Task.CHECK in tasks(one)]
    assert not [one for one in primary.briefs if tasks(one)]
    assert 'The proposed answer is "opt_b"' in brief.text
    for word in ("SAID", "fable", "astra", "primary", "agreed"):
        assert word not in brief.text
    assert second.accesses[-1].effort == "high"


async def test_a_finding_is_shown_to_the_primary_as_data() -> None:
    primary = voter(A)
    second = voter(says("opt_a", rationale="SAID-ASTRA"), check=says("opt_b", rationale="it ignores the log"))
    done = await ask(QUESTION, setup=setup_of(primary, second, tie_break=TieBreak.WITH_RATIONALES), level=HIGH)
    again = primary.briefs[6:]
    assert len(again) == 6
    for brief in again:
        assert tasks(brief) == {Task.FAULT}
        mark = f"finding 1 {brief.nonce}"
        assert f"<<< {mark}\nopt_b is to be taken instead: it ignores the log\n>>> {mark} ends" in brief.text
        assert "SAID" not in brief.text
        assert "astra" not in brief.text
    assert done.document["cross_check"] == {
        "result": "finding",
        "option": "opt_b",
        "kind": None,
        "row": None,
        "says": "opt_b is to be taken instead: it ignores the log",
    }


def level_of(**values: Any) -> dict[str, Any]:
    """A ladder's `levels` in which high has these values."""
    return {"levels": {**LEVELS, HIGH: replace(LEVELS[HIGH], **values)}}


async def test_a_check_is_skipped_when_max_passes_leave_nothing() -> None:
    store = MemoryStore()
    second = voter(A)
    done = await ask(QUESTION, setup=setup_of(voter(A), second, store, **level_of(max_passes=18)), level=HIGH)
    assert (done.outcome, len(second.briefs)) == (Outcome.AGREED, 6)
    assert done.document["skipped_checks"] == [{"check": "cross_check", "why": "no pass is left"}]
    assert [row.result for row in store.rows if row.kind is RowKind.SKIPPED] == ["cross_check"]
    assert done.document["why"].endswith("the cross-check was skipped (no pass is left)")


async def test_the_last_pass_that_is_left_pays_for_the_check_and_the_reconsideration_keeps_its_own() -> None:
    primary, second = voter(A), voter(A, check=B)
    done = await ask(QUESTION, setup=setup_of(primary, second, **level_of(max_passes=19)), level=HIGH)
    assert (done.outcome, len(done.document["passes"])) == (Outcome.RECONSIDERED, 19)


async def test_a_split_that_nobody_can_pay_to_read_again_is_a_split_and_told() -> None:
    done = await ask(THREE, setup=setup_of(voter(A, B, C), voter(A), **level_of(max_passes=19)), level=HIGH)
    assert (done.outcome, done.exit_code) == (Outcome.NEEDS_HUMAN, 3)
    why = "no pass is left for fable, reversed order"
    assert done.document["skipped_checks"] == [{"check": "split_reread", "why": why}]
    assert done.document["consultations"]["primary"]["kind"] == Decline.SPLIT


async def test_a_check_is_skipped_when_its_rung_has_lost_its_seat() -> None:
    second = voter(A, A, CAPPED)
    done = await ask(QUESTION, setup=setup_of(voter(A), second), level=HIGH)
    assert done.outcome is Outcome.AGREED
    assert done.document["skipped_checks"] == [{"check": "cross_check", "why": "seat_capped"}]
    assert not [one for one in second.briefs if tasks(one)]


async def test_a_check_moves_on_from_a_seat_that_refuses_unbilled_and_makes_one_paid_pass_at_most() -> None:
    async def by_seat(brief: Brief, access: Access) -> Reply:
        if Task.CHECK not in tasks(brief):
            return await A(brief, access)
        return await (CAPPED if access.seat == "one" else says("opt_a", model="another"))(brief, access)

    seats = [access_of(seat(name)) for name in ("one", "two", "zen")]
    second = rung("astra", by_seat, role=Role.SECOND, seats=seats)
    done = await ask(QUESTION, setup=setup_of(voter(A), by_seat, second=second), level=HIGH)
    made = [(one["seat"], one["result"]["reason"]) for one in done.document["passes"] if one["role"] == "cross_check"]
    assert made == [("two", "substituted")]
    assert [one["seat"] for one in done.document["refused"]] == ["one"]


async def test_medium_may_have_a_check_and_high_may_have_none() -> None:
    levels = {
        **LEVELS,
        LevelName.MEDIUM: replace(LEVELS[LevelName.MEDIUM], cross_check=True),
        HIGH: replace(LEVELS[HIGH], cross_check=False, split_reread=False, votes=1),
    }
    for level, roles in ((LevelName.MEDIUM, {"vote": 4, "cross_check": 1}), (HIGH, {"vote": 4})):
        done = await ask(QUESTION, setup=setup_of(voter(A), voter(A), levels=levels), level=level)
        assert Counter(one["role"] for one in done.document["passes"]) == roles


async def test_a_level_may_ask_a_rung_for_another_of_its_models() -> None:
    primary, store = voter(A), MemoryStore()
    fable = rung("fable", primary, role=Role.PRIMARY, accepted=frozenset({"fable-model", "fable-pro"}))
    setup = setup_of(primary, voter(A), store, primary=fable, **level_of(models=(("fable", "fable-pro"),)))
    done = await ask(QUESTION, setup=setup, level=HIGH)
    assert {access.model for access in primary.accesses} == {"fable-pro"}
    assert done.document["answered_by"] == {"model": "fable-pro", "from": "reported"}
    assert [one["model"] for one in done.document["rungs"]] == ["fable-pro", "astra-model"]
    assert done.document["level"]["models"] == {"fable": "fable-pro"}
    SCHEMA.validate(json.loads(json.dumps(done.document)))
    medium = await ask(replace(QUESTION, id="q2"), setup=setup, level=LevelName.MEDIUM)
    assert medium.document["answered_by"] == {"model": "fable-model", "from": "reported"}


@pytest.mark.parametrize(
    ("models", "told"),
    [
        ((("fable", "other"),), "rung 'fable' accepts 'fable-model', not 'other'"),
        ((("nova", "fable-model"),), "no rung is named 'nova'; the rungs are fable, astra"),
    ],
)
def test_a_level_that_asks_for_a_model_its_rung_does_not_accept_is_refused(models: Any, told: str) -> None:
    with pytest.raises(UsageError, match=f"level.high.model: {told}"):
        setup_of(A, A, **level_of(models=models))


Word = str
WORDS: dict[Word, Ask] = {"a": A, "b": B, "c": C, "no": declines(), "late": LATE, "bad": MALFORMED}
ODDS = ["a", "a", "a", "a", "b", "c", "late", "late", "bad"]
levels = st.builds(
    lambda votes, more, reread, check: Level(
        HIGH, votes, "high", False, None, least_passes(votes) + more, split_reread=reread, cross_check=check
    ),
    st.integers(1, 4),
    st.integers(0, 9),
    st.booleans(),
    st.booleans(),
)


def speaking(script: Sequence[Word], who: str) -> Ask:
    """A model that goes through a script, over and over, and signs what it says."""
    count = iter(range(100_000))

    async def answer(brief: Brief, access: Access) -> Reply:
        word = script[next(count) % len(script)]
        if word in ("a", "b", "c"):
            return await says(f"opt_{word}", rationale=f"SAID-BY-{who}")(brief, access)
        return await (declines(rationale=f"SAID-BY-{who}") if word == "no" else WORDS[word])(brief, access)

    return answer


scripts = st.lists(st.sampled_from([*ODDS, "no"]), min_size=1, max_size=12)


@settings(deadline=None, max_examples=150)
@given(levels, scripts, scripts, st.sampled_from(list(TieBreak)), st.integers(1, 3))
def test_no_run_of_any_level_exceeds_its_passes_or_leaves_a_slot_open(
    level: Level, fable: list[Word], astra: list[Word], tie_break: TieBreak, attempts: int
) -> None:
    store, primary, second = MemoryStore(), voter(speaking(fable, "fable")), voter(speaking(astra, "astra"))
    setup = setup_of(primary, second, store, levels={**LEVELS, HIGH: level}, tie_break=tie_break)
    for _ in range(attempts):
        done = asyncio.run(ask(THREE, setup=setup, level=HIGH))
        told = json.loads(json.dumps(done.document))
        SCHEMA.validate(told)
        assert not store.reserved
        assert len(told["passes"]) <= level.max_passes
        new = [one for one in told["passes"] if not one["kept"]]
        for (part, order), count in Counter((one["consultation"], one["order"]) for one in new).items():
            assert count <= (1 if part == "cross_check" else level.votes + 1), (part, order)
        assert Counter(one["role"] for one in told["passes"])["cross_check"] <= 1
        again = [one for one in told["passes"] if one["consultation"] == "reconsideration"]
        assert len(again) <= 2 * (level.votes + 1)
    everything = [one for receipt in store.receipts.values() for one in receipt["passes"] if not one["kept"]]
    assert sorted(store.charged) == sorted(one["call_id"] for one in everything)
    assert len(primary.briefs) + len(second.briefs) == len(everything)


@settings(deadline=None, max_examples=100)
@given(levels, scripts, scripts, st.sampled_from(list(TieBreak)))
def test_no_rung_ever_sees_the_others_answer_before_it_has_given_its_own(
    level: Level, fable: list[Word], astra: list[Word], tie_break: TieBreak
) -> None:
    primary, second = voter(speaking(fable, "fable")), voter(speaking(astra, "astra"))
    setup = setup_of(primary, second, levels={**LEVELS, HIGH: level}, tie_break=tie_break)
    done = asyncio.run(ask(THREE, setup=setup, level=HIGH))
    assert not any("SAID-BY" in brief.text for brief in second.briefs)
    own = [one for one in done.document["passes"] if one["consultation"] == "primary"]
    assert not any("SAID-BY" in brief.text for brief in primary.briefs[: len(own)])
    for brief in primary.briefs[len(own) :]:
        if Task.FAULT in tasks(brief):
            assert "SAID-BY-fable" not in brief.text
        elif tie_break is TieBreak.FRESH:
            assert "SAID-BY" not in brief.text


async def stopped(setup: Setup, when: Callable[[PassOut, int], bool]) -> Any:
    """The receipt of a run that is told to stop once such a pass is out."""
    events: list[Event] = []
    reached = asyncio.Event()

    def watch(event: Event) -> None:
        events.append(event)
        out = sum(isinstance(one, PassOut) for one in events)
        if isinstance(event, PassOut) and when(event, out):
            reached.set()

    task = asyncio.create_task(ask(THREE, setup=setup, level=HIGH, watch=watch))
    await reached.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    return next(event.receipt for event in events if isinstance(event, Ended)).document


def asked_again(setup: Setup, store: MemoryStore, primary: Ask, second: Ask) -> Setup:
    """The same ladder on the same store, with other models behind it."""
    return setup_of(primary, second, store, fresh_id=setup.fresh_id, clock=setup.clock)


async def test_a_run_that_is_stopped_in_its_check_keeps_every_vote() -> None:
    store = MemoryStore()
    setup = setup_of(voter(A), voter(A, check=hangs), store)
    told = await stopped(setup, lambda event, out: event.role == "cross_check")
    assert (told["outcome"], told["exit_code"]) == ("cancelled", 130)
    assert not store.reserved
    assert [one["result"]["state"] for one in told["passes"]].count("cancelled") == 1
    primary, second = voter(A), voter(A)
    done = await ask(THREE, setup=asked_again(setup, store, primary, second), level=HIGH)
    assert (done.outcome, len(primary.briefs), [tasks(one) for one in second.briefs]) == (
        Outcome.AGREED,
        0,
        [{Task.CHECK}],
    )
    assert [one["kept"] for one in done.document["passes"]].count(True) == 12
    SCHEMA.validate(json.loads(json.dumps(done.document)))


@pytest.mark.parametrize("level", [HIGH, LevelName.MEDIUM])
async def test_a_finding_stands_when_its_reconsideration_was_stopped_whatever_the_level_asks_for(
    level: LevelName,
) -> None:
    store = MemoryStore()
    setup = setup_of(voter(A, again=hangs), voter(A, check=B), store)
    told = await stopped(setup, lambda event, out: event.role == "reconsideration" and out == 19)
    assert not store.reserved
    assert [one["result"]["state"] for one in told["passes"]].count("cancelled") == 6
    primary, second = voter(B), voter(A)
    done = await ask(THREE, setup=asked_again(setup, store, primary, second), level=level)
    assert (done.outcome, done.option_id, second.briefs) == (Outcome.RECONSIDERED, "opt_b", [])
    assert {frozenset(tasks(one)) for one in primary.briefs} == {frozenset({Task.FAULT})}
    assert done.document["cross_check"]["result"] == "finding"


async def test_a_retry_asks_only_the_votes_that_are_missing() -> None:
    store = MemoryStore()
    primary = voter(A, backward=[A, LATE, LATE, LATE])
    setup = setup_of(primary, voter(A), store)
    first = await ask(THREE, setup=setup, level=HIGH)
    assert (first.outcome, first.exit_code, len(primary.briefs)) == (Outcome.ERROR, 2, 7)
    primary.answer, primary.briefs = A, []
    done = await ask(THREE, setup=setup, level=HIGH)
    assert done.outcome is Outcome.AGREED
    assert [brief.order for brief in primary.briefs] == [Order.REVERSED] * 2
    assert [one["kept"] for one in done.document["passes"]].count(True) == 4 + 6


async def test_a_reread_that_stands_is_not_made_again_and_still_counts() -> None:
    store = MemoryStore()
    primary = voter(A, B, C, backward=[A], reread=A)
    setup = setup_of(primary, voter(A, check=hangs), store)
    await stopped(setup, lambda event, out: event.role == "cross_check")
    primary.briefs.clear()
    done = await ask(THREE, setup=asked_again(setup, store, primary, voter(A)), level=HIGH)
    assert (done.outcome, primary.briefs) == (Outcome.AGREED, [])
    assert [one["role"] for one in done.document["passes"]].count("reread") == 1


async def test_a_rung_that_declined_before_it_was_stopped_is_not_asked_again() -> None:
    store = MemoryStore()
    setup = setup_of(voter(declines(), backward=[hangs]), voter(A), store)
    await stopped(setup, lambda event, out: out == 12)
    primary, second = voter(A), voter(A)
    done = await ask(THREE, setup=asked_again(setup, store, primary, second), level=HIGH)
    assert done.outcome is Outcome.NEEDS_HUMAN
    assert primary.briefs == []


async def test_votes_of_high_stand_when_the_question_comes_back_at_medium() -> None:
    store = MemoryStore()
    setup = setup_of(voter(A, B, A, backward=[hangs]), voter(A), store)
    await stopped(setup, lambda event, out: out == 12)
    primary, second = voter(A), voter(A)
    done = await ask(THREE, setup=asked_again(setup, store, primary, second), level=LevelName.MEDIUM)
    assert (done.outcome, done.option_id) == (Outcome.AGREED, "opt_a")
    assert [brief.order for brief in primary.briefs] == [Order.REVERSED]


async def test_trouble_of_ours_in_a_check_leaves_the_agreement(caplog: pytest.LogCaptureFixture) -> None:
    async def broken(brief: Brief, access: Access) -> Reply:
        raise LookupError("a fault of ours")

    done = await ask(QUESTION, setup=setup_of(voter(A), voter(A, check=broken)), level=HIGH)
    assert done.outcome is Outcome.AGREED
    assert done.document["skipped_checks"] == [{"check": "cross_check", "why": "client_error"}]
    assert "fault of rungwatch" in caplog.text


async def test_no_trouble_before_an_answer_is_mistaken_for_a_fault() -> None:
    async def cut(brief: Brief, access: Access) -> Reply:
        return Reply(trouble=Trouble(Failure.NETWORK))

    done = await ask(QUESTION, setup=setup_of(voter(A), voter(A, check=cut)), level=HIGH)
    assert (done.outcome, done.document["cross_check"]["result"]) == (Outcome.AGREED, "skipped")


async def test_a_resumed_run_reserves_no_more_than_what_is_left_of_its_passes() -> None:
    reserved: list[int] = []

    class Store(MemoryStore):
        async def reserve(self, reservation: Reservation) -> CapSpent | None:
            reserved.append(len(reservation.slots))
            return await super().reserve(reservation)

    store = Store()
    setup = setup_of(voter(A, B, C, backward=[A], reread=A), voter(A, check=hangs), store)
    await stopped(setup, lambda event, out: event.role == "cross_check")
    await ask(THREE, setup=asked_again(setup, store, voter(A), voter(A)), level=HIGH)
    assert reserved == [24, 24 - 12 - 1]


async def test_a_seat_that_refuses_unbilled_costs_no_vote_where_nothing_is_to_spare() -> None:
    async def by_seat(brief: Brief, access: Access) -> Reply:
        return await (CAPPED if access.seat == "one" else A)(brief, access)

    second = rung("astra", by_seat, role=Role.SECOND, seats=[access_of(seat(name)) for name in ("one", "two")])
    setup = setup_of(voter(A), by_seat, second=second, **level_of(max_passes=18))
    done = await ask(QUESTION, setup=setup, level=HIGH)
    assert Counter(one["role"] for one in done.document["passes"]) == VOTES
    assert (done.outcome, bool(done.document["refused"])) == (Outcome.AGREED, True)
