"""Exposition: pages as prometheus_client writes them, each made once for each change."""

import gzip
import importlib
import logging
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from prometheus_client import generate_latest
from prometheus_client.openmetrics import exposition as openmetrics

import exporters.exposition
from decide.handoff.click import ClickEvent
from decide.handoff.inbox import ItemState
from decide.ledger import Row
from decide.question import Consequence
from decide.seat import Seat
from exporters.catalog import CATALOG
from exporters.collect import COLLECTORS, Collector
from exporters.encode import Families, family
from exporters.exposition import Exposition
from exporters.parts import Part, Sample
from exporters.present import Present, present
from exporters.view import View
from tests.exporters.ledgers import PAGES, SETTLEMENT, busy_ledger, clicked, facts_of, ledger_view, waiting, waits
from tests.exporters.pages import OPENMETRICS, page, series, value, values
from tests.exporters.scenes import (
    ASTRA,
    FABLE,
    NOW,
    SECRET,
    blind_view,
    degraded_view,
    full_seat,
    hostile_view,
    minutes,
    mixed_seat,
    ok_view,
    open_seat,
    rung,
    view,
)
from tests.exporters.services import need

generate_openmetrics: Callable[[Any], bytes] = openmetrics.generate_latest
PARTS = st.sampled_from(['"', "\\", "\n", "\r", "}{,=", "座", "é", "\u2028", "\udfff", "\x00", "a", " ", "# EOF\n"])
NAME = st.lists(PARTS, max_size=6).map("".join) | st.text(max_size=8)


class Clock:
    """A clock that stands still until it is set."""

    def __init__(self, now: datetime = NOW) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now


class Counting:
    """Collectors that count how often each is run and which parts are made into samples."""

    def __init__(self) -> None:
        self.runs = 0
        self.made: list[tuple[str, str, str]] = []

    def collectors(self) -> Mapping[str, Collector]:
        return {name: self._counted(collector) for name, collector in COLLECTORS.items()}

    def _counted(self, collector: Collector) -> Collector:
        def counted(shown: View, seen: Present) -> Iterator[Part]:
            self.runs += 1
            for part in collector(shown, seen):
                yield part._replace(make=self._noted(part))

        return counted

    def _noted(self, part: Part) -> Callable[..., Any]:
        def make(*inputs: Any) -> Any:
            self.made.append(part.key)
            return part.make(*inputs)

        return make


def reference(shown: View) -> Families:
    """All families of a view at `NOW`, in the shape that prometheus_client's own encoders take."""
    found: dict[str, list[Sample]] = {metric.name: [] for metric in CATALOG}
    for collector in COLLECTORS.values():
        for part in collector(shown, present(shown, NOW)):
            for name, samples in part.make(*part.inputs).items():
                found[name] += samples
    found["ladder_collector_success"] = [((name,), 1.0) for name in COLLECTORS]
    return Families([family(metric, found[metric.name]) for metric in CATALOG])


@pytest.mark.parametrize("name", PAGES)
def test_pages_are_what_prometheus_client_writes(name: str) -> None:
    shown = PAGES[name]()
    assert page(shown).encode() == generate_latest(reference(shown))
    assert page(shown, OPENMETRICS).encode() == generate_openmetrics(reference(shown))


@settings(max_examples=60, deadline=None)
@given(st.lists(NAME, min_size=1, max_size=6))
def test_exp_04_hostile_names_neither_break_the_page_nor_each_other(names: list[str]) -> None:
    shown = view(rung(FABLE, *(open_seat(name) for name in names)), rung(ASTRA, mixed_seat("x")))
    text = page(shown)
    assert text.encode() == generate_latest(reference(shown))
    assert page(shown, OPENMETRICS).encode() == generate_openmetrics(reference(shown))
    assert len(values(text, "ladder_seat_state", rung="fable", state="available")) == len(names)
    assert values(text, "ladder_seat_state", rung="fable", state="available") == [1.0] * len(names)
    assert series(page(shown, OPENMETRICS)).keys() == series(text).keys()


def test_exp_04_label_values_come_back_as_they_were() -> None:
    text = page(hostile_view())
    for name in ('desk 14" left', "back\\slash", "two\nlines", "Ünïcødé 座席", '}{,="'):
        assert value(text, "ladder_seat_state", seat=name, state="available") == 1


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from(sorted(PAGES)), min_size=2, max_size=6))
def test_a_page_is_the_same_whatever_was_shown_before(names: list[str]) -> None:
    pages = Exposition(view(), lambda: NOW)
    for name in names:
        shown = PAGES[name]()
        pages.publish(shown)
        for accept in ("", OPENMETRICS):
            assert pages.page(accept).body.decode() == page(shown, accept)


