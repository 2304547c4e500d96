"""Day: to which day a moment is charged, and when that day rolls (design 8)."""

from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo


def day_of(moment: datetime, zone: str) -> str:
    """The day of a moment in a zone, as YYYY-MM-DD; raises ZoneInfoNotFoundError for a zone that is none."""
    return moment.astimezone(ZoneInfo(zone)).date().isoformat()


def rolls_at(moment: datetime, zone: str) -> datetime:
    """When the day of a moment ends in that zone, in UTC."""
    local = moment.astimezone(ZoneInfo(zone))
    return datetime.combine(local.date() + timedelta(days=1), time(), ZoneInfo(zone)).astimezone(UTC)
