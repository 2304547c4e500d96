"""Spend and capacity: what an answer costs by level, what the caps leave, and how seats are used up."""

from dashboards.board import Board
from dashboards.frame import selectors
from dashboards.panel import Colour, Column, Look, Page, Panel, Query, Row
from dashboards.records import ANSWERED
from dashboards.settings import DAY, HOUR, MINUTE, Settings
from dashboards.terms import Terms

_VARIABLES = ("rung", "seat", "level")
SELECT = selectors(*_VARIABLES)
RATE, SHOWN = "$__rate_interval", "$__range"
BILLINGS = {"metered": Colour.NOTE, "subscription": Colour.UNKNOWN}
_STEP = 15 * MINUTE
_PACE = 6 * HOUR


def spend(settings: Settings) -> Page:
    """The page on money, tokens, caps and quotas."""
    terms = Terms(settings)
    return Page(
        Board.SPEND,
        "rungwatch: spend and capacity",
        "What does an answer cost at each level, how much of today's caps is used, which seats are burning their "
        "quota, and when are they full?",
        24 * HOUR,
        _VARIABLES,
        (
            Row(_now(settings)),
            Row((_costs(), _spent(), _tokens()), "What it costs"),
            Row((_burn(), _forecast(terms)), "How the seats' quotas are used up"),
            Row((_pressure(), _headroom(), _resets(terms))),
            Row((_exhaustion(terms), _points()), "What comes next, and which level takes the quota"),
        ),
    )


def _grown(name: str, span: str, *by: str, **equal: str | tuple[str, ...]) -> str:
    return f"sum by ({', '.join(by)}) (increase({SELECT(name, **equal)}[{span}]))"


def _now(settings: Settings) -> tuple[Panel, ...]:
    spent = "sum(increase({}[$__range]))"
    answers = f"({spent.format(SELECT('ladder_decisions_total', outcome=ANSWERED))} > 0)"
    paid, notional = (
        spent.format(SELECT("ladder_spend_usd_total", billing=billing)) for billing in ("metered", "subscription")
    )
    return (
        _money(
            "Paid per answer",
            "Metered dollars over answered decisions, in the range shown.",
            f"{paid}\n/ {answers}",
            "no answers",
        ),
        _money(
            "Notional per answer",
            "What the passes on subscription seats would have cost at list prices, over answered decisions, in the "
            "range shown. Nobody pays it; never add it to what is paid.",
            f"{notional}\n/ {answers}",
            "no answers",
        ),
        _money("Paid", "Metered dollars in the range shown.", paid, "nothing"),
        _cap("passes", "passes", settings),
        _cap("usd", "dollars", settings),
        _unpriced(),
    )


def _money(title: str, told: str, expr: str, nothing: str) -> Panel:
    return Panel(
        title, told, Look.STAT, (Query(expr, instant=True),), 4, unit="currencyUSD", decimals=2, nothing=nothing
    )


def _cap(name: str, word: str, settings: Settings) -> Panel:
    used, limit = SELECT(f"ladder_cap_{name}_used"), SELECT(f"ladder_cap_{name}_limit")
    return Panel(
        f"Today's cap on {word}",
        f"How much of today's cap on {word} is charged. When it is spent, questions are held until the day rolls "
        "over.",
        Look.STAT,
        (Query(f"max({used} / ({limit} > 0))", instant=True),),
        4,
        unit="percentunit",
        base=Colour.GOOD,
        steps=((settings.cap_ratio * 0.8, Colour.WARN), (settings.cap_ratio, Colour.WORST)),
        nothing="no cap",
        decimals=0,
        alerts=("CapNearlySpent",),
    )


def _unpriced() -> Panel:
    return Panel(
        "Tokens without a price",
        "Tokens in the range shown that are in no dollar figure, for nobody names their price.",
        Look.STAT,
        (Query(f"sum(increase({SELECT('ladder_unpriced_tokens_total')}[{SHOWN}]))", instant=True),),
        4,
        unit="short",
        base=Colour.GOOD,
        steps=((1, Colour.BAD),),
        nothing="none",
        decimals=0,
        alerts=("SpendUnpriced",),
    )


def _costs() -> Panel:
    spent = _grown("ladder_spend_usd_total", SHOWN, "level", "billing")
    answers = _grown("ladder_decisions_total", SHOWN, "level", outcome=ANSWERED)
    return Panel(
        "Cost of an answer by level",
        "Dollars over answered decisions of each level, in the range shown; subscription is notional.",
        Look.GAUGES,
        (Query(f"{spent}\n/ on (level) group_left () ({answers} > 0)\n> 0", "{{level}}, {{billing}}", instant=True),),
        8,
        height=8,
        unit="currencyUSD",
        decimals=3,
        base=Colour.NOTE,
        nothing="no answers",
    )


def _spent() -> Panel:
    return Panel(
        "Dollars over time",
        "Dollars by billing; subscription is notional and never added to metered.",
        Look.LINES,
        (Query(_grown("ladder_spend_usd_total", RATE, "billing"), "{{billing}}"),),
        8,
        height=8,
        unit="currencyUSD",
        decimals=2,
        step_s=_STEP,
        colours=BILLINGS,
    )


