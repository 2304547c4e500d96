"""claude_events: what Claude Code's output means."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decide.quota import WindowKind
from decide.reply import Failure, Finish, Reply, Trouble, Usage
from decide.rungs.claude_events import reply_of
from decide.rungs.process import Finished
from tests.decide.rungs import samples
from tests.decide.rungs.pretend import NOW, VERDICT

FABLE = ("claude-fable-5",)
NOTHING = Usage()


def read(output: bytes, code: int = 0, errors: bytes = b"") -> Reply:
    return reply_of(Finished(code, output, errors, len(errors)), NOW)


def at(epoch: int) -> datetime:
    return datetime.fromtimestamp(epoch, UTC)


def trouble(failure: Failure, **fields: Any) -> Trouble:
    return Trouble(failure, **({"billed": False} | fields))


ANSWERS = {
    "ANSWER": Reply(json.dumps(VERDICT, separators=(",", ":")), VERDICT, models=FABLE, usage=Usage(350, output=32), cost_micro_usd=5100),
    "OTHER_MODEL": Reply(json.dumps(VERDICT, separators=(",", ":")), VERDICT, models=("claude-opus-4-8",), usage=Usage(350, output=32), cost_micro_usd=5100),
    "PROSE": Reply("I think so: " + json.dumps(VERDICT), models=FABLE, usage=Usage(350, output=35), cost_micro_usd=5250),
    "EMPTY": Reply(models=FABLE, usage=Usage(725, output=2), cost_micro_usd=7350),
    "CUT_OFF": Reply("\n".join(['{"non'] * 4), finish=Finish.LENGTH, models=FABLE, usage=Usage(1684, output=8), cost_micro_usd=17240),
    "REFUSAL": Reply(finish=Finish.REFUSAL, models=FABLE, usage=Usage(350, output=1), cost_micro_usd=3550),
    "REFUSAL_THEN_FALLBACK": Reply(finish=Finish.REFUSAL, models=FABLE, usage=Usage(240, output=2), cost_micro_usd=1875),
}  # fmt: skip
TROUBLES = {
    "SESSION_WALL": trouble(Failure.SEAT_CAPPED, window=WindowKind.SESSION, clears_at=at(1796064205)),
    "FABLE_WALL": trouble(Failure.SEAT_CAPPED, window=WindowKind.WEEKLY_MODEL, clears_at=at(1796377414)),
    "THROTTLE": trouble(Failure.RATE_LIMITED),
    "REJECTED": trouble(Failure.NEEDS_LOGIN),
    "OUTAGE": trouble(Failure.SERVER_ERROR),
    "PORTAL": trouble(Failure.SERVER_ERROR),
    "OFFLINE": trouble(Failure.NETWORK),
    "LOGGED_OUT": trouble(Failure.NEEDS_LOGIN),
    "POOR_KEY": trouble(Failure.SEAT_CAPPED, window=WindowKind.SPEND),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_what_the_real_client_printed_of_an_answer(name: str) -> None:
    assert read(getattr(samples, name), 0 if "ANSWER" in name else 1) == ANSWERS[name]


@pytest.mark.parametrize("name", TROUBLES)
def test_what_the_real_client_printed_of_trouble(name: str) -> None:
    reply = read(getattr(samples, name), 1)
    assert reply.trouble is not None
    assert replace(reply.trouble, detail="") == TROUBLES[name]
    assert reply.trouble.detail
    assert (reply.text, reply.models, reply.usage, reply.cost_micro_usd) == ("", (), NOTHING, 0)


def result(**fields: Any) -> bytes:
    return json.dumps({"type": "result", "subtype": "success", "is_error": False, "result": ""} | fields).encode()


def test_an_empty_answer_that_was_billed_is_charged() -> None:  # LLM-13
    reply = read(result(total_cost_usd=0.0614, usage={"output_tokens": 17}))
    assert (reply.text, reply.cost_micro_usd, reply.usage, reply.trouble) == ("", 61_400, Usage(output=17), None)


def test_a_refusal_in_either_form() -> None:  # LLM-14
    clean = read(result(stop_reason="refusal", result="I can't help with that."))
    policy = b"API Error: the CLI is unable to respond to this request, which appears to violate our Usage Policy"
    assert (clean.finish, read(policy, 1).finish) == (Finish.REFUSAL, Finish.REFUSAL)
    assert read(result(is_error=True, result=policy.decode()), 1).finish is Finish.REFUSAL


def test_an_answer_that_speaks_of_limits_is_an_answer() -> None:  # LLM-18
    words = '{"resolvable": true, "rec": "opt_b", "rationale": "usage limit reached in line 529; violates our Usage Policy"}'
    assert read(result(result=words)) == Reply(words)


def test_notices_before_the_result_and_json_on_stderr_are_passed_over() -> None:  # LLM-21
    notices = (
        b"\xef\xbb\xbfWarning: update available 1.2.0 -> 1.3.0\n(node:123) ExperimentalWarning: x\n{broken\n[1]\n"
    )
    stray = json.dumps(VERDICT | {"rec": "opt_a"}).encode()
    assert read(notices + result(result="yes") + b"\n", errors=stray) == Reply("yes")
    nothing = read(notices, errors=stray)
    assert (nothing.text, nothing.structured) == ("", None)
    assert nothing.trouble == Trouble(Failure.CLIENT_ERROR, detail="the client ended without a result, exit status 0")


@pytest.mark.parametrize(
    ("output", "errors", "failure"),
    [
        (b"", b"error: unknown option '--x'\n", Failure.CLIENT_ERROR),
        (b"Not logged in \xc2\xb7 Please run /login\n", b"", Failure.NEEDS_LOGIN),
        (b"", b"/usr/bin/env: 'node': No such file or directory\n", Failure.NOT_INSTALLED),
        (b"", b"", Failure.CLIENT_ERROR),
    ],
)
def test_a_client_without_a_result(output: bytes, errors: bytes, failure: Failure) -> None:
    reply = read(output, 1, errors)
    assert reply.trouble is not None
    assert (reply.trouble.failure, reply.text) == (failure, "")


def event(**limit: Any) -> bytes:
    return json.dumps({"type": "rate_limit_event", "rate_limit_info": limit}).encode() + b"\n"


def failed(text: str, error: str = "", **fields: Any) -> bytes:
    message = {"model": "<synthetic>", "content": [{"type": "text", "text": text}]}
    said = json.dumps({"type": "assistant", "message": message, "error": error}).encode()
    return said + b"\n" + result(is_error=True, result=text, **fields)


RESET = int(NOW.timestamp()) + 7200


@pytest.mark.parametrize(
    ("kind", "window"),
    [
        ("five_hour", WindowKind.SESSION),
        ("seven_day", WindowKind.WEEKLY),
        ("seven_day_opus", WindowKind.WEEKLY_MODEL),
        ("seven_day_sonnet", WindowKind.WEEKLY_MODEL),
        ("overage", WindowKind.SPEND),
        ("fortnight", WindowKind.OTHER),
    ],
)
def test_a_wall_is_known_by_its_event_whatever_its_words(kind: str, window: WindowKind) -> None:
    for text in ("You've hit your limit · resets 9am (UTC)", "Words that no version has used yet"):
        output = event(status="rejected", rateLimitType=kind, resetsAt=RESET) + failed(
            text, "rate_limit", api_error_status=429
        )
        told = read(output, 1).trouble
        assert told is not None
        assert (told.failure, told.window, told.clears_at) == (Failure.SEAT_CAPPED, window, at(RESET))


def test_a_reset_that_has_passed_is_left_unsaid() -> None:
    output = event(status="rejected", rateLimitType="five_hour", resetsAt=RESET - 7201) + failed(
        "You've hit your limit"
    )
    told = read(output, 1).trouble
    assert told is not None
    assert (told.failure, told.clears_at) == (Failure.SEAT_CAPPED, None)


@pytest.mark.parametrize(
    ("error", "status", "failure", "window"),
    [
        ("authentication_failed", 401, Failure.NEEDS_LOGIN, None),
        ("oauth_org_not_allowed", 403, Failure.NEEDS_LOGIN, None),
        ("billing_error", 400, Failure.SEAT_CAPPED, WindowKind.SPEND),
        ("model_not_found", 404, Failure.MODEL_UNAVAILABLE, None),
        ("rate_limit", 429, Failure.RATE_LIMITED, None),
        ("server_error", None, Failure.SERVER_ERROR, None),
        ("unknown", 502, Failure.SERVER_ERROR, None),
        ("unknown", 429, Failure.RATE_LIMITED, None),
        ("unknown", 418, Failure.CLIENT_ERROR, None),
        ("", None, Failure.CLIENT_ERROR, None),
    ],
)
def test_a_text_that_nobody_knows_is_judged_by_its_codes(
    error: str, status: int | None, failure: Failure, window: WindowKind | None
) -> None:
    told = read(failed("Words that no version has used yet", error, api_error_status=status), 1).trouble
    assert told is not None
    assert (told.failure, told.window, told.billed) == (failure, window, status is None)


def test_a_refusal_to_start_costs_nothing_and_what_was_cut_off_may_have() -> None:
    nothing = {"input_tokens": 0, "output_tokens": 0}
    lost = read(failed("API Error: Connection to the API was lost (ECONNRESET)", usage=nothing, total_cost_usd=0), 1)
    assert (lost.usage, lost.cost_micro_usd, lost.trouble and lost.trouble.billed) == (None, None, True)
    some = read(
        failed("You've hit your limit", api_error_status=429, usage={"input_tokens": 9}, total_cost_usd=0.1), 1
    )
    assert (some.usage, some.cost_micro_usd, some.trouble and some.trouble.billed) == (Usage(9), 100_000, True)


def test_each_token_is_counted_once() -> None:
    usage = {"input_tokens": 5, "cache_read_input_tokens": 70, "cache_creation_input_tokens": 11, "output_tokens": 3}
    assert read(result(usage=usage)).usage == Usage(5, 70, 11, 3)
    rows = {"a": {"inputTokens": 5, "cacheReadInputTokens": 70, "outputTokens": 3}, "b": {"inputTokens": 20}}
    assert read(result(usage=usage, modelUsage=rows)).usage == Usage(25, 70, 0, 3)
    assert read(result(usage={"input_tokens": -1})).usage is None
    assert read(result(usage={"input_tokens": "5"})).usage is None
    assert read(result()).usage is None


@pytest.mark.parametrize("cost", [-0.1, "abc", True, None, 1e30, [1]])
def test_what_is_no_price_is_none(cost: Any) -> None:
    assert read(result(total_cost_usd=cost)).cost_micro_usd is None


def test_a_model_that_no_message_names_is_the_one_that_was_counted() -> None:
    assert read(result(modelUsage={"claude-fable-5[1m]": {"inputTokens": 1}})).models == FABLE


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
KEYS = st.sampled_from(
    [
        "subtype",
        "is_error",
        "result",
        "errors",
        "stop_reason",
        "structured_output",
        "usage",
        "modelUsage",
        "message",
        "total_cost_usd",
        "error",
        "rate_limit_info",
        "api_error_status",
        "original_model",
    ]
)
EVENTS = st.lists(
    st.builds(
        lambda kind, fields: fields | {"type": kind},
        st.sampled_from(["result", "assistant", "rate_limit_event", "system"]),
        st.dictionaries(KEYS, VALUES, max_size=6),
    ),
    max_size=4,
)


@given(EVENTS, st.integers(-9, 2), st.binary(max_size=40))
def test_no_output_breaks_it(events: list[dict[str, Any]], code: int, noise: bytes) -> None:
    output = b"\n".join([noise, *(json.dumps(event).encode() for event in events)])
    reply = read(output, code, noise)
    assert reply.cost_micro_usd is None or reply.cost_micro_usd >= 0
    assert reply.trouble is None or reply.trouble.clears_at is None or reply.trouble.clears_at > NOW
