"""Together: statements for whose results nobody waits, sent to a server in one journey instead of one each."""

from contextlib import AbstractContextManager, nullcontext
from typing import Any

from sqlalchemy import Connection


def together(connection: Connection) -> AbstractContextManager[Any]:
    """Within it PostgreSQL answers no statement by itself; what is wrong with one is raised at the end."""
    if connection.dialect.name != "postgresql":
        return nullcontext()
    driver: Any = connection.connection.driver_connection
    pipeline: AbstractContextManager[Any] = driver.pipeline()
    return pipeline
