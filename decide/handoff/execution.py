"""Execution: the one table of what becomes of a command, and the words of every refusal (design 4.8)."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType

from decide.handoff.command import CONFIRM_CLASS, LINE_LIMIT, Bound, Command, CommandClass, bound, unshowable
from decide.rungs.redact import without_secrets


class Surface(StrEnum):
    """Where a command comes from: the console, which shows buttons, or a line that somebody types."""

    CHAT = "chat"
    TYPED = "typed"


class Fate(StrEnum):
    """What becomes of a command."""

    RUN = "run"
    CLICK = "click"
    REFUSE = "refuse"


class Refusal(StrEnum):
    """Why a command, or a press of a click, is refused; also the label value of the metric."""

    NOT_LISTED = "not_listed"
    TYPED_FORM = "typed_form"
    UNSHOWABLE = "unshowable"
    THREAD_BUSY = "thread_busy"
    STORE = "store"
    OTHER_USER = "other_user"
    EXPIRED = "expired"
    ALREADY_CONSUMED = "already_consumed"
    UNKNOWN_CLICK = "unknown_click"
    BAD_LINK = "bad_link"


REFUSALS: Mapping[Refusal, str] = MappingProxyType(
    {
        Refusal.NOT_LISTED: "nothing runs: {line} is no command of the allow-list",
        Refusal.TYPED_FORM: "not run from here: {command} is of class {kind}, at or above {confirm}; type it: {line}",
        Refusal.UNSHOWABLE: "no click is offered: the line cannot be shown whole, {why}",
        Refusal.THREAD_BUSY: "no second click in this thread: {first} is still pending",
        Refusal.STORE: "no click is offered: the store cannot keep it ({why})",
        Refusal.OTHER_USER: "this click is {requester}'s to press, not {user}'s; it stays as it is",
        Refusal.EXPIRED: "this click expired {when}; nothing was run",
        Refusal.ALREADY_CONSUMED: "this click was pressed {when}; {outcome}",
        Refusal.UNKNOWN_CLICK: "there is no such click, or it is long gone; nothing was run",
        Refusal.BAD_LINK: "this link is not one of ours, or no longer: {why}; nothing was run",
    }
)
"""The words of every refusal; nothing else in the product has its own."""

_ROWS: Mapping[tuple[bool, Surface], Fate] = MappingProxyType(
    {
        (False, Surface.CHAT): Fate.RUN,
        (False, Surface.TYPED): Fate.RUN,
        (True, Surface.CHAT): Fate.CLICK,
        (True, Surface.TYPED): Fate.REFUSE,
    }
)
"""By whether the command's class is at or above the confirm class, and where it comes from (design 4.8)."""


@dataclass(frozen=True, slots=True)
class Rules:
    """The allow-list and the class from which on a command takes a click."""

    commands: tuple[Command, ...] = ()
    confirm: CommandClass = CONFIRM_CLASS


@dataclass(frozen=True, slots=True)
class Sentence:
    """What becomes of a line: `reason` in words for people, `refusal` where it is refused.

    `words` is what is run or clicked, empty where nothing is; `line` is the line as it is shown, without secrets.
    """

    fate: Fate
    line: str
    reason: str
    command: str = ""
    kind: str = ""
    words: tuple[str, ...] = field(default=(), repr=False)
    refusal: Refusal | None = None


def sentence(line: str, surface: Surface, rules: Rules) -> Sentence:
    """What becomes of a line that an answer stands for; the thread's pending click is the store's to see."""
    found = bound(line, rules.commands)
    if found is None:
        strange = shown(line)
        return Sentence(Fate.REFUSE, strange, refused(Refusal.NOT_LISTED, line=strange), refusal=Refusal.NOT_LISTED)
    fate = _ROWS[found.command.kind.reaches(rules.confirm), surface]
    match fate:
        case Fate.RUN:
            return _of(found, fate, f"class {found.command.kind} is below {rules.confirm}: it runs without a click")
        case Fate.CLICK:
            hidden = unshowable(found.line)
            if hidden:
                return _refused(found, Refusal.UNSHOWABLE, why=hidden)
            return _of(found, fate, f"class {found.command.kind} takes a click")
        case Fate.REFUSE:
            told = {"command": found.command.name, "kind": found.command.kind, "confirm": rules.confirm}
            return _refused(found, Refusal.TYPED_FORM, **told)


def refused(refusal: Refusal, **values: str) -> str:
    """The words of a refusal; raises KeyError for a value that they need and do not get."""
    return REFUSALS[refusal].format(**values)


def withdrawn(ruled: Sentence, refusal: Refusal, **values: str) -> Sentence:
    """What becomes of a command whose click cannot be offered after all: the thread has one, or the store is away."""
    return replace(ruled, fate=Fate.REFUSE, reason=refused(refusal, **values), words=(), refusal=refusal)


def shown(line: str) -> str:
    """A line as it may be recorded and read: of printable signs, without secrets, no longer than a button shows."""
    plain = " ".join("".join(sign if sign.isprintable() else " " for sign in line).split())
    return without_secrets(plain)[:LINE_LIMIT] or "(nothing that can be seen)"


def _of(found: Bound, fate: Fate, reason: str) -> Sentence:
    return Sentence(fate, shown(found.line), reason, found.command.name, found.command.kind.value, found.words)


def _refused(found: Bound, refusal: Refusal, **values: str) -> Sentence:
    reason = refused(refusal, line=shown(found.line), **values)
    name, kind = found.command.name, found.command.kind.value
    return Sentence(Fate.REFUSE, shown(found.line), reason, name, kind, refusal=refusal)
