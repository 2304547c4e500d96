"""wording: every wording that is known means what it does, and one that is not stays what it is."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decide.quota import WindowKind
from decide.reply import Failure
from decide.rungs.wording import WORDINGS, plain, says_cut, says_refusal, trouble_of

NOW = datetime(2026, 10, 15, 12, 0, tzinfo=UTC)
CAPPED, LOGIN, MODEL = Failure.SEAT_CAPPED, Failure.NEEDS_LOGIN, Failure.MODEL_UNAVAILABLE
SERVER, NETWORK, LIMITED = Failure.SERVER_ERROR, Failure.NETWORK, Failure.RATE_LIMITED
SESSION, WEEKLY, OF_MODEL, SPEND = WindowKind.SESSION, WindowKind.WEEKLY, WindowKind.WEEKLY_MODEL, WindowKind.SPEND

CLAUDE = [
    ("You've hit your session limit · resets 12:37pm (UTC)", CAPPED, SESSION),
    ("You've hit your session limit · resets 3:40pm (America/Chicago)\n/upgrade to increase your usage limit.", CAPPED, SESSION),
    ("You've hit your weekly limit · resets Dec 4, 2:37pm (UTC)", CAPPED, WEEKLY),
    ("You've hit your weekly limit · resets Mon 12:00am", CAPPED, WEEKLY),
    ("You've hit your Opus limit · resets 1pm (UTC)", CAPPED, OF_MODEL),
    ("You've hit your Sonnet limit · resets 1pm (UTC)", CAPPED, OF_MODEL),
    ("You've hit your Fable 5 limit · resets 1pm (UTC)", CAPPED, OF_MODEL),
    ("You've reached your Fable 5 limit. Run /usage-credits to continue or switch models with /model.", CAPPED, OF_MODEL),
    ("You've hit your usage limit · resets 1pm (UTC)", CAPPED, None),
    ("You've hit your limit · resets Feb 4, 9pm (Africa/Johannesburg)", CAPPED, None),
    ("5-hour limit reached ∙ resets 5am", CAPPED, SESSION),
    ("Session limit reached ∙ resets 5am", CAPPED, SESSION),
    ("Opus weekly limit reached ∙ resets 5am", CAPPED, OF_MODEL),
    ("Claude Max usage limit reached. Your limit will reset at 12am.", CAPPED, None),
    ("You've hit your org's monthly usage limit · resets 1pm (UTC)", CAPPED, SPEND),
    ("You've hit your monthly spend limit · raise it at claude.ai/settings/usage", CAPPED, SPEND),
    ("You're out of usage credits · resets 1pm (UTC)", CAPPED, SPEND),
    ("You're out of extra usage · resets 1pm (UTC)", CAPPED, SPEND),
    ("Your org is out of usage · contact your admin", CAPPED, SPEND),
    ("Fable 5 requires usage credits.", CAPPED, SPEND),
    ("Your seat type doesn't include usage", CAPPED, SPEND),
    ("Your usage allocation has been disabled by your admin", CAPPED, SPEND),
    ("Your group's usage limit is set to $0", CAPPED, SPEND),
    ("Credit balance is too low", CAPPED, SPEND),
    ("API Error: Server is temporarily limiting requests (not your usage limit) · Rate limited.", LIMITED, None),
    ("API Error: Request rejected (429) · this may be a temporary capacity issue", LIMITED, None),
    ("Not logged in · Please run /login", LOGIN, None),
    ("Failed to authenticate. API Error: 401 Invalid bearer", LOGIN, None),
    ("Failed to authenticate. API Error: 403 OAuth token does not meet scope requirement user:profile", LOGIN, None),
    ("Your account does not have access to Claude. Please login again or contact your administrator.", LOGIN, None),
    ("Your organization has disabled Claude subscription access for Claude Code · Use an Anthropic API key", LOGIN, None),
    ("Invalid API key · Fix external API key", LOGIN, None),
    ("OAuth token revoked · Please run /login", LOGIN, None),
    ("OAuth token has expired", LOGIN, None),
    ("OAuth token does not meet scope requirement user:profile", LOGIN, None),
    ("There's an issue with the selected model (claude-x). It may not exist or you may not have access to it.", MODEL, None),
    ("API Error: 529 Overloaded. This is a server-side issue, usually temporary — try again in a moment.", SERVER, None),
    ("API Error: 500 Internal server error.", SERVER, None),
    ("Repeated 529 Overloaded errors", SERVER, None),
    ("API Error: API returned an empty or malformed response (HTTP 200) — check for a proxy or gateway", SERVER, None),
    ("API Error: Stream ended without receiving any events", SERVER, None),
    ("Failed to authenticate. API Error: Just a moment...", SERVER, None),
    ("Failed to authenticate. API Error: 403 status code (no body)", SERVER, None),
    ("API Error: Unable to connect to API (ConnectionRefused)", NETWORK, None),
    ("API Error: Unable to connect to API (FailedToOpenSocket)", NETWORK, None),
    ("API Error: Unable to connect to API (ECONNRESET)", NETWORK, None),
    ("API Error: Connection to the API was lost (ECONNRESET). This is usually temporary — try again.", NETWORK, None),
    ("API Error: Stream idle timeout - no chunks received", NETWORK, None),
    ("Request timed out", Failure.TIMEOUT, None),
    ("error: unknown option '--x'", Failure.CLIENT_ERROR, None),
]  # fmt: skip
CODEX = [
    ("You’ve hit your usage limit. Visit https://chatgpt.com/settings/usage to purchase more credits or try again at 12:44 PM.", CAPPED, None),
    ("You've hit your usage limit. Upgrade to Pro (https://chatgpt.com/explore/pro) or try again in 5 days 22 hours 11 minutes.", CAPPED, None),
    ("You’ve hit your usage limit. Upgrade to Plus to continue using Codex (https://x), or try again at 1:00 PM.", CAPPED, None),
    ("You’ve hit your usage limit. To get more access now, send a request to your admin or try again at 1:00 PM.", CAPPED, None),
    ("You’ve hit your usage limit. Try again at Dec 2nd, 2026 3:31 PM.", CAPPED, None),
    ("You’ve hit your usage limit. Visit https://x to purchase more credits or try again later.", CAPPED, None),
    ("You’ve hit your usage limit for GPT-5.3-Codex-Spark. Switch to another model now, or try again at 1:00 PM.", CAPPED, OF_MODEL),
    ("Your workspace is out of credits. Ask your workspace owner to refill in order to continue.", CAPPED, SPEND),
    ("To use Codex with your ChatGPT plan, upgrade to Plus: https://chatgpt.com/explore/plus.", CAPPED, None),
    ("Quota exceeded. Check your plan and billing details.", CAPPED, SPEND),
    ("exceeded retry limit, last status: 429 Too Many Requests", LIMITED, None),
    ("rate limit exceeded: Rate limit reached for gpt-6. Please try again in 6.2s.", LIMITED, None),
    ("unexpected status 401 Unauthorized: Missing bearer or basic authentication in header, url: https://x", LOGIN, None),
    ("unexpected status 403 Forbidden: {\"error\": \"no\"}, url: https://x", LOGIN, None),
    ("unexpected status 403 Forbidden: <!DOCTYPE html><html><head>, url: https://x", SERVER, None),
    ("Your access token could not be refreshed because your refresh token was already used. Please log out and sign in again.", LOGIN, None),
    ("Your access token could not be refreshed because your refresh token has expired. Please log out and sign in again.", LOGIN, None),
    ("workspace routing discovery unauthorized (401)", LOGIN, None),
    ("workspace routing discovery failed", NETWORK, None),
    ("workspace routing discovery timed out", NETWORK, None),
    ("Failed to refresh token: 400 Bad Request", LOGIN, None),
    ("Provided authentication token is expired. Please try signing in again.", LOGIN, None),
    ("Failed to refresh token: 500 Internal Server Error", SERVER, None),
    ("Error: timed out waiting for cloud config bundle after 20s", NETWORK, None),
    ("Selected model is at capacity. Please try a different model.", SERVER, None),
    ("We’re currently experiencing high demand, which may cause temporary errors.", SERVER, None),
    ("unexpected status 529 <unknown status code>: Overloaded, url: https://x", SERVER, None),
    ("The model `x` does not exist or you do not have access to it.", MODEL, None),
    ('{"detail": "The \'x\' model is not supported when using Codex with a ChatGPT account."}', MODEL, None),
    ("stream disconnected before completion: stream closed before response.completed", NETWORK, None),
    ("Connection failed: error sending request", NETWORK, None),
    ("unexpected status 404 Not Found: Unknown error, url: https://x", Failure.NOT_INSTALLED, None),
    ("/usr/bin/env: ‘node’: No such file or directory", Failure.NOT_INSTALLED, None),
    ("Codex ran out of room in the model's context window. Start a new thread.", Failure.CLIENT_ERROR, None),
]  # fmt: skip


@pytest.mark.parametrize(("text", "failure", "window"), [*CLAUDE, *CODEX])
def test_what_a_wording_means(text: str, failure: Failure, window: WindowKind | None) -> None:
    for variant in (text, text.replace("'", "’"), text.replace("’", "'"), text.replace(" ", "\u00a0")):
        trouble = trouble_of(variant, NOW)
        assert (trouble.failure, trouble.window) == (failure, window), variant


def test_every_row_is_needed_by_a_wording() -> None:
    texts = [plain(text) for text, _, _ in [*CLAUDE, *CODEX]]
    used = {next((row for row in WORDINGS if row.pattern.search(text)), None) for text in texts}
    assert [row.pattern.pattern for row in WORDINGS if row not in used] == []


def case(name: str) -> dict[str, object]:
    lines = (Path(__file__).parents[2] / "cases" / "cases.jsonl").read_text().splitlines()
    found: dict[str, object] = next(row for row in map(json.loads, lines) if row["id"] == name)["input"]
    return found


def test_the_six_messages_of_llm_16() -> None:
    given = case("LLM-16")
    now = datetime.fromtimestamp(int(str(given["now"])), UTC)
    messages = given["messages"]
    assert isinstance(messages, list)
    troubles = [trouble_of(message, now) for message in messages]
    assert {trouble.failure for trouble in troubles} == {CAPPED}
    waits = [trouble.clears_at and (trouble.clears_at - now).total_seconds() for trouble in troubles]
    assert waits == [37200, 32400, None, 14400, 334800, None]


@pytest.mark.parametrize(
    ("text", "billed"),
    [
        ("You've hit your weekly limit", False),
        ("Not logged in · Please run /login", False),
        ("API Error: Unable to connect to API (ConnectionRefused)", False),
        ("workspace routing discovery failed", False),
        ("Failed to refresh token: 500 Internal Server Error", False),
        ("API Error: Connection to the API was lost (ECONNRESET)", True),
        ("stream disconnected before completion", True),
        ("who knows", True),
    ],
)
def test_what_is_refused_before_a_model_works_costs_nothing(text: str, billed: bool) -> None:
    assert trouble_of(text, NOW).billed is billed


def test_a_throttle_says_how_long_within_bounds() -> None:
    assert trouble_of("rate limit exceeded: try again in 6.2s.", NOW).retry_after_s == pytest.approx(6.2)
    assert trouble_of("rate limit exceeded: try again in 0.2s", NOW).retry_after_s == 1.0
    assert trouble_of("rate limit exceeded: try again in 9 hours", NOW).retry_after_s == 3600.0
    assert trouble_of("rate limit exceeded", NOW).retry_after_s is None


def test_a_refusal_and_a_cut_answer_are_told_apart_from_trouble() -> None:
    policy = "API Error: the CLI is unable to respond to this request, which appears to violate our Usage Policy"
    flagged = "API Error: Fable 5's safeguards flagged this message (https://x)."
    filtered = "stream disconnected before completion: Incomplete response returned, reason: content_filter"
    assert [says_refusal(text) for text in (policy, flagged, filtered, "usage limit")] == [True, True, True, False]
    long = "API Error: Claude's response exceeded the 64000 output token maximum. To configure this behavior, set"
    incomplete = "Incomplete response returned, reason: max_output_tokens"
    assert [says_cut(text) for text in (long, incomplete, filtered)] == [True, True, False]


def test_a_detail_is_one_short_line_without_secrets() -> None:
    secret = "correct horse"
    text = f"\n \nbad key sk-ant-oat01-FAKEFAKE of seat@example.invalid, Bearer eyJhbGciOiJI.e30.x {secret} {'y ' * 400}\nmore"
    detail = trouble_of(text, NOW, secrets=(secret,)).detail
    assert detail.startswith("bad key ")
    assert len(detail) <= 200
    for hidden in ("FAKEFAKE", "example", "eyJ", secret, "more", "\n"):
        assert hidden not in detail


@given(st.text(max_size=300), st.sampled_from([text for text, _, _ in [*CLAUDE, *CODEX]]), st.integers(0, 60))
def test_no_text_breaks_it(noise: str, text: str, place: int) -> None:
    for variant in (noise, text[:place] + noise + text[place:], text[place:], text * 60):
        trouble = trouble_of(variant, NOW, zone=UTC)
        assert trouble.clears_at is None or NOW < trouble.clears_at <= NOW + timedelta(days=400)
        assert 0 < len(trouble.detail) <= 200
