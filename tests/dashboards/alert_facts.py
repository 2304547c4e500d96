"""Facts about each alert: quiet just before its time, firing at it, with its labels and with what it says."""

from collections.abc import Sequence

from tests.dashboards.promtool import PLACE, Case, Fires, Quiet, placed

FABLE = {"rung": "fable"}
DESK = {"rung": "fable", "seat": "desk"}
LATER = "2x200"


def stairs(every: int, steps: int) -> str:
    """A counter that is 0, and grows by 1 each `every` intervals."""
    return " ".join(f"{step}x{every - 1}" for step in range(steps))


def _seat(name: str, **labels: str) -> str:
    return placed(name, **DESK, **labels)


def case(
    alert: str, series: dict[str, str], *, before: str, at: str, summary: str, description: str, **labels: str
) -> Case:
    """An alert's own case."""
    fires = Fires(alert, at, labels, summary, description)
    return Case(alert, series, (Quiet(alert, before), fires, Fires(alert, at, labels)))


LADDER = (
    case(
        "RungMissing",
        {
            placed("ladder_rung_reachable", rung="fable"): "1x10 0x40",
            placed("ladder_rung_reachable", rung="astra"): "1x60",
            placed("ladder_rung_blocked", rung="fable", reason="session_cap"): "0x10 1x40",
            placed("ladder_rung_blocked", rung="fable", reason="weekly_cap"): "0x10 1x40",
            placed("ladder_rung_blocked", rung="astra", reason="weekly_cap"): "0x60",
            placed("ladder_rung_next_available_timestamp_seconds", rung="fable"): "_x11 7200x40",
        },
        before="20m",
        at="21m",
        summary="Rung fable cannot be asked",
        description="Rung fable has not been reachable on here:9477 for 10m. Reasons: session_cap weekly_cap. The "
        "first seat clears at 1970-01-01 02:00:00 +0000 UTC. Answers come from the other rung alone meanwhile.",
        **PLACE,
        **FABLE,
    ),
    case(
        "LadderDown",
        {placed("ladder_state", state="down"): "0x10 1x40"},
        before="15m",
        at="16m",
        summary="Both rungs are out: questions end at a person",
        description="No seat of either rung could be called for rungwatch on here:9477 in the last 5m. Nobody knows "
        "when the first seat clears.",
        state="down",
        **PLACE,
    ),
    case(
        "LadderBlind",
        {
            placed("ladder_state", state="blind"): "0x10 1x40",
            placed("ladder_rung_state", rung="fable", state="unknown"): "0x10 1x40",
            placed("ladder_rung_blocked", rung="fable", reason="html"): "0x10 1x40",
            placed("ladder_rung_blocked", rung="fable", reason="asleep"): "0x50",
        },
        before="25m",
        at="26m",
        summary="Nobody can tell whether the ladder can answer",
        description="The state of a rung has been unknown on here:9477 for 15m, and no other is known to be "
        "reachable. Reasons: fable html;",
        state="blind",
        **PLACE,
    ),
    Case(
        "LadderBudgetBurning",
        {
            placed("ladder_state", state="ok"): "1x480 0x120",
            placed("ladder_state", state="degraded"): "0x600",
            placed("ladder_state", state="down"): "0x480 1x120",
        },
        (
            Quiet("LadderBudgetBurning", "2h10m"),
            Fires("LadderBudgetBurning", "2h11m", PLACE),
            Fires(
                "LadderBudgetBurning",
                "2h15m",
                PLACE,
                "The ladder is down more than its objective allows",
                "On here:9477 the ladder is down 24.9 times as often as the objective of 99 % allows.",
            ),
        ),
        interval="15s",
    ),
    case(
        "SeatExhaustionSoon",
        {
            _seat("ladder_seat_quota_used_ratio", window="session"): "0.299+0.004x100",
            _seat("ladder_seat_quota_reset_timestamp_seconds", window="session"): "86400x100",
            placed("ladder_rung_exhaustion_timestamp_seconds", rung="fable"): "9000x100",
        },
        before="70m",
        at="71m",
        summary="The session window of fable seat desk is about to be full",
        description="It is used to 58.3%; at the pace of the last hour it is full within 2h, before it resets. "
        "The last seat of the rung is expected to be spent at 1970-01-01 02:30:00 +0000 UTC.",
        window="session",
        **PLACE,
        **DESK,
    ),
    case(
        "TokenNeedsLogin",
        {_seat("ladder_token_state", state="needs_login"): "0x10 1x40"},
        before="25m",
        at="26m",
        summary="Somebody has to log in again for fable seat desk",
        description="The login of seat desk has lapsed, was rejected or is missing on here:9477, for 15m, and "
        "nothing renews it.",
        state="needs_login",
        **PLACE,
        **DESK,
    ),
    case(
        "TokenExpiresSoon",
        {
            _seat("ladder_token_expiry_timestamp_seconds"): "87600x60",
            _seat("ladder_token_renewable"): "0x60",
        },
        before="25m",
        at="26m",
        summary="The login of fable seat desk lapses soon and nothing renews it",
        description="It lapses in 23h 54m 0s on here:9477; from then on the seat cannot be asked until somebody logs "
        "in again.",
        **PLACE,
        **DESK,
    ),
)

