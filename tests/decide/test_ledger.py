"""Ledger: each row's digest covers all of it and the row before, so that every tampering is found at its place."""

import json
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta, timezone
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from decide.ledger import GENESIS, Entry, Row, RowKind, digest, first_broken

NOW = datetime(2026, 9, 10, 19, 30, 0, 123_456, tzinfo=UTC)
PASS = Row(
    RowKind.PASS,
    NOW,
    level="medium",
    rung="fable",
    seat="desk-1",
    role="vote",
    result="resolved",
    billing="metered",
    source="provider",
    micro_usd=61_400,
    input_tokens=1200,
    output_tokens=17,
    duration_us=7_000_000,
    question="q-1",
    receipt="r-1",
    call_id="c-1",
    body='{"model":"claude-fable-5"}',
)


def changed(row: Row, name: str, value: Any) -> Row:
    """The row with another value in one field."""
    fields_of: dict[str, Any] = {name: value}
    return replace(row, **fields_of)


def chained(rows: Sequence[Row], *, after: int = 0, before: str = GENESIS) -> list[Entry]:
    """Rows as an honest ledger holds them."""
    entries = []
    for seq, row in enumerate(rows, after + 1):
        own = digest(row, seq=seq, before=before)
        entries.append(Entry(seq, row, before, own))
        before = own
    return entries


def test_the_canonical_form_of_a_row_stays_as_it_is() -> None:
    """Changing this changes every digest, so that every ledger would read as broken."""
    columns: list[tuple[str, object]] = [
        ("at_us", 1_789_068_600_123_456),
        ("billing", "metered"),
        ("body", '{"model":"claude-fable-5"}'),
        ("cache_read_tokens", 0),
        ("cache_write_tokens", 0),
        ("call_id", "c-1"),
        ("clears_at_us", None),
        ("duration_us", 7_000_000),
        ("gate_row", ""),
        ("input_tokens", 1200),
        ("kind", "pass"),
        ("level", "medium"),
        ("micro_usd", 61_400),
        ("output_tokens", 17),
        ("question", "q-1"),
        ("reasoning_tokens", 0),
        ("receipt", "r-1"),
        ("result", "resolved"),
        ("role", "vote"),
        ("rung", "fable"),
        ("seat", "desk-1"),
        ("source", "provider"),
        ("stage", ""),
    ]
    canonical = json.dumps([1, "sha256:" + "0" * 64, columns], separators=(",", ":"))
    assert digest(PASS, seq=1, before=GENESIS) == "sha256:" + sha256(canonical.encode()).hexdigest()
    assert (
        digest(PASS, seq=1, before=GENESIS)
        == "sha256:045fd98a6d8a54e5db80b4ec4807a428cb5a7917a974e13bc667c4c82577106b"
    )
    assert sorted(PASS.values().items()) == sorted([*columns, ("micro_ratio", 0), ("window_kind", "")])


def test_columns_that_came_later_are_in_the_digest_of_rows_that_use_them() -> None:
    plain = digest(PASS, seq=1, before=GENESIS)
    told = replace(PASS, micro_ratio=12_500, window_kind="session")
    columns = [list(one) for one in sorted(PASS.values().items()) if one[0] not in ("micro_ratio", "window_kind")]
    columns += [["micro_ratio", 12_500], ["window_kind", "session"]]
    canonical = json.dumps([1, GENESIS, columns], separators=(",", ":"))
    assert digest(told, seq=1, before=GENESIS) == "sha256:" + sha256(canonical.encode()).hexdigest()
    each = {digest(changed(told, name, value), seq=1, before=GENESIS) for name, value in LATER}
    assert len(each | {plain}) == len(LATER) + 1


LATER = [("micro_ratio", 12_501), ("micro_ratio", 0), ("window_kind", "weekly"), ("window_kind", "")]


def test_one_moment_is_one_value_whatever_its_zone() -> None:
    elsewhere = replace(PASS, at=NOW.astimezone(timezone(timedelta(hours=-5))))
    assert digest(elsewhere, seq=1, before=GENESIS) == digest(PASS, seq=1, before=GENESIS)
    assert replace(PASS, clears_at=NOW + timedelta(microseconds=1)).values()["clears_at_us"] == 1_789_068_600_123_457


MOMENTS = [
    (datetime(1970, 1, 1, tzinfo=UTC), 0),
    (datetime(1969, 12, 31, 23, 59, 59, 500_000, tzinfo=UTC), -500_000),
    (datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC), 253_402_300_799_999_999),
    (datetime(2514, 5, 30, 1, 53, 4, 999_999, tzinfo=UTC), 17_179_869_184_999_999),
]


@pytest.mark.parametrize(("moment", "micros"), MOMENTS)
def test_a_moment_is_exact_to_the_microsecond(moment: datetime, micros: int) -> None:
    assert replace(PASS, at=moment).values()["at_us"] == micros


REFUSED: list[tuple[Callable[[], Row], str]] = [
    (lambda: replace(PASS, at=datetime(2026, 9, 10)), "times must be aware"),  # noqa: DTZ001
    (lambda: replace(PASS, clears_at=datetime(2026, 9, 10)), "times must be aware"),  # noqa: DTZ001
]


