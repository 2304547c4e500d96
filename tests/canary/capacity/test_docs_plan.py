"""The scenario that docs/plan.md shows is one, and what the page says of numbers is what the code has."""

import re
from datetime import timedelta
from pathlib import Path

from canary.capacity.backtest import LEAD, WITHIN
from canary.capacity.inputs import ConfiguredRung, Inputs, scenario_of
from canary.capacity.learn import FEW, LEAST_DECISIONS, LEAST_WEEKS
from canary.capacity.pace import LOOK_BACK_S
from canary.capacity.plan import BATCHES, Budget
from canary.capacity.scenario_file import parse

PAGE = (Path(__file__).parents[3] / "docs" / "plan.md").read_text(encoding="utf-8")


def test_the_example_is_a_scenario() -> None:
    (example,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    made = scenario_of(Inputs((ConfiguredRung("a", 1), ConfiguredRung("b", 1)), parse(example, "team.toml")))
    assert made.rungs == ("fable", "astra")
    assert [kind.name for kind in made.kinds] == ["max", "pro", "key"]
    assert {draw.level for draw in made.demand.draws} == {"medium", "high"}


def test_the_numbers_of_the_page_are_those_of_the_code() -> None:
    text = " ".join(PAGE.split())
    assert f"less than {LEAST_WEEKS} weeks or {LEAST_DECISIONS} decisions is refused" in text
    assert f"fewer than {FEW} decisions" in text
    assert f"`--weeks` ({Budget().weeks}) are simulated in {BATCHES} batches" in text
    assert (LOOK_BACK_S[0], LOOK_BACK_S[-1]) == (30 * 60, 3 * 24 * 3600)
    assert "30 minutes to 3 days" in text
    assert "an alarm stood an hour before" in text
    assert timedelta(hours=1) == LEAD
    assert f"at most {WITHIN // timedelta(hours=1)} h away" in text
