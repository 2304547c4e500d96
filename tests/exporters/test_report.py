"""The report: stable, valid by its schema, and silent about what is not known."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from decide.ladder import RungState, RungStatus
from decide.reason import Reason
from exporters.report import report
from exporters.schema import REPORT_SCHEMA
from exporters.view import CanaryFacts
from tests.exporters.scenes import (
    ASTRA,
    FABLE,
    NOW,
    SCENES,
    degraded_view,
    failed_seat,
    foreseen_view,
    minutes,
    mixed_seat,
    ok_view,
    open_seat,
    rung,
    view,
)

VALIDATOR = Draft202012Validator(REPORT_SCHEMA)


def seats(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Each seat of a report by name."""
    return {seat["name"]: seat for found in document["rungs"] for seat in found["seats"]}


def leaves(document: Any) -> Iterator[Any]:
    """Every value in a document that is no container."""
    if isinstance(document, dict):
        for found in document.values():
            yield from leaves(found)
    elif isinstance(document, list):
        for found in document:
            yield from leaves(found)
    else:
        yield document


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(REPORT_SCHEMA)


@pytest.mark.parametrize("name", SCENES)
@pytest.mark.parametrize("after", [0, 7, 40, -30])
def test_reports_are_valid_and_hold_no_null(name: str, after: float) -> None:
    document = json.loads(json.dumps(report(SCENES[name](), NOW + minutes(after)), allow_nan=False))
    assert list(VALIDATOR.iter_errors(document)) == []
    assert None not in list(leaves(document))


@pytest.mark.parametrize(
    "broken",
    [{"schema_version": 2}, {"rungs": [{"name": "x"}]}, {"extra": 1}, {"ladder": {"state": "fine"}}],
)
def test_the_schema_refuses_what_is_no_report(broken: dict[str, Any]) -> None:
    assert list(VALIDATOR.iter_errors(report(ok_view(), NOW) | broken))


def test_golden_report(golden: Callable[[str, str], None]) -> None:
    text = json.dumps(report(degraded_view(), NOW + minutes(2)), indent=2, ensure_ascii=False)
    golden("report.json", text + "\n")


def test_before_the_first_tick_nothing_is_claimed() -> None:
    document = report(view(), NOW)
    assert document["ladder"] == {"state": "blind"}
    assert "at" not in document
    assert "age_seconds" not in document
    assert document["rungs"][0] == {
        "name": "fable",
        "role": "primary",
        "state": "unknown",
        "reasons": [],
        "reasons_text": [],
        "seats": [],
    }


def test_the_age_is_never_negative() -> None:
    assert report(ok_view(), NOW + minutes(2))["age_seconds"] == 120
    ahead = report(ok_view(), NOW - minutes(3))
    assert ahead["age_seconds"] == 0
    assert seats(ahead)["desk"]["windows"][0]["age_seconds"] == 0


def test_a_failed_seats_windows_carry_their_age_and_claim_nothing_of_now() -> None:
    seat = seats(report(view(rung(FABLE, failed_seat("s1")), rung(ASTRA, open_seat("x"))), NOW))["s1"]
    assert seat["state"] == "unknown"
    assert "headroom_ratio" not in seat
    (window,) = seat["windows"]
    assert (window["used_ratio"], window["age_seconds"], window["source"]) == (0.12, 420, "claude-usage")


def test_a_stale_tick_is_told_as_such() -> None:
    document = report(ok_view(), NOW + minutes(20))
    assert document["stale"] is True
    assert document["ladder"]["state"] == "blind"
    assert document["ladder"]["last_ok_at"] == "2026-07-01T12:00:00Z"
    assert document["rungs"][0]["reasons_text"] == ["the last tick is too old to trust"]
    assert {window["state"] for seat in seats(document).values() for window in seat["windows"]} == {"unknown"}
    assert "stale" in document["notes"]


def test_a_rung_tells_what_is_wrong_and_what_to_do() -> None:
    astra = report(degraded_view(), NOW)["rungs"][1]
    assert astra["reasons_text"] == ["the weekly window is full"]
    assert astra["remedy"] == "wait for the reset, or add a seat"
    assert astra["clears_at"] == "2026-07-01T14:30:00Z"
    assert "picked" not in astra


def test_windows_tell_which_bind_and_what_was_measured() -> None:
    windows = seats(report(view(rung(FABLE, mixed_seat("m")), rung(ASTRA, open_seat("x"))), NOW))["m"]["windows"]
    told = [(w["kind"], w.get("scope"), w["binding"], w["measure"], w.get("used_ratio")) for w in windows]
    assert told == [
        ("session", None, True, "metered", 0.5),
        ("weekly_model", "Fable", True, "metered", 0.3),
        ("weekly_model", "Fable Max", True, "metered", 0.7),
        ("monthly", None, True, "unlimited", None),
        ("spend", None, True, "refused", None),
        ("weekly_model", "Other", False, "metered", 1.0),
    ]


def test_seats_that_cannot_be_listed_have_no_number() -> None:
    hidden = RungStatus("fable", FABLE.role, RungState.UNKNOWN, reasons=(Reason.UNREADABLE,))
    fable, astra = report(view(hidden, rung(ASTRA)), NOW)["rungs"]
    assert "seats_configured" not in fable
    assert astra["seats_configured"] == 0


def test_the_demo_says_so() -> None:
    assert report(ok_view(), NOW)["demo"] is False
    document = report(replace(ok_view(), caption="Seats of clay"), NOW)
    assert (document["demo"], document["caption"]) == (True, "Seats of clay")


def test_the_skew_is_the_canarys_or_else_the_ticks() -> None:
    shown = ok_view()
    assert report(shown, NOW)["skew_seconds"] == 0.5
    assert shown.state is not None
    ticks = replace(shown, canary=CanaryFacts(), state=replace(shown.state, skew_s=-2.0))
    assert report(ticks, NOW)["skew_seconds"] == -2.0
    assert "skew_seconds" not in report(replace(shown, canary=CanaryFacts()), NOW)


def test_what_is_expected_is_told_of_rungs_and_seats_and_has_no_key_where_nothing_is() -> None:
    document = report(foreseen_view(), NOW)
    fable, astra = document["rungs"]
    assert astra["forecast"] == {
        "at": "2026-07-01T14:20:00Z",
        "earliest": "2026-07-01T13:50:00Z",
        "latest": "2026-07-01T15:30:00Z",
    }
    assert fable["forecast"] == {"at": "2026-07-02T13:00:00Z", "earliest": "2026-07-01T23:40:00Z"}
    assert seats(document)["desk"]["forecast"]["at"] == "2026-07-01T14:10:00Z"
    plain = report(ok_view(), NOW)
    assert not [each for each in (*plain["rungs"], *seats(plain).values()) if "forecast" in each]
