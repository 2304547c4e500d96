"""On-call: is the ladder whole, since when, which rung and seat, why, when does it clear, who has to decide."""

from dashboards.board import Board
from dashboards.frame import selectors
from dashboards.panel import Colour, Column, Look, Page, Panel, Query, Row
from dashboards.records import burn
from dashboards.settings import DAY, HOUR, MINUTE, Settings
from dashboards.terms import Terms, window
from dashboards.words import coded, words

_VARIABLES = ("rung", "seat")
SELECT = selectors(*_VARIABLES)
URGENCIES = {"wake": Colour.WORST, "soon": Colour.WARN, "routine": Colour.NOTE}
_TICK = 5 * MINUTE


def oncall(settings: Settings) -> Page:
    """The page that an alert opens."""
    terms = Terms(settings)
    return Page(
        Board.ONCALL,
        "rungwatch: on call",
        "Is the ladder whole, since when, which rung and seat is missing and why, when does it clear, and what waits "
        "for a person?",
        6 * HOUR,
        _VARIABLES,
        (
            Row((*_now(terms), _waits())),
            Row((_why(), _seats(terms)), "Which seat, why, and when it clears"),
            Row((_ladder_states(),), "Since when"),
            Row((_rung_states(), _seat_states())),
            Row((_quota(), _spent(terms), _queue(), _burns(settings)), "What comes next"),
        ),
    )


def _now(terms: Terms) -> tuple[Panel, ...]:
    whole = f"{terms.now} - max({SELECT('ladder_last_ok_timestamp_seconds')})"
    clears = f"min by (rung) ({SELECT('ladder_rung_next_available_timestamp_seconds')} - {terms.now})"
    return (
        Panel(
            "Ladder",
            "Whether both rungs can be asked, as quota and token permit: the worst of the chosen instances.",
            Look.STAT,
            (Query(coded(SELECT, "ladder_state"), "ladder", instant=True),),
            5,
            words=words("ladder_state"),
            alerts=("LadderDown", "LadderBlind"),
        ),
        Panel(
            "Last whole",
            "How long ago a tick last found both rungs reachable; while the ladder is whole this is the last tick.",
            Look.STAT,
            (Query(whole, "ago", instant=True),),
            4,
            unit="dtdurations",
            base=Colour.GOOD,
            steps=((2 * _TICK, Colour.BAD), (HOUR, Colour.WORST)),
            nothing="never",
        ),
        Panel(
            "Rungs",
            "The state of each rung.",
            Look.STAT,
            (Query(coded(SELECT, "ladder_rung_state", "rung"), "{{rung}}", instant=True),),
            5,
            words=words("ladder_rung_state"),
            named=True,
            alerts=("RungMissing",),
        ),
        Panel(
            "First seat clears in",
            "For each rung that is missing, how long until the first of its capped seats clears.",
            Look.STAT,
            (Query(clears, "{{rung}}", instant=True),),
            5,
            unit="dtdurations",
            base=Colour.BAD,
            nothing="nothing to wait for",
            named=True,
            alerts=("RungMissing",),
        ),
    )


def _waits() -> Panel:
    return Panel(
        "Questions for a person",
        "How many questions wait for a person, by urgency. Only wake pages anybody.",
        Look.STAT,
        tuple(
            Query(f"max({SELECT('ladder_queue_depth', urgency=urgency)})", urgency, instant=True)
            for urgency in URGENCIES
        ),
        5,
        base=Colour.GOOD,
        steps=((1, Colour.BAD),),
        named=True,
        alerts=("QueueWake", "QueueWakeBlind"),
    )


def _why() -> Panel:
    return Panel(
        "Why a rung is missing",
        "The reasons of each rung that is not reachable.",
        Look.TABLE,
        (Query(f"max by (rung, reason) ({SELECT('ladder_rung_blocked')} == 1)", instant=True),),
        6,
        height=11,
        nothing="every rung can be asked",
        columns={"rung": Column("Rung", width=90), "reason": Column("Reason")},
        alerts=("RungMissing",),
    )


