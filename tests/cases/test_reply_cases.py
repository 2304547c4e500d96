"""Public cases of kind 5: replies, as the rules judge them; what the clients' own wires say is in decide/rungs."""

import json
import re
from collections.abc import Sequence
from decimal import Decimal

import pytest

from decide.brief import Brief, compose
from decide.consultation import (
    NOBODY,
    AnsweredBy,
    AskAgain,
    Ballot,
    Declined,
    Incomplete,
    ModelFrom,
    Order,
    Resolved,
    State,
    Unreachable,
    consult,
)
from decide.gate import GateRow, parse_rows
from decide.level import LEVELS
from decide.money import micro_usd
from decide.question import LevelName, Option, Question
from decide.reply import Failure, Finish, Reply, Trouble, Usage
from decide.ruling import RULING_EXITS, Outcome, Ruling, rule
from decide.snapshot import Evidence, Snapshot, SourceKind
from decide.verdict import Decline, NoVerdict, Result, judge
from decide.verdict import Declined as PassDeclined
from decide.verdict import Resolved as PassResolved
from tests.cases.adapter import NONCE, given, own, renamed

FABLE, ASTRA = "claude-fable-5", "gpt-6-astra"
QUESTION = Question("Which is cheaper to undo?", (Option("opt_a", "the one"), Option("opt_b", "the other")))
WORDS = {"stage": "authority", "means": "money leaves", "remedy": "ask"}
ROWS: tuple[GateRow, ...] = parse_rows({"row": [{"id": "spend_money", **WORDS}]})
BY_FABLE, BY_ASTRA = (AnsweredBy(model, ModelFrom.REPORTED) for model in (FABLE, ASTRA))
ASTRA_SAYS_B = Resolved("opt_b", BY_ASTRA)
DOWN = Unreachable((Failure.NOT_INSTALLED,))


def read(reply: Reply | str, *, accepted: str = FABLE) -> Result:
    """What a pass yields."""
    reply = Reply(text=reply) if isinstance(reply, str) else reply
    return judge(reply, QUESTION, nonce=NONCE, accepted=(accepted,))


def option(result: Result) -> str | None:
    """The option that a pass resolved to, if it did."""
    return result.option_id if isinstance(result, PassResolved) else None


def failure(result: Result) -> tuple[Failure, bool]:
    """Why a pass has no verdict, and whether its rung was reached."""
    assert isinstance(result, NoVerdict)
    return result.failure, result.reached


def of_rung(
    forward: Sequence[Result], backward: Sequence[Result], *, may_repeat: bool = True, by: AnsweredBy = BY_FABLE
) -> State | AskAgain:
    """What a rung's passes make."""
    ballots = [
        Ballot(order, result, by) for order, results in zip(Order, (forward, backward), strict=True) for result in results
    ]  # fmt: skip
    return consult(ballots, rows=ROWS, class_row="", votes=1, may_repeat=may_repeat)


def state(passes: State | AskAgain) -> State:
    """A state of a consultation that has nothing left to ask."""
    assert not isinstance(passes, AskAgain)
    return passes


def ruled(primary: State, second: State) -> tuple[Outcome, int, str]:
    """Outcome, exit code and answer of two consultations."""
    ruling = rule(primary, second)
    assert isinstance(ruling, Ruling)
    return ruling.outcome, RULING_EXITS[ruling.outcome], ruling.option_id


def brief(order: Order, *evidence: str) -> Brief:
    """A brief of the question with this evidence."""
    items = tuple(Evidence(SourceKind.TEXT, "note", text) for text in evidence)
    level = LEVELS[LevelName.MEDIUM]
    return compose(QUESTION, Snapshot(items), order=order, nonce=NONCE, level=level, rows=ROWS)


def test_llm_01_a_verdict_in_a_fence_between_prose() -> None:
    """LLM-01."""
    result = read(own(given("LLM-01")["reply"]))
    assert option(result) == "opt_b"
    assert of_rung([result], [result]) == Resolved("opt_b", BY_FABLE)  # and nothing is asked again


