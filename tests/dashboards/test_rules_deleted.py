"""Each rule, deleted, makes its facts fail: no rule is there that no fact holds."""

from pathlib import Path

import pytest

from tests.dashboards.alert_facts import FACTS
from tests.dashboards.promtool import RULES, Case, Fact, Gives, failures, without
from tests.dashboards.record_facts import RECORDS

pytestmark = pytest.mark.prometheus
NAMES = [rule.name for group in RULES for rule in group.rules]


def _about(name: str) -> list[Case]:
    """The cases that name the rule."""
    found = [case for case in FACTS if case.name == name]
    return found or [case for case in RECORDS if any(_gives(name, fact) for fact in case.facts)]


def _gives(name: str, fact: Fact) -> bool:
    return isinstance(fact, Gives) and fact.expr == name and bool(fact.values)


@pytest.mark.parametrize("name", NAMES)
def test_a_rule_that_is_deleted_is_missed(name: str, tmp_path: Path) -> None:
    assert failures(tmp_path, _about(name), without(name)) != ""