@pytest.mark.parametrize(("made", "message"), REFUSED)
def test_a_row_of_nonsense_is_refused(made: Callable[[], Row], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        made()


@pytest.mark.parametrize("name", [one.name for one in fields(Row) if one.type is int])
def test_no_number_is_negative(name: str) -> None:
    with pytest.raises(ValueError, match="must not be negative"):
        changed(PASS, name, -1)
    assert changed(PASS, name, 0).values()[name] == 0


texts = st.text(max_size=6)
counts = st.integers(0, 2**40)
times = st.datetimes(datetime(1960, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 - bounds are naive
VALUES: dict[object, st.SearchStrategy[Any]] = {
    str: texts,
    int: counts,
    RowKind: st.sampled_from(RowKind),
    datetime: times,
    datetime | None: st.none() | times,
}
COLUMNS: dict[str, st.SearchStrategy[Any]] = {one.name: VALUES[one.type] for one in fields(Row)}
rows = st.fixed_dictionaries(COLUMNS).map(lambda columns: Row(**columns))
ledgers = st.lists(rows, min_size=1, max_size=5)


@given(ledgers)
def test_an_honest_ledger_is_whole_from_any_row_on(written: list[Row]) -> None:
    entries = chained(written)
    assert first_broken(entries) is None
    for place, entry in enumerate(entries):
        assert first_broken(entries[place:], after=place, before=entry.before) is None
        assert first_broken(entries[: place + 1]) is None
    assert first_broken([]) is None


@given(ledgers, st.data())
def test_any_field_of_any_row_that_was_changed_is_found_at_its_place(written: list[Row], data: st.DataObject) -> None:
    entries = chained(written)
    place = data.draw(st.integers(0, len(entries) - 1))
    name = data.draw(st.sampled_from(sorted(COLUMNS)))
    value = data.draw(COLUMNS[name])
    assume(value != getattr(written[place], name))
    entries[place] = replace(entries[place], row=changed(written[place], name, value))
    seq = place + 1
    assert first_broken(entries) == (seq, f"row {seq} is not what was written")


@given(ledgers, st.data())
def test_a_row_that_was_rewritten_with_a_fitting_digest_is_found_at_the_next(
    written: list[Row], data: st.DataObject
) -> None:
    assume(len(written) > 1)
    entries = chained(written)
    place = data.draw(st.integers(0, len(entries) - 2))
    forged = replace(written[place], micro_usd=written[place].micro_usd + 1)
    before = entries[place].before
    entries[place] = Entry(place + 1, forged, before, digest(forged, seq=place + 1, before=before))
    seq = place + 2
    assert first_broken(entries) == (seq, f"row {seq} does not carry the digest of the row before it")


Tampering = Callable[[list[Entry]], list[Entry]]
FIVE = [replace(PASS, call_id=f"c-{number}") for number in range(1, 6)]


def swapped(entries: list[Entry]) -> list[Entry]:
    second, third = replace(entries[1], seq=3), replace(entries[2], seq=2)
    return [entries[0], third, second, *entries[3:]]


TAMPERED: list[tuple[str, Tampering, tuple[int, str] | None]] = [
    ("nothing", lambda e: e, None),
    ("first row gone", lambda e: e[1:], (1, "row 1 is missing")),
    ("middle row gone", lambda e: [*e[:2], *e[3:]], (3, "row 3 is missing")),
    (
        "middle row gone, the rest renumbered",
        lambda e: [*e[:2], *(replace(one, seq=one.seq - 1) for one in e[3:])],
        (3, "row 3 does not carry the digest of the row before it"),
    ),
    ("a row twice", lambda e: [*e[:2], e[1], *e[2:]], (3, "row 3 is missing")),
    ("two rows exchanged", lambda e: [e[0], e[2], e[1], *e[3:]], (2, "row 2 is missing")),
    (
        "two rows exchanged and renumbered",
        swapped,
        (2, "row 2 does not carry the digest of the row before it"),
    ),
    (
        "another digest of its own",
        lambda e: [*e[:4], replace(e[4], digest=GENESIS)],
        (5, "row 5 is not what was written"),
    ),
    (
        "another digest before it",
        lambda e: [*e[:3], replace(e[3], before=GENESIS), e[4]],
        (4, "row 4 does not carry the digest of the row before it"),
    ),
    (
        "a chain that begins elsewhere",
        lambda e: chained(FIVE, before="sha256:" + "1" * 64),
        (1, "row 1 does not carry the digest of the row before it"),
    ),
    (
        "a row put in and all after it written anew",
        lambda e: [*e[:2], *chained([PASS, *FIVE[2:]], after=2, before=e[0].digest)],
        (3, "row 3 does not carry the digest of the row before it"),
    ),
]


@pytest.mark.parametrize(("_", "tamper", "broken"), TAMPERED, ids=[name for name, *_ in TAMPERED])
def test_each_kind_of_tampering(_: str, tamper: Tampering, broken: tuple[int, str] | None) -> None:
    assert first_broken(iter(tamper(chained(FIVE)))) == broken


def test_a_part_that_does_not_follow_is_broken_at_its_first_row() -> None:
    part = chained(FIVE)[2:]
    assert first_broken(part, after=2, before=part[0].before) is None
    assert first_broken(part, after=1, before=part[0].before) == (2, "row 2 is missing")
    assert first_broken(part, after=2) == (3, "row 3 does not carry the digest of the row before it")


def test_the_place_of_a_row_is_part_of_its_digest() -> None:
    assert digest(PASS, seq=1, before=GENESIS) != digest(PASS, seq=2, before=GENESIS)
