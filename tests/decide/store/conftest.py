"""Fixtures: stores in both databases, and the one PostgreSQL server of a test session."""

import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from decide.store.store import SqlStore
from tests.decide.store.cluster import Cluster, ClusterError
from tests.decide.store.work import opened


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """The server; without one the test is skipped, or fails where RUNGWATCH_REQUIRE_SERVICES is 1."""
    try:
        server = Cluster()
        server.start()
    except ClusterError as error:
        if os.environ.get("RUNGWATCH_REQUIRE_SERVICES") == "1":
            pytest.fail(f"{error}, and RUNGWATCH_REQUIRE_SERVICES=1 demands PostgreSQL")
        pytest.skip(str(error))
    yield server
    server.remove()


@pytest.fixture(params=["sqlite", "postgresql"])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a new store goes, in each database."""
    if request.param == "sqlite":
        return str(tmp_path / "store.db")
    server: Cluster = request.getfixturevalue("cluster")
    return server.new_database()


@pytest.fixture
async def store(target: str) -> AsyncIterator[SqlStore]:
    """A new store, as this process has it open."""
    async with await opened(target) as one:
        yield one
