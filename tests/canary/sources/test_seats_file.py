"""seats.json: its schema, its seats, their labels, and what is wrong with it."""

from copy import deepcopy
from datetime import UTC, datetime
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from canary.label import alias, usable_name
from canary.login import Renewal
from canary.sources.seats_file import ListedSeat, json_schema, parse
from decide.quota import Measure, WindowKind
from decide.reason import Reason
from decide.seat import Auth, Quota
from tests.canary.fakes import NOW, SALT
from tests.canary.sources.test_claude_usage import json_values

WRITTEN = datetime(2026, 10, 15, 11, 59, tzinfo=UTC)
SEAT: dict[str, Any] = {
    "name": "desk",
    "account": "acct-1",
    "organization": "org-1",
    "token": {"kind": "oauth", "expires_at": "2026-10-15T20:00:00Z", "refreshable": True},
    "windows": [
        {"kind": "session", "used_percent": 12, "resets_at": "2026-10-15T13:00:00Z"},
        {"duration_s": 604800, "used_percent": 40.5, "resets_at": 1792565600},
        {"kind": "weekly_model", "scope": "Fable", "used_percent": 7, "resets_at": None},
        {"kind": "spend", "unlimited": True},
        {"kind": "monthly", "used_percent": None},
    ],
}
FILE: dict[str, Any] = {"schema_version": 1, "fetched_at": "2026-10-15T11:58:00Z", "seats": [SEAT]}


def listed(document: Any) -> list[ListedSeat]:
    found = parse(document, modified_at=WRITTEN, now=NOW, salt=SALT)
    assert found is not None
    return found


def changed(**fields: Any) -> dict[str, Any]:
    return {**FILE, "seats": [{**SEAT, **fields}]}


def test_a_seat_as_it_is_meant() -> None:
    (seat,) = listed(FILE)
    assert (seat.name, seat.quota, seat.failure, seat.note) == ("desk", Quota.METERED, None, "")
    assert (seat.login.auth, seat.login.renewal, seat.login.account) == (Auth.OAUTH, Renewal.YES, "acct-1")
    assert seat.reading is not None
    assert seat.reading.fetched_at == datetime(2026, 10, 15, 11, 58, tzinfo=UTC)
    windows = {(window.kind, window.scope): window for window in seat.reading.windows}
    assert set(windows) == {
        (WindowKind.SESSION, ""),
        (WindowKind.WEEKLY, ""),
        (WindowKind.WEEKLY_MODEL, "Fable"),
        (WindowKind.SPEND, ""),
    }
    assert windows[WindowKind.WEEKLY, ""].used == pytest.approx(0.405)
    assert windows[WindowKind.SPEND, ""].measure is Measure.UNLIMITED


def test_the_published_schema_takes_it_and_refuses_what_the_reader_refuses() -> None:
    schema = json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(FILE, schema)
    faults: list[dict[str, Any]] = [
        changed(token=None),
        changed(windows="x"),
        {"seats": []},
        {**FILE, "schema_version": 2},
    ]
    for broken in faults:
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(broken, schema)


def test_the_age_is_that_of_the_data_and_the_files_own_time_only_stands_in() -> None:
    (own,) = listed(changed(fetched_at="2026-10-15T10:00:00Z"))
    assert own.reading is not None
    assert own.reading.fetched_at == datetime(2026, 10, 15, 10, 0, tzinfo=UTC)
    (bare,) = listed({"schema_version": 1, "seats": [SEAT]})
    assert bare.reading is not None
    assert bare.reading.fetched_at == WRITTEN
    assert "modification time" in bare.note


