"""Confirm and queue: what waits for a person and until when, and what becomes of clicks and raised questions."""

from dashboards.board import Board
from dashboards.frame import selectors
from dashboards.oncall import URGENCIES
from dashboards.panel import Colour, Look, Page, Panel, Query, Row
from dashboards.settings import HOUR, MINUTE, Settings
from dashboards.terms import Terms

SELECT = selectors()
RATE, SHOWN = "$__rate_interval", "$__range"
_STEP = 15 * MINUTE
EVENTS = {"minted": Colour.NOTE, "consumed": Colour.GOOD, "expired": Colour.BAD, "refused": Colour.UNKNOWN}


def confirm(settings: Settings) -> Page:
    """The page on what people have to do, and did."""
    terms = Terms(settings)
    return Page(
        Board.CONFIRM,
        "rungwatch: confirm and queue",
        "Which questions wait for a person and until when, are raised questions being asked, and are confirmations "
        "pressed before they expire?",
        24 * HOUR,
        (),
        (
            Row(_now(terms)),
            Row((_depth(), _ages(terms), _entries()), "Questions that wait for a person"),
            Row((_inbox(), _answers(), _deliveries()), "From being raised to being answered"),
            Row((_clicks(), _rate(settings), _consumed(), _refused()), "Confirmations"),
        ),
    )


def _grown(name: str, span: str, *by: str, **equal: str | tuple[str, ...]) -> str:
    grown = f"increase({SELECT(name, **equal)}[{span}])"
    return f"sum by ({', '.join(by)}) ({grown})" if by else f"sum({grown})"


def _consumption(span: str) -> str:
    part = _grown("ladder_confirm_clicks_total", span, event="consumed")
    whole = _grown("ladder_confirm_clicks_total", span, event=("consumed", "expired"))
    return f"{part}\n/ ({whole} > 0)"


def _now(terms: Terms) -> tuple[Panel, ...]:
    return (*_waiting(terms), *_asking(terms), *_pressing(terms.settings))


def _waiting(terms: Terms) -> tuple[Panel, ...]:
    deadline = f"min({SELECT('ladder_queue_next_deadline_timestamp_seconds')}) - {terms.now}"
    return (
        Panel(
            "Wake somebody now",
            "Questions past or within their lead of a deadline, where waiting is costly or cannot be undone.",
            Look.STAT,
            (Query(f"max({SELECT('ladder_queue_depth', urgency='wake')})", instant=True),),
            4,
            base=Colour.GOOD,
            steps=((1, Colour.WORST),),
            alerts=("QueueWake",),
        ),
        Panel(
            "Next deadline in",
            "How long until the earliest deadline at which a waiting question wakes somebody; negative once it is "
            "past.",
            Look.STAT,
            (Query(deadline, instant=True),),
            4,
            unit="dtdurations",
            base=Colour.WORST,
            steps=((0, Colour.BAD), (terms.settings.lead_s, Colour.GOOD)),
            nothing="no deadline",
            alerts=("QueueWakeBlind",),
        ),
    )


def _asking(terms: Terms) -> tuple[Panel, ...]:
    oldest = f"{terms.now} - min({SELECT('ladder_queue_oldest_timestamp_seconds')})"
    raised = f"{terms.now} - min({SELECT('ladder_inbox_oldest_timestamp_seconds')})"
    waits = terms.settings.inbox_waits_s
    return (
        Panel(
            "Longest wait",
            "How long the question has waited that has waited longest, of any urgency.",
            Look.STAT,
            (Query(oldest, instant=True),),
            4,
            unit="dtdurations",
            nothing="none waits",
        ),
        Panel(
            "Oldest not asked yet",
            "How long ago the oldest question was raised that the daemon has still to ask.",
            Look.STAT,
            (Query(raised, instant=True),),
            4,
            unit="dtdurations",
            base=Colour.GOOD,
            steps=((waits / 2, Colour.WARN), (waits, Colour.WORST)),
            nothing="none waits",
            alerts=("InboxStuck",),
        ),
    )


def _pressing(settings: Settings) -> tuple[Panel, ...]:
    return (
        Panel(
            "Clicks pending",
            "Clicks that wait to be pressed.",
            Look.STAT,
            (Query(f"max({SELECT('ladder_confirm_pending')})", instant=True),),
            4,
        ),
        Panel(
            "Clicks pressed",
            "Consumed clicks over consumed and expired ones, in the range shown.",
            Look.STAT,
            (Query(_consumption(SHOWN), instant=True),),
            4,
            unit="percentunit",
            base=Colour.WORST,
            steps=((1 - settings.expired_ratio, Colour.WARN), (0.9, Colour.GOOD)),
            nothing="none ended",
            alerts=("ClicksExpiring",),
        ),
    )


