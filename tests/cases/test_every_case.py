"""Every public case of kinds 1 to 6 is a test, or says which part of the product it waits for."""

from pathlib import Path

from tests.cases.adapter import CASES

TESTS = Path(__file__).parents[1]
WAITS_FOR = {"LED-01": "decide/store: a call that is settled several times counts once"}


def test_every_case_is_named_by_a_test_or_waits_for_its_part() -> None:
    texts = [path.read_text(encoding="utf-8") for path in TESTS.rglob("test_*.py") if path != Path(__file__)]
    named = {case: (case, f"test_{case.lower().replace('-', '_')}_") for case in CASES}
    missing = {case for case, names in named.items() if not any(name in text for text in texts for name in names)}
    assert missing == set(WAITS_FOR)
