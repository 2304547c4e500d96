"""Confirm text: clicks, each with the act that it sets going, as documents and as told lines."""

from collections.abc import Iterator
from typing import Any

from canary.cli.queue_text import act_document, act_words
from canary.cli.telling import Fact, Weight
from canary.cli.wording import Reader, distance
from decide.handoff.act import Act
from decide.handoff.click import Click, ClickState


def heads() -> tuple[str, ...]:
    """The columns of `row`."""
    return "STATE", "EXPIRES", "REQUESTER", "CLASS", "LINE", "OUTCOME", "CLICK"


def row(one: Click, act: Act, reader: Reader) -> tuple[str, ...]:
    """A click in one line."""
    outcome = act.state.value if one.state is ClickState.CONSUMED else ""
    expires = distance(one.expires_at.isoformat(), reader) if one.state is ClickState.PENDING else ""
    return one.state.value, expires, one.requester, one.kind, one.line, outcome, one.id


def document(one: Click, act: Act) -> dict[str, Any]:
    """A click as JSON values."""
    return {
        "id": one.id,
        "state": one.state.value,
        "line": one.line,
        "command": one.command,
        "class": one.kind,
        "requester": one.requester,
        "thread": one.thread,
        "minted_at": one.minted_at.isoformat(),
        "expires_at": one.expires_at.isoformat(),
        "closed_at": None if one.closed_at is None else one.closed_at.isoformat(),
        "act": act_document(act),
    }


def facts(one: Click, act: Act, reader: Reader) -> Iterator[Fact]:
    """A click as told lines."""
    pending = one.state is ClickState.PENDING
    yield Fact("", one.line)
    yield Fact("state", one.state.value, Weight.WARNING if pending else Weight.PLAIN)
    yield Fact("class", f"{one.kind} ({one.command})")
    yield Fact("for", one.requester)
    yield Fact("minted", distance(one.minted_at.isoformat(), reader))
    if pending:
        yield Fact("expires", distance(one.expires_at.isoformat(), reader))
        yield Fact("press", f"rungwatch confirm press {one.id}")
    elif one.closed_at is not None:
        yield Fact(one.state.value, distance(one.closed_at.isoformat(), reader))
    if one.state is ClickState.CONSUMED:
        yield Fact("outcome", act_words(act))
