"""Evidence: snapshots as text under their digest, kept for a time; the digests stay."""

from datetime import datetime

from sqlalchemy import Connection, bindparam, insert, select, update

from decide.snapshot import load
from decide.store.moments import micros
from decide.store.prepared import Prepared
from decide.store.tables import EVIDENCE

_OF = select(EVIDENCE.c.document).where(EVIDENCE.c.digest == bindparam("of"))
_KEEP = Prepared(
    update(EVIDENCE)
    .where(EVIDENCE.c.digest == bindparam("of"))
    .values(document=bindparam("text"), at_us=bindparam("to_us"))
)
_NEW = Prepared(insert(EVIDENCE))


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
    """Remove the text of every snapshot that nobody used since `before`, and say how many."""
    old = (EVIDENCE.c.at_us < micros(before)) & EVIDENCE.c.document.is_not(None)
    return connection.execute(update(EVIDENCE).where(old).values(document=None)).rowcount
