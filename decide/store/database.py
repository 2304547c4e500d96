"""Database: transactions on an opened store, each of which ends whole, and whose faults are told as the store's."""

from collections.abc import Callable
from typing import Any, TypeVar

from sqlalchemy import Connection

from decide.fault import StoreError, StoreFault
from decide.store.chain import Fault, Mark
from decide.store.engine import Engines
from decide.store.faults import telling
from decide.store.place import check
from decide.store.rows import TAIL, Writing, check_tail, locked

T = TypeVar("T")


class Database:
    """A store that was opened; used on one thread. `opened` tells the file from another that takes its name."""

    def __init__(self, engines: Engines, opened: tuple[int, int] | None) -> None:
        self.place = engines.place
        self._engines = engines
        self._opened = opened
        self._known: Mark | None = None
        self._own: dict[int, tuple[Any, ...]] = {}

    def read(self, act: Callable[[Connection], T]) -> T:
        """What an act reads as of one moment."""
        self._check(writing=False)
        with telling(self._engines, writing=False), self._engines.begin(writing=False) as connection:
            return act(connection)

    def write(self, act: Callable[[Writing], T]) -> T:
        """What an act gives whose changes are durable, or of which none was made."""
        self._check(writing=True)
        with telling(self._engines, writing=True), self._engines.begin(writing=True) as connection:
            writing = locked(connection)
            result = act(writing)
        self._own = writing.written if len(self._own) > TAIL else self._own | writing.written
        return result

    def write_on_sound(self, act: Callable[[Writing], T]) -> T:
        """The same, refused while the end of the ledger is broken, or while an audit found any of it broken."""

        def checked(writing: Writing) -> T:
            if writing.held:
                raise self.broken(writing.held)
            reached = check_tail(writing.connection, writing.head, self._known, self._own)
            if isinstance(reached, Fault):
                raise self.broken(reached.text)
            self._known, self._own = reached, {}
            return act(writing)

        return self.write(checked)

    def broken(self, fault: str) -> StoreError:
        """The error that a broken chain is, until a named person accepts it."""
        text = (
            f"the ledger in {self.place.label} is broken: {fault}; nothing was changed. See `rungwatch ledger "
            "verify`; restore a copy, or let a named person go on from it with `rungwatch ledger accept`"
        )
        return StoreError(StoreFault.BROKEN, text)

    def forget(self) -> None:
        """Look at the end of the ledger anew before the next question."""
        self._known, self._own = None, {}

    def close(self) -> None:
        """Close the connection."""
        self._engines.close()

    def _check(self, *, writing: bool) -> None:
        if self.place.path is not None:
            check(self.place.path, opened=self._opened, writing=writing)
