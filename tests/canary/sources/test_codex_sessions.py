"""Codex session files: shapes and traps of formats 4.4, and whose events they are."""

import json
import os
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from canary.login import Login
from canary.sources.answer import Answer
from canary.sources.codex_sessions import TAIL, conclude, newest_tails, parse, read_sessions
from canary.sources.credits import spendable
from canary.sources.target import Target
from decide.quota import Measure, Reading, WindowKind
from decide.reason import Reason
from tests.canary.fakes import NOW, FakeClock, target, world

S, W, M, X = WindowKind.SESSION, WindowKind.WEEKLY, WindowKind.WEEKLY_MODEL, WindowKind.OTHER
BAD, REFUSED = Measure.MALFORMED, Measure.REFUSED
AT = NOW - timedelta(minutes=5)
RESET, LATER = int((NOW + timedelta(hours=2)).timestamp()), int((NOW + timedelta(days=3)).timestamp())


def window(used: Any, minutes: Any = 300, **fields: Any) -> dict[str, Any]:
    return {"used_percent": used, "window_minutes": minutes} | (fields or {"resets_at": RESET})


def limits(**changes: Any) -> dict[str, Any]:
    both = {"primary": window(60.0), "secondary": window(20.0, 10080, resets_at=LATER)}
    return {"limit_id": "codex", "limit_name": None, **both, "credits": None, "plan_type": "pro", **changes}


def line(told: Any, at: datetime = AT, **changes: Any) -> bytes:
    payload = {"type": "token_count", "info": None, "rate_limits": told}
    return (
        json.dumps({"timestamp": at.isoformat(), "type": "event_msg", "payload": payload} | changes).encode() + b"\n"
    )


def read(*content: bytes) -> Reading:
    reading = parse([b"".join(content)], NOW)
    assert reading is not None
    return reading


def found(reading: Reading) -> list[tuple[WindowKind, str, float | Measure]]:
    return [(w.kind, w.scope, w.used if w.measure is Measure.METERED else w.measure) for w in reading.windows]


SHAPES: list[tuple[str, dict[str, Any], list[tuple[WindowKind, str, float | Measure]]]] = [
    ("both", limits(), [(S, "", 0.6), (W, "", 0.2)]),
    ("weekly in the first slot", limits(primary=window(100.0, 10080), secondary=None), [(W, "", 1.0)]),
    ("five hours in the second", limits(primary=None, secondary=window(7)), [(S, "", 0.07)]),
    ("a month", limits(primary=window(5, 43200), secondary=None), [(WindowKind.MONTHLY, "", 0.05)]),
    ("nine hours", limits(primary=window(5, 540), secondary=None), [(S, "", 0.05)]),
    ("two days", limits(primary=window(5, 2880), secondary=None), [(X, "172800s", 0.05)]),
    ("no limit_id, as older versions", {"primary": window(60), "secondary": None}, [(S, "", 0.6)]),
    ("reset_at", limits(primary=window(60, reset_at=RESET), secondary=None), [(S, "", 0.6)]),
    ("seconds to go", limits(primary=window(60, resets_in_seconds=600), secondary=None), [(S, "", 0.6)]),
    ("what is left", limits(primary={"remaining_percent": 40, "window_minutes": 300}, secondary=None), [(S, "", 0.6)]),
    ("both told, the fuller", limits(primary=window(10, remaining_percent=40), secondary=None), [(S, "", 0.6)]),
    ("a model's bucket alone", limits(limit_id="codex_bengalfox", limit_name=" GPT-5.3-Codex-Spark "), [(M, "GPT-5.3-Codex-Spark", 0.6)]),
    ("a bucket that names no model", limits(limit_id="codex_bengalfox"), [(X, "codex_bengalfox", 0.6)]),
    ("refused", limits(rate_limit_reached_type="workspace_member_credits_depleted"), [(S, "", 0.6), (W, "", 0.2), (X, "refusal", REFUSED)]),
    ("refused, as the endpoint says it", limits(rate_limit_reached_type={"type": "rate_limit_reached"}), [(S, "", 0.6), (W, "", 0.2), (X, "refusal", REFUSED)]),
    ("refused and full", limits(primary=window(100), rate_limit_reached_type="rate_limit_reached"), [(S, "", 1.0), (W, "", 0.2)]),
    ("refused in new words", limits(rate_limit_reached_type="moon_phase"), [(S, "", 0.6), (W, "", 0.2), (X, "refusal", BAD)]),
    ("a window as text", limits(primary="60"), [(X, "window", BAD), (W, "", 0.2)]),
    ("a duration as text", limits(primary=window(60, "300")), [(X, "window", BAD), (W, "", 0.2)]),
    ("no duration", limits(primary=window(60, None)), [(X, "window", BAD), (W, "", 0.2)]),
    ("a share as text", limits(primary=window("60")), [(S, "", BAD), (W, "", 0.2)]),
    ("what is left as text", limits(primary=window(6, remaining_percent="40")), [(S, "", BAD), (W, "", 0.2)]),
    ("seconds to go as text", limits(primary=window(6, resets_in_seconds="9")), [(S, "", BAD), (W, "", 0.2)]),
    ("a bucket as number", limits(limit_id=5), [(X, "rate_limits", BAD)]),
    ("limits as list", [], [(X, "rate_limits", BAD)]),  # type: ignore[list-item]  # what a broken writer could leave
]  # fmt: skip


