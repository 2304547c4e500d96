"""Pressing: how a click and the act that it set going are told, every refusal in the one table's words."""

from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType

from decide.handoff.act import Act, ActState
from decide.handoff.click import Click, ClickState, Pressed
from decide.handoff.execution import Refusal, refused
from exporters.console.frame import Clock

STATUS: Mapping[Refusal, int] = MappingProxyType(
    {
        Refusal.UNKNOWN_CLICK: 404,
        Refusal.OTHER_USER: 403,
        Refusal.EXPIRED: 410,
        Refusal.ALREADY_CONSUMED: 200,
    }
)
"""What a press that was refused is answered with: a second one gets the first one's outcome, so it is no error."""

_OUTCOMES: Mapping[ActState, tuple[str, str]] = MappingProxyType(
    {
        ActState.RUNNING: ("in progress", "its command is running"),
        ActState.DONE: ("done", "its command is done"),
        ActState.FAILED: ("failed", "its command failed"),
        ActState.UNKNOWN: (
            "outcome unknown",
            "its outcome is unknown: its process was gone before it recorded an end, and it is never run again by "
            "itself",
        ),
    }
)
_NOT_BEGUN = ("not begun", "its command has not begun")


def outcome(act: Act | None) -> tuple[str, str]:
    """How the act of a consumed click stands: in a word or two, and in a clause."""
    if act is None:
        return _NOT_BEGUN
    word, clause = _OUTCOMES.get(act.state, _NOT_BEGUN)
    if act.end is not None and not act.end.done:
        why = "; ".join(part for part in (_code(act.end.code), act.end.why) if part)
        clause += f" ({why})" if why else ""
    return word, clause


def _code(code: int | None) -> str:
    return "" if code is None else f"exit status {code}"


def words(pressed: Pressed, user: str, act: Act | None, clock: Clock) -> str:
    """Why a press was refused, in the table's words; empty for the press that consumed the click."""
    click = pressed.click
    match pressed.refusal:
        case None:
            return ""
        case Refusal.OTHER_USER if click is not None:
            return refused(Refusal.OTHER_USER, requester=click.requester, user=user)
        case Refusal.EXPIRED if click is not None:
            return refused(Refusal.EXPIRED, when=_when(click.expires_at, clock))
        case Refusal.ALREADY_CONSUMED if click is not None:
            _, clause = outcome(act)
            return refused(
                Refusal.ALREADY_CONSUMED, when=_when(click.closed_at or click.minted_at, clock), outcome=clause
            )
        case _:
            return refused(Refusal.UNKNOWN_CLICK)


def status(pressed: Pressed) -> int:
    """The status of the answer to a press that was refused."""
    return 200 if pressed.refusal is None else STATUS.get(pressed.refusal, 404)


def pending(click: Click, now: datetime) -> bool:
    """Whether a click can still be pressed."""
    return click.state is ClickState.PENDING and now < click.expires_at


def _when(moment: datetime, clock: Clock) -> str:
    return f"at {clock.when(moment)}"
