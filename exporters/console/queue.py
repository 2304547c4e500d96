"""Queue: what waits for a person, the most pressing first, and the forms that end the waiting."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from starlette.responses import Response

from decide.handoff.entry import ClosedError, Entry, EntryState, HandoffError, Waiting
from decide.handoff.urgency import Urgency
from decide.receipt import banner, headline
from exporters.console.form import Form
from exporters.console.pressing import outcome
from exporters.console.problem import ProblemError, wants_json
from exporters.console.site import Asked, found, optional, problem_of, see

LINES = 50
"""How many entries a page lists."""
CLOSED = 20
"""How many closed entries are listed."""
_BATCHES = 4
"""How many batches of entries are looked through for closed ones."""

MOST_URGENT_FIRST = tuple(Urgency)[::-1]
NON_VOTE = "insufficient_evidence"
"""What is answered by a new question that cites the old one (design 4.5)."""


async def queue_page(asked: Asked) -> Response:
    """The open entries by urgency and deadline, then the closed ones, the latest first."""
    waiting = pressing(await asked.desk.handoff.waiting(), asked.now, asked.desk.lead)
    pages = max(1, -(-len(waiting) // LINES))
    number = min(_number(asked.query("page")), pages)
    closed, older = await _closed(asked, asked.query("before") or None)
    return asked.show(
        "queue.html",
        here="/queue",
        waiting=waiting[(number - 1) * LINES :][:LINES],
        counts=by_urgency(waiting),
        total=len(waiting),
        number=number,
        pages=pages,
        closed=closed,
        older=older,
        before=asked.query("before"),
    )


async def entry_page(asked: Asked) -> Response:
    """One entry, with the form that answers it while it is open."""
    return await _entry_page(asked, await found(asked.desk.handoff.entry(asked.part("entry"))))


async def answer_entry(asked: Asked, form: Form) -> Response:
    """Close an entry with an answer; where it cannot be taken, the page says why and keeps what was typed."""
    name, option, text = asked.part("entry"), form.get("option", ""), form.get("text", "")
    try:
        entry = await found(asked.desk.answer(name, asked.person, option, text))
    except HandoffError as error:
        return await _not_taken(asked, name, error, form)
    return see("/queue", entry.id)


async def cancel_entry(asked: Asked, form: Form) -> Response:
    """Close an entry without an answer."""
    name = asked.part("entry")
    try:
        entry = await found(asked.desk.handoff.cancel(name, asked.person, form.get("note", "").strip(), asked.now))
    except HandoffError as error:
        return await _not_taken(asked, name, error, form)
    return see("/queue", entry.id)


def pressing(waiting: Sequence[Waiting], now: datetime, lead: timedelta) -> list[tuple[Waiting, Urgency]]:
    """Each with its urgency: the most urgent first, then the nearest deadline, then the longest waiting."""
    order = {urgency: place for place, urgency in enumerate(MOST_URGENT_FIRST)}

    def key(pair: tuple[Waiting, Urgency]) -> tuple[int, bool, datetime, datetime]:
        one, urgency = pair
        return order[urgency], one.deadline is None, one.deadline or now, one.entered_at

    return sorted(((one, one.urgency(now, lead)) for one in waiting), key=key)


def by_urgency(waiting: Sequence[tuple[Waiting, Urgency]]) -> Mapping[Urgency, int]:
    """How many wait at each urgency, the most pressing first."""
    counts = Counter(urgency for _, urgency in waiting)
    return {urgency: counts[urgency] for urgency in MOST_URGENT_FIRST}


async def _not_taken(asked: Asked, name: str, error: HandoffError, form: Form) -> Response:
    if wants_json(asked.request):
        raise error
    entry = error.entry if isinstance(error, ClosedError) else await found(asked.desk.handoff.entry(name))
    return await _entry_page(asked, entry, error, form)


async def _entry_page(
    asked: Asked, entry: Entry, error: HandoffError | None = None, form: Form | None = None
) -> Response:
    receipt = await optional(asked.desk.receipt(entry.id))
    act = await optional(asked.desk.handoff.act(f"answer-{entry.id}")) if entry.answer else None
    non_vote = (receipt or {}).get("non_vote") or {}
    chosen = next((one for one in entry.question.options if entry.answer and one.id == entry.answer.option), None)
    return asked.show(
        "entry.html",
        here="/queue",
        status=200 if error is None else problem_of(error).status,
        filled=entry.state is EntryState.OPEN,
        live=error is None,
        entry=entry,
        urgency=entry.urgency(asked.now, asked.desk.lead),
        receipt=receipt,
        told={"headline": headline(receipt), "banner": banner(receipt)} if receipt else None,
        lacking=non_vote.get("kind") == NON_VOTE,
        gap=non_vote.get("gap") or "",
        chosen=chosen,
        act=act,
        act_word=outcome(act)[0] if act else "",
        trouble="" if error is None else str(error),
        form=form or {},
    )


async def _closed(asked: Asked, before: str | None) -> tuple[list[Entry], str]:
    """The closed entries before one, and the entry before which there may be more, empty where there is none."""
    closed: list[Entry] = []
    for _ in range(_BATCHES):
        batch = await found(asked.desk.handoff.entries(LINES, before))
        for entry in batch:
            before = entry.id
            if entry.state is not EntryState.OPEN:
                closed.append(entry)
            if len(closed) == CLOSED:
                return closed, before
        if len(batch) < LINES:
            return closed, ""
    return closed, before or ""


def _number(text: str) -> int:
    """A page's number; raises ProblemError for a text that is none."""
    if not text:
        return 1
    if not (text.isascii() and text.isdecimal() and len(text) <= 6):
        raise ProblemError(404, f"There is no page {text[:20]!r}.", "Not there")
    return max(1, int(text))
