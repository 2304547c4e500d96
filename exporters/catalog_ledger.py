"""Catalog of the ledger: the metrics that are folded from its rows, and their labels' closed sets (design 6)."""

from decide.consultation import PASS_CANCELLED, PassRole
from decide.cross_check import Check
from decide.gate import Stage
from decide.question import LevelName
from decide.quota import WindowKind
from decide.reply import Billing, Failure
from decide.ruling import Outcome
from decide.verdict import VERDICT_DECLINES, Decline
from exporters.metric import Label, counter, gauge, group, histogram

CONSULTATION_RESULTS: tuple[str, ...] = ("resolved", *(kind.value for kind in Decline), "incomplete", "unreachable")
PASS_RESULTS: tuple[str, ...] = (
    "resolved",
    *(kind.value for kind in (*VERDICT_DECLINES, Decline.MODEL_REFUSAL)),
    *(failure.value for failure in Failure),
    PASS_CANCELLED,
)
SOURCES: tuple[str, ...] = ("provider", "price_table")
TOKEN_KINDS: tuple[str, ...] = ("input", "cache_read", "cache_write", "output", "reasoning")


def _open(name: str, values: tuple[str, ...]) -> Label:
    return Label(name, values, open=True)


_RUNG = Label("rung")
_LEVEL = _open("level", tuple(level.value for level in LevelName))
_ROLE = _open("role", tuple(role.value for role in PassRole))

DECISIONS = group(
    "Decisions",
    "decisions",
    counter("ladder_questions_total", "Questions that were asked.", _LEVEL),
    counter(
        "ladder_decisions_total",
        "Runs by how they ended; only agreed, reconsidered and single_rung carry an answer.",
        _LEVEL,
        _open("outcome", tuple(outcome.value for outcome in Outcome)),
    ),
    histogram("ladder_decision_duration_seconds", "How long a run took to its end, whatever that was.", _LEVEL),
    counter(
        "ladder_consultations_total",
        "Consultations of a rung by the state they made; every kind of decline is one.",
        _RUNG,
        _LEVEL,
        _open("result", CONSULTATION_RESULTS),
    ),
    counter(
        "ladder_passes_total",
        "Model calls by what they yielded; an attempt that a seat refused unbilled is none.",
        _RUNG,
        _LEVEL,
        _ROLE,
        _open("result", PASS_RESULTS),
    ),
    histogram("ladder_pass_duration_seconds", "How long a model call took.", _RUNG),
    counter(
        "ladder_gate_total",
        "How often a row of the gate's policy fired.",
        Label("row"),
        _open("stage", tuple(stage.value for stage in Stage)),
    ),
    counter(
        "ladder_skipped_checks_total",
        "Checks of a level that were due and were not made, or came to nothing.",
        _open("check", tuple(check.value for check in Check)),
        _LEVEL,
    ),
)

SPEND = group(
    "Spend",
    "spend",
    counter(
        "ladder_spend_usd_total",
        "Dollars that passes cost; never add subscription, which is notional, to metered, which is paid.",
        _RUNG,
        _LEVEL,
        _ROLE,
        _open("billing", tuple(billing.value for billing in Billing)),
        _open("source", SOURCES),
        unit="usd",
    ),
    counter(
        "ladder_tokens_total",
        "Tokens of passes, each in exactly one kind.",
        _RUNG,
        _LEVEL,
        Label("kind", TOKEN_KINDS),
    ),
    counter("ladder_unpriced_tokens_total", "Those tokens of passes whose cost nobody knows.", _RUNG),
    counter(
        "ladder_quota_used_ratio_total",
        "What consultations took of their seats' windows, 1 for a whole one: by the readings around each, split by "
        "tokens where several ran meanwhile.",
        _RUNG,
        _LEVEL,
        Label("window", tuple(kind.value for kind in WindowKind)),
        unit="ratio",
    ),
    gauge("ladder_cap_passes_limit", "Passes that the day's cap allows; absent without that cap."),
    gauge(
        "ladder_cap_passes_used",
        "Passes that today's cap is charged with; absent without that cap or while the ledger is unreadable.",
    ),
    gauge("ladder_cap_usd_limit", "Dollars that the day's cap allows; absent without that cap."),
    gauge(
        "ladder_cap_usd_used",
        "Dollars that today's cap is charged with; absent without that cap or while the ledger is unreadable.",
    ),
    gauge(
        "ladder_ledger_readable", "1 while the ledger can be used, 0 while it cannot and the counters stand still."
    ),
    counter("ladder_ledger_rows_total", "Rows of the ledger."),
    gauge("ladder_ledger_fold_lag_rows", "Rows of the ledger that the counters do not show yet."),
)