DECISIONS = (
    case(
        "SingleRungRateHigh",
        {
            placed("ladder_decisions_total", level="high", outcome="single_rung"): stairs(10, 9),
            placed("ladder_decisions_total", level="high", outcome="agreed"): "0x90",
        },
        before="64m",
        at="65m",
        summary="Too many high answers rest on one rung",
        description="100% of the high answers of the last 6h came from one rung alone; 50 % are allowed, from 5 "
        "answers on.",
        job="rungwatch",
        level="high",
    ),
    case(
        "FlipRateHigh",
        {
            placed("ladder_consultations_total", rung="fable", level="low", result="flip"): stairs(20, 5),
            placed("ladder_consultations_total", rung="fable", level="low", result="resolved"): stairs(20, 5),
        },
        before="74m",
        at="75m",
        summary="Rung fable often answers by the order of the options",
        description="In 50% of its consultations of the last 6h the two orders named different options; 25 % are "
        "allowed, from 5 consultations on.",
        job="rungwatch",
        **FABLE,
    ),
    case(
        "CapNearlySpent",
        {placed("ladder_cap_passes_used"): "89x10 90x40", placed("ladder_cap_passes_limit"): "100x50"},
        before="10m",
        at="11m",
        summary="Today's cap on passes is nearly spent",
        description="90% of today's cap on passes is used on here:9477; once it is spent, questions are held until "
        "the day rolls over.",
        cap="passes",
        **PLACE,
    ),
    case(
        "LedgerUnreadable",
        {placed("ladder_ledger_readable"): "1x10 0x40"},
        before="15m",
        at="16m",
        summary="The ledger cannot be used: every question is held",
        description="here:9477 cannot read or write the ledger, or its chain is broken, for 5m. No rung is asked "
        "until a person clears it.",
        **PLACE,
    ),
    case(
        "SpendUnpriced",
        {placed("ladder_unpriced_tokens_total", rung="fable"): "0x10 500x40"},
        before="10m",
        at="11m",
        summary="Tokens of rung fable have no price",
        description="500 tokens of the last hour are in no dollar figure, for neither the provider nor the price "
        "table names their cost.",
        job="rungwatch",
        **FABLE,
    ),
)

