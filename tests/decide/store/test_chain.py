"""Chain: each way in which a row can fail to fit, and what accepting one of them covers."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from decide.ledger import GENESIS, Row, RowKind, digest
from decide.store.chain import Fault, Mark, Stored, at_end, walk

AT = datetime(2026, 10, 15, tzinfo=UTC)


def chain(length: int) -> list[Stored]:
    rows, before = [], GENESIS
    for seq in range(1, length + 1):
        row = Row(RowKind.PASS, AT, micro_usd=seq, clears_at=AT if seq % 2 else None, body='{"ä": 1}')
        own = digest(row, seq=seq, before=before)
        rows.append(Stored(seq, before, own, row.values()))
        before = own
    return rows


def nothing() -> frozenset[tuple[int, str]]:
    return frozenset()


def fault_of(rows: list[Stored], *pins: tuple[int, str]) -> Fault:
    found = walk(rows, Mark(), lambda: frozenset(pins))
    assert isinstance(found, Fault)
    return found


def altered(row: Stored, **values: Any) -> Stored:
    return replace(row, values={**row.values, **values})


def test_a_whole_chain_is_walked_to_its_last_row() -> None:
    rows = chain(5)
    assert walk(rows, Mark(), nothing) == Mark(5, rows[-1].digest)
    assert walk(rows[2:], Mark(2, rows[1].digest), nothing) == Mark(5, rows[-1].digest)
    assert walk([], Mark(), nothing) == Mark()


SPOILT = [
    ("row 3 is not what was written", lambda row: altered(row, micro_usd=9)),
    ("row 3 is not what was written", lambda row: altered(row, kind="PASS")),
    ("row 3 is not what was written", lambda row: altered(row, micro_usd=-1)),
    ("row 3 is not what was written", lambda row: altered(row, at_us="yesterday")),
    ("row 3 is not what was written", lambda row: altered(row, at_us=10**30)),
    ("row 3 is not what was written", lambda row: altered(row, body=b"\xff\x00")),
    ("row 3 is not what was written", lambda row: altered(row, seat=None)),
    ("row 3 is not what was written", lambda row: replace(row, digest="sha256:0")),
    ("row 3 does not carry the digest of the row before it", lambda row: replace(row, before="sha256:0")),
]


@pytest.mark.parametrize(("text", "spoil"), SPOILT)
def test_a_spoilt_row_is_the_first_fault_until_it_is_accepted(text: str, spoil: Any) -> None:
    rows = chain(6)
    rows[2] = spoil(rows[2])
    fault = fault_of(rows)
    assert (fault.seq, fault.text) == (3, text)
    after = walk(rows, Mark(), lambda: frozenset({fault.pin}))
    if rows[2].digest == chain(6)[2].digest:
        assert after == Mark(6, rows[-1].digest)
    else:
        assert isinstance(after, Fault)
        assert after.seq == 4


def test_accepting_covers_what_was_found_and_nothing_else() -> None:
    rows = chain(6)
    rows[2] = altered(rows[2], micro_usd=9)
    accepted = fault_of(rows).pin
    again = [*rows[:2], altered(rows[2], micro_usd=10), *rows[3:]]
    assert fault_of(again, accepted).seq == 3
    second = [*rows[:4], altered(rows[4], seat="x"), rows[5]]
    assert fault_of(second, accepted).seq == 5
    assert fault_of(second, (3, "sha256:0")).seq == 3


@pytest.mark.parametrize("gap", [slice(0, 1), slice(2, 3), slice(1, 4)])
def test_missing_rows_are_one_fault(gap: slice) -> None:
    rows = chain(6)
    first = rows[gap][0].seq
    del rows[gap]
    fault = fault_of(rows)
    assert (fault.seq, fault.text) == (first, f"row {first} is missing")
    assert walk(rows, Mark(), lambda: frozenset({fault.pin})) == Mark(6, rows[-1].digest)
    more = [row for row in rows if row.seq != fault.onward.seq + 1]
    assert fault_of(more, fault.pin).seq == first


def test_the_head_names_the_last_row() -> None:
    rows = chain(4)
    last = Mark(4, rows[3].digest)
    assert at_end(last, last, nothing) is None
    cut = at_end(Mark(2, rows[1].digest), last, nothing)
    assert cut is not None
    assert (cut.seq, cut.text) == (3, "row 3 is missing")
    other = at_end(Mark(4, "sha256:0"), last, nothing)
    assert other is not None
    assert (other.seq, other.text) == (4, "row 4 is not the one that was written last")
    more = at_end(last, Mark(3, rows[2].digest), nothing)
    assert more is not None
    assert (more.seq, more.text) == (4, "row 4 stands behind the one that was written last")
    assert at_end(Mark(2, rows[1].digest), last, lambda: frozenset({cut.pin})) is None


def test_a_cut_end_is_the_same_fault_once_rows_follow_it() -> None:
    rows = chain(4)
    cut = at_end(Mark(2, rows[1].digest), Mark(4, rows[3].digest), nothing)
    assert cut is not None
    row = Row(RowKind.ACCEPT, AT)
    following = Stored(5, rows[3].digest, digest(row, seq=5, before=rows[3].digest), row.values())
    assert fault_of([*rows[:2], following]).pin == cut.pin
