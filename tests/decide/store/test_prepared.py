"""Prepared: a statement gives in the driver's own hands what it gives in SQLAlchemy's, in either database."""

import asyncio

import pytest
from sqlalchemy import bindparam, create_engine, insert, select

from decide.store.place import locate
from decide.store.prepared import Prepared
from decide.store.tables import DAYS
from tests.decide.store.work import opened

NEW = Prepared(insert(DAYS))
MANY = (
    select(DAYS.c.day, DAYS.c.passes)
    .where(DAYS.c.passes > bindparam("more_than"), DAYS.c.micro_usd < 1000, DAYS.c.day != "100%")
    .order_by(DAYS.c.day)
    .limit(2)
)


def test_values_go_by_name_and_fixed_ones_stay(target: str) -> None:
    async def make() -> None:
        await (await opened(target)).close()

    asyncio.run(make())
    engine = create_engine(locate(target).url)
    with engine.begin() as connection:
        NEW.run_each(connection, [{"micro_usd": n, "day": f"d{n}", "passes": n} for n in (1, 2, 3, 4)])
        assert NEW.run(connection, {"day": "100%", "passes": 9, "micro_usd": 9}).rowcount == 1
        NEW.run(connection, {"day": "a", "passes": 9, "micro_usd": 1000})
        expected = [tuple(row) for row in connection.execute(MANY, {"more_than": 1})]
        assert expected == [("d2", 2), ("d3", 3)]
        prepared = Prepared(MANY)
        for more_than, found in ((1, expected), (3, [("d4", 4)]), (1, expected)):
            assert prepared.run(connection, {"more_than": more_than}).fetchall() == found
        if engine.dialect.name == "sqlite":
            with pytest.raises(KeyError, match="more_than"):
                prepared.run(connection)
    engine.dispose()
