"""docs/sources.md has a section for every source, and every configuration it shows loads."""

import re
from pathlib import Path

import pytest

from canary.load import parse
from canary.plan import plan_of
from canary.sources.table import SOURCES
from decide.seat import Quota

PAGE = (Path(__file__).parents[2] / "docs" / "sources.md").read_text(encoding="utf-8")
SECTIONS: dict[str, str] = dict(re.findall(r"^### (.+?)\n(.*?)(?=^##|\Z)", PAGE, re.MULTILINE | re.DOTALL))
TOLD = ("**Reads**", "**Sends**", "**Fresh**", "**Cannot see**", "**Terms**")
LADDER = """\
[ladder]
primary = "{name}"
second = "other"
{shown}
[[rung]]
name = "other"
kind = "command"
model = "another-model"
[[rung.seat]]
name = "other-seat"
"""


@pytest.mark.parametrize("name", SOURCES)
def test_every_source_has_its_section_and_its_row(name: str) -> None:
    assert f"| [`{name}`](#{name}) |" in PAGE
    assert f'"{name}"' in snippet(f"`{name}`")


@pytest.mark.parametrize("section", SECTIONS)
def test_a_section_tells_all_that_its_reader_needs(section: str) -> None:
    assert [word for word in TOLD if f"- {word}" not in SECTIONS[section]] == []


@pytest.mark.parametrize("section", SECTIONS)
def test_every_configuration_shown_loads(section: str) -> None:
    shown = snippet(section)
    name = re.search(r'name = "(.+?)"', shown)
    assert name is not None
    config = parse(LADDER.format(name=name[1], shown=shown), section)
    for target in plan_of(config).rungs[0].targets:
        assert target.quota is Quota.METERED or not target.sources  # else what the sources say would not count


def test_no_configuration_stands_outside_a_section() -> None:
    assert PAGE.count("```toml") == len(SECTIONS)


def test_the_table_says_which_report_per_model_windows() -> None:
    rows = re.findall(r"^\| \[`(.+?)`\].*?\|.*?\|.*?\| (yes|no) \|", PAGE, re.MULTILINE)
    assert {name: told == "yes" for name, told in rows if name in SOURCES} == {
        name: source.reports_scopes for name, source in SOURCES.items()
    }


@pytest.mark.parametrize("cause", ["Vendor outage", "Early revocation", "Lagging meter", "A wall that the meter"])
def test_what_no_reader_of_quotas_can_see_is_told(cause: str) -> None:
    assert f"- **{cause}" in PAGE.partition("## What no source can see")[2].partition("## Terms")[0]


def snippet(section: str) -> str:
    """The one configuration that a section shows."""
    (shown,) = re.findall(r"```toml\n(.*?)```", SECTIONS[section], re.DOTALL)
    return str(shown)
