"""Queue text: entries, and the acts that answers set going, as documents and as told lines."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from canary.cli.telling import Fact, Weight
from canary.cli.wording import Reader, distance
from decide.handoff.act import Act, ActState
from decide.handoff.entry import Entry, Waiting
from decide.handoff.execution import shown
from decide.handoff.urgency import Urgency
from decide.receipt import headline
from exporters.moment import span_words

Document = dict[str, Any]

_WEIGHTS = {Urgency.WAKE: Weight.BAD, Urgency.SOON: Weight.WARNING, Urgency.ROUTINE: Weight.PLAIN}
_PRESSING = list(reversed(Urgency))


def ranked(waiting: Iterable[Waiting], now: datetime, lead: timedelta) -> list[tuple[Waiting, str]]:
    """Entries with their urgency, the most pressing first, then by deadline, then the longest waiting."""

    def rank(pair: tuple[Waiting, str]) -> tuple[int, bool, float, datetime]:
        one, urgency = pair
        due = one.deadline.timestamp() if one.deadline else 0.0
        return _PRESSING.index(Urgency(urgency)), one.deadline is None, due, one.entered_at

    return sorted(((one, one.urgency(now, lead).value) for one in waiting), key=rank)


def heads() -> tuple[str, ...]:
    """The columns of `row`."""
    return "URGENCY", "WHY", "WAITS", "DEADLINE", "RAISED BY", "QUESTION", "ENTRY"


def row(one: Waiting, urgency: str, reader: Reader) -> tuple[str, ...]:
    """An entry in one line."""
    due = "" if one.deadline is None else distance(one.deadline.isoformat(), reader)
    return urgency, one.why.value, span_words(reader.now - one.entered_at), due, one.raised_by, one.title, one.id


def line(one: Waiting, urgency: str) -> Document:
    """An entry of a list as JSON values."""
    return {
        "id": one.id,
        "urgency": urgency,
        "why": one.why.value,
        "question": {"key": one.question_key, "title": one.title, "raised_by": one.raised_by or None},
        "consequence": one.consequence.value,
        "deadline": _iso(one.deadline),
        "entered_at": one.entered_at.isoformat(),
    }


def document(entry: Entry, receipt: Mapping[str, Any] | None, urgency: Urgency) -> Document:
    """An entry as JSON values, with the receipt that stands behind it."""
    answer = entry.answer
    said = None
    if answer is not None:
        said = {"person": answer.person, "option": answer.option or None, "text": answer.text or None}
        said |= {"at": answer.at.isoformat(), "surface": answer.surface}
    question = entry.question
    return {
        "id": entry.id,
        "state": entry.state.value,
        "why": entry.why.value,
        "urgency": urgency.value,
        "entered_at": entry.entered_at.isoformat(),
        "closed_at": _iso(entry.closed_at),
        "closed_by": entry.closed_by or None,
        "note": entry.note or None,
        "wall_clears_at": _iso(entry.clears_at),
        "asked_again": entry.asked_again,
        "question": {
            "id": question.id or None,
            "text": question.text,
            "options": [{"id": o.id, "text": o.text, "action": o.action or None} for o in question.options],
            "consequence": question.consequence.value,
            "deadline": _iso(question.deadline),
            "raised_by": question.raised_by or None,
        },
        "answer": said,
        "ruling": None if receipt is None else headline(receipt),
    }


def facts(told: Document, reader: Reader) -> Iterator[Fact]:
    """An entry's document as told lines."""
    question = told["question"]
    yield Fact("", question["text"])
    open_ = told["state"] == "open"
    weight = _WEIGHTS[Urgency(told["urgency"])] if open_ else Weight.PLAIN
    yield Fact("state", f"{told['state']}, {told['urgency']}" if open_ else told["state"], weight)
    yield Fact("why", told["ruling"] or told["why"])
    yield Fact("waits", f"since {distance(told['entered_at'], reader)}")
    for name, key in (("deadline", "deadline"), ("raised", "raised_by")):
        if question[key] is not None:
            yield Fact(name, distance(question[key], reader) if name == "deadline" else question[key])
    if told["wall_clears_at"] is not None and open_:
        yield Fact("clears", f"{distance(told['wall_clears_at'], reader)}; then it is asked once more")
    if told["answer"] is not None:
        said = told["answer"]
        words = ", ".join(part for part in (said["option"], said["text"]) if part)
        yield Fact("answer", f"{said['person']}: {words}", Weight.GOOD)
    elif told["state"] == "resolved":
        yield Fact("closed", f"by an answer of the ladder, receipt {told['closed_by']}", Weight.GOOD)
    elif told["closed_by"] is not None:
        yield Fact("closed", f"by {told['closed_by']}: {told['note'] or ''}")
    yield Fact("entry", told["id"])


def options(told: Document) -> Sequence[tuple[str, str, str]]:
    """The options of an entry's question."""
    return [(one["id"], one["text"], one["action"] or "") for one in told["question"]["options"]]


def act_document(act: Act) -> Document:
    """An act as JSON values."""
    end = act.end
    return {
        "id": act.id,
        "state": act.state.value,
        "line": shown(act.line),
        "command": act.command or None,
        "class": act.kind or None,
        "reason": act.reason,
        "click": act.click_id or None,
        "code": None if end is None else end.code,
        "output": None if end is None else end.output,
        "why": None if end is None else end.why or None,
    }


def act_words(act: Act) -> str:
    """An act in one line, and the end of what its command said below it."""
    end, line = act.end, shown(act.line)
    match act.state:
        case ActState.DONE | ActState.FAILED if end is not None:
            status = f"exit status {end.code}" if end.code is not None else "no exit status"
            ended = f"{act.state}: {line} ({end.why or status})"
            return f"{ended}\n{end.output.rstrip()}" if end.output.strip() else ended
        case ActState.REFUSED:
            return act.reason
        case ActState.UNKNOWN:
            return f"outcome unknown: {line}; it was started and never told its end, and is not run again"
        case _:
            return f"{act.state}: {line} ({act.reason})" if act.reason else f"{act.state}: {line}"


def _iso(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()
