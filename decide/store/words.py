"""Words: text from outside as both databases take it, and what somebody means by the beginning of an id."""

from typing import Any

from sqlalchemy import Column, Connection, func, select

_NAMED = 5
"""How many rows an ambiguous id names."""


def plain(text: str) -> str:
    """The text without NUL and without halves of surrogate pairs, which one database or the other refuses."""
    return text.encode("utf-8", "replace").decode("utf-8").replace("\0", "\ufffd")


def meant(connection: Connection, ids: Column[str], place: Column[int], any_id: str, what: str) -> str:
    """The whole of an id of which somebody gives the beginning; raises LookupError when none or several begin so.

    `place` is what tells which row came later.
    """
    found = beginning(connection, ids, place, any_id)
    if not found:
        raise LookupError(f"there is no {what} {any_id[:80]!r}")
    if len(found) > 1:
        more = " and more" if len(found) > _NAMED else ""
        several = "entries" if what == "entry" else f"{what}s"
        raise LookupError(f"several {several} begin with {any_id!r}: {', '.join(found[:_NAMED])}{more}")
    return found[0]


def beginning(connection: Connection, ids: Column[str], place: Column[int], any_id: str) -> list[str]:
    """The one id that is just that, else a few that begin so, the latest first; none of an empty text."""
    wanted: Any = plain(any_id)
    if not wanted:
        return []
    if connection.execute(select(ids).where(ids == wanted)).first() is not None:
        return [str(wanted)]
    # LIKE ignores case in SQLite
    begins = func.substr(ids, 1, len(wanted)) == wanted
    some = select(ids).where(begins).order_by(place.desc(), ids).limit(_NAMED + 1)
    return [str(found) for (found,) in connection.execute(some)]
