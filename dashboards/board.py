"""Board: the dashboards by their uid, which links and people's bookmarks rely on and nothing may change."""

from enum import StrEnum


class Board(StrEnum):
    """The uid of each dashboard."""

    ONCALL = "rungwatch-oncall"
    DECISIONS = "rungwatch-decisions"
    SPEND = "rungwatch-spend"
    CONFIRM = "rungwatch-confirm"
    CANARY = "rungwatch-canary"
