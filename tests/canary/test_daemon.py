"""Daemon: it outlives any tick and any configuration, and publishes what it knows."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from canary.config import Config
from canary.daemon import Daemon, Hooks
from canary.demo.logins import write_claude_login
from canary.folder import LockedError, load_memory, load_state
from canary.foreseeing import Foreseeing
from canary.load import parse
from canary.tick import Ticked
from decide.ladder import LadderState, LadderWord, RungState
from decide.meter import MeterSample
from decide.quota import WindowKind
from decide.rungs.http import Request, Response
from exporters.view import Forecast, Forecasts, Health, TickResult, View
from tests.canary.fakes import NOW, FakeClock, FarSide, json_reply, memory, world

GOOD = json.dumps({"five_hour": {"utilization": 12}}).encode()
FULL = json.dumps({"five_hour": {"utilization": 101, "resets_at": (NOW + timedelta(hours=1)).isoformat()}}).encode()
TEXT = """
[ladder]
primary = "fable"
second = "astra"
[[rung]]
name = "fable"
kind = "claude"
model = "claude-fable-5"
[[rung.seat]]
name = "desk"
config_dir = "{folder}"
sources = ["claude-usage"]
[[rung]]
name = "astra"
kind = "command"
model = "gpt-6-astra"
[[rung.seat]]
name = "local"
"""


class Made:
    """A daemon over fakes, with all that it published and told."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.clock = folder, FakeClock()
        self.far = FarSide(self.clock, {"anthropic": json_reply(GOOD)})
        write_claude_login(folder / "seat", "sk-ant-oat01-SENTINEL", expires_at=NOW + timedelta(days=1))
        self.text = TEXT.format(folder=folder / "seat")
        self.published: list[View] = []
        self.told: list[str] = []
        self.resets: list[Config] = []
        self.before: Callable[[], None] = lambda: None
        self.hold: Callable[[], None] = lambda: None
        self.publish: Callable[[View], None] = self.published.append
        self.handed: list[Ticked] = []
        self.published_when_handed: list[int] = []
        self.hand_fails = False
        hooks = Hooks(
            self._publish,
            self.told.append,
            self.resets.append,
            hold=self._hold,
            ticked=self._hand,
            before_tick=self._before,
        )
        (folder / "state").mkdir()
        self.daemon = Daemon(parse(self.text, "test"), folder / "state", memory(), world(self.clock, self.far), hooks)

    def _before(self) -> None:
        self.before()

    def _hold(self) -> None:
        self.hold()

    def _publish(self, view: View) -> None:
        self.publish(view)

    async def _hand(self, done: Ticked) -> None:
        if self.hand_fails:
            raise OSError("SENTINEL")
        self.handed.append(done)
        self.published_when_handed.append(len(self.published))


@pytest.fixture
def made(tmp_path: Path) -> Made:
    return Made(tmp_path)


async def test_a_tick_is_published_told_and_kept(made: Made) -> None:
    assert not made.daemon.health("").ready
    assert made.daemon.view().state is None
    await made.daemon.tick()
    (view,) = made.published
    assert view.state is not None
    assert view.state.state is LadderWord.OK
    assert made.told == [
        "2026-10-15T12:00:00Z ladder OK fable=reachable (next seat desk); astra=reachable (next seat local)"
    ]
    assert load_state(made.folder / "state") == view.state
    assert made.daemon.health("").ready
    assert view.canary.poll_used == {("fable", "desk"): 0.05, ("astra", "local"): 0.0}


async def test_an_exception_in_a_tick_is_counted_and_the_next_tick_runs(
    made: Made, caplog: pytest.LogCaptureFixture
) -> None:
    """Case SCH-07: tick 2 raises, tick 3 runs; what tick 1 saw is never served as fresh."""
    await made.daemon.tick()

    def breaks() -> None:
        raise KeyError("windows SENTINEL")

    made.before = breaks
    made.clock.pass_(300)
    await made.daemon.tick()
    made.before = lambda: None
    assert made.published[-1].canary.ticks == {TickResult.OK: 1, TickResult.ERROR: 1}
    assert made.published[-1].canary.last_tick_at == NOW
    assert len(made.told) == 1
    assert [record.getMessage() for record in caplog.records if "KeyError" in record.getMessage()]
    assert "SENTINEL" not in caplog.text
    made.clock.pass_(300)
    await made.daemon.tick()
    assert made.published[-1].canary.ticks == {TickResult.OK: 2, TickResult.ERROR: 1}
    assert made.published[-1].canary.missed_ticks == 1


