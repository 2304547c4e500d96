"""Public cases of kind 1 from the file that is read to the page that is scraped."""

import importlib
import json
import os
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample

import exporters.catalog
import exporters.collect
from canary.publish import view_of
from decide.money import micro_usd
from decide.ports import Caps, Claim, Reservation, Settlement, Slot
from decide.reason import Reason
from decide.store.opening import open_store
from decide.store.store import SqlStore
from exporters.exposition import Exposition
from exporters.follow import LedgerFollower
from exporters.logline import logline
from exporters.report import report
from exporters.view import View
from tests.canary.fakes import NOW, memory, plan
from tests.cases.adapter import STATES, ListedRung, given, only, seats_document
from tests.exporters.ledgers import PASS


class Page:
    """What a scrape shows after a tick of a rung whose seats come from a file."""

    def __init__(self, rung: ListedRung) -> None:
        assert rung.done is not None
        self.state = rung.done.state
        self.view: View = view_of(plan([]), rung.memory, rung.clock.now())
        self.text = Exposition(self.view, rung.clock.now).text().decode()
        self.samples: Sequence[Sample] = [
            s for family in text_string_to_metric_families(self.text) for s in family.samples
        ]

    def values(self, name: str, **labels: str) -> list[float]:
        """The values of a metric's series that carry these labels."""
        wanted = labels.items()
        return [s.value for s in self.samples if s.name == name and wanted <= s.labels.items()]

    def seats(self) -> set[str]:
        """Every value of the label `seat`."""
        return {sample.labels["seat"] for sample in self.samples if "seat" in sample.labels}


async def scrape(rung: ListedRung, document: object) -> Page:
    """The page after one more tick over this content."""
    rung.write(document if isinstance(document, str) else json.dumps(document))
    await rung.tick()
    return Page(rung)


def written(case_document: object) -> dict[str, object]:
    assert isinstance(case_document, dict)
    return seats_document(case_document) | {"fetched_at": NOW.isoformat()}


async def test_exp_01_a_seat_that_is_gone_leaves_no_series(tmp_path: Path) -> None:
    """EXP-01."""
    rung = ListedRung(tmp_path)
    before = await scrape(rung, written(given("EXP-01")["tick_1"]))
    after = await scrape(rung, written(given("EXP-01")["tick_2"]))
    assert (before.seats(), after.seats()) == ({"s1", "s2"}, {"s1"})
    assert before.values("ladder_seats_configured", rung="fable") == [2]
    assert after.values("ladder_seats_configured", rung="fable") == [1]
    of_s1 = [
        {(s.name, *sorted(s.labels.items())) for s in page.samples if s.labels.get("seat") == "s1"}
        for page in (before, after)
    ]
    assert of_s1[0] == of_s1[1]


async def test_exp_02_one_state_at_a_time(tmp_path: Path) -> None:
    """EXP-02."""
    rung = ListedRung(tmp_path)
    for percent, state in ((given("EXP-02")["tick_1_percent"], "OK"), (given("EXP-02")["tick_2_percent"], "WALLED")):
        page = await scrape(rung, written({"seats": [{"id": "s1", "percent": percent}]}))
        assert page.values("ladder_seat_state", seat="s1", state=STATES[state]) == [1]
        assert sum(page.values("ladder_seat_state", seat="s1")) == 1
        assert len(page.values("ladder_seat_state", seat="s1")) == 4