def _tokens() -> Panel:
    return Panel(
        "Tokens over time",
        "Tokens of passes by kind.",
        Look.BARS,
        (Query(_grown("ladder_tokens_total", RATE, "kind"), "{{kind}}"),),
        8,
        height=8,
        unit="short",
        step_s=_STEP,
    )


def _burn() -> Panel:
    used = SELECT("ladder_seat_quota_used_ratio")
    return Panel(
        "Fullest window of each seat",
        "How much of the window that is nearest its limit each seat has used.",
        Look.LINES,
        (Query(f"max by (rung, seat) ({used})", "{{rung}} {{seat}}"),),
        12,
        height=9,
        unit="percentunit",
        steps=((1, Colour.WORST),),
        step_s=_STEP,
        alerts=("SeatExhaustionSoon",),
    )


def _forecast(terms: Terms) -> Panel:
    """What is left over the pace of the last hours; a window that is not filling has no line."""
    used = SELECT("ladder_seat_quota_used_ratio")
    pace = terms.settings.scale.per_second(f"deriv({used}[{terms.span(_PACE)}])")
    reset = SELECT("ladder_seat_quota_reset_timestamp_seconds")
    by = "min by (rung, seat, window)"
    return Panel(
        "When windows are full",
        "At the pace of the last six hours: how long until each window is full, beside when it resets. A window that "
        "resets first is not filled.",
        Look.TABLE,
        (
            Query(f"{by} ((1 - ({used} < 1)) / ({pace} > 0))", instant=True),
            Query(f"{by} ({reset} - {terms.now})", instant=True),
            Query(f"{by} ({used})", instant=True),
        ),
        12,
        height=9,
        columns={
            "rung": Column("Rung", width=70),
            "seat": Column("Seat", width=95),
            "window": Column("Window", width=120),
            "Value #C": Column("Used", "percentunit", steps=((0.8, Colour.WARN), (1, Colour.WORST)), width=70),
            "Value #A": Column("Full in", "dtdurations", nothing="-"),
            "Value #B": Column("Resets in", "dtdurations", nothing="-"),
        },
        sort_by="Used",
        alerts=("SeatExhaustionSoon",),
    )


def _exhaustion(terms: Terms) -> Panel:
    spent = SELECT("ladder_rung_exhaustion_timestamp_seconds")
    return Panel(
        "Rungs spent within a day",
        "How long until the last seat of a rung was expected to be spent, resets counted, at each moment. A rung has "
        "no point while that lies more than a day ahead, is not expected, or is not known.",
        Look.POINTS,
        (Query(f"min by (rung) ({spent} - {terms.now}) < {DAY}", "{{rung}}"),),
        12,
        height=9,
        unit="s",
        step_s=_STEP,
        nothing="no rung is expected to be",
        alerts=("SeatExhaustionSoon",),
    )


def _points() -> Panel:
    used = _grown("ladder_quota_used_ratio_total", SHOWN, "level", "rung", "window")
    answers = _grown("ladder_decisions_total", SHOWN, "level", outcome=ANSWERED)
    return Panel(
        "Quota by level",
        "How much of their seats' windows the consultations of each level took in the range shown, 100 % being one "
        "whole window of one seat, and that over the answered decisions of the level.",
        Look.TABLE,
        (
            Query(f"{used} > 0", instant=True),
            Query(f"{used}\n/ on (level) group_left () ({answers} > 0)\n> 0", instant=True),
        ),
        12,
        height=9,
        nothing="no quota was taken, or no reading tells",
        columns={
            "level": Column("Level", width=90),
            "rung": Column("Rung", width=90),
            "window": Column("Window", width=130),
            "Value #A": Column("Used", "percentunit", decimals=1),
            "Value #B": Column("Per answer", "percentunit", decimals=2, nothing="no answers"),
        },
        sort_by="Used",
    )


def _pressure() -> Panel:
    state = SELECT("ladder_seats")
    return Panel(
        "Seats by state",
        "How many seats were in each state.",
        Look.BARS,
        (Query(f"sum by (state) (max by (rung, state) ({state}))", "{{state}}"),),
        8,
        height=8,
        step_s=_STEP,
        decimals=0,
        colours={
            "available": Colour.GOOD,
            "capped": Colour.BAD,
            "unknown": Colour.UNKNOWN,
            "no_token": Colour.WORST,
        },
    )


def _headroom() -> Panel:
    return Panel(
        "Headroom of each rung",
        "The share left on the tightest window, summed over the available metered seats: 1 is one whole seat.",
        Look.LINES,
        (Query(f"sum by (rung) (max by (rung, seat) ({SELECT('ladder_seat_headroom_ratio')}))", "{{rung}}"),),
        8,
        height=8,
        unit="short",
        decimals=1,
        step_s=_STEP,
    )


def _resets(terms: Terms) -> Panel:
    reset = SELECT("ladder_seat_quota_reset_timestamp_seconds")
    return Panel(
        "Next reset of each kind of window",
        "How long until the next window of each kind resets.",
        Look.GAUGES,
        (Query(f"min by (rung, window) (({reset} - {terms.now}) > 0)", "{{rung}} {{window}}", instant=True),),
        8,
        height=8,
        unit="dtdurations",
        base=Colour.NOTE,
        nothing="no reset is known",
    )
