"""News: what raisers of questions are to be told, and how telling them went.

An item's `news` mark is a receipt's id, or an entry's with what a person did to it; once told, `told` is the same.
"""

import json
from collections.abc import Collection
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, case, select, update

from decide.handoff.inbox import News, NewsKind
from decide.handoff.ports import Delivery
from decide.handoff.rows import webhook_row
from decide.store.items import item_of
from decide.store.moments import micros
from decide.store.prepared import Prepared
from decide.store.rows import Writing
from decide.store.tables import RECEIPTS
from decide.store.tables_handoff import ENTRIES, IS_NEWS, ITEMS

_BY_PERSONS = (NewsKind.ANSWER, NewsKind.CANCELLED)
_NEWS = (
    select(ITEMS, RECEIPTS.c.document.label("receipt"))
    .join(RECEIPTS, RECEIPTS.c.receipt_id == ITEMS.c.receipt_id)
    .where(IS_NEWS, ITEMS.c.again_us <= bindparam("now_us"))
    .order_by(ITEMS.c.raised_us, ITEMS.c.item_id)
)
_CLOSED_BY = select(ENTRIES.c.closed_by).where(ENTRIES.c.entry_id == bindparam("id"))
_STILL = ITEMS.c.news == bindparam("mark")
_TOLD = Prepared(
    update(ITEMS)
    .where(ITEMS.c.item_id == bindparam("id"))
    .values(told=bindparam("mark"), tries=case((_STILL, 0), else_=ITEMS.c.tries))
)
_FAILED = Prepared(
    update(ITEMS)
    .where(ITEMS.c.item_id == bindparam("id"), _STILL)
    .values(tries=ITEMS.c.tries + 1, again_us=bindparam("to_again"))
)


def mark_of(entry_id: str, kind: NewsKind) -> str:
    """The mark of what a person did to an entry."""
    return f"{entry_id}:{kind.value}"


def untold(connection: Connection, now: datetime, limit: int, raisers: Collection[str]) -> tuple[News, ...]:
    """Up to `limit` things that raisers have not been told yet and may be tried now, the oldest first."""
    wanted = _NEWS.where(ITEMS.c.raised_by.in_(sorted(raisers))).limit(limit)
    return tuple(_news(connection, row) for row in connection.execute(wanted, {"now_us": micros(now)}).all())


def told(writing: Writing, news: News, result: Delivery, at: datetime, again_at: datetime | None) -> None:
    """Record how telling went: what came up since is told all the same."""
    known = {"id": news.item.id, "mark": news.mark}
    match result:
        case Delivery.DELIVERED | Delivery.GIVEN_UP:
            _TOLD.run(writing.connection, known)
        case Delivery.FAILED:
            _FAILED.run(writing.connection, known | {"to_again": micros(again_at or at)})
    question = news.item.question.key
    writing.append([webhook_row(result, at=at, item_id=news.item.id, question=question, mark=news.mark)])


def _news(connection: Connection, row: Any) -> News:
    entry_id, _, done = row.news.rpartition(":")
    kind = next((one for one in _BY_PERSONS if done == one and entry_id), NewsKind.RULING)
    person = "" if kind is NewsKind.RULING else connection.execute(_CLOSED_BY, {"id": entry_id}).scalar_one()
    return News(item_of(row), row.news, json.loads(row.receipt), row.tries, kind, person)