def _seats(terms: Terms) -> Panel:
    reset = SELECT("ladder_seat_quota_reset_timestamp_seconds")
    used = SELECT("ladder_seat_quota_used_ratio")
    lapses = SELECT("ladder_token_expiry_timestamp_seconds")
    by = "max by (rung, seat)"
    return Panel(
        "Seats",
        "Each seat now: its state, its login, how much of its fullest window is used, and when the windows that are "
        "full have all reset.",
        Look.TABLE,
        (
            Query(coded(SELECT, "ladder_seat_state", "rung", "seat"), instant=True),
            Query(coded(SELECT, "ladder_token_state", "rung", "seat"), instant=True),
            Query(f"{by} ({used})", instant=True),
            Query(f"{by} (({reset} - {terms.now}) and {used} >= 1)", instant=True),
            Query(f"min by (rung, seat) ({lapses} - {terms.now})", instant=True),
        ),
        18,
        height=11,
        columns={
            "rung": Column("Rung", width=90),
            "seat": Column("Seat", width=130),
            "Value #A": Column("State", words=words("ladder_seat_state"), width=110),
            "Value #B": Column("Login", words=words("ladder_token_state"), width=170),
            "Value #C": Column(
                "Fullest window", "percentunit", steps=((0.8, Colour.WARN), (1, Colour.WORST)), gauge=True
            ),
            "Value #D": Column("Clears in", "dtdurations", width=170, nothing="-"),
            "Value #E": Column("Login lapses in", "dtdurations", width=170, nothing="-"),
        },
        sort_by="State",
        alerts=("TokenNeedsLogin", "TokenExpiresSoon", "SeatExhaustionSoon"),
    )


def _ladder_states() -> Panel:
    return Panel(
        "Ladder over time",
        "The state of the ladder; the worst of the chosen instances.",
        Look.STATES,
        (Query(coded(SELECT, "ladder_state"), "ladder"),),
        24,
        height=4,
        words=words("ladder_state"),
        step_s=MINUTE,
    )


def _rung_states() -> Panel:
    return Panel(
        "Rungs over time",
        "The state of each rung, as quota and token permit.",
        Look.STATES,
        (Query(coded(SELECT, "ladder_rung_state", "rung"), "{{rung}}"),),
        8,
        height=9,
        words=words("ladder_rung_state"),
        step_s=MINUTE,
    )


def _seat_states() -> Panel:
    return Panel(
        "Seats over time",
        "The state of each seat; which one would be asked first follows from its headroom.",
        Look.STATES,
        (Query(coded(SELECT, "ladder_seat_state", "rung", "seat"), "{{rung}} {{seat}}"),),
        16,
        height=9,
        words=words("ladder_seat_state"),
        step_s=2 * _TICK,
    )


def _quota() -> Panel:
    used = SELECT("ladder_seat_quota_used_ratio")
    return Panel(
        "Emptiest seat of each rung",
        "The fullest window of the seat with the most left: at 100 % the rung has no seat.",
        Look.LINES,
        (Query(f"min by (rung) (max by (rung, seat) ({used}))", "{{rung}}"),),
        7,
        height=8,
        unit="percentunit",
        steps=((0.9, Colour.BAD), (1, Colour.WORST)),
        step_s=_TICK,
        alerts=("SeatExhaustionSoon",),
    )


def _spent(terms: Terms) -> Panel:
    spent = SELECT("ladder_rung_exhaustion_timestamp_seconds")
    return Panel(
        "Rung spent in",
        "How long until the last seat of each rung is expected to be spent, resets counted. A rung of which that is "
        "not expected, or not known, is not shown.",
        Look.STAT,
        (Query(f"min by (rung) ({spent} - {terms.now})", "{{rung}}", instant=True),),
        4,
        height=8,
        unit="dtdurations",
        base=Colour.WORST,
        steps=((HOUR, Colour.BAD), (4 * HOUR, Colour.WARN), (DAY, Colour.GOOD)),
        nothing="none is expected to be",
        named=True,
        alerts=("SeatExhaustionSoon",),
    )


def _queue() -> Panel:
    return Panel(
        "Questions for a person over time",
        "How many questions waited for a person, by urgency.",
        Look.BARS,
        tuple(Query(f"max({SELECT('ladder_queue_depth', urgency=urgency)})", urgency) for urgency in URGENCIES),
        6,
        height=8,
        step_s=_TICK,
        colours=URGENCIES,
        alerts=("QueueWake",),
    )


def _burns(settings: Settings) -> Panel:
    """The long windows of the burn rates; at 1 the budget is spent exactly by the end of its period."""
    fixed = selectors().always
    shown = sorted({pair.long_s for pair in settings.burns if pair.long_s <= DAY})
    return Panel(
        "Error budget burn",
        f"How many times faster the ladder is down than the objective of {settings.objective * 100:g} % allows, over "
        "windows of several lengths. A window shows once half of it was seen.",
        Look.LINES,
        tuple(Query(f"max({burn(seconds)}{{{', '.join(fixed)}}})", f"over {window(seconds)}") for seconds in shown),
        7,
        height=8,
        steps=((1, Colour.WARN), (settings.burns[0].factor, Colour.WORST)),
        decimals=1,
        step_s=_TICK,
        nothing="too little was seen yet",
        alerts=("LadderBudgetBurning",),
    )
