"""Each recording rule by the real promtool."""

from pathlib import Path

import pytest

from dashboards.rule import Record
from tests.dashboards.promtool import RULES, Case, Gives, failures
from tests.dashboards.record_facts import RECORDS

pytestmark = pytest.mark.prometheus


def test_every_record_has_a_fact() -> None:
    named = {fact.expr for case in RECORDS for fact in case.facts if isinstance(fact, Gives) and fact.values}
    assert named == {rule.name for group in RULES for rule in group.rules if isinstance(rule, Record)}


@pytest.mark.parametrize("case", RECORDS, ids=[case.name for case in RECORDS])
def test_it_gives_what_the_series_say(case: Case, tmp_path: Path) -> None:
    assert failures(tmp_path, [case]) == ""
