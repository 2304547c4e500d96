"""Ask: the form that raises a question, and the page that says where it stands."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, TypeVar

from starlette.responses import Response

from decide.handoff.entry import HandoffError
from decide.question import OPTIONS_LIMIT, Consequence, LevelName, Option, Question, QuestionError
from decide.receipt import banner, headline
from exporters.console.form import Form
from exporters.console.problem import ProblemError, wants_json
from exporters.console.site import Asked, found, see

ROWS = 4
"""How many options the form has room for at first."""
MORE = "more"
"""The button that makes room for more options."""
Kind = TypeVar("Kind", LevelName, Consequence)
_NAMES = "abcdefghijklmnopqrstuvwxyz"


async def ask_page(asked: Asked) -> Response:
    """The form, empty or with what a cited receipt asked."""
    cites = asked.query("cites")
    if not cites:
        return _form(asked, {})
    receipt = await found(asked.desk.receipt(cites))
    return _form(asked, prefilled(receipt), gap=(receipt.get("non_vote") or {}).get("gap") or "")


async def raise_question(asked: Asked, form: Form) -> Response:
    """Put the question in the inbox; where it cannot be, the form says why and keeps what was typed."""
    if MORE in form:
        return _form(asked, form)
    try:
        item = await asked.desk.raise_question(question_of(form, asked.person), asked.person)
    except (HandoffError, QuestionError) as error:
        if wants_json(asked.request):
            raise
        return _form(asked, form, trouble=str(error), status=422)
    return see("/inbox", item.id)


async def item_page(asked: Asked) -> Response:
    """Where a raised question stands."""
    stands = await found(asked.desk.handoff.standing(asked.part("item")))
    if stands.item is None:
        raise ProblemError(404, f"There is no raised question {asked.part('item')[:80]!r}.", "Not there")
    receipt = stands.receipt
    return asked.show(
        "item.html",
        here="/ask",
        item=stands.item,
        entry=stands.entry,
        receipt=receipt,
        told={"headline": headline(receipt), "banner": banner(receipt)} if receipt else None,
    )


def prefilled(receipt: Mapping[str, Any]) -> dict[str, str]:
    """The form's fields for a new question that cites a receipt."""
    question = receipt["question"]
    fields = {"text": str(question["text"]), "cites": str(receipt["id"]), "consequence": str(question["consequence"])}
    for place, option in enumerate(question["options"], 1):
        fields |= {
            f"id{place}": option["id"],
            f"text{place}": option["text"],
            f"action{place}": option["action"] or "",
        }
    return fields


def question_of(form: Form, person: str) -> Question:
    """The question of a form; raises QuestionError for what cannot be asked. A row without a text is no option."""
    rows = [place for place in range(1, OPTIONS_LIMIT + 1) if form.get(f"text{place}", "").strip()]
    options = tuple(
        Option(
            form.get(f"id{place}", "").strip() or _NAMES[place - 1],
            form[f"text{place}"].strip(),
            form.get(f"action{place}", "").strip(),
        )
        for place in rows
    )
    return Question(
        form.get("text", "").strip(),
        options,
        level=_member(LevelName, "level", form) if form.get("level") else None,
        consequence=_member(Consequence, "consequence", form) if form.get("consequence") else Consequence.COSTLY,
        deadline=_deadline(form.get("deadline", "").strip()),
        raised_by=person,
        cites=form.get("cites", "").strip(),
    )


def _form(asked: Asked, form: Form, *, trouble: str = "", status: int = 200, gap: str = "") -> Response:
    rows = _rows(form)
    return asked.show(
        "ask.html",
        here="/ask",
        status=status,
        filled=True,
        live=False,
        form=form,
        rows=rows,
        names=_NAMES[:rows],
        levels=list(LevelName),
        consequences=list(Consequence),
        trouble=trouble,
        gap=gap,
        full=rows >= OPTIONS_LIMIT,
    )


def _rows(form: Form) -> int:
    """For how many options there is room: as many as before, more where that was asked for, and none is hidden."""
    given = form.get("rows", "")
    before = int(given) if given.isascii() and given.isdecimal() and len(given) < 4 else 0
    used = max((place for place in range(1, OPTIONS_LIMIT + 1) if form.get(f"text{place}")), default=0)
    return min(OPTIONS_LIMIT, max(before, used, ROWS) + (ROWS if MORE in form else 0))


def _member(kinds: type[Kind], field: str, form: Form) -> Kind:
    try:
        return kinds(form[field])
    except ValueError as error:
        raise QuestionError(f"{field}: must be one of {', '.join(kinds)}, not {form[field][:40]!r}") from error


def _deadline(text: str) -> datetime | None:
    """A deadline as a browser or a person gives it, in UTC where it names no zone."""
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise QuestionError("deadline: must be a time such as 2026-10-15T14:00, in UTC") from error
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