def test_llm_02_two_verdicts_in_one_reply() -> None:
    """LLM-02."""
    equal, differing = map(own, given("LLM-02")["replies"])
    assert option(read(equal)) == "opt_b"
    assert failure(read(differing)) == (Failure.MALFORMED, True)


def test_llm_04_an_echoed_brief_is_no_answer() -> None:
    """LLM-04; that a client's error channel is no answer either is decide/rungs' matter."""
    case = given("LLM-04")
    echoes = [brief(order, renamed(case["brief_example"])).text for order in Order]
    results = [read(case["stdout"].replace("<brief with the example>", echo)) for echo in echoes]
    assert [failure(result) for result in results] == [(Failure.MALFORMED, False)] * 2
    unavailable = state(of_rung(results[:1], results[1:]))
    assert unavailable == Unreachable((Failure.MALFORMED, Failure.MALFORMED))
    assert ruled(unavailable, DOWN) == (Outcome.ERROR, 2, "")


def test_llm_06_only_json_true_is_yes() -> None:
    """LLM-06."""
    results = [read(own(reply)) for reply in given("LLM-06")["replies"]]
    for number in (0, 2):
        assert results[number] == PassDeclined(Decline.NEEDS_HUMAN, rationale="cheaper to undo")
        assert ruled(state(of_rung([results[number]], [])), ASTRA_SAYS_B) == (Outcome.NEEDS_HUMAN, 3, "")
    for number in (1, 3, 4):
        assert failure(results[number]) == (Failure.MALFORMED, True)


def test_llm_08_an_option_is_named_by_its_id_alone() -> None:
    """LLM-08; that the receipt keeps the raw text is in tests of the receipt."""
    case = given("LLM-08")
    assert [one.id for one in QUESTION.options] == case["options"]
    replies = [own(json.dumps({"resolvable": True, "choice": choice})) for choice in case["choices"]]
    assert [option(read(reply)) for reply in replies] == ["opt_b", "opt_b", *[None] * 5]
    assert {failure(read(reply)) for reply in replies[2:]} == {(Failure.MALFORMED, True)}


def first_listed(sent: Brief) -> Result:
    """What a model makes of a brief that always picks the first option it sees."""
    seen = re.findall(r'^- id "(\w+)": ', sent.text, re.MULTILINE)
    return read(own(json.dumps({"resolvable": True, "choice": seen[0]})))


def test_llm_10_a_model_that_picks_by_place_flips() -> None:
    """LLM-10; the same through a whole run is in tests of the run."""
    forward, backward = (first_listed(brief(order)) for order in Order)
    assert [option(forward), option(backward)] == ["opt_a", "opt_b"]
    flipped = state(of_rung([forward], [backward]))
    assert flipped == Declined(Decline.FLIP)
    assert ruled(flipped, ASTRA_SAYS_B) == (Outcome.NEEDS_HUMAN, 3, "")
    assert of_rung([forward], [first_listed(brief(Order.FORWARD))]) == Resolved("opt_a", BY_FABLE)  # the mutant


def test_llm_11_one_pass_is_no_answer() -> None:
    """LLM-11; retry_after and the receipt's passes are in tests of the run."""
    first, second = given("LLM-11")["rung_fable"]
    said = read(own(first["reply"]))
    failed = read(Reply(trouble=Trouble(Failure(second["error"]))))
    assert of_rung([said], [failed]) == AskAgain((Order.REVERSED,))
    incomplete = state(of_rung([said], [failed, failed], may_repeat=False))
    assert incomplete == Incomplete(("opt_b",), (Failure.TIMEOUT, Failure.TIMEOUT), BY_FABLE)
    assert ruled(incomplete, DOWN) == (Outcome.ERROR, 2, "")


def test_llm_13_an_empty_answer_is_no_verdict_and_was_paid() -> None:
    """LLM-13; that the ledger has its cost is in tests of the run."""
    told = json.loads(given("LLM-13")["stdout"], parse_float=Decimal)
    reply = Reply(
        text=told["result"],
        usage=Usage(output=told["usage"]["output_tokens"]),
        cost_micro_usd=micro_usd(told["total_cost_usd"]),
    )
    assert reply.cost_micro_usd == 61_400
    assert failure(read(reply)) == (Failure.EMPTY, False)
    unavailable = state(of_rung([read(reply)], [read(reply)]))
    assert isinstance(unavailable, Unreachable)
    assert ruled(unavailable, ASTRA_SAYS_B) == (Outcome.SINGLE_RUNG, 0, "opt_b")