async def test_a_gap_of_two_hours_is_counted_and_nothing_is_told_back_dated(made: Made) -> None:
    """Case SCH-01: asleep from 290 s after a tick until 7,500 s after it."""
    await made.daemon.tick()
    made.clock.pass_(290)
    made.clock.step(7210)
    await made.daemon.tick()
    assert made.published[-1].canary.missed_ticks == 24
    assert [line[:20] for line in made.told] == ["2026-10-15T12:00:00Z", "2026-10-15T14:05:00Z"]


async def test_counters_survive_a_restart_and_a_downtime_is_no_missed_tick(made: Made) -> None:
    await made.daemon.tick()
    made.clock.pass_(86_400)
    kept, warning = load_memory(made.folder / "state")
    again = Daemon(
        parse(made.text, "test"),
        made.folder / "state",
        kept,
        world(made.clock, made.far),
        Hooks(made.published.append, made.told.append),
    )
    assert warning == ""
    await again.tick()
    assert made.published[-1].canary.ticks == {TickResult.OK: 2}
    assert made.published[-1].canary.missed_ticks == 0


async def test_a_back_off_survives_a_restart(made: Made) -> None:
    made.far.replies = {"anthropic": json_reply(b"{}", status=429, retry_after="3000")}
    await made.daemon.tick()
    kept, _ = load_memory(made.folder / "state")
    again = Daemon(
        parse(made.text, "test"),
        made.folder / "state",
        kept,
        world(made.clock, made.far),
        Hooks(made.published.append, made.told.append),
    )
    made.clock.pass_(2999)
    await again.tick()
    assert len(made.far.asked) == 1
    made.clock.pass_(1)
    await again.tick()
    assert len(made.far.asked) == 2


async def test_a_wrong_configuration_on_reload_changes_nothing_and_is_told(
    made: Made, caplog: pytest.LogCaptureFixture
) -> None:
    await made.daemon.tick()

    def wrong() -> Config:
        return parse(made.text + "\nnope = 1", "rungwatch.toml")

    made.daemon.reload(wrong)
    made.daemon.reload(wrong)
    assert [view.canary.reload_ok for view in made.published] == [True, False, False]
    assert [r.getMessage() for r in caplog.records].count(caplog.records[0].getMessage()) == 1
    assert "unknown key" in caplog.text
    made.clock.pass_(300)
    await made.daemon.tick()
    assert made.published[-1].state is not None
    assert made.published[-1].state.state is LadderWord.OK
    made.daemon.reload(lambda: parse(made.text, "test"))
    assert made.published[-1].canary.reload_ok
    assert made.resets == []


async def test_a_good_reload_takes_seats_and_interval_and_lets_go_of_what_is_gone(made: Made) -> None:
    await made.daemon.tick()
    text = made.text.replace('name = "desk"', 'name = "other"') + "[canary]\ninterval = '1m'\n"
    made.daemon.reload(lambda: parse(text, "test"))
    assert [config.canary.interval for config in made.resets] == [timedelta(minutes=1)]
    await made.daemon.tick()
    state = made.published[-1].state
    assert state is not None
    assert [seat.name for seat in state.rungs[0].seats] == ["other"]
    assert set(load_memory(made.folder / "state")[0].seats) == {"fable/other", "astra/local"}


async def test_failed_probes_of_a_rung_are_kept_beside_its_last(made: Made) -> None:
    made.far.replies = {}
    for _ in range(7):
        await made.daemon.tick()
        made.clock.pass_(300)
    made.far.replies = {"anthropic": json_reply(GOOD)}
    await made.daemon.tick()
    probes = made.daemon.probes("fable")
    assert [probe.failed for probe in probes] == [False] + [True] * 5
    assert [probe.at for probe in probes] == sorted((probe.at for probe in probes), reverse=True)
    assert [probe.failed for probe in made.daemon.probes("astra")] == [False]
    assert made.daemon.probes("nope") == []