async def test_exp_03_a_failed_read_shows_no_last_good_value(tmp_path: Path) -> None:
    """EXP-03."""
    rung = ListedRung(tmp_path)
    good = await scrape(rung, written(json.loads(given("EXP-03")["tick_1"]["file"])))
    assert good.values("ladder_seat_quota_used_ratio", seat="s1", window="session") == [pytest.approx(0.12)]
    success = good.values("ladder_canary_last_success_timestamp_seconds")
    for content, reason in ((given("EXP-03")["tick_2"]["file"], Reason.MALFORMED), (None, Reason.SOURCE_MISSING)):
        rung.clock.pass_(300)
        if content is None:
            rung.path.unlink()
        else:
            rung.write(content)
        assert only(await rung.tick()) == (STATES["UNKNOWN"], reason)
        page = Page(rung)
        assert page.values("ladder_seat_quota_used_ratio") == []
        assert page.values("ladder_seat_state", seat="s1", state="unknown") == [1]
        assert page.values("ladder_rung_reachable", rung="fable") == [0]
        assert page.values("ladder_rung_blocked", rung="fable", reason=reason.value) == [1]
        assert "ladder OK" not in logline(page.state)
        assert page.values("ladder_canary_last_success_timestamp_seconds") == success
        assert page.values("ladder_canary_last_tick_timestamp_seconds") == [rung.clock.now().timestamp()]


async def test_exp_04_no_name_breaks_the_page(tmp_path: Path) -> None:
    """EXP-04."""
    names = given("EXP-04")["seat_names"]
    page = await scrape(ListedRung(tmp_path), written({"seats": [{"id": name, "percent": 5} for name in names]}))
    assert len(page.seats()) == len(names)
    kept = {name for name in names if name and name.isprintable()}
    assert kept <= page.seats()
    assert all(name.startswith("seat_") for name in page.seats() - kept)


async def test_exp_06_an_account_is_nobodys_label(tmp_path: Path) -> None:
    """EXP-06."""
    document = written(given("EXP-06")["snapshot"])
    first, second = [await scrape(ListedRung(tmp_path / name), document) for name in _folders(tmp_path)]
    shown = first.text + logline(first.state) + json.dumps(report(first.view, NOW))
    for private in ("@", "jo.doe", "Example Org"):
        assert private not in shown
    assert first.seats() == second.seats()
    assert all(name.startswith("seat_") for name in first.seats())


def _folders(base: Path) -> list[str]:
    for name in ("a", "b"):
        (base / name).mkdir()
    return ["a", "b"]


async def test_exp_09_ticks_and_reloads_register_nothing_twice(tmp_path: Path) -> None:
    """EXP-09."""
    rung = ListedRung(tmp_path)
    document = written({"seats": [{"id": "s1", "percent": 5}]})
    pages = [await scrape(rung, document) for _ in range(3)]
    importlib.reload(exporters.catalog)
    importlib.reload(exporters.collect)
    pages.append(await scrape(rung, document))
    assert len({tuple(sorted({s.name for s in page.samples})) for page in pages}) == 1


async def test_exp_14_a_total_from_the_ledger_is_neither_added_again_nor_lost_at_a_restart(tmp_path: Path) -> None:
    """EXP-14."""
    path = tmp_path / "ledger.sqlite"
    costs = [micro_usd(amount) for amount in given("EXP-14")["ledger_usd"]]
    async with await open_store(path, host="here", pid=os.getpid()) as store:
        await spend(store, costs)
        follower = LedgerFollower(store, Caps())
        for step in given("EXP-14")["steps"]:
            if step == "restart":
                follower = LedgerFollower(store, Caps())
                continue
            facts = await follower.refresh(NOW)
            view = replace(view_of(plan([]), memory(), NOW), ledger=facts)
            families = text_string_to_metric_families(Exposition(view, lambda: NOW).text().decode())
            usd = [s.value for f in families for s in f.samples if s.name == "ladder_spend_usd_total"]
            assert sum(usd) == pytest.approx(1.2, abs=1e-9)
            assert max(usd) == sum(usd)


async def spend(store: SqlStore, costs: Sequence[int]) -> None:
    """One run whose passes cost that many micro-dollars."""
    made = [Settlement(f"call-{n}", cost, replace(PASS, micro_usd=cost)) for n, cost in enumerate(costs)]
    slots = tuple(Slot(one.call_id, one.micro_usd) for one in made)
    await store.claim(Claim("run", "question", "sha256:0", NOW, timedelta(minutes=5)))
    await store.reserve(Reservation("run", "question", "{}", "{}", "2026-07-01", NOW, slots, Caps()))
    await store.settle(made)