def test_llm_14_a_refusal_by_the_wire_is_a_decline() -> None:
    """LLM-14; which lines and stop reasons are one is decide/rungs' matter."""
    refusal, line = given("LLM-14")["variants"]
    late = read(Reply(trouble=Trouble(Failure.TIMEOUT)))
    texts = refusal["json"]["result"], line["stdout"]
    refused = [read(Reply(text=text, finish=Finish.REFUSAL)) for text in texts]
    assert refused == [PassDeclined(Decline.MODEL_REFUSAL)] * 2
    assert [failure(read(text)) for text in texts] == [(Failure.NO_JSON, False)] * 2  # the words alone are no refusal
    declined = state(of_rung(refused[:1], [late]))
    assert declined == Declined(Decline.MODEL_REFUSAL)
    assert ruled(declined, ASTRA_SAYS_B) == (Outcome.NEEDS_HUMAN, 3, "")
    assert Decline.MODEL_REFUSAL.value not in {one.value for one in Failure}


def test_llm_15_a_reply_that_was_cut_off_is_not_mended() -> None:
    """LLM-15."""
    finish = Finish(given("LLM-15")["finish_reason"])
    for cut_off in map(own, given("LLM-15")["replies"]):
        assert NONCE in cut_off
        assert failure(read(Reply(text=cut_off, finish=finish))) == (Failure.TRUNCATED, False)
        assert failure(read(cut_off)) == (Failure.NO_JSON, False)
    whole = own('{"resolvable": true, "choice": "opt_b"}')
    assert option(read(whole)) == "opt_b"
    assert failure(read(Reply(text=whole, finish=finish))) == (Failure.TRUNCATED, True)


def test_llm_18_an_answer_that_talks_of_limits_is_an_answer() -> None:
    """LLM-18."""
    assert option(read(own(given("LLM-18")["reply"]))) == "opt_b"


def test_llm_21_a_notice_before_the_answer() -> None:
    """LLM-21; the reply holds a client's answer channel alone, so that nothing of stderr is in it."""
    lines = given("LLM-21")["stdout"].splitlines()
    answer = own(json.loads(lines[-1])["result"])
    assert option(read(answer)) == "opt_b"
    assert option(read("\n".join([*lines[:-1], answer]))) == "opt_b"
    assert option(read(renamed(given("LLM-21")["stderr"]))) is None


def test_llm_24_a_fallback_under_the_first_models_name_is_no_second_opinion() -> None:
    """LLM-24."""
    primary, second = given("LLM-24")["rung_fable"], given("LLM-24")["rung_astra"]
    verdict = own(json.dumps({"resolvable": True, "choice": primary["choice"]}))
    substituted = read(Reply(text=verdict, models=(primary["model_in_reply"],)))
    assert failure(substituted) == (Failure.SUBSTITUTED, False)
    never_ran = state(of_rung([substituted], [substituted]))
    assert never_ran == Unreachable((Failure.SUBSTITUTED, Failure.SUBSTITUTED))
    answered = read(Reply(text=verdict, models=(second["model_in_reply"],)), accepted=ASTRA)
    both = state(of_rung([answered], [answered], by=BY_ASTRA))
    ruling = rule(never_ran, both)
    assert isinstance(ruling, Ruling)
    assert (ruling.outcome, ruling.answered_by, ruling.primary) == (Outcome.SINGLE_RUNG, BY_ASTRA, never_ran)


@pytest.mark.parametrize("unknown", ["primary", "second", "both"])
def test_llm_24_a_model_that_is_not_known_is_no_second_opinion_either(unknown: str) -> None:
    """LLM-24."""
    primary = Resolved("opt_b", NOBODY if unknown in ("primary", "both") else BY_FABLE)
    second = Resolved("opt_b", NOBODY if unknown in ("second", "both") else BY_ASTRA)
    assert ruled(primary, second) == (Outcome.SINGLE_RUNG, 0, "opt_b")
