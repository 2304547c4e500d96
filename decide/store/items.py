"""Items: raised questions, who asks one now, and what becomes of each."""

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, bindparam, case, func, insert, select, update

from decide.handoff.inbox import PENDING, Item, ItemState, Raised, Taken, order
from decide.question import dump, load
from decide.store.alive import Process, alive
from decide.store.moments import micros, moment
from decide.store.prepared import Prepared, contradiction
from decide.store.tables import EVIDENCE
from decide.store.tables_handoff import IS_DUE, IS_LIVE, IS_RUNNING, ITEMS
from decide.store.words import meant, plain

_UNLEASED = {"host": "", "pid": 0, "started": "", "until_us": 0}
_UNTOLD = {"tries": 0, "again_us": 0}
_LIGHT = ("item_id", "deadline_us", "raised_us", "host", "pid", "started", "until_us")
_SHORT = select(*(ITEMS.c[name] for name in _LIGHT))
_ORDER = (ITEMS.c.deadline_us.is_(None), ITEMS.c.deadline_us, ITEMS.c.raised_us, ITEMS.c.item_id)
_DUE = _SHORT.where(IS_DUE, ITEMS.c.due_us <= bindparam("now_us")).order_by(*_ORDER).limit(bindparam("most"))
_RUNNING = _SHORT.where(IS_RUNNING)
_WITH_EVIDENCE = (
    select(ITEMS, EVIDENCE.c.document.label("snapshot"))
    .join(EVIDENCE, EVIDENCE.c.digest == ITEMS.c.evidence)
    .where(ITEMS.c.item_id == bindparam("id"), EVIDENCE.c.document.is_not(None))
)
_BY_ID = select(ITEMS).where(ITEMS.c.item_id == bindparam("id"))
_BY_KEY = select(ITEMS).where(ITEMS.c.question_key == bindparam("key"))
_NEW = Prepared(insert(ITEMS))
_LEASE = Prepared(
    update(ITEMS)
    .where(ITEMS.c.item_id == bindparam("id"))
    .values(state=ItemState.RUNNING.value, **{name: bindparam(f"to_{name}") for name in _UNLEASED})
)
_PUT_BACK = Prepared(
    update(ITEMS)
    .where(
        ITEMS.c.item_id == bindparam("id"),
        IS_RUNNING,
        *(ITEMS.c[name] == bindparam(f"of_{name}") for name in ("host", "pid", "started")),
    )
    .values(state=ItemState.RETRYING.value, due_us=bindparam("to_due"), **_UNLEASED)
)
_MOVE = Prepared(
    update(ITEMS)
    .where(ITEMS.c.item_id == bindparam("id"))
    .values(
        state=bindparam("to_state"),
        due_us=bindparam("to_due"),
        receipt_id=bindparam("to_receipt"),
        news=case((bindparam("to_news") == "", ITEMS.c.news), else_=bindparam("to_news")),
        **_UNLEASED,
        **_UNTOLD,
    )
)
_DONE = Prepared(
    update(ITEMS)
    .where(ITEMS.c.question_key == bindparam("key"))
    .values(
        state=ItemState.DONE.value,
        news=bindparam("to_news"),
        receipt_id=case((ITEMS.c.receipt_id == "", bindparam("to_receipt")), else_=ITEMS.c.receipt_id),
        **_UNLEASED,
        **_UNTOLD,
    )
)
_STANDS_FOR = Prepared(
    update(ITEMS).where(ITEMS.c.question_key == bindparam("key")).values(receipt_id=bindparam("to_receipt"))
)
_AGAIN = Prepared(
    update(ITEMS)
    .where(ITEMS.c.question_key == bindparam("key"), ~IS_DUE, ~IS_RUNNING)
    .values(state=ItemState.WAITING.value, due_us=bindparam("to_due"))
)
_COUNTS = Prepared(
    select(ITEMS.c.state, func.count(), func.min(ITEMS.c.raised_us)).where(IS_LIVE).group_by(ITEMS.c.state)
)


def new(
    connection: Connection,
    raised: Raised,
    *,
    evidence: str,
    state: ItemState = ItemState.WAITING,
    receipt_id: str = "",
) -> Item:
    """Keep a raised question whose evidence is kept under a digest; one with a receipt is news of that at once.

    Raises ValueError for an id that was used before.
    """
    question = raised.question
    fields = {
        "item_id": raised.id,
        "question_key": question.key,
        "state": state.value,
        "deadline_us": None if question.deadline is None else micros(question.deadline),
        "raised_us": micros(raised.at),
        "due_us": micros(raised.at),
        "digest": question.digest,
        "evidence": evidence,
        "surface": raised.surface,
        "requester": plain(raised.requester),
        "raised_by": plain(question.raised_by),
        "receipt_id": receipt_id,
        "news": receipt_id,
        "told": "",
        "document": dump(question),
        **_UNLEASED,
        **_UNTOLD,
    }
    try:
        _NEW.run(connection, fields)
    except contradiction(connection) as error:
        raise ValueError(f"item id {raised.id!r} was used before") from error
    return Item(raised.id, question, state, raised.at, raised.at, raised.surface, raised.requester, receipt_id)


