"""Answering: what a person's answer to an entry is, and the act that it stands for (design 4.5, 4.8)."""

from datetime import datetime

from decide.handoff.act import NewAct, Runner
from decide.handoff.entry import Answer, Entry, chosen, named
from decide.handoff.execution import Rules, Surface

PREFIX = "answer-"
"""What the id of an act begins with that a person's answer stands for: the receipt's own has none."""


def answer_to(entry: Entry, *, person: str, option: str, text: str, at: datetime, surface: Surface) -> Answer:
    """A person's answer, its option as the question spells it; raises HandoffError for one that cannot be given."""
    picked = chosen(entry.question, option) if option.strip() else ""
    return Answer(named(person), at, surface.value, picked, text.strip())


def act_of(entry: Entry, answer: Answer, rules: Rules, runner: Runner) -> NewAct | None:
    """The act that an answer stands for: its option's command, where the allow-list has any."""
    line = next((one.action for one in entry.question.options if one.id == answer.option), "")
    if not line or not rules.commands:
        return None
    key = entry.question.key
    return NewAct(PREFIX + entry.id, key, key, answer.person, Surface(answer.surface), line, runner)
