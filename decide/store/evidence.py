"""Evidence: snapshots as text under their digest, kept for a time; the digests stay."""

from datetime import datetime

from sqlalchemy import Connection, bindparam, insert, select, union, update

from decide.snapshot import load
from decide.store.moments import micros
from decide.store.prepared import Prepared
from decide.store.tables import EVIDENCE, QUESTIONS
from decide.store.tables_handoff import ENTRIES, IS_LIVE, IS_OPEN, ITEMS

_OF = select(EVIDENCE.c.document).where(EVIDENCE.c.digest == bindparam("of"))
_KEEP = Prepared(
    update(EVIDENCE)
    .where(EVIDENCE.c.digest == bindparam("of"))
    .values(document=bindparam("text"), at_us=bindparam("to_us"))
)
_NEW = Prepared(insert(EVIDENCE))
_NEEDED = union(
    select(ITEMS.c.evidence).where(IS_LIVE),
    select(QUESTIONS.c.snapshot).join(ENTRIES, ENTRIES.c.question_key == QUESTIONS.c.question_key).where(IS_OPEN),
)
"""The snapshots of questions that are still to be asked, or may be asked once more."""


def keep(connection: Connection, snapshot: str, at: datetime) -> str:
    """Keep a snapshot as `snapshot.dump` gave it, and give its digest; raises ValueError for another text."""
    digest = load(snapshot).digest
    found = _KEEP.run(connection, {"of": digest, "text": snapshot, "to_us": micros(at)})
    if found.rowcount == 0:
        _NEW.run(connection, {"digest": digest, "document": snapshot, "at_us": micros(at)})
    return digest


def text(connection: Connection, digest: str) -> str | None:
    """The snapshot of a digest, None once it was purged; raises LookupError for a digest that was never kept."""
    found = connection.execute(_OF, {"of": digest}).first()
    if found is None:
        raise LookupError(f"no snapshot {digest!r} was ever kept here")
    return None if found[0] is None else str(found[0])


def purge(connection: Connection, before: datetime) -> int:
    """Remove the text of snapshots that nobody used since `before` and no waiting question needs; say how many."""
    old = (EVIDENCE.c.at_us < micros(before)) & EVIDENCE.c.document.is_not(None)
    unneeded = EVIDENCE.c.digest.not_in(_NEEDED)
    return connection.execute(update(EVIDENCE).where(old, unneeded).values(document=None)).rowcount
