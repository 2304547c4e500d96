"""Alerts on what waits for a person. The two QueueWake alerts are the only ones that page (design 9)."""

from dashboards.alerts_ladder import PERCENT, SPAN
from dashboards.board import Board
from dashboards.records import WAKE_DEADLINE, names
from dashboards.rule import Alert, Severity
from dashboards.settings import DAY, MINUTE, Settings
from dashboards.terms import Terms, window


def handoff_alerts(settings: Settings) -> tuple[Alert, ...]:
    """The alerts, in the order of the runbook."""
    terms = Terms(settings)
    return (
        Alert(
            "QueueWake",
            f"max by (job) ({terms.held('ladder_queue_depth', urgency='wake')}) > 0",
            "{{ $value }} question(s) need a person now",
            "{{ $value }} waiting question(s) are past or within their lead of a deadline, and waiting is costly or "
            "cannot be undone.",
            Board.CONFIRM,
            severity=Severity.PAGE,
        ),
        _wake_blind(terms),
        Alert(
            "InboxStuck",
            f"max by (job) {terms.age('ladder_inbox_oldest_timestamp_seconds')} > {settings.inbox_waits_s}",
            "Raised questions are not being asked",
            f"The oldest question that the daemon has still to ask was raised {SPAN} ago.",
            Board.CONFIRM,
            after_s=5 * MINUTE,
        ),
        _clicks(terms),
    )


def _wake_blind(terms: Terms) -> Alert:
    """No exporter of the job shows the queue, and what was last seen of it holds a wake deadline that is near."""
    last = f"last_over_time({WAKE_DEADLINE}[{terms.span(DAY)}])"
    return Alert(
        "QueueWakeBlind",
        f"({last} > 0) - {terms.now} < {terms.settings.lead_s}\n"
        f"unless on (job) {terms.held('ladder_queue_depth', urgency='wake')}",
        "A question with a near deadline waits, and the queue cannot be seen",
        f"The deadline of a waiting question is {SPAN} away (past if negative), and no exporter shows the queue any "
        "more: nobody can tell whether it was answered.",
        Board.CONFIRM,
        severity=Severity.PAGE,
    )


def _clicks(terms: Terms) -> Alert:
    of = terms.settings
    share = names(of, "ladder_confirm_consumed", "ratio_increase")
    ended = names(of, "ladder_confirm_clicks_ended")
    return Alert(
        "ClicksExpiring",
        f"{share} < {1 - of.expired_ratio:g}\nand {ended} >= {of.least_clicks}",
        "Confirmations expire before anybody presses them",
        f"Only {PERCENT} of the clicks that ended in the last {window(of.ratio_window_s)} were pressed; the commands "
        "behind the others did not run.",
        Board.CONFIRM,
        after_s=15 * MINUTE,
    )