async def test_transitions_are_appended_and_a_torn_line_costs_no_other(made: Made) -> None:
    await made.daemon.tick()
    file = made.folder / "state" / "transitions.jsonl"
    assert not file.exists()
    made.far.replies = {"anthropic": json_reply(FULL)}
    await made.daemon.tick()
    with file.open("ab") as torn:
        torn.write(b'{"at": "2026')
    made.far.replies = {"anthropic": json_reply(GOOD, NOW + timedelta(seconds=1))}
    await made.daemon.tick()
    lines = file.read_text().splitlines()
    assert [json.loads(line)["after"] for line in lines[:2]] == [RungState.UNREACHABLE, LadderWord.DEGRADED]
    assert [json.loads(line)["after"] for line in lines[3:]] == [RungState.REACHABLE, LadderWord.OK]


async def test_a_state_folder_that_cannot_be_written_ends_nothing_and_is_told(
    made: Made, caplog: pytest.LogCaptureFixture
) -> None:
    (made.folder / "state").rmdir()
    (made.folder / "state").touch()
    await made.daemon.tick()
    assert made.published[-1].state is not None
    assert "the state folder cannot be written" in caplog.text
    assert made.daemon.health("") == Health(alive=True, ready=False, detail=made.daemon.health("").detail)
    assert "cannot be written" in made.daemon.health("").detail


async def test_a_state_folder_that_was_deleted_is_made_anew(made: Made) -> None:
    await made.daemon.tick()
    shutil.rmtree(made.folder / "state")
    await made.daemon.tick()
    assert load_state(made.folder / "state") == made.published[-1].state
    assert made.daemon.health("").ready


async def test_nothing_is_written_where_another_canary_has_taken_the_folder(made: Made) -> None:
    def taken() -> None:
        raise LockedError("another rungwatch canary holds it")

    made.hold = taken
    await made.daemon.tick()
    assert load_state(made.folder / "state") is None
    assert made.published[-1].state is not None
    assert "another rungwatch canary" in made.daemon.health("").detail


async def test_a_way_out_that_fails_is_counted_and_told(made: Made, caplog: pytest.LogCaptureFixture) -> None:
    def broken(view: View) -> None:
        raise ValueError("SENTINEL")

    made.publish = broken
    await made.daemon.tick()
    assert made.told
    assert "publishing failed: ValueError" in caplog.text
    assert "SENTINEL" not in caplog.text
    assert made.daemon.health("").detail == "publishing fails"
    made.publish = made.published.append
    await made.daemon.tick()
    assert made.published[-1].canary.ticks[TickResult.ERROR] == 1
    assert made.daemon.health("").ready


async def test_a_reload_that_fails_in_any_way_keeps_the_old_configuration(made: Made) -> None:
    def fails() -> Config:
        raise RuntimeError("SENTINEL")

    made.daemon.reload(fails)
    assert not made.published[-1].canary.reload_ok
    await made.daemon.tick()
    assert made.published[-1].state is not None
    assert made.published[-1].state.state is LadderWord.OK


@pytest.mark.parametrize("section", ["[canary]\njitter = '1s'\n", "[serve]\nlisten = '127.0.0.1:1'\n"])
async def test_whatever_changes_in_a_configuration_is_handed_on(made: Made, section: str) -> None:
    made.daemon.reload(lambda: parse(made.text + section, "test"))
    made.daemon.reload(lambda: parse(made.text + section, "test"))
    assert len(made.resets) == 1


async def test_half_a_character_in_what_is_read_stops_nothing(made: Made) -> None:
    """A lone surrogate is valid JSON and cannot be written anywhere."""
    odd = {"limits": [{"kind": "weekly_scoped", "percent": 5, "scope": {"model": {"display_name": "\ud800"}}}]}
    made.far.replies = {"anthropic": json_reply(json.dumps(odd | {"five_hour": {"utilization": 5}}).encode())}
    await made.daemon.tick()
    state = load_state(made.folder / "state")
    assert state is not None
    assert [verdict.window.scope for verdict in state.rungs[0].seats[0].windows] == ["", "?"]


async def test_trouble_of_the_schedule_is_not_healthy(made: Made) -> None:
    await made.daemon.tick()
    health = made.daemon.health("the scheduler has stopped")
    assert (health.alive, health.ready, health.detail) == (False, False, "the scheduler has stopped")