def test_golden_pages(golden: Callable[[str, str], None]) -> None:
    golden("metrics.prom", page(degraded_view()))
    golden("metrics.openmetrics", page(degraded_view(), OPENMETRICS))
    golden("metrics_start.prom", page(view()))
    golden("metrics_ledger.prom", page(ledger_view()))
    golden("metrics_ledger.openmetrics", page(ledger_view(), OPENMETRICS))


@pytest.mark.prometheus
@pytest.mark.parametrize("name", PAGES)
def test_promtool_finds_no_fault(name: str) -> None:
    done = subprocess.run(
        [need("promtool"), "check", "metrics"],
        input=page(PAGES[name]()).encode(),
        capture_output=True,
        timeout=60,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_gzip_page_is_the_plain_one_compressed() -> None:
    pages = Exposition(degraded_view(), lambda: NOW)
    zipped = pages.page("", "gzip")
    assert zipped.gzipped
    assert not pages.page("", "").gzipped
    assert gzip.decompress(zipped.body) == pages.page("", "").body


def test_an_unchanged_page_is_made_once() -> None:
    counting = Counting()
    pages = Exposition(ok_view(), lambda: NOW, collectors=counting.collectors())
    bodies = [pages.page(accept, coding).body for accept in ("", OPENMETRICS) for coding in ("", "gzip")]
    again = [pages.page(accept, coding).body for accept in ("", OPENMETRICS) for coding in ("", "gzip")]
    assert counting.runs == len(COLLECTORS)
    assert all(first is second for first, second in zip(bodies, again, strict=True))


def test_a_refresh_that_changes_nothing_keeps_the_pages() -> None:
    clock = Clock()
    pages = Exposition(ok_view(), clock)
    before = pages.page("", "gzip").body
    clock.now += minutes(5)
    pages.publish(ok_view())
    assert pages.page("", "gzip").body is before


def test_only_the_seat_that_changed_is_made_again() -> None:
    counting = Counting()
    seats = [open_seat(f"s{number}") for number in range(20)]
    pages = Exposition(view(rung(FABLE, *seats), rung(ASTRA, *seats)), lambda: NOW, collectors=counting.collectors())
    pages.page()
    counting.made.clear()
    changed = [open_seat("s7", 0.3) if seat.name == "s7" else seat for seat in seats]
    pages.publish(view(rung(FABLE, *changed), rung(ASTRA, *seats)))
    assert counting.made == [("seats", "fable", "s7")]
    assert value(pages.page().body.decode(), "ladder_seat_headroom_ratio", rung="fable", seat="s7") == 0.7


def test_only_the_rung_that_was_asked_is_made_again() -> None:
    counting = Counting()
    before, after = (
        replace(ok_view(), ledger=facts_of(*rows)) for rows in (busy_ledger(), (*busy_ledger(), SETTLEMENT))
    )
    pages = Exposition(before, lambda: NOW, collectors=counting.collectors())
    counting.made.clear()
    pages.publish(after)
    assert counting.made == [("decisions", "astra", ""), ("spend", "", ""), ("spend", "astra", "")]
    assert pages.page().body.decode() == page(after)


@pytest.mark.parametrize(
    ("rows", "change", "after", "made"),
    [
        ((), {}, 1, []),
        ((), {"clicks": 3}, 0, [("clicks", "", "pending")]),
        ((), {"items": {ItemState.QUEUED: 5}}, 0, [("queue", "", "inbox")]),
        ((), {"waiting": ()}, 0, [("queue", "", "waiting")]),
        ((), {}, 6, [("queue", "", "waiting")]),
        ((clicked(ClickEvent.MINTED),), {}, 0, [("spend", "", ""), ("clicks", "", "counts")]),
    ],
)
def test_of_what_reaches_people_only_what_changed_is_made_again(
    rows: tuple[Row, ...], change: dict[str, Any], after: float, made: list[tuple[str, str, str]]
) -> None:
    """Time alone changes only the entries, and those only when an urgency does."""
    clock, counting, entries = Clock(), Counting(), (*waits().waiting, waiting(Consequence.COSTLY, 65))
    facts = replace(facts_of(*busy_ledger()), handoff=replace(waits(), waiting=entries))
    pages = Exposition(replace(ok_view(), ledger=facts), clock, collectors=counting.collectors())
    counting.made.clear()
    clock.now += minutes(after)
    later = replace(facts_of(*busy_ledger(), *rows), handoff=replace(waits(), **{"waiting": entries, **change}))
    pages.publish(replace(ok_view(), ledger=later))
    assert counting.made == made


def test_a_seat_that_is_gone_is_forgotten_and_made_anew_when_it_returns() -> None:
    counting = Counting()
    with_it, without = (
        view(rung(FABLE, *(open_seat(name) for name in names)), rung(ASTRA, open_seat("x")))
        for names in (("s1", "s2"), ("s1",))
    )
    pages = Exposition(with_it, lambda: NOW, collectors=counting.collectors())
    pages.publish(without)
    assert 'seat="s2"' not in pages.page().body.decode()
    counting.made.clear()
    pages.publish(with_it)
    assert ("seats", "fable", "s2") in counting.made


def test_a_part_that_is_gone_is_gone_though_nothing_else_changed() -> None:
    shown = degraded_view()
    pages = Exposition(shown, lambda: NOW)
    assert values(pages.page().body.decode(), "ladder_canary_poll_budget_used_ratio")
    pages.publish(replace(shown, canary=replace(shown.canary, poll_used={})))
    assert not values(pages.page().body.decode(), "ladder_canary_poll_budget_used_ratio")


def test_a_refresh_lets_a_tick_go_stale() -> None:
    clock = Clock()
    pages = Exposition(ok_view(), clock)
    assert value(pages.page().body.decode(), "ladder_state", state="ok") == 1
    clock.now += minutes(16)
    pages.publish(ok_view())
    assert value(pages.page().body.decode(), "ladder_state", state="blind") == 1


def test_a_page_goes_stale_even_when_nobody_refreshes_it() -> None:
    clock = Clock()
    pages = Exposition(ok_view(), clock)
    clock.now += minutes(16)
    assert value(pages.page().body.decode(), "ladder_state", state="blind") == 1


def test_a_page_of_one_rung_holds_that_rung_only() -> None:
    pages = Exposition(degraded_view(), lambda: NOW)
    text = pages.page(rung="astra").body.decode()
    assert {dict(labels).get("rung") for _, labels in series(text)} == {"astra"}
    assert "# HELP ladder_state " not in text
    whole = series(pages.page().body.decode())
    assert series(text) == {key: found for key, found in whole.items() if ("rung", "astra") in key[1]}


def test_exp_09_instances_and_reloads_share_nothing() -> None:
    first = Exposition(ok_view(), lambda: NOW)
    for _ in range(3):
        first.publish(ok_view())
    again = importlib.reload(exporters.exposition)
    second = again.Exposition(degraded_view(), lambda: NOW)
    first.publish(blind_view())
    assert value(first.page().body.decode(), "ladder_state", state="blind") == 1
    assert value(second.page().body.decode(), "ladder_state", state="degraded") == 1


def broken(shown: View, seen: Present) -> Iterable[Part]:
    """A collector that fails while a seat named after the secret is there, with that in its message."""
    yield from COLLECTORS["seats"](shown, seen)
    for found in seen.rungs:
        if any(SECRET in status.name for status in found.seats):
            raise ValueError(f"cannot show {found.seats}")


def test_a_collector_that_fails_is_left_out_and_told_once(caplog: pytest.LogCaptureFixture) -> None:
    bad = view(rung(FABLE, open_seat(f"{SECRET}-seat", 0.515625)), rung(ASTRA, full_seat("x")))
    with caplog.at_level(logging.INFO):
        pages = Exposition(bad, lambda: NOW, collectors={**COLLECTORS, "seats": broken})
        for _ in range(3):
            pages.publish(bad)
    text = pages.page().body.decode()
    assert value(text, "ladder_collector_success", collector="seats") == 0
    assert values(text, "ladder_collector_success") == [1, 0, 1, 1, 1, 1, 1, 1]
    assert "ladder_seat_state" not in text
    assert "ladder_seats" not in text
    assert value(text, "ladder_state", state="degraded") == 1
    (record,) = caplog.records
    told = record.getMessage()
    assert "collector seats failed: ValueError" in told
    assert "in broken" in told
    assert "0.515625" not in told
    assert f"{SECRET}-seat" not in told


def test_a_collector_that_recovers_is_back_and_told_again_when_it_fails(caplog: pytest.LogCaptureFixture) -> None:
    bad = view(rung(FABLE, open_seat(SECRET)), rung(ASTRA, full_seat("x")))
    pages = Exposition(bad, lambda: NOW, collectors={**COLLECTORS, "seats": broken})
    pages.publish(ok_view())
    assert pages.page().body.decode() == page(ok_view())
    pages.publish(bad)
    assert len(caplog.records) == 2


def test_a_secret_has_no_way_onto_the_page() -> None:
    """Whatever a seat carries besides its name: windows' scopes, sources, reasons."""
    seat = mixed_seat("m")
    (reading,) = seat.readings
    windows = tuple(replace(window, scope=f"{SECRET}-{window.scope}") for window in reading.windows)
    planted: Seat = replace(
        seat,
        readings=(replace(reading, source=SECRET, windows=windows),),
        scopes=(f"{SECRET}-Fable",),
    )
    shown = view(rung(FABLE, planted), rung(ASTRA, open_seat("x")))
    for accept in ("", OPENMETRICS):
        assert SECRET not in page(shown, accept)
