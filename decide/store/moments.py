"""Moments: times as the store keeps them, whole microseconds since 1970."""

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def micros(at: datetime) -> int:
    """Microseconds since 1970; raises ValueError for a time without a zone."""
    if at.tzinfo is None:
        raise ValueError(f"times must be aware: {at!r}")
    return (at - _EPOCH) // timedelta(microseconds=1)


def moment(at_us: int) -> datetime:
    """The time, aware UTC."""
    return _EPOCH + timedelta(microseconds=at_us)
