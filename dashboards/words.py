"""Words: what the states on a dashboard are called and coloured, each state set in the order from good to bad."""

from collections.abc import Mapping
from types import MappingProxyType

from dashboards.panel import Colour, Word
from dashboards.promql import Selectors, codes

_STATES: Mapping[str, Mapping[str, Word]] = MappingProxyType(
    {
        "ladder_state": {
            "ok": Word("OK: both rungs", Colour.GOOD),
            "degraded": Word("DEGRADED: one rung", Colour.BAD),
            "blind": Word("BLIND: unknown", Colour.UNKNOWN),
            "down": Word("DOWN: no rung", Colour.WORST),
        },
        "ladder_rung_state": {
            "reachable": Word("reachable", Colour.GOOD),
            "unknown": Word("unknown", Colour.UNKNOWN),
            "unreachable": Word("unreachable", Colour.WORST),
        },
        "ladder_seat_state": {
            "available": Word("available", Colour.GOOD),
            "unknown": Word("unknown", Colour.UNKNOWN),
            "capped": Word("capped", Colour.BAD),
            "no_token": Word("no login", Colour.WORST),
        },
        "ladder_token_state": {
            "live": Word("live", Colour.GOOD),
            "refreshable": Word("renewed on next use", Colour.NOTE),
            "unknown": Word("unknown", Colour.UNKNOWN),
            "needs_login": Word("log in again", Colour.WORST),
        },
    }
)


def words(metric: str) -> Mapping[int, Word]:
    """The words of a state set by the number that `coded` gives each state."""
    return dict(enumerate(_STATES[metric].values()))


def coded(select: Selectors, metric: str, *by: str) -> str:
    """The state as a number, the worst where several exporters say something of the same."""
    return codes(select, metric, _STATES[metric], *by)


def yes_no(yes: str, no: str, *, bad: Colour = Colour.WORST) -> Mapping[int, Word]:
    """The words of a flag that is 1 when all is well."""
    return {0: Word(no, bad), 1: Word(yes, Colour.GOOD)}