async def test_a_source_that_raises_reaches_the_metrics(made: Made) -> None:
    async def broken(ask: Request) -> Response:
        raise KeyError("windows")

    made.far.replies = {"anthropic": broken}
    await made.daemon.tick()
    assert made.published[-1].canary.reads == {("claude-usage", "error"): 1}


def filling(made: Made, hours: float) -> None:
    """The seat's session fills by a tenth an hour, and resets an hour after it is full."""
    used, reset = hours * 10, NOW + timedelta(hours=11)
    text = json.dumps({"five_hour": {"utilization": used, "resets_at": reset.isoformat()}}).encode()
    made.far.replies = {"anthropic": json_reply(text, NOW + timedelta(hours=hours))}


async def ticks_of(made: Made, minutes: int) -> None:
    """A tick every five minutes."""
    for _ in range(minutes // 5):
        filling(made, (made.clock.now() - NOW) / timedelta(hours=1))
        await made.daemon.tick()
        made.clock.pass_(300)


async def test_what_lies_ahead_is_published_kept_and_stays_with_the_folder(made: Made) -> None:
    """A key without a meter carries the second rung; the first one's only seat is full in ten hours."""
    await ticks_of(made, 30)
    assert made.published[-1].forecasts.rungs == {}
    await ticks_of(made, 60)
    found = made.published[-1].forecasts
    assert found.made_at == made.clock.now() - timedelta(minutes=5)
    assert set(found.rungs) == {"fable"}
    assert abs(found.rungs["fable"].at - NOW - timedelta(hours=10)) < timedelta(minutes=10)
    assert found.seat("fable", "desk") == found.rungs["fable"]
    assert load_memory(made.folder / "state")[0].forecasts == found


async def test_meters_of_before_the_start_give_a_forecast_with_the_first_tick(made: Made) -> None:
    made.clock.pass_(7200)
    samples = [
        MeterSample("fable", "desk", WindowKind.SESSION, "", NOW + hours * timedelta(hours=1), hours / 10, None)
        for hours in (each / 12 for each in range(24))
    ]
    made.daemon.foresee(samples)
    await ticks_of(made, 5)
    assert set(made.published[-1].forecasts.rungs) == {"fable"}


class BlindForeseeing(Foreseeing):
    """One that fails."""

    def forecasts(self, state: LadderState, now: datetime) -> Forecasts:
        """Fail."""
        raise ValueError("SENTINEL")


async def test_a_forecast_that_fails_is_counted_and_costs_no_tick(
    made: Made, caplog: pytest.LogCaptureFixture
) -> None:
    known = Forecasts(NOW, {"fable": Forecast(NOW + timedelta(hours=1), NOW)})
    daemon = Daemon(
        parse(made.text, "test"),
        made.folder / "state",
        replace(memory(), forecasts=known),
        world(made.clock, made.far),
        Hooks(made.published.append, made.told.append),
        foreseeing=BlindForeseeing(),
    )
    await daemon.tick()
    (view,) = made.published
    assert view.state is not None
    assert view.forecasts == Forecasts()
    assert view.canary.ticks == {TickResult.OK: 1, TickResult.ERROR: 1}
    assert load_memory(made.folder / "state")[0].counters.ticks == view.canary.ticks
    assert "foreseeing failed: ValueError" in caplog.text
    assert "SENTINEL" not in caplog.text


async def test_a_tick_is_handed_on_once_it_is_published_and_a_failed_one_is_not(made: Made) -> None:
    await made.daemon.tick()
    (done,) = made.handed
    assert done.state == made.published[-1].state
    assert made.published_when_handed == [1]

    def breaks() -> None:
        raise KeyError("windows")

    made.before = breaks
    await made.daemon.tick()
    assert len(made.handed) == 1


async def test_whoever_a_tick_is_handed_to_may_fail(made: Made, caplog: pytest.LogCaptureFixture) -> None:
    made.hand_fails = True
    await made.daemon.tick()
    await made.daemon.tick()
    assert len(made.published) == 2
    assert made.published[-1].canary.ticks == {TickResult.OK: 2, TickResult.ERROR: 1}
    assert "handing the tick on failed: OSError" in caplog.text
    assert "SENTINEL" not in caplog.text
