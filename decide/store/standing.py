"""Standing: where a question stands, whatever of it somebody names."""

from sqlalchemy import BindParameter, Connection, bindparam, func, select, union, union_all

from decide.handoff.entry import EntryState
from decide.handoff.ports import Standing
from decide.store import entries, items, receipts
from decide.store.tables import QUESTIONS, RECEIPTS
from decide.store.tables_handoff import ENTRIES, ITEMS
from decide.store.words import plain

_IDS = ((ITEMS, ITEMS.c.item_id), (ENTRIES, ENTRIES.c.entry_id), (RECEIPTS, RECEIPTS.c.receipt_id))
_NAMED: BindParameter[str] = bindparam("named")
_EXACT = union_all(
    *(select(table.c.question_key).where(ids == _NAMED) for table, ids in _IDS),
    *(select(table.c.question_key).where(table.c.question_key == _NAMED) for table in (ITEMS, ENTRIES, QUESTIONS)),
).limit(1)
# LIKE ignores case in SQLite
_BEGINS = union(
    *(select(table.c.question_key).where(func.substr(ids, 1, func.length(_NAMED)) == _NAMED) for table, ids in _IDS)
).limit(2)
_CLOSED_BY = select(QUESTIONS.c.receipt_id).where(QUESTIONS.c.question_key == bindparam("key"))


def standing(connection: Connection, any_id: str) -> Standing:
    """Where the question stands of which somebody names the item, an entry, a receipt, or the key.

    An id may be the beginning of one; raises LookupError when no question is meant, or several are.
    """
    key = _key(connection, plain(any_id))
    entry = entries.latest(connection, key)
    closed_by = connection.execute(_CLOSED_BY, {"key": key}).scalar()
    if entry is not None and entry.state is EntryState.RESOLVED:
        closed_by = entry.closed_by  # the answer to another question may stand for it
    receipt = receipts.document(connection, closed_by) if closed_by else receipts.last(connection, key)
    return Standing(items.of_question(connection, key), receipt, entry)


def _key(connection: Connection, named: str) -> str:
    exact = connection.execute(_EXACT, {"named": named}).scalar()
    if exact is not None:
        return str(exact)
    found = connection.execute(_BEGINS, {"named": named}).scalars().all() if named else []
    if not found:
        raise LookupError(f"nothing is known of {named[:80]!r}: it is no item, entry, receipt or question")
    if len(found) > 1:
        raise LookupError(f"several questions have an id that begins with {named!r}; give more of it")
    return str(found[0])