@pytest.mark.parametrize(("told", "expected"), [row[1:] for row in SHAPES], ids=[row[0] for row in SHAPES])
def test_each_shape(told: dict[str, Any], expected: list[tuple[WindowKind, str, float | Measure]]) -> None:
    reading = read(line(told))
    assert found(reading) == [(k, s, m if isinstance(m, Measure) else pytest.approx(m)) for k, s, m in expected]
    assert (reading.source, reading.fetched_at) == ("codex-sessions", AT)


def test_seconds_to_go_count_from_the_event() -> None:
    reading = read(line(limits(primary=window(60, resets_in_seconds=600), secondary=None)))
    assert reading.windows[0].resets_at == AT + timedelta(seconds=600)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n\n",
        line(None),
        line({}),
        line(limits(primary=None, secondary=None)),
        b'{"timestamp": "2026-10-15T11:55:00Z", "type": "response_item", "payload": {"type": "x", "rate_limits": {}}}\n',
        json.dumps({"payload": {"type": "message", "text": line(limits()).decode()}}).encode() + b"\n",
    ],
)
def test_what_tells_no_quota(content: bytes) -> None:
    assert conclude([content], NOW, since=None).failure is Reason.NEVER_READ


def test_the_newest_event_counts_wherever_it_stands() -> None:
    newer, older = line(limits(primary=window(90))), line(limits(), AT - timedelta(hours=1))
    for tails in ([newer + older], [older + newer], [newer, older], [older, newer]):
        reading = parse(tails, NOW)
        assert reading is not None
        assert found(reading)[0] == (S, "", 0.9)


def test_events_without_quotas_do_not_hide_the_one_before() -> None:
    assert found(read(line(limits()), line(None, NOW), line({}, NOW)))[0] == (S, "", 0.6)


SPARK = {"limit_id": "codex_bengalfox", "limit_name": "Spark", "secondary": None}


def test_buckets_interleave_and_the_plans_own_gives_the_age() -> None:
    spark = limits(**SPARK, primary=window(3))
    reading = read(line(limits()), line(spark, AT + timedelta(minutes=1)))
    assert (found(reading), reading.fetched_at) == ([(S, "", 0.6), (W, "", 0.2), (M, "Spark", 0.03)], AT)
    older = read(line(spark, AT - timedelta(hours=1)), line(limits()))
    assert found(older) == [(S, "", 0.6), (W, "", 0.2)]


