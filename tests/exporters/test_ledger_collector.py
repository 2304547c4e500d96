"""Ledger collector: our names in somebody else's registry."""

import asyncio
import subprocess
import sys
import threading
from dataclasses import replace

import pytest
from prometheus_client import CollectorRegistry, generate_latest

import exporters
from decide.ports import Caps
from exporters.catalog import CATALOG
from exporters.follow import LedgerFollower
from exporters.ledger_collector import LedgerCollector
from exporters.ledger_facts import LedgerFacts
from tests.exporters.ledgers import PASS, FakeLedger, facts_of, ledger_view
from tests.exporters.pages import page, series, values
from tests.exporters.scenes import NOW

RUNGS = ("fable", "astra")
OURS = tuple(metric for metric in CATALOG if metric.collector in ("decisions", "spend", "queue", "clicks"))


def text_of(*collectors: LedgerCollector) -> str:
    """What a program's registry shows."""
    registry = CollectorRegistry()
    for collector in collectors:
        registry.register(collector)
    return generate_latest(registry).decode()


def test_the_series_are_those_of_our_own_page() -> None:
    shown = ledger_view()
    theirs = series(text_of(LedgerCollector(lambda: shown.ledger, rungs=RUNGS, clock=lambda: NOW)))
    names = tuple(metric.name for metric in OURS)
    ours = {key: found for key, found in series(page(shown)).items() if key[0].startswith(names)}
    assert theirs == ours
    assert len(theirs) > 400


def test_registering_reads_nothing_and_takes_every_name() -> None:
    def unread() -> LedgerFacts:
        raise AssertionError("read at registration")

    registry = CollectorRegistry()
    registry.register(LedgerCollector(unread))
    with pytest.raises(ValueError, match="Duplicated timeseries"):
        registry.register(LedgerCollector(lambda: None))
    assert [family.name for family in LedgerCollector(unread).describe()] == [metric.family for metric in OURS]


def test_before_the_ledger_was_read_there_is_no_series() -> None:
    assert series(text_of(LedgerCollector(lambda: None, rungs=RUNGS))) == {}


def test_rungs_are_there_from_the_start() -> None:
    facts = facts_of()
    assert len(values(text_of(LedgerCollector(lambda: facts, rungs=RUNGS)), "ladder_unpriced_tokens_total")) == 2
    assert values(text_of(LedgerCollector(lambda: facts)), "ladder_unpriced_tokens_total") == []


def test_a_follower_is_scraped_from_another_thread() -> None:
    ledger = FakeLedger(PASS)
    follower = LedgerFollower(ledger, Caps())
    collector = LedgerCollector(lambda: follower.facts)
    asyncio.run(follower.refresh(NOW))
    ledger.rows.append(replace(PASS, micro_usd=100_000))
    asyncio.run(follower.refresh(NOW))
    texts: list[str] = []
    thread = threading.Thread(target=lambda: texts.append(text_of(collector)))
    thread.start()
    thread.join()
    assert sum(values(texts[0], "ladder_spend_usd_total")) == 0.5


def test_it_is_imported_from_the_package_which_stays_light() -> None:
    assert exporters.LedgerCollector is LedgerCollector
    with pytest.raises(AttributeError, match="has no attribute 'LedgerGatherer'"):
        exporters.LedgerGatherer  # noqa: B018
    light = "import sys, exporters, exporters.view; print(sorted({'prometheus_client', 'decide.gate'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", light], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("[]\n", "")
