"""Questions of the demo day: what is asked when, and what each vendor's model makes of it."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from canary.demo.day import clock
from canary.demo.script import Vendor
from decide.question import Consequence, LevelName, Option, Question


class Says(StrEnum):
    """What a model does with a question, beside naming an option."""

    FIRST_LISTED = "first listed"
    DECLINES = "declines"
    LACKS_EVIDENCE = "lacks evidence"
    PROSE = "prose"
    MONEY = "names money"


@dataclass(frozen=True, slots=True)
class Asked:
    """A question of the day: its clock time, its words, and what the two models say; `stops` cancels its run.

    `raised`: it is put into the inbox from the console, where its first option stands for the command `line`.
    """

    at: str
    text: str
    options: tuple[tuple[str, str], ...]
    fable: str
    astra: str
    level: LevelName = LevelName.MEDIUM
    acts: tuple[str, ...] = ()
    stops: bool = False
    deadline: str = ""
    consequence: Consequence = Consequence.COSTLY
    line: str = ""

    @property
    def raised(self) -> bool:
        """Whether it comes from the console, by the inbox."""
        return bool(self.line)

    def question(self, start: datetime) -> Question:
        """The question, with an id of the day that began at `start`."""
        first, *others = self.options
        return Question(
            self.text,
            (Option(*first, action=self.line, acts=self.acts), *(Option(*other) for other in others)),
            id=f"demo-{start:%Y%m%d}-{self.at.replace(':', '')}",
            level=self.level,
            raised_by="console" if self.raised else "demo",
            deadline=start + clock(self.deadline) if self.deadline else None,
            consequence=self.consequence,
        )


_KEEP = (("keep", "Keep it as it is"), ("change", "Change it as proposed"))
_AB = (("first", "Take the first library"), ("second", "Take the second library"))
_DO = (("yes", "Do it now"), ("no", "Leave it as it is"))

_NONE = Consequence.NONE

DAY = (
    Asked("12:05", "Does the retry loop belong in the client or in the caller?", _KEEP, "keep", "keep"),
    Asked("12:20", "Which parser reads the import files from now on?", _AB, "second", "second", LevelName.LOW),
    Asked(
        "12:35", "Is the import worker to be restarted now?", _DO, "yes", "yes", line="echo restarting import-worker"
    ),
    Asked("12:50", "Should the nightly job skip rows that it has seen?", _KEEP, "change", "keep"),
    Asked("13:10", "Is the flaky date test to be rewritten or left out?", _KEEP, "change", "change"),
    Asked("13:25", "Is the search index to be counted first?", _DO, "yes", "yes", line="echo counting search"),
    Asked("13:40", "Do we name the new module after its table?", _KEEP, Says.FIRST_LISTED, "keep"),
    Asked("14:05", "Is the cache key to hold the locale?", _KEEP, "change", "change", LevelName.LOW),
    Asked("14:35", "Which of the two designs suits the people who will read it?", _AB, Says.DECLINES, "first"),
    Asked("15:10", "Does the index help the slow report?", _KEEP, Says.LACKS_EVIDENCE, "change"),
    Asked(
        "15:25", "Are the exports of last year to be removed?", _DO, "yes", "yes", line="echo removing exports-2025"
    ),
    Asked("15:40", "Is the clean-up script fit to run?", _KEEP, "keep", "keep", acts=("production_write",)),
    Asked("16:10", "Which plan fits the team for the coming year?", _AB, Says.MONEY, "first"),
    Asked("16:15", "Which wording goes into the release note?", _AB, Says.DECLINES, "first", consequence=_NONE),
    Asked("16:20", "Is the old flag still read anywhere?", _KEEP, "change", "change"),
    Asked("17:20", "Do both services share one schema file?", _KEEP, "keep", "change", LevelName.LOW),
    Asked("18:05", "Is the timeout of the search to be raised?", _KEEP, "keep", "keep"),
    Asked("18:50", "Which queue takes the export jobs?", _AB, "first", "first"),
    Asked("19:35", "Is the migration split into two steps?", _KEEP, "change", "change"),
    Asked("19:55", "Does the worker log at the level of its caller?", _KEEP, "keep", "keep", LevelName.LOW),
    Asked("20:10", "Is the branch rebased before the review?", _KEEP, "keep", "keep", deadline="21:30"),
    Asked("20:45", "Which linter rule is switched off in tests?", _AB, "second", "second"),
    Asked("21:05", "Is the cache of the blue side to be flushed?", _DO, "yes", "yes", line="false blue"),
    Asked("21:15", "Is the fixture built once or for each test?", _KEEP, "keep", "keep", stops=True),
    Asked("21:40", "Does the exporter round its ratios?", _KEEP, "keep", Says.PROSE),
    Asked("21:50", "Which heading opens the guide?", _AB, Says.DECLINES, Says.DECLINES, deadline="22:40"),
    Asked("22:10", "Is the new header sent by default?", _KEEP, "keep", "keep"),
    Asked("22:45", "Do we pin the tool or follow its releases?", _KEEP, "keep", "keep"),
    Asked("23:05", "Who may see the draft?", _AB, Says.DECLINES, Says.DECLINES, deadline="33:00"),
    Asked("23:20", "Does the report job begin early today?", _DO, "yes", "yes", line="echo restarting report-job"),
    Asked("23:40", "Which of the names goes into the interface?", _AB, "first", "second"),
)
"""The questions of the day, in their order."""

CAPS: Mapping[str, Any] = MappingProxyType({"passes_per_day": 124, "usd_per_day": "20.00"})
"""Caps that the last question of the day no longer fits under."""
COMMANDS: tuple[Mapping[str, Any], ...] = (
    {"name": "restart", "run": ["echo", "restarting", "{unit}"], "class": "write"},
    {"name": "count", "run": ["echo", "counting", "{table}"], "class": "read"},
    {"name": "remove", "run": ["echo", "removing", "{folder}"], "class": "destructive"},
    {"name": "flush", "run": ["false", "{side}"], "class": "write"},
)
"""The allow-list of the demo: commands that only say what they would do, and one that fails."""
CLICK_LASTS = "45m"
PRICES = """\
["claude-fable-5"]
input = "15"
output = "75"

