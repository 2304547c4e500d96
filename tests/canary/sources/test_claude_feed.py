"""Claude status-line feed: shapes of formats 2.6, the age of each window, and whose feed it is."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from canary import feed
from canary.login import Login
from canary.sources.answer import Answer
from canary.sources.claude_feed import parse, read_feed
from canary.sources.target import Target
from decide.quota import Measure, Reading, WindowKind
from decide.reason import Reason
from decide.seat import Seat, SeatState, Token, TokenState, judge_seat
from tests.canary.fakes import NOW, FakeClock, target, world

S, W, M, SP, X = (WindowKind.SESSION, WindowKind.WEEKLY, WindowKind.WEEKLY_MODEL, WindowKind.SPEND, WindowKind.OTHER)
BAD = Measure.MALFORMED
T = NOW.timestamp()
RESET = int(T) + 7200


def kept(limits: Any, at: float = T, before: dict[str, Any] | None = None, session: str = "a") -> dict[str, Any]:
    document = feed.merge(before or {}, {"session_id": session, "rate_limits": limits}, at=at)
    assert document is not None
    return document


def read(document: dict[str, Any]) -> Reading:
    reading = parse(document, NOW)
    assert reading is not None
    return reading


def state(reading: Reading) -> tuple[SeatState, Reason | None]:
    status = judge_seat(Seat("seat", Token(TokenState.LIVE), readings=(reading,)), now=NOW)
    return status.state, status.reason


SHAPES: list[tuple[str, Any, list[tuple[WindowKind, str, float | Measure]]]] = [
    ("both, epoch", {"five_hour": {"used_percentage": 23.5, "resets_at": RESET}, "seven_day": {"used_percentage": 41.2, "resets_at": RESET}}, [(S, "", 0.235), (W, "", 0.412)]),
    ("ISO", {"five_hour": {"used_percentage": 100, "resets_at": "2026-10-15T14:00:00Z"}}, [(S, "", 1.0)]),
    ("weekly only", {"five_hour": None, "seven_day": {"used_percentage": 0.4}}, [(W, "", 0.004)]),
    ("over 100", {"five_hour": {"used_percentage": 101}}, [(S, "", 1.01)]),
    ("models", {"seven_day_opus": {"used_percentage": 50}, "seven_day_sonnet": {"used_percentage": 5}}, [(M, "Opus", 0.5), (M, "Sonnet", 0.05)]),
    ("unknown", {"five_hour": {"used_percentage": 1}, "nimbus_quill": {"used_percentage": 100}}, [(S, "", 0.01), (X, "nimbus_quill", 1.0)]),
    ("an unknown name that could be anything", {"jo@example.test": {"used_percentage": 3}}, [(X, "other", 0.03)]),
    ("purse by percentage", {"extra_usage": {"used_percentage": 15.85}}, [(SP, "", 0.1585)]),
    ("purse of the usage endpoint", {"extra_usage": {"is_enabled": True, "monthly_limit": 2050, "used_credits": 325, "utilization": None}}, [(SP, "", 325 / 2050)]),
    ("purse without a limit", {"extra_usage": {"is_enabled": True, "monthly_limit": None, "utilization": None}}, [(SP, "", Measure.UNLIMITED)]),
    ("purse spent", {"extra_usage": {"is_enabled": True, "spend_limit_reached": True}}, [(SP, "", Measure.REFUSED)]),
    ("percentage as text", {"five_hour": {"used_percentage": "9"}}, [(S, "", BAD)]),
    ("percentage true", {"five_hour": {"used_percentage": True}}, [(S, "", BAD)]),
    ("percentage below 0", {"five_hour": {"used_percentage": -1}}, [(S, "", BAD)]),
    ("window as number", {"seven_day": 9}, [(W, "", BAD)]),
    ("reset implausible", {"seven_day": {"used_percentage": 9, "resets_at": 5}}, [(W, "", BAD)]),
    ("reset as other text", {"seven_day": {"used_percentage": 9, "resets_at": "tomorrow"}}, [(W, "", BAD)]),
    ("limits as list", [], [(X, "rate_limits", BAD)]),
    ("reached as text", {"extra_usage": {"is_enabled": True, "spend_limit_reached": "yes"}}, [(SP, "", BAD)]),
]  # fmt: skip


@pytest.mark.parametrize(("limits", "expected"), [row[1:] for row in SHAPES], ids=[row[0] for row in SHAPES])
def test_each_shape_through_the_feed(limits: Any, expected: list[tuple[WindowKind, str, float | Measure]]) -> None:
    reading = read(kept(limits))
    found = [
        (window.kind, window.scope, window.used if window.measure is Measure.METERED else window.measure)
        for window in reading.windows
    ]
    assert found == [(k, s, m if isinstance(m, Measure) else pytest.approx(m)) for k, s, m in expected]
    assert (reading.source, reading.fetched_at) == ("claude-feed", NOW)


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"version": 2, "windows": {"five_hour": {"used_percentage": 1, "at": T}}},
        {"version": True, "windows": {"five_hour": {"used_percentage": 1, "at": T}}},
        {"version": 1, "windows": []},
        {"version": 1, "windows": {}},
        {"version": 1, "windows": {"five_hour": {"used_percentage": 1}}},
        {"version": 1, "windows": {"five_hour": {"used_percentage": 1, "at": "now"}}},
        {"version": 1, "windows": {"five_hour": {"used_percentage": 1, "at": 1e300}}},
    ],
)
def test_what_is_no_feed_or_has_no_time(document: dict[str, Any]) -> None:
    assert parse(document, NOW) is None


def test_a_window_that_is_no_longer_told_makes_the_reading_as_old_as_itself() -> None:
    before = kept({"seven_day": {"used_percentage": 95, "resets_at": RESET}}, at=T - 3600)
    reading = read(kept({"five_hour": {"used_percentage": 5, "resets_at": RESET}}, before=before))
    assert reading.fetched_at == NOW - timedelta(hours=1)
    assert state(reading) == (SeatState.UNKNOWN, Reason.STALE)


def test_a_window_that_is_no_longer_told_and_is_over_counts_no_more() -> None:
    before = kept({"seven_day": {"used_percentage": 95, "resets_at": int(T) - 60}}, at=T - 3600)
    reading = read(kept({"five_hour": {"used_percentage": 5, "resets_at": RESET}}, before=before))
    assert (reading.fetched_at, [window.kind for window in reading.windows]) == (NOW, [S])


def test_a_full_window_that_is_no_longer_told_stays_full_until_its_reset() -> None:
    before = kept({"seven_day": {"used_percentage": 100, "resets_at": RESET}}, at=T - 3600)
    reading = read(kept({"five_hour": {"used_percentage": 5, "resets_at": RESET}}, before=before))
    assert state(reading) == (SeatState.CAPPED, Reason.WEEKLY_CAP)


def test_a_full_window_whose_reset_has_passed_since_it_was_told_is_not_trusted() -> None:
    reading = read(kept({"seven_day": {"used_percentage": 100, "resets_at": int(T) - 60}}, at=T - 3600))
    assert state(reading) == (SeatState.UNKNOWN, Reason.STALE)


def test_a_feed_from_ahead_of_this_clock_is_not_trusted() -> None:
    before = kept({"seven_day": {"used_percentage": 5, "resets_at": RESET}})
    reading = read(kept({"five_hour": {"used_percentage": 5, "resets_at": RESET}}, at=T + 600, before=before))
    assert state(reading) == (SeatState.UNKNOWN, Reason.CLOCK)


def test_overage_is_permitted_while_the_purse_has_something_left() -> None:
    limits = {"five_hour": {"used_percentage": 100}, "extra_usage": {"is_enabled": True, "utilization": 15}}
    assert read(kept(limits)).permits_overage
    assert not read(kept(limits | {"extra_usage": {"is_enabled": True, "utilization": 100}})).permits_overage


def place(folder: Path, account: str, document: Any) -> Target:
    """A seat with a feed document, and an account beside its login."""
    feeds, config = folder / "feeds", folder / "claude"
    feeds.mkdir(exist_ok=True)
    config.mkdir(exist_ok=True)
    if account:
        block = {"oauthAccount": {"accountUuid": account, "organizationUuid": "org"}}
        (config / ".claude.json").write_text(json.dumps(block))
    if document is not None:
        Path(feed.feed_file(feeds, config)).write_text(json.dumps(document))
    return target(config, feeds=feeds)


async def answer(folder: Path, *, account: str = "", document: Any = None) -> Answer:
    return await read_feed(place(folder, account, document), Login(), world(FakeClock()))


LIMITS = {"five_hour": {"used_percentage": 5, "resets_at": RESET}}


async def test_a_feed_is_read_from_its_file(tmp_path: Path) -> None:
    found = await answer(tmp_path, document=kept(LIMITS))
    assert found.reading == read(kept(LIMITS))
    assert "names no account" in found.step


async def test_no_feed_yet(tmp_path: Path) -> None:
    found = await answer(tmp_path)
    assert (found.failure, "rungwatch feed" in found.step) == (Reason.NEVER_READ, True)


@pytest.mark.parametrize("document", [[], {"version": 1}, {"windows": "eyJ-SECRET"}])
async def test_a_broken_feed_is_told_without_its_content(tmp_path: Path, document: Any) -> None:
    found = await answer(tmp_path, document=document)
    assert (found.failure, "SECRET" in found.step) == (Reason.MALFORMED, False)


async def test_another_accounts_feed_is_not_this_ones(tmp_path: Path) -> None:
    await answer(tmp_path, account="one")
    mark = feed.account_of(tmp_path / "claude")
    mine = await answer(tmp_path, account="one", document=kept(LIMITS) | {"account": mark})
    assert (mine.reading is not None, mine.step) == (True, "read the status line's feed")
    theirs = await answer(tmp_path, account="two")
    assert (theirs.reading, theirs.failure) == (None, Reason.NEVER_READ)


async def test_the_age_is_that_of_the_data_and_not_of_the_file(tmp_path: Path) -> None:
    found = await answer(tmp_path, document=kept(LIMITS, at=T - 7200))
    assert found.reading is not None
    assert found.reading.fetched_at == NOW - timedelta(hours=2)
