"""Every public case of kinds 1 to 8 is a test."""

from pathlib import Path

from tests.cases.adapter import CASES

TESTS = Path(__file__).parents[1]


def test_every_case_is_named_by_a_test() -> None:
    texts = [path.read_text(encoding="utf-8") for path in TESTS.rglob("test_*.py") if path != Path(__file__)]
    named = {case: (case, f"test_{case.lower().replace('-', '_')}_") for case in CASES}
    missing = {case for case, names in named.items() if not any(name in text for text in texts for name in names)}
    assert not missing