["gpt-6-astra"]
input = "10"
output = "40"
"""
"""What the demo's models cost, in dollars for a million tokens."""

_NONCE = re.compile(r"^`nonce` repeats this text exactly: (\S+)$", re.MULTILINE)
_LISTED = re.compile(r'^- id "([^"]+)":', re.MULTILINE)


def answer(vendor: Vendor, prompt: str) -> str:
    """What the vendor's model answers to a brief; to anything else it says hello."""
    asked = next((one for one in DAY if one.text in prompt), None)
    nonce = _NONCE.search(prompt)
    if asked is None or nonce is None:
        return "The loopback provider says hello."
    says = asked.fable if vendor is Vendor.CLAUDE else asked.astra
    if says == Says.PROSE:
        return "Both would do, I think; it depends on what you prefer."
    fields: dict[str, Any] = {
        "nonce": nonce[1],
        "resolvable": True,
        "rec": says,
        "kind": "",
        "gap": "",
        "touches": [],
    }
    if says in _CHANGES:
        fields |= _CHANGES[says](prompt)
    return json.dumps(fields | {"rationale": f"The evidence speaks for it; asked as: {asked.text}"})


def _first_listed(prompt: str) -> dict[str, Any]:
    listed = _LISTED.search(prompt)
    return {"rec": listed[1] if listed else ""}


_CHANGES: Mapping[str, Callable[[str], dict[str, Any]]] = {
    Says.FIRST_LISTED: _first_listed,
    Says.DECLINES: lambda prompt: {"resolvable": False, "rec": "", "kind": "needs_human"},
    Says.LACKS_EVIDENCE: lambda prompt: {
        "resolvable": False,
        "rec": "",
        "kind": "insufficient_evidence",
        "gap": "the plan of the slow query",
    },
    Says.MONEY: lambda prompt: {"rec": "first", "touches": ["money"]},
}