def test_a_models_bucket_that_is_full_until_later_is_kept_however_old() -> None:
    spark = limits(**SPARK, primary=window(100))
    assert found(read(line(spark, AT - timedelta(hours=1)), line(limits())))[-1] == (M, "Spark", 1.0)
    over = limits(**SPARK, primary=window(100, resets_at=int(NOW.timestamp()) - 60))
    assert found(read(line(over, AT - timedelta(hours=1)), line(limits()))) == [(S, "", 0.6), (W, "", 0.2)]


BROKEN = [
    line(limits())[:-40] + b"\n",
    line(limits(), timestamp=None),
    line(limits(), timestamp="yesterday"),
    line(limits(), timestamp=1792065600),
    line(limits(), payload=[{"rate_limits": 1}]),
    line(limits(), type=5),
]


@pytest.mark.parametrize("content", BROKEN)
def test_a_broken_report_is_newer_than_those_before_it_and_older_than_those_after(content: bytes) -> None:
    before = line(limits(), AT - timedelta(minutes=1))
    assert found(read(before, content))[0] == (X, "rate_limits", BAD)
    after = line(limits(primary=window(70)), AT + timedelta(minutes=1))
    assert found(read(before, content, after))[0] == (S, "", 0.7)


def test_a_broken_report_alone_is_told() -> None:
    answer = conclude([BROKEN[0]], NOW, since=None)
    assert (answer.reading, answer.failure) == (None, Reason.MALFORMED)


def test_an_event_of_long_ago_is_old_and_not_broken() -> None:
    reading = read(line(limits(), NOW - timedelta(days=90)))
    assert (reading.fetched_at, found(reading)[0]) == (NOW - timedelta(days=90), (S, "", 0.6))


@pytest.mark.parametrize(
    ("purse", "usable"),
    [
        ({"has_credits": True, "balance": "12.34"}, True),
        ({"has_credits": True, "balance": 5}, True),
        ({"has_credits": True, "unlimited": True, "balance": None}, True),
        ({"has_credits": True, "balance": "0.000"}, False),
        ({"has_credits": True, "balance": None}, True),
        ({"has_credits": True, "balance": "lots"}, False),
        ({"has_credits": True, "balance": [5]}, False),
        ({"has_credits": True, "balance": True}, False),
        ({"has_credits": False, "balance": "5"}, False),
        ({"has_credits": True, "balance": "5", "overage_limit_reached": True}, False),
        ({"has_credits": True, "balance": "5", "overage_limit_reached": "no"}, False),
        (None, False),
        ("5", False),
    ],
)
def test_credits_permit_overage_only_when_they_are_surely_there(purse: Any, usable: bool) -> None:
    assert spendable(purse) is usable
    assert read(line(limits(credits=purse))).permits_overage is usable


def written(folder: Path, name: str, content: bytes, *, at: datetime = AT) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    os.utime(path, (at.timestamp(), at.timestamp()))


def seat(folder: Path, *, refreshed: datetime | None = None, written_at: datetime | None = None) -> Target:
    """A seat whose login was renewed, and whose login file was written, at these times."""
    if refreshed or written_at:
        stored = {
            "last_refresh": refreshed.isoformat() if refreshed else None,
            "tokens": {"access_token": "eyJ-SECRET"},
        }
        written(folder, "auth.json", json.dumps(stored).encode(), at=written_at or NOW - timedelta(days=9))
    return target(folder, login_kind="codex", sources=("codex-sessions",))


async def answer(of: Target) -> Answer:
    return await read_sessions(of, Login(), world(FakeClock()))


async def test_sessions_are_read_from_their_folders(tmp_path: Path) -> None:
    written(tmp_path, "sessions/2026/10/15/rollout-2026-10-15T11-00-00-a.jsonl", line(limits()))
    told = await answer(seat(tmp_path, refreshed=NOW - timedelta(days=1)))
    assert told.reading is not None
    assert told.reading.fetched_at == AT
    assert "SECRET" not in told.step


async def test_archived_sessions_count_too(tmp_path: Path) -> None:
    written(tmp_path, "archived_sessions/rollout-2026-10-15T11-00-00-a.jsonl", line(limits()))
    assert (await answer(seat(tmp_path))).reading is not None


