"""Following: what a daemon does with its ledger, and that nothing of it ends the daemon."""

from datetime import timedelta
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from canary.capacity.history import decisions
from canary.following import LOOKS_BACK, Following
from canary.ledger import Ledger
from decide.handoff.ports import HandoffFacts
from decide.quota import WindowKind
from decide.receipt_schema import RECEIPT_SCHEMA
from decide.run import ask
from decide.snapshot import Source, SourceKind
from tests.canary.filling import Fill, Ladder, Played
from tests.canary.filling import at as hours
from tests.canary.test_deciding import config_of
from tests.decide.fakes import NOW, QUESTION, says, setup_of


async def test_old_evidence_goes_and_its_digest_stays(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "rungwatch")
    ledger = Ledger(tmp_path / "ledger.db")
    setup = setup_of(says("opt_a"), says("opt_a"), ledger)
    done = await ask(QUESTION, setup=setup, sources=(Source(SourceKind.TEXT, "a log"),))
    digest = done.document["snapshot"]["digest"]
    store = await ledger.opened()
    config = config_of(tmp_path, decide={"keep_evidence": "2d"})
    await Following(config, ledger, lambda: NOW + timedelta(days=1)).purge()
    assert "a log" in (await store.evidence(digest) or "")
    await Following(config, ledger, lambda: NOW + timedelta(days=3)).purge()
    assert await store.evidence(digest) is None
    assert "1 snapshots" in caplog.text
    await ledger.close()


LADDER = Ladder({"fable": {"desk": Played((Fill(lambda hour: 0.25 + hour / 8, resets=(3,)),))}})


async def test_meters_are_kept_over_a_restart_for_as_long_as_is_looked_back(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.db")
    following = Following(config_of(tmp_path), ledger, lambda: hours(2))
    for hour in (0, 1, 1, 2):
        await following.meter(LADDER.state(hour))
    await ledger.close()
    seen = await Following(config_of(tmp_path), Ledger(tmp_path / "ledger.db"), lambda: hours(2)).metered()
    assert [(sample.at, sample.used) for sample in seen] == [(hours(n), 0.25 + n / 8) for n in range(3)]
    late = Following(config_of(tmp_path), ledger, lambda: hours(1) + LOOKS_BACK)
    assert [sample.at for sample in await late.metered()] == [hours(1), hours(2)]
    await ledger.close()


async def test_what_a_decision_took_is_told_once_the_seats_were_read_again(tmp_path: Path) -> None:
    """From the ledger to the receipt, its schema, the history and the counters."""
    played = Played((Fill(lambda hour: 0.25 + hour / 4),))
    ladder = Ladder({"fable": {"fable-seat": played}, "astra": {"astra-seat": played}})
    ledger = Ledger(tmp_path / "ledger.db")
    following = Following(config_of(tmp_path), ledger, lambda: NOW)
    await following.meter(ladder.state(-0.25))
    done = await ask(QUESTION, setup=setup_of(says("opt_a"), says("opt_a"), ledger))
    assert done.document["quota"] == []
    await following.meter(ladder.state(0.25))
    receipt = await (await ledger.opened()).receipt(done.id)
    seen = {"role": "vote", "window": "session", "scope": None, "points": 12.5, "shared": False}
    assert receipt["quota"] == [seen | {"rung": rung, "seat": f"{rung}-seat"} for rung in ("astra", "fable")]
    Draft202012Validator(RECEIPT_SCHEMA).validate(receipt)
    (decision,) = await decisions(ledger, since=NOW)
    taken = {WindowKind.SESSION: 12.5}
    assert {rung: use.points for rung, use in decision.uses.items()} == {"fable": taken, "astra": taken}
    await following.refresh()
    facts = following.facts()
    assert facts is not None
    assert facts.counts is not None
    assert facts.counts.rungs["fable"].quota == {("medium", "session"): 125_000}
    await ledger.close()


async def test_meters_that_cannot_be_written_wait_for_the_store(tmp_path: Path) -> None:
    place, spoilt = tmp_path / "ledger.db", bytes(4096)
    ledger = Ledger(place)
    following = Following(config_of(tmp_path), ledger, lambda: hours(3))
    place.write_bytes(spoilt)
    await following.meter(LADDER.state(0))
    assert await following.metered() == ()
    place.unlink()
    await following.meter(LADDER.state(1))
    await following.meter(LADDER.state(2))
    assert [sample.at for sample in await following.metered()] == [hours(0), hours(1), hours(2)]
    await ledger.close()


async def test_old_readings_go(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.db")
    config = config_of(tmp_path, canary={"keep_readings": "3d"})
    following = Following(config, ledger, lambda: hours(73))
    for hour in (0, 1, 2):
        await following.meter(LADDER.state(hour))
    await following.purge()
    kept = await (await ledger.opened()).metered_since(NOW - timedelta(days=9))
    assert [sample.at for sample in kept] == [hours(1), hours(2)]
    await ledger.close()


async def test_a_store_that_cannot_be_used_ends_no_job(tmp_path: Path) -> None:
    (tmp_path / "ledger.db").write_bytes(bytes(4096))
    following = Following(config_of(tmp_path), Ledger(tmp_path / "ledger.db"), lambda: NOW)
    await following.purge()
    await following.refresh()
    facts = following.facts()
    assert facts is not None
    assert not facts.readable


async def test_a_new_configuration_changes_caps_and_lead_without_reading_anew(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.db")
    following = Following(config_of(tmp_path, queue={"lead": "2h"}), ledger, lambda: NOW)
    await following.refresh()
    facts = following.facts()
    assert facts is not None
    assert (facts.handoff, facts.lead) == (HandoffFacts(), timedelta(hours=2))
    following.take(config_of(tmp_path, caps={"passes_per_day": 7}, queue={"lead": "30m"}))
    await following.refresh()
    facts = following.facts()
    assert facts is not None
    assert (facts.caps.passes_limit, facts.caps.passes_used) == (7, 0)
    assert facts.lead == timedelta(minutes=30)
    assert await following.refusals() == ()
    await ledger.close()
