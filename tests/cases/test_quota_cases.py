"""Public cases of kind 3: quotas."""

import json
import os
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from canary.budget import struck
from canary.files import FileFault, read_bytes
from canary.sources import claude_usage, codex_usage
from canary.sources.wire import reset_time
from decide.ladder import Role, RungState, judge_rung
from decide.quota import Window, WindowKind
from decide.reason import Reason
from decide.seat import Seat
from tests.canary.fakes import NOW, json_reply
from tests.cases.adapter import (
    LIVE,
    STATES,
    ListedRung,
    claude_seat,
    given,
    judged,
    neutral_windows,
    only,
    picked,
    reading_of,
    seats_document,
    when,
)


def test_quo_01_a_meter_over_100_is_a_wall_and_is_shown_as_read(tmp_path: Path) -> None:
    """QUO-01."""
    windows = given("QUO-01")["windows"]
    document = {
        "five_hour": {
            "utilization": windows["session_5h"]["percent"],
            "resets_at": windows["session_5h"]["resets_at"],
        }
    }
    status = judged(claude_seat(document | {"seven_day": {"utilization": windows["weekly"]["percent"]}}))
    assert status.state is STATES["WALLED"]
    assert status.clears_at == datetime.fromisoformat("2026-10-15T20:40:00Z")
    assert [v.window.used for v in status.binding if v.window.kind is WindowKind.SESSION] == [pytest.approx(1.01)]


@pytest.mark.parametrize("number", range(4))
def test_quo_02_the_unit_comes_from_the_contract(number: int) -> None:
    """QUO-02."""
    status = judged(claude_seat({"five_hour": given("QUO-02")["five_hour"][number]}))
    assert status.state is STATES["OK"]
    assert status.binding[0].window.used == pytest.approx([0, 0.0042, 0.01, 0.02][number])


def test_quo_04_one_null_reset_costs_no_other_window() -> None:
    """QUO-04."""
    status = judged(claude_seat(given("QUO-04")))
    assert status.state is STATES["OK"]
    shown = {(v.window.kind, v.window.scope): (v.window.used, v.window.resets_at is None) for v in status.windows}
    assert shown == {
        (WindowKind.SESSION, ""): (0.12, False),
        (WindowKind.WEEKLY, ""): (0.30, False),
        (WindowKind.WEEKLY_MODEL, "Sonnet"): (0.0, True),
    }


def test_quo_06_the_spent_week_of_the_rungs_model_is_a_wall() -> None:
    """QUO-06."""
    case = given("QUO-06")
    status = judged(claude_seat({"limits": case["limits"]}, scopes=[case["rung"]]))
    assert (status.state, status.reason) == (STATES["WALLED"], Reason.WEEKLY_MODEL_CAP)
    assert status.clears_at == datetime.fromisoformat("2026-10-18T22:00:00Z")


def test_quo_08_the_picker_reads_every_meter() -> None:
    """QUO-08."""
    listed = seats_document(given("QUO-08"))["seats"]
    seats = [
        Seat(seat["name"], LIVE, readings=(reading_of([_window(window) for window in seat["windows"]], NOW),))
        for seat in listed
    ]
    pick = picked(seats)
    assert pick.picked is None
    assert pick.clears_at == datetime.fromisoformat("2026-10-15T20:40:00Z")
    rung = judge_rung("fable", Role.PRIMARY, pick)
    assert rung.state is RungState.UNREACHABLE


def _window(window: dict[str, object]) -> Window:
    instant = reset_time(window["resets_at"], NOW)
    assert isinstance(window["used_percent"], int)
    return Window(WindowKind(str(window["kind"])), window["used_percent"] / 100, instant.at)


def test_quo_09_a_window_is_what_its_duration_says() -> None:
    """QUO-09."""
    reading = codex_usage.parse(given("QUO-09"), NOW)
    status = judged(Seat("s1", LIVE, readings=(reading,)))
    assert status.state is STATES["WALLED"]
    assert [verdict.window.kind for verdict in status.binding] == [WindowKind.WEEKLY]
    assert status.clears_at == NOW + timedelta(seconds=500_000)


def _session_at(case: str) -> Seat:
    (window,) = neutral_windows({"session_5h": given(case)["session_5h"]})
    used = Window(WindowKind.SESSION, window["used_percent"] / 100, reset_time(window["resets_at"], NOW).at)
    return Seat("s1", LIVE, readings=(reading_of([used], when(given(case)["observed_at"])),))


def test_quo_11_a_full_reading_from_before_its_reset_is_unknown_after_it() -> None:
    """QUO-11."""
    status = judged(_session_at("QUO-11"))
    assert (status.state, status.reason) == (STATES["UNKNOWN"], Reason.STALE)


def test_quo_12_a_wall_past_its_reset_is_still_a_wall_while_a_fresh_reading_says_so() -> None:
    """QUO-12."""
    status = judged(_session_at("QUO-12"))
    assert (status.state, status.reason) == (STATES["WALLED"], Reason.RESET_OVERDUE)
    assert status.clears_at is None
    for stated in (None, 0.001, 1.0, 59.0):
        assert struck(None, stated, NOW).until - NOW >= timedelta(seconds=60)