async def test_no_sessions(tmp_path: Path) -> None:
    assert (await answer(seat(tmp_path))).failure is Reason.NEVER_READ


@pytest.mark.parametrize(
    ("refreshed", "written_at"),
    [
        (AT + timedelta(minutes=1), None),
        (None, AT + timedelta(minutes=1)),
        (AT - timedelta(days=9), AT + timedelta(minutes=1)),
    ],
    ids=["renewed since", "switched since", "an older login put back since"],
)
async def test_events_from_before_this_login_may_be_another_accounts(
    tmp_path: Path, refreshed: datetime | None, written_at: datetime | None
) -> None:
    written(tmp_path, "sessions/2026/10/15/rollout-a.jsonl", line(limits(primary=window(3))))
    told = await answer(seat(tmp_path, refreshed=refreshed, written_at=written_at))
    assert (told.reading, told.failure) == (None, Reason.STALE)
    assert "another account's" in told.step


async def test_a_line_that_is_being_written_hides_the_ones_before_it(tmp_path: Path) -> None:
    full = line(limits(primary=window(100)), NOW)
    written(tmp_path, "sessions/2026/10/15/rollout-a.jsonl", line(limits()) + full[:60])
    told = await answer(seat(tmp_path))
    assert told.reading is not None
    assert found(told.reading) == [(X, "rate_limits", BAD)]


async def test_a_line_that_was_being_written_is_read_again(tmp_path: Path) -> None:
    path, full = "sessions/2026/10/15/rollout-a.jsonl", line(limits(primary=window(100)), NOW)
    written(tmp_path, path, line(limits()) + full[:60])

    async def finish(seconds: float) -> None:
        written(tmp_path, path, line(limits()) + full)

    there = world(FakeClock())
    told = await read_sessions(
        seat(tmp_path), Login(), type(there)(there.clock, there.fetch, finish, there.keychain, {})
    )
    assert told.reading is not None
    assert found(told.reading)[0] == (S, "", 1.0)


def test_only_the_end_of_a_huge_file_is_read(tmp_path: Path) -> None:
    filler = json.dumps({"type": "response_item", "payload": {"text": "x" * 1000}}).encode() + b"\n"
    content = line(limits()) + filler * (TAIL // 1000) + line(limits(primary=window(80)))
    written(tmp_path, "sessions/2026/10/15/rollout-a.jsonl", content)
    (tail,) = newest_tails(tmp_path)
    assert len(tail) < TAIL
    assert tail.startswith(b'{"type": "response_item"')
    assert found(read(tail))[0] == (S, "", 0.8)


def test_a_line_longer_than_what_is_read_costs_itself_only(tmp_path: Path) -> None:
    written(tmp_path, "sessions/2026/10/15/rollout-a.jsonl", b"x" * (TAIL + 10) + b"\n" + line(limits()))
    assert found(read(*newest_tails(tmp_path)))[0] == (S, "", 0.6)


def test_an_old_session_that_goes_on_is_read_and_quiet_ones_are_not(tmp_path: Path) -> None:
    for day in range(1, 15):
        at = NOW - timedelta(days=15 - day)
        written(tmp_path, f"sessions/2026/10/{day:02}/rollout-2026-10-{day:02}-a.jsonl", line(limits(), at), at=at)
    resumed = line(limits(primary=window(80)))
    written(tmp_path, "sessions/2026/10/02/rollout-2026-10-02-a.jsonl", resumed, at=AT)
    tails = newest_tails(tmp_path)
    assert resumed in tails
    assert len(tails) == 4


def test_what_stands_in_the_way_is_passed_over(tmp_path: Path) -> None:
    day = tmp_path / "sessions/2026/10/15"
    day.mkdir(parents=True)
    os.mkfifo(day / "rollout-a.jsonl")
    (day / "rollout-b.jsonl").symlink_to("/nowhere")
    (day / "rollout-c.jsonl").mkdir()
    (day / "notes.txt").touch()
    (tmp_path / "sessions/loop").symlink_to(tmp_path / "sessions")
    assert newest_tails(tmp_path) == []