HANDOFF = (
    case(
        "QueueWake",
        {placed("ladder_queue_depth", urgency="wake"): "0x10 2x40"},
        before="10m",
        at="11m",
        summary="2 question(s) need a person now",
        description="2 waiting question(s) are past or within their lead of a deadline, and waiting is costly or "
        "cannot be undone.",
        job="rungwatch",
    ),
    case(
        "QueueWakeBlind",
        {
            placed("ladder_queue_depth", urgency="wake"): "0x60 stale",
            placed("ladder_queue_next_deadline_timestamp_seconds"): "10800x60 stale",
        },
        before="2h",
        at="2h1m",
        summary="A question with a near deadline waits, and the queue cannot be seen",
        description="The deadline of a waiting question is 59m 0s away (past if negative), and no exporter shows the "
        "queue any more: nobody can tell whether it was answered.",
        job="rungwatch",
    ),
    case(
        "InboxStuck",
        {placed("ladder_inbox_oldest_timestamp_seconds"): "0x90"},
        before="65m",
        at="66m",
        summary="Raised questions are not being asked",
        description="The oldest question that the daemon has still to ask was raised 1h 6m 0s ago.",
        job="rungwatch",
    ),
    case(
        "ClicksExpiring",
        {
            placed("ladder_confirm_clicks_total", event="expired", reason="none"): stairs(10, 6),
            placed("ladder_confirm_clicks_total", event="consumed", reason="none"): "0x30 1x30",
        },
        before="44m",
        at="45m",
        summary="Confirmations expire before anybody presses them",
        description="Only 20% of the clicks that ended in the last 6h were pressed; the commands behind the others "
        "did not run.",
        job="rungwatch",
    ),
)

CANARY = (
    case(
        "CanarySilent",
        {placed("ladder_canary_last_tick_timestamp_seconds"): "0x4 300x4 600x60"},
        before="30m",
        at="31m",
        summary="The canary has stopped looking at the ladder",
        description="No tick has ended on here:9477 for more than 15m, or none was ever seen: what the other panels "
        "show says nothing of now.",
        **PLACE,
    ),
    case(
        "CanaryMissingTicks",
        {placed("ladder_canary_missed_ticks_total"): "0x10 1x5 2x5 3x30"},
        before="22m",
        at="23m",
        summary="The canary misses ticks",
        description="3 ticks of the last hour were due on here:9477 and did not run.",
        **PLACE,
    ),
    case(
        "PollBudgetSpent",
        {_seat("ladder_canary_poll_budget_used_ratio"): "0.6x10 1x40"},
        before="25m",
        at="26m",
        summary="The reads of fable seat desk are used up for the hour",
        description="100% of the hourly reads of the seat are used on here:9477, for 15m; its readings grow old.",
        **PLACE,
        **DESK,
    ),
    case(
        "ClockSkewed",
        {placed("ladder_canary_clock_skew_seconds"): "0.2x10 -120x40"},
        before="15m",
        at="16m",
        summary="The clock of here:9477 is wrong",
        description="It is 2m 0s off what the hosts say that are read, so no login's expiry can be judged.",
        **PLACE,
    ),
    case(
        "ConfigReloadFailed",
        {placed("ladder_config_reload_success"): "1x10 0x40"},
        before="15m",
        at="16m",
        summary="The configuration of here:9477 was refused",
        description="The last reload was refused 5m ago or more; the configuration before it is still in force.",
        **PLACE,
    ),
    case(
        "CollectorFailed",
        {placed("ladder_collector_success", collector="queue"): "1x10 0x40"},
        before="15m",
        at="16m",
        summary="The queue metrics are missing",
        description="The collector queue of here:9477 has failed for 5m; its metrics are left out of the page.",
        collector="queue",
        **PLACE,
    ),
    case(
        "ExporterDown",
        {placed("up"): "1x10 0x40"},
        before="15m",
        at="17m",
        summary="rungwatch cannot be scraped",
        description="Prometheus has not reached here:9477 of job rungwatch for 5m.",
        **PLACE,
    ),
    Case(
        "Watchdog",
        {},
        (
            Fires(
                "Watchdog",
                "1m",
                {},
                "Alerts are being delivered",
                "This alert always fires. When it stops arriving, Prometheus or Alertmanager is broken.",
            ),
        ),
    ),
)

FACTS: Sequence[Case] = (*LADDER, *DECISIONS, *HANDOFF, *CANARY)