def found(connection: Connection, any_id: str) -> Item:
    """The item of an id, of a question's key, or of the beginning of an id; raises LookupError."""
    exact = connection.execute(_BY_ID, {"id": plain(any_id)}).first()
    if exact is None:
        exact = connection.execute(_BY_KEY, {"key": plain(any_id)}).first()
    if exact is None:
        whole = meant(connection, ITEMS.c.item_id, ITEMS.c.raised_us, any_id, "item")
        exact = connection.execute(_BY_ID, {"id": whole}).one()
    return item_of(exact)


def of_question(connection: Connection, question_key: str) -> Item | None:
    """The item of a question."""
    row = connection.execute(_BY_KEY, {"key": question_key}).first()
    return None if row is None else item_of(row)


def take(connection: Connection, now: datetime, most: int, lease: timedelta, *, me: Process) -> tuple[Taken, ...]:
    """Lease up to `most` due items to this process, the most pressing first."""
    due = [*connection.execute(_DUE, {"now_us": micros(now), "most": most})]
    lost = [row for row in connection.execute(_RUNNING) if _lost(row, now, me)]
    pressing = sorted((*due, *lost), key=_pressing)[:most]
    holder = {"to_host": me.host, "to_pid": me.pid, "to_started": me.started, "to_until_us": micros(now + lease)}
    for row in pressing:
        _LEASE.run(connection, {"id": row.item_id, **holder})
    taken = [connection.execute(_WITH_EVIDENCE, {"id": row.item_id}).one() for row in pressing]
    return tuple(Taken(item_of(row), row.snapshot) for row in taken)


def put_back(connection: Connection, item_id: str, due_at: datetime, *, me: Process) -> None:
    """Take the lease of this process from an item, which is due again then; one it does not hold stays as it is."""
    mine = {"of_host": me.host, "of_pid": me.pid, "of_started": me.started}
    _PUT_BACK.run(connection, {"id": item_id, "to_due": micros(due_at), **mine})


def move(connection: Connection, item_id: str, state: ItemState, due_at: datetime, receipt_id: str) -> None:
    """Where an item stands after a run; its raiser is to be told of a run after which nobody asks by itself."""
    news = receipt_id if state in (ItemState.DONE, ItemState.QUEUED) else ""
    stands = {"to_state": state.value, "to_due": micros(due_at), "to_receipt": receipt_id, "to_news": news}
    _MOVE.run(connection, {"id": item_id, **stands})


def done(connection: Connection, question_key: str, *, news: str, receipt_id: str) -> None:
    """End the item of a question, where there is one, with something to tell its raiser."""
    _DONE.run(connection, {"key": question_key, "to_news": news, "to_receipt": receipt_id})


def answered_by(connection: Connection, question_key: str, receipt_id: str) -> None:
    """End the item of a question, where there is one, for which the receipt of another question stands."""
    _STANDS_FOR.run(connection, {"key": question_key, "to_receipt": receipt_id})
    done(connection, question_key, news=receipt_id, receipt_id=receipt_id)


def again(connection: Connection, question_key: str, now: datetime) -> bool:
    """Make due the item of a question that nobody asks; False when it has no item."""
    _AGAIN.run(connection, {"key": question_key, "to_due": micros(now)})
    return connection.execute(_BY_KEY, {"key": question_key}).first() is not None


def counts(connection: Connection) -> tuple[dict[ItemState, int], datetime | None]:
    """How many items that are not done stand in each state, and when the oldest that is pending was raised."""
    rows = [(ItemState(state), many, raised) for state, many, raised in _COUNTS.run(connection).fetchall()]
    oldest = min((raised for state, _, raised in rows if state in PENDING), default=None)
    return {state: many for state, many, _ in rows}, None if oldest is None else moment(oldest)


def item_of(row: Any) -> Item:
    """The item of its row."""
    return Item(
        row.item_id,
        load(row.document),
        ItemState(row.state),
        moment(row.raised_us),
        moment(row.due_us),
        row.surface,
        row.requester,
        row.receipt_id,
    )


def _lost(row: Any, now: datetime, me: Process) -> bool:
    """Whether nobody asks a running item any more."""
    holder = Process(row.host, row.pid, row.started)
    if holder == me:
        return False
    return alive(holder, here=me.host) is False or row.until_us <= micros(now)


def _pressing(row: Any) -> tuple[bool, float, float]:
    return order(None if row.deadline_us is None else moment(row.deadline_us), moment(row.raised_us))