@pytest.mark.parametrize(
    ("fields", "failure", "absent", "fault"),
    [
        ({"last_error": "boom", "last_error_at": "2026-10-15T11:59:00Z"}, Reason.SOURCE_FAILED, None, None),
        ({"last_error": "boom", "last_error_at": "2026-10-15T11:00:00Z"}, None, None, None),
        ({"last_error": "boom"}, Reason.SOURCE_FAILED, None, None),
        ({"token": {"kind": "oauth", "needs_login": True}}, None, Reason.MISSING, Reason.NO_EXPIRY),
        ({"token": {"kind": "oauth"}}, None, None, Reason.NO_EXPIRY),
        ({"token": {"kind": "none"}}, None, None, None),
        ({"token": {"kind": "password"}}, Reason.MALFORMED, None, Reason.MALFORMED),
        ({"token": "live"}, Reason.MALFORMED, None, Reason.MALFORMED),
        ({"windows": {"session": 1}}, Reason.MALFORMED, None, Reason.MALFORMED),
        ({"fetched_at": "yesterday"}, Reason.MALFORMED, None, Reason.MALFORMED),
        ({"fetched_at": "2026-10-15T11:00:00"}, Reason.MALFORMED, None, Reason.MALFORMED),
    ],
)
def test_what_a_seat_says_of_itself(
    fields: dict[str, Any], failure: Reason | None, absent: Reason | None, fault: Reason | None
) -> None:
    (seat,) = listed(changed(**fields))
    assert (seat.failure, seat.login.absent, seat.login.fault) == (failure, absent, fault)
    assert seat.name == "desk"


@pytest.mark.parametrize(
    "window",
    ["x", {"used_percent": 5}, {"kind": "hourly", "used_percent": 5}, {"kind": "session", "used_percent": "5"}],
)
def test_a_malformed_window_is_kept_as_one(window: Any) -> None:
    (seat,) = listed(changed(windows=[window]))
    assert seat.reading is not None
    assert [found.measure for found in seat.reading.windows] == [Measure.MALFORMED]


def test_a_refusal_is_a_full_window() -> None:
    (seat,) = listed(changed(windows=[], refused=True))
    assert seat.reading is not None
    assert [found.measure for found in seat.reading.windows] == [Measure.REFUSED]


@pytest.mark.parametrize(
    "document", [{}, {"seats": []}, {"schema_version": 2, "seats": []}, {"schema_version": 1, "seats": {}}]
)
def test_what_is_no_seats_document(document: Any) -> None:
    assert parse(document, modified_at=WRITTEN, now=NOW, salt=SALT) is None


NAMES = ["desk", 'desk 14" left', "back\\slash", "Ünïcøð 座席", '}{,="']
UNUSABLE = ["", " ", "two\nlines", "jo.doe+work@example.test", "~/x", "/etc/x", "https://x", "sk-ant-x", "eyJhbGciOi", "acct-00000000", "a" * 65, "00000000-0000-0000-0000-000000000000"]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_a_name_that_may_be_a_label(name: str) -> None:
    assert usable_name(name)
    assert listed(changed(name=name))[0].name == name


@pytest.mark.parametrize("name", UNUSABLE)
def test_a_name_that_may_not_becomes_an_alias(name: str) -> None:
    assert not usable_name(name)
    (seat,) = listed(changed(name=name))
    assert seat.name.startswith("seat_")
    assert seat.name == listed(changed(name=name))[0].name


def test_an_alias_is_keyed_and_tells_no_one_seat_for_another() -> None:
    assert alias(SALT, "a", "b") == alias(SALT, "a", "b")
    assert alias(SALT, "a", "b") != alias(b"other", "a", "b")
    assert alias(SALT, "a", "b") != alias(SALT, "ab", "")


@given(st.lists(st.sampled_from([*NAMES, *UNUSABLE, None]), max_size=12), st.sampled_from(["", "acct"]))
def test_no_seat_is_dropped_and_no_two_share_a_label(names: list[str | None], account: str) -> None:
    entries = [{**deepcopy(SEAT), "name": name, "account": account} for name in names]
    found = [seat.name for seat in listed({"schema_version": 1, "seats": entries})]
    assert len(found) == len(names)
    assert len(set(found)) == len(found)
    assert all(usable_name(name) for name in found)


@given(st.lists(json_values, max_size=4))
def test_no_document_raises_and_a_good_seat_stands_beside_any_other(others: list[Any]) -> None:
    found = listed({"schema_version": 1, "fetched_at": "2026-10-15T11:58:00Z", "seats": [*others, SEAT]})
    assert len(found) == len(others) + 1
    assert found[-1].reading is not None


def test_aliases_differ_for_seats_of_one_account_in_two_organisations() -> None:
    two = [{**SEAT, "name": None, "organization": org} for org in ("org-1", "org-2")]
    first, second = listed({"schema_version": 1, "seats": two})
    assert first.name != second.name
