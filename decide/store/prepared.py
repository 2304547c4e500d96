"""Prepared: statements that are compiled once for each database and then run on the driver's own cursor.

SQLAlchemy's own way of running one takes several times as long as SQLite does, and a decision runs dozens.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import Connection
from sqlalchemy.sql.base import Executable
from sqlalchemy.sql.elements import ClauseElement

Values = Mapping[str, Any]


def contradiction(connection: Connection) -> type[Exception]:
    """What the driver raises for values that contradict what is stored, such as a key that is there."""
    error: type[Exception] = connection.dialect.loaded_dbapi.IntegrityError
    return error


class _Form:
    """A statement as one driver takes it: its text, and values by place or by name."""

    def __init__(self, statement: ClauseElement, connection: Connection) -> None:
        compiled: Any = statement.compile(dialect=connection.dialect)
        self.text = str(compiled)
        self._places: tuple[str, ...] | None = tuple(compiled.positiontup) if compiled.positional else None
        self._fixed = {name: bound.value for name, bound in compiled.binds.items() if not bound.required}

    def arguments(self, values: Values) -> Any:
        """The values as the driver takes them."""
        if self._places is None:
            return {**self._fixed, **values}
        return tuple([values[name] if name in values else self._fixed[name] for name in self._places])


class Prepared:
    """A statement and its forms; the driver's own errors come out of it as they are."""

    def __init__(self, statement: Executable) -> None:
        if not isinstance(statement, ClauseElement):
            raise TypeError(f"{statement!r} cannot be compiled")
        self._statement = statement
        self._forms: dict[str, _Form] = {}

    def run(self, connection: Connection, values: Values | None = None) -> Any:
        """The driver's cursor once the statement has run with these values."""
        form = self._form(connection)
        cursor = connection.connection.cursor()
        cursor.execute(form.text, form.arguments(values or {}))
        return cursor

    def run_each(self, connection: Connection, values: Iterable[Values]) -> None:
        """Run the statement once with each of the values."""
        form = self._form(connection)
        connection.connection.cursor().executemany(form.text, [form.arguments(one) for one in values])

    def _form(self, connection: Connection) -> _Form:
        name = connection.dialect.name
        if name not in self._forms:
            self._forms[name] = _Form(self._statement, connection)
        return self._forms[name]
