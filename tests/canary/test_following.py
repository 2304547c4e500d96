from datetime import timedelta
from pathlib import Path

import pytest

from canary.following import Following
from canary.ledger import Ledger
from decide.handoff.ports import HandoffFacts
from decide.run import ask
from decide.snapshot import Source, SourceKind
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
