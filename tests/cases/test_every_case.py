"""Every public case of kinds 1 to 4 is a test, or says which part of the product it waits for."""

from pathlib import Path

from tests.cases.adapter import CASES

TESTS = Path(__file__).parents[1]
WAITS_FOR = {"EXP-14": "the ledger, from which decide's counters are folded"}


def test_every_case_is_named_by_a_test_or_waits_for_its_part() -> None:
    texts = [path.read_text(encoding="utf-8") for path in TESTS.rglob("test_*.py") if path != Path(__file__)]
    missing = {case for case in CASES if not any(case in text for text in texts)}
    assert missing == set(WAITS_FOR)
