"""Question: what a blocked agent asks, options known by stable ids, and the digest by which it is the same one."""

import hashlib
import json
import unicodedata
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from enum import StrEnum
from functools import cached_property

LEAD = timedelta(minutes=60)
"""How long before its deadline a waiting question becomes pressing (design 4.5)."""
MAX_ATTEMPTS = 3
"""After how many attempts that ended in `error` a person decides (design 4.5)."""
TEXT_LIMIT = 100_000
OPTIONS_LIMIT = 26
ID_LIMIT = 128
ACTION_LIMIT = 10_000
ACTS_LIMIT = 64


class LevelName(StrEnum):
    """How much a question may cost (design 4.4)."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class Consequence(StrEnum):
    """What waiting does (design 4.5)."""

    NONE = "none"
    REVERSIBLE = "reversible"
    COSTLY = "costly"
    IRREVERSIBLE = "irreversible"


class UsageError(ValueError):
    """A question or a setup that cannot be asked (exit 64): nothing is spent, no row written, no counter moved."""


class QuestionError(ValueError):
    """A question that cannot be asked; the text names the field and what is allowed."""


@dataclass(frozen=True, slots=True)
class Option:
    """One way to decide: `action` is the command line it stands for, `acts` what the raiser declares that it does."""

    id: str
    text: str
    action: str = ""
    acts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Question:
    """A question with two or more options; raises QuestionError for one that cannot be asked.

    `id` is the raiser's own; a question without one is known by its digest. `level` None: the configured one.
    `cites` is the receipt that this question follows up.
    """

    text: str
    options: tuple[Option, ...]
    id: str = ""
    level: LevelName | None = None
    consequence: Consequence = Consequence.COSTLY
    deadline: datetime | None = None
    raised_by: str = ""
    cites: str = ""

    def __post_init__(self) -> None:
        """Refuse what no ruling could be about."""
        _text("text", self.text, TEXT_LIMIT)
        if not 2 <= len(self.options) <= OPTIONS_LIMIT:
            raise QuestionError(f"options: there must be 2 to {OPTIONS_LIMIT}, not {len(self.options)}")
        seen: set[str] = set()
        for place, option in enumerate(self.options, 1):
            _text(f"options: id of option {place}", option.id, ID_LIMIT)
            _text(f"options: text of {option.id!r}", option.text, TEXT_LIMIT)
            if folded(option.id) in seen:
                raise QuestionError(f"options: id {option.id!r} is there twice, case and outer blanks aside")
            seen.add(folded(option.id))
        _short("id", self.id)
        if self.deadline is not None and self.deadline.tzinfo is None:
            raise QuestionError(f"deadline: must name its zone, such as {self.deadline.isoformat()}Z")
        for field, value in (("raised_by", self.raised_by), ("cites", self.cites)):
            _short(field, value)
        for place, option in enumerate(self.options, 1):
            _short(f"options: id of option {place}", option.id)
            if len(option.action) > ACTION_LIMIT or len(option.acts) > ACTS_LIMIT:
                allowed = f"at most {ACTION_LIMIT} characters of action and {ACTS_LIMIT} acts"
                raise QuestionError(f"options: option {place} may have {allowed}")
            for act in option.acts:
                _short(f"options: acts of option {place}", act)
            _sendable(f"options: option {place}", option.id, option.text, option.action, *option.acts)
        _sendable("question", self.text, self.raised_by, self.cites)

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the normalised text and options: equal for the same question (design 4.3)."""
        options = [
            [_normal(o.id), _normal(o.text), _normal(o.action), sorted(map(folded, o.acts))] for o in self.options
        ]
        options.sort()
        canonical = json.dumps([_normal(self.text), options], ensure_ascii=True, separators=(",", ":"))
        return "sha256:" + hashlib.sha256(canonical.encode()).hexdigest()

    @property
    def key(self) -> str:
        """What the store keeps the question under: its id, else its digest."""
        return self.id or self.digest

    def canonical(self, named: str) -> str | None:
        """The id of the option that a text names, blanks and case aside; None when it names none (design 4.1)."""
        return next((option.id for option in self.options if folded(option.id) == folded(named)), None)


def dump(question: Question) -> str:
    """The question as JSON text, as the store keeps it."""
    options = [{name: getattr(option, name) for name in _OF_OPTION} for option in question.options]
    deadline = question.deadline.isoformat() if question.deadline else None
    plain = {name: getattr(question, name) for name in _OF_QUESTION}
    return json.dumps(plain | {"options": options, "deadline": deadline}, ensure_ascii=True)


_OF_OPTION = tuple(one.name for one in fields(Option))
_OF_QUESTION = tuple(one.name for one in fields(Question))


def load(text: str) -> Question:
    """The question of a text that `dump` made; raises ValueError, KeyError or TypeError for another."""
    plain = json.loads(text)
    options = tuple(Option(one["id"], one["text"], one["action"], tuple(one["acts"])) for one in plain["options"])
    return Question(
        plain["text"],
        options,
        id=plain["id"],
        level=None if plain["level"] is None else LevelName(plain["level"]),
        consequence=Consequence(plain["consequence"]),
        deadline=None if plain["deadline"] is None else datetime.fromisoformat(plain["deadline"]),
        raised_by=plain["raised_by"],
        cites=plain["cites"],
    )


def folded(name: str) -> str:
    """A name as it is compared: stripped and case-folded."""
    return name.strip().casefold()


def _normal(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split())


def _sendable(field: str, *values: str) -> None:
    try:
        "".join(values).encode()
    except UnicodeEncodeError as error:
        raise QuestionError(f"{field}: must be whole characters, not half of a surrogate pair") from error


def _short(field: str, value: str) -> None:
    if len(value) > ID_LIMIT or not value.isprintable():
        raise QuestionError(f"{field}: must be at most {ID_LIMIT} printable characters, not {value[:40]!r}")


def _text(field: str, value: str, limit: int) -> None:
    if not value.strip():
        raise QuestionError(f"{field}: must not be empty")
    if len(value) > limit:
        raise QuestionError(f"{field}: must be at most {limit} characters, not {len(value)}")