def _depth() -> Panel:
    return Panel(
        "Questions by urgency",
        "How many questions waited for a person, by how urgent they were.",
        Look.BARS,
        tuple(Query(f"max({SELECT('ladder_queue_depth', urgency=urgency)})", urgency) for urgency in URGENCIES),
        8,
        height=8,
        step_s=5 * MINUTE,
        decimals=0,
        colours=URGENCIES,
        alerts=("QueueWake",),
    )


def _ages(terms: Terms) -> Panel:
    oldest = SELECT("ladder_queue_oldest_timestamp_seconds")
    return Panel(
        "Longest wait by urgency",
        "How long the longest waiting question of each urgency had waited.",
        Look.LINES,
        (Query(f"{terms.now} - min by (urgency) ({oldest})", "{{urgency}}"),),
        8,
        height=8,
        unit="s",
        step_s=5 * MINUTE,
        nothing="none waited",
        colours=URGENCIES,
    )


def _entries() -> Panel:
    return Panel(
        "Why questions came before a person",
        "Questions that entered the queue, by why.",
        Look.BARS,
        (Query(_grown("ladder_queue_entries_total", RATE, "why"), "{{why}}"),),
        8,
        height=8,
        step_s=_STEP,
        decimals=0,
    )


def _inbox() -> Panel:
    return Panel(
        "Raised questions by state",
        "Raised questions that are not done: waiting or retrying for the daemon, running, or queued for a person.",
        Look.BARS,
        (Query(f"max by (state) ({SELECT('ladder_inbox_depth')})", "{{state}}"),),
        8,
        height=8,
        step_s=5 * MINUTE,
        decimals=0,
        alerts=("InboxStuck",),
    )


def _quantiles(name: str) -> tuple[Query, ...]:
    buckets = f"sum by (le) (rate({SELECT(f'{name}_bucket')}[{RATE}]))"
    return (
        Query(f"histogram_quantile(0.5, {buckets}) >= 0", "half", exemplars=True),
        Query(f"histogram_quantile(0.9, {buckets}) >= 0", "nine in ten"),
    )


def _answers() -> Panel:
    return Panel(
        "Time until a person answered",
        "How long questions had waited when a person answered: the median and the slowest tenth.",
        Look.POINTS,
        _quantiles("ladder_queue_answer_seconds"),
        8,
        height=8,
        unit="s",
        step_s=HOUR,
        nothing="nobody answered",
    )


def _deliveries() -> Panel:
    return Panel(
        "Telling whoever raised it",
        "Webhook deliveries by result; a failed one is tried again, one that was given up is not.",
        Look.BARS,
        (Query(_grown("ladder_webhook_deliveries_total", RATE, "result"), "{{result}}"),),
        8,
        height=8,
        step_s=_STEP,
        decimals=0,
        colours={"delivered": Colour.GOOD, "failed": Colour.BAD, "given_up": Colour.WORST},
    )


def _clicks() -> Panel:
    return Panel(
        "What became of clicks",
        "Clicks minted, consumed and expired, and presses that were refused.",
        Look.BARS,
        (Query(_grown("ladder_confirm_clicks_total", RATE, "event"), "{{event}}"),),
        7,
        height=8,
        step_s=_STEP,
        decimals=0,
        colours=EVENTS,
        alerts=("ClicksExpiring",),
    )


def _rate(settings: Settings) -> Panel:
    return Panel(
        "Pressed before they expired",
        "Consumed clicks over consumed and expired ones. Without clicks there is no point, not 100 %.",
        Look.POINTS,
        (Query(_consumption(RATE), "pressed"),),
        6,
        height=8,
        unit="percentunit",
        top=1,
        steps=((1 - settings.expired_ratio, Colour.BAD),),
        step_s=HOUR,
        nothing="none ended",
        alerts=("ClicksExpiring",),
    )


def _consumed() -> Panel:
    return Panel(
        "Time until a click was pressed",
        "How long clicks had waited when they were consumed: the median and the slowest tenth.",
        Look.POINTS,
        _quantiles("ladder_confirm_consume_seconds"),
        6,
        height=8,
        unit="s",
        step_s=HOUR,
        nothing="none was pressed",
    )


def _refused() -> Panel:
    refused = _grown("ladder_confirm_clicks_total", SHOWN, "reason", event="refused")
    return Panel(
        "Why presses were refused",
        "Refused presses by reason, in the range shown.",
        Look.GAUGES,
        (Query(f"sort_desc({refused} > 0)", "{{reason}}", instant=True),),
        5,
        height=8,
        decimals=0,
        base=Colour.UNKNOWN,
        nothing="none was refused",
    )
