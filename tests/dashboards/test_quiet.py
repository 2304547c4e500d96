"""No alert but the watchdog fires while all is well: on deploy, restart, reset, gaps, one missed tick, no traffic."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from tests.dashboards.promtool import PLACE, Case, Fires, Gives, Quiet, failures, placed
from tests.dashboards.world import MINUTES, World, deployed, gapped, healthy, missed, restarted, silent, written

pytestmark = pytest.mark.prometheus
FIRED = f'count by (alertname) (count_over_time(ALERTS{{alertstate="firing", alertname!="Watchdog"}}[{MINUTES}m]))'
BEFALLS: dict[str, Callable[[World], World]] = {
    "all is well, and quotas reset": dict,
    "deploy": deployed,
    "exporter restart": restarted,
    "exporter restart without its state folder": partial(restarted, folder_lost=True),
    "scrape gap": gapped,
    "one missed tick": missed,
    "no traffic": silent,
}


@pytest.mark.parametrize("name", BEFALLS)
def test_no_alert_fires(name: str, tmp_path: Path) -> None:
    case = Case(name, written(BEFALLS[name](healthy())), (Gives(FIRED, f"{MINUTES - 1}m", {}),))
    assert failures(tmp_path, [case]) == ""


def test_the_world_is_one_in_which_alerts_would_fire(tmp_path: Path) -> None:
    world = healthy()
    world[placed("ladder_rung_reachable", rung="fable")] = [0.0] * MINUTES
    fired = Gives(FIRED, f"{MINUTES - 1}m", {'{alertname="RungMissing"}': 1})
    assert failures(tmp_path, [Case("a rung is missing", written(world), (fired,))]) == ""


DESK = {"rung": "fable", "seat": "desk"}
ASLEEP = {
    placed("ladder_state", state="blind"): "1x90",
    placed("ladder_rung_state", rung="fable", state="unknown"): "1x90",
    placed("ladder_rung_reachable", rung="fable"): "0x90",
    placed("ladder_rung_blocked", rung="fable", reason="asleep"): "1x90",
}
MORE = (
    Case(
        "seats that are asleep make nobody look",
        ASLEEP,
        (Quiet("LadderBlind", "80m"), Quiet("RungMissing", "80m")),
    ),
    Case(
        "a rung that is blind beside one that is asleep",
        ASLEEP
        | {
            placed("ladder_rung_state", rung="astra", state="unknown"): "1x90",
            placed("ladder_rung_blocked", rung="astra", reason="http_5xx"): "1x90",
        },
        (Fires("LadderBlind", "80m", PLACE),),
    ),
    Case(
        "a login that its client renews is no matter for a person",
        {
            placed("ladder_token_expiry_timestamp_seconds", **DESK): "20000x90",
            placed("ladder_token_renewable", **DESK): "1x90",
        },
        (Quiet("TokenExpiresSoon", "80m"),),
    ),
    Case(
        "a window that resets before it is full",
        {
            placed("ladder_seat_quota_used_ratio", **DESK, window="session"): "0.299+0.004x100",
            placed("ladder_seat_quota_reset_timestamp_seconds", **DESK, window="session"): "7200x100",
        },
        (Quiet("SeatExhaustionSoon", "90m"),),
    ),
    Case(
        "a window without a reset is full when its pace says so",
        {placed("ladder_seat_quota_used_ratio", **DESK, window="spend"): "0.299+0.004x100"},
        (Fires("SeatExhaustionSoon", "90m", {**PLACE, **DESK, "window": "spend"}),),
    ),
    Case(
        "a deadline that was answered before the exporter went away",
        {
            placed("ladder_queue_depth", urgency="wake"): "0x60 stale",
            placed("ladder_queue_next_deadline_timestamp_seconds"): "10800x40 stale",
        },
        (Quiet("QueueWakeBlind", "3h"),),
    ),
    Case(
        "a near deadline while the queue is seen",
        {
            placed("ladder_queue_depth", urgency="wake"): "0x240",
            placed("ladder_queue_next_deadline_timestamp_seconds"): "10800x240",
        },
        (Quiet("QueueWakeBlind", "3h30m"),),
    ),
    Case(
        "one of two exporters is gone, the other shows the queue",
        {
            placed("ladder_queue_depth", urgency="wake"): "0x60 stale",
            placed("ladder_queue_next_deadline_timestamp_seconds"): "10800x60 stale",
            'ladder_queue_depth{job="rungwatch",instance="there:9477",urgency="wake"}': "0x240",
        },
        (Quiet("QueueWakeBlind", "3h"),),
    ),
    Case(
        "the exporter goes while somebody is being woken: the page goes on",
        {
            placed("ladder_queue_depth", urgency="wake"): "1x60 stale",
            placed("ladder_queue_next_deadline_timestamp_seconds"): "3600x60 stale",
        },
        (
            Fires("QueueWake", "60m", {"job": "rungwatch"}),
            Fires("QueueWakeBlind", "70m", {"job": "rungwatch"}),
        ),
    ),
    Case(
        "a wake that is answered clears at once",
        {placed("ladder_queue_depth", urgency="wake"): "1x10 0x20"},
        (Fires("QueueWake", "10m", {"job": "rungwatch"}), Quiet("QueueWake", "11m")),
    ),
    Case(
        "a ladder that was watched for half an hour, and down for all of it",
        {placed("ladder_state", state="down"): "1x80", placed("ladder_state", state="ok"): "0x80"},
        (Quiet("LadderBudgetBurning", "19m"),),
        interval="15s",
    ),
    Case(
        "too few answers for a share",
        {
            placed("ladder_decisions_total", level="high", outcome="single_rung"): "0x10 1x20 2x20 3x20 4x60",
            placed("ladder_decisions_total", level="high", outcome="agreed"): "0x130",
        },
        (Quiet("SingleRungRateHigh", "120m"),),
    ),
    Case(
        "no series at all",
        {},
        (Fires("CanarySilent", "30m", {"job": "rungwatch"}), Fires("ExporterDown", "30m", {"job": "rungwatch"})),
    ),
)


@pytest.mark.parametrize("case", MORE, ids=[case.name for case in MORE])
def test_it_fires_only_where_it_should(case: Case, tmp_path: Path) -> None:
    assert failures(tmp_path, [case]) == ""