def test_quo_14_a_reset_in_any_of_its_units_or_none_at_all() -> None:
    """QUO-14."""
    found = [reset_time(value, NOW) for value in given("QUO-14")["resets_at"]]
    assert [instant.at for instant in found[:3]] == [when(1792069200)] * 3
    assert found[3].fault is Reason.MALFORMED
    assert [instant.fault for instant in found[4:]] == [Reason.IMPLAUSIBLE_TIME] * 3
    for value in given("QUO-14")["resets_at"][4:]:
        status = judged(claude_seat({"five_hour": {"utilization": 5, "resets_at": value}}))
        assert [verdict.reason for verdict in status.binding] == [Reason.IMPLAUSIBLE_TIME]
        assert status.state is not STATES["OK"]


def test_quo_15_a_throttled_monitor_says_nothing_of_the_seat() -> None:
    """QUO-15; that it asks once a tick, and later and later, is in test_nevers."""
    http = given("QUO-15")["http"]
    reply = json_reply(
        json.dumps(http["body"]).encode(), status=http["status"], **{"retry-after": http["headers"]["retry-after"]}
    )
    answer = claude_usage.interpret(reply)
    assert (answer.failure, answer.rejected, answer.retry_after_s) == (Reason.HTTP_429, False, None)
    known = claude_seat({"five_hour": {"utilization": 5}})
    status = judged(Seat("s1", LIVE, readings=known.readings, failure=answer.failure))
    assert (status.state, status.reason) == (STATES["UNKNOWN"], Reason.HTTP_429)


def test_quo_18_a_challenge_page_is_no_answer_and_its_text_goes_nowhere() -> None:
    """QUO-18."""
    http = given("QUO-18")["http"]
    reply = json_reply(http["body"].encode(), **{"content-type": http["headers"]["content-type"]})
    answer = claude_usage.interpret(reply)
    assert answer.failure is Reason.HTML
    assert "moment" not in answer.step
    assert "bytes (sha256 " in answer.step


@pytest.mark.parametrize("stays_broken", [False, True])
async def test_quo_20_a_file_that_is_being_rewritten(tmp_path: Path, stays_broken: bool) -> None:
    """QUO-20."""
    seen = list(given("QUO-20")["bytes_seen"])
    whole = json.dumps(seats_document(json.loads(seen[2])) | {"fetched_at": NOW.isoformat()})
    rung, waited = ListedRung(tmp_path), list[float]()
    rung.write(seen[0])

    def meanwhile(seconds: float) -> None:
        waited.append(seconds)
        rung.write(seen[1] if stays_broken or len(waited) < 2 else whole)

    rung.meanwhile = meanwhile
    status = await rung.tick()
    assert sum(waited) <= 0.5
    if stays_broken:
        assert (status.state, status.reasons) == (RungState.UNKNOWN, (Reason.MALFORMED,))
    else:
        assert only(status) == (STATES["OK"], None)


async def test_quo_22_a_byte_order_mark_is_not_there(tmp_path: Path) -> None:
    """QUO-22."""
    rung = ListedRung(tmp_path)
    then = json.dumps(seats_document(json.loads(given("QUO-22")["then"])) | {"fetched_at": NOW.isoformat()})
    rung.write(bytes.fromhex(given("QUO-22")["bytes_hex_prefix"]) + then.encode())
    status = await rung.tick()
    assert only(status) == (STATES["OK"], None)
    assert status.seats[0].binding[0].window.used == pytest.approx(0.12)


def test_quo_23_odd_files_are_unreadable_and_never_logged_out(tmp_path: Path) -> None:
    """QUO-23; the variant without permission is in test_files."""
    os.mkfifo(tmp_path / "fifo")
    for name, to in (("missing", tmp_path / "nowhere"), ("folder", tmp_path), ("zero", Path("/dev/zero"))):
        (tmp_path / name).symlink_to(to)
    for name in ("missing", "folder", "zero", "fifo"):
        found = read_bytes(tmp_path / name)
        assert isinstance(found, FileFault)
        assert found.reason is Reason.UNREADABLE
    assert len(given("QUO-23")["variants"]) == 5


async def test_quo_25_the_age_is_that_of_the_data(tmp_path: Path) -> None:
    """QUO-25."""
    rung = ListedRung(tmp_path)
    rung.write(json.dumps(seats_document(given("QUO-25")["content"])))
    mtime = given("QUO-25")["file_mtime"]
    os.utime(rung.path, (mtime, mtime))
    assert only(await rung.tick()) == (STATES["UNKNOWN"], Reason.STALE)
    without = {key: value for key, value in given("QUO-25")["content"].items() if key != "observed_at"}
    rung.write(json.dumps(seats_document(without)))
    os.utime(rung.path, (mtime, mtime))
    assert only(await rung.tick()) == (STATES["OK"], None)
    assert rung.done is not None
    assert any("modification time stands in" in line for line in rung.done.probes[0].lines)
