"""Outcomes: runs counted by their day in UTC and their outcome."""

from datetime import UTC, datetime

from decide.handoff.entry import Why
from decide.store.store import SqlStore
from tests.decide.store.handed import asking, ran


async def test_runs_are_counted_by_day_and_outcome(store: SqlStore) -> None:
    midnight = datetime(2026, 10, 15, tzinfo=UTC)
    for number, (hour, why) in enumerate(
        ((-25, None), (-1, None), (0, None), (0, Why.WALLED), (23, None), (24, None))
    ):
        at = datetime.fromtimestamp(midnight.timestamp() + hour * 3600, UTC)
        await ran(store, f"r{number}", asking(f"q{number}"), why=why, at=at)
    since = datetime(2026, 10, 14, tzinfo=UTC)
    assert await store.outcomes_by_day(since) == (
        ("2026-10-14", "agreed", 1),
        ("2026-10-15", "agreed", 2),
        ("2026-10-15", "walled", 1),
        ("2026-10-16", "agreed", 1),
    )
    assert await store.outcomes_by_day(datetime(2027, 1, 1, tzinfo=UTC)) == ()
