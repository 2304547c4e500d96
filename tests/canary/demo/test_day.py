"""The incident day tells ADR-0016's story, shows every trouble, and is put on stage without needless writes."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest

from canary.demo.claude_model import walled as claude_walled
from canary.demo.codex_wire import allowed
from canary.demo.day import CHANGES, LENGTH, LOGINS, PHASES, DaySeat, clock, phase_at, seats_at
from canary.demo.provider import Fault, MeterKind, Provider, Shape, Vendor, serve
from canary.demo.stage import apply

START = datetime(2026, 9, 10, 12, tzinfo=UTC)
MODEL = "claude-fable-5"
Trouble = Callable[[DaySeat], bool]


def at(text: str) -> datetime:
    return START + clock(text)


def seats(text: str) -> dict[str, DaySeat]:
    return {seat.script.name: seat for seat in seats_at(at(text), START)}


def lapsed(seat: DaySeat, moment: datetime) -> bool:
    return seat.expires_at is not None and seat.expires_at <= moment


def answers(seat: DaySeat, moment: datetime) -> bool:
    """Whether quota, token and vendor let a model call through."""
    if lapsed(seat, moment) or seat.script.fault is not None:
        return False
    return allowed(seat.script) if seat.script.vendor is Vendor.CODEX else not claude_walled(seat.script, MODEL)


def rungs(moment: datetime) -> tuple[bool, bool]:
    """Which of the two rungs some seat can answer for: Claude's, Codex's."""
    able = {seat.script.vendor for seat in seats_at(moment, START) if answers(seat, moment)}
    return Vendor.CLAUDE in able, Vendor.CODEX in able


@pytest.mark.parametrize(
    ("begins", "ends", "expected"),
    [
        ("12:00", "19:26", (True, True)),
        ("19:26", "20:05", (False, True)),
        ("20:05", "20:25", (False, False)),
        ("20:25", "20:40", (False, True)),
        ("20:40", "22:00", (True, True)),
        ("22:00", "22:30", (False, False)),
        ("22:30", "24:00", (True, True)),
    ],
)
def test_rungs_through_the_day(begins: str, ends: str, expected: tuple[bool, bool]) -> None:
    moment = at(begins)
    while moment < at(ends):
        assert rungs(moment) == expected, moment
        moment += timedelta(minutes=1)


def test_the_naive_picker_sees_headroom_in_the_incident() -> None:
    for name, seat in seats("19:30").items():
        meters = {meter.kind: meter.percent for meter in seat.script.windows}
        if name == "desk-7":
            assert meters[MeterKind.SESSION] == 101
            assert meters[MeterKind.WEEKLY_MODEL] < 80
        elif seat.script.vendor is Vendor.CLAUDE:
            assert meters[MeterKind.WEEKLY_MODEL] in (100, 101)
            assert max(meters[MeterKind.SESSION], meters[MeterKind.WEEKLY]) < 60


def test_the_seventh_seat_clears_when_its_session_does() -> None:
    session = seats("19:30")["desk-7"].script.meter(MeterKind.SESSION)
    assert session is not None
    assert session.resets_at == at("20:40")


@pytest.mark.parametrize(
    ("time", "name", "trouble"),
    [
        pytest.param("12:40", "desk-3", lambda seat: seat.expires_at is None, id="no expiry in the file"),
        pytest.param("13:10", "desk-4", lambda seat: seat.script.fault is Fault.THROTTLED, id="throttled"),
        pytest.param(
            "13:40", "desk-2", lambda seat: lapsed(seat, at("13:40")) and bool(seat.refresh_token), id="refreshable"
        ),
        pytest.param("14:20", "desk-2", lambda seat: not lapsed(seat, at("14:20")), id="renewed"),
        pytest.param("14:30", "desk-3", lambda seat: seat.scopes == ("user:inference",), id="setup token"),
        pytest.param("15:30", "desk-5", lambda seat: lapsed(seat, at("15:30")) and not seat.refresh_token, id="dead"),
        pytest.param("16:10", "desk-6", lambda seat: seat.script.fault is Fault.HTML, id="captive page"),
        pytest.param("16:40", "desk-1", lambda seat: seat.script.fault is Fault.SERVER_ERROR, id="server error"),
        pytest.param("17:20", "astra-main", lambda seat: seat.expires_at == at("17:30"), id="exp near"),
        pytest.param("17:25", "astra-main", lambda seat: seat.expires_at == at("257:25"), id="exp renewed"),
        pytest.param(
            "17:40", "astra-main", lambda seat: seat.script.shape is Shape.WEEKLY_PRIMARY, id="weekly primary"
        ),
        pytest.param("17:40", "desk-3", lambda seat: seat.script.shape is Shape.FLAT, id="Fable week not told"),
    ],
)
def test_every_trouble_has_its_hour(time: str, name: str, trouble: Trouble) -> None:
    assert trouble(seats(time)[name])


def test_phases_follow_one_another_through_the_day_and_last() -> None:
    assert PHASES[0].begins == timedelta(0)
    assert PHASES[-1].ends == LENGTH
    assert [phase.ends for phase in PHASES[:-1]] == [phase.begins for phase in PHASES[1:]]
    assert min(phase.ends - phase.begins for phase in PHASES) >= timedelta(minutes=15)
    assert phase_at(at("19:26"), START).caption.startswith("desk-7 hit its session limit")
    assert [phase_at(at(text), START) for text in ("11:00", "25:00")] == [PHASES[0], PHASES[-1]]


def test_changes_last_and_meters_hold_sense_all_day() -> None:
    assert min(clock(row.ends) - clock(row.begins) for row in CHANGES) >= timedelta(minutes=15)
    moment = START
    while moment <= START + LENGTH:
        for seat in seats_at(moment, START):
            for meter in seat.script.windows:
                assert meter.resets_at is not None
                assert meter.resets_at > moment
                assert 1 <= meter.percent <= 101
        moment += timedelta(minutes=1)


def test_only_the_told_logins_lapse() -> None:
    stretches: dict[str, int] = {}
    moment = START
    while moment <= START + LENGTH:
        for seat in seats_at(moment, START):
            stretches[seat.script.name] = stretches.get(seat.script.name, 0) + lapsed(seat, moment)
        moment += timedelta(minutes=1)
    assert {name: minutes for name, minutes in stretches.items() if minutes} == {"desk-2": 45, "desk-5": 60}
    assert {row.seat for row in LOGINS} == stretches.keys()


async def test_the_stage_serves_the_moment_and_rewrites_only_what_changed(tmp_path: Path) -> None:
    moment = at("13:20")
    provider = Provider({}, lambda: moment)

    def written() -> dict[str, int]:
        files = (*tmp_path.glob("*/.credentials.json"), *tmp_path.glob("*/auth.json"))
        return {path.parent.name: path.stat().st_ino for path in files}

    apply(provider, tmp_path, moment, start=START)
    first = written()
    assert len(first) == len(provider.seats) == 8
    for text, changed in (("13:25", set()), ("14:15", {"desk-2", "desk-3"}), ("17:25", {"astra-main"})):
        before = written()
        moment = at(text)
        apply(provider, tmp_path, moment, start=START)
        now = written()
        assert {name for name in now if now[name] != before[name]} >= changed
        if not changed:
            assert now == before
    async with serve(provider) as base, httpx.AsyncClient(base_url=base) as client:
        token = provider.token("astra-main")
        reply = await client.get("/backend-api/wham/usage", headers={"authorization": f"Bearer {token}"})
    assert reply.json()["rate_limit"]["allowed"] is True
