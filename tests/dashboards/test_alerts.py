"""Each alert by the real promtool: quiet just before its time, firing at it, saying what it says."""

from pathlib import Path

import pytest

from dashboards.alerts import alerts
from tests.dashboards.alert_facts import FACTS
from tests.dashboards.promtool import SETTINGS, Case, failures

pytestmark = pytest.mark.prometheus


def test_every_alert_has_its_facts() -> None:
    assert sorted(case.name for case in FACTS) == sorted(alert.name for alert in alerts(SETTINGS))


@pytest.mark.parametrize("case", FACTS, ids=[case.name for case in FACTS])
def test_it_fires_at_its_time_and_not_before(case: Case, tmp_path: Path) -> None:
    assert failures(tmp_path, [case]) == ""
