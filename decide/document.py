"""Document: a question with its evidence as JSON or YAML, checked strictly; its JSON Schema is published."""

import json
import re
from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Annotated, Any, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    WithJsonSchema,
    model_validator,
)

from decide.document_text import Place, Read, Unquoted, read
from decide.question import (
    ID_LIMIT,
    OPTIONS_LIMIT,
    TEXT_LIMIT,
    Consequence,
    LevelName,
    Option,
    Question,
    QuestionError,
)
from decide.snapshot import Source, SourceKind

EVIDENCE_LIMIT = 100
"""The most pieces of evidence that a question may name."""
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d{1,6})?([Zz]|[+-]\d\d:\d\d)")


def _moment(value: object) -> datetime:
    if isinstance(value, str) and _MOMENT.fullmatch(value):
        return datetime.fromisoformat(value.upper())  # raises ValueError itself for a 31st of February
    raise ValueError('must be a time with its zone, such as "2026-10-15T14:00:00+02:00" or "2026-10-15T12:00:00Z"')


def _whole(text: str) -> str:
    if "\0" in text:
        raise ValueError("must not hold a NUL character")
    if any("\ud800" <= char <= "\udfff" for char in text):
        raise ValueError("must be whole characters, not half of a surrogate pair")
    return text


_WHOLE = AfterValidator(_whole)
Text = Annotated[str, _WHOLE]
Filled = Annotated[str, Field(min_length=1), _WHOLE]
Name = Annotated[str, Field(min_length=1, max_length=ID_LIMIT), _WHOLE]
Prose = Annotated[str, Field(min_length=1, max_length=TEXT_LIMIT), _WHOLE]
Moment = Annotated[datetime, BeforeValidator(_moment), WithJsonSchema({"type": "string", "format": "date-time"})]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, use_attribute_docstrings=True)


class OptionPart(_Part):
    """One way to decide."""

    id: Name
    """the name by which a ruling calls it; unique in the question, case and outer blanks aside"""
    text: Prose
    """what it means, as the models read it"""
    action: Text | None = None
    """the command line that it stands for; shown with the ruling, never run"""
    acts: tuple[Text, ...] | None = Field(default=None, strict=False)
    """what carrying it out would do, by the words of the policy: a row's id, or an act such as "deploy" """


class EvidencePart(_Part):
    """One piece of evidence; exactly one of these."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 1, "maxProperties": 1})

    text: Filled | None = None
    """the evidence itself"""
    file: Filled | None = None
    """a file, relative to the folder of the document"""
    glob: Filled | None = None
    """files by a pattern, such as "src/**/*.py" """
    git: Filled | None = None
    """a git object, such as "HEAD:src/app.py" """
    url: Filled | None = None
    """an address that is read over HTTP"""

    @model_validator(mode="after")
    def _one(self) -> Self:
        if len(self.named()) != 1:
            raise ValueError(f"must have exactly one of {', '.join(SourceKind)}")
        return self

    def named(self) -> list[Source]:
        """The pieces that it names, one in one that is allowed."""
        return [Source(kind, place) for kind in SourceKind if (place := getattr(self, kind.value)) is not None]


class QuestionPart(_Part):
    """A question for the ladder, with the evidence that both rungs are shown."""

    question: Prose
    """what is to be decided"""
    options: tuple[OptionPart, ...] = Field(strict=False, min_length=2, max_length=OPTIONS_LIMIT)
    """the ways to decide"""
    id: Name | None = None
    """your own name for the question; without one it is known by the digest of its text and options"""
    context: Filled | None = None
    """a text that is the first piece of evidence"""
    evidence: tuple[EvidencePart, ...] | None = Field(default=None, strict=False, max_length=EVIDENCE_LIMIT)
    """what both rungs are shown, read once before either is asked"""
    level: Annotated[LevelName, Field(strict=False)] | None = None
    """how much it may cost (default: the configuration's)"""
    consequence: Annotated[Consequence, Field(strict=False)] | None = None
    """what waiting for an answer does (default: costly)"""
    deadline: Moment | None = None
    """when the answer is needed"""
    raised_by: Text | None = None
    """who asks"""
    cites: Text | None = None
    """the receipt that this question follows up"""

    def asked(self) -> Question:
        """The question; raises QuestionError for one that cannot be asked."""
        return Question(
            self.question,
            tuple(Option(o.id, o.text, o.action or "", o.acts or ()) for o in self.options),
            id=self.id or "",
            level=self.level,
            consequence=self.consequence or Consequence.COSTLY,
            deadline=self.deadline,
            raised_by=self.raised_by or "",
            cites=self.cites or "",
        )

    def sources(self) -> tuple[Source, ...]:
        """Its evidence, in the order in which both rungs see it."""
        first = (Source(SourceKind.TEXT, self.context),) if self.context is not None else ()
        return (*first, *(source for part in self.evidence or () for source in part.named()))


def parse(data: bytes, name: str) -> tuple[Question, tuple[Source, ...]]:
    """The question in a document called `name`, and its evidence to be read; raises QuestionError, a line a fault."""
    return question_of(read(data, name), name)


def question_of(found: Read, name: str) -> tuple[Question, tuple[Source, ...]]:
    """The question of a document's plain value, and its evidence; raises QuestionError, a line a fault."""
    try:
        part = QuestionPart.model_validate(found.value)
    except ValidationError as error:
        faults = [_fault(name, found.lines, fault) for fault in error.errors(include_url=False) if _counts(fault)]
        raise QuestionError("\n".join(dict.fromkeys(faults))) from None
    try:
        return part.asked(), part.sources()
    except QuestionError as error:
        raise QuestionError(f"{name}: {error}") from None


def question_schema() -> dict[str, Any]:
    """The published JSON Schema of a question's document."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **QuestionPart.model_json_schema(),
        "title": "rungwatch question",
    }


_PARTS: Mapping[str, type[_Part]] = MappingProxyType({"options": OptionPart, "evidence": EvidencePart})


def _fault(name: str, lines: Mapping[Place, int], fault: Any) -> str:
    path: Place = fault["loc"]
    line = next((lines[path[:n]] for n in range(len(path), -1, -1) if path[:n] in lines), None)
    where = f"{name}:{line}" if line else name
    return ": ".join(part for part in (where, _spelled(path), _what(fault, path)) if part)


def _spelled(path: Place) -> str:
    """A place in a document: `options[0].id`."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).lstrip(".")


def _counts(fault: Any) -> bool:
    """Whether a fault is one: a list of faulty members is not also too short."""
    return fault["type"] != "too_short" or len(fault["input"]) < 2


def _what(fault: Any, path: Place) -> str:
    """What is wrong at a place, and what is allowed there."""
    given = fault["input"]
    match str(fault["type"]):
        case "missing":
            return "must be given"
        case "extra_forbidden":
            part = _PARTS.get(str(path[0]), QuestionPart) if len(path) > 1 else QuestionPart
            return f"unknown key; allowed here: {', '.join(part.model_fields)}"
        case _ if isinstance(given, Unquoted):
            return f"YAML takes {given.raw[:40]} for {given.taken_for}; where it is text, write it in quotes"
        case "string_type" if path == ("context",):
            return "must be one text; files and the like go into evidence"
        case "string_type":
            return f"must be text, not {_shown(given)}"
        case "tuple_type":
            return f"must be a list, not {_shown(given)}"
        case "model_type":
            return f"must be a mapping of keys to values, not {_shown(given)}"
        case "too_short":
            return f"must be 2 to {OPTIONS_LIMIT}, not {len(given)}"
        case "string_too_short":
            return "must not be empty"
        case "string_too_long" | "too_long":
            most = fault["ctx"]["max_length"]
            return f"must be at most {most}{' characters' if isinstance(given, str) else ''}, not {len(given)}"
        case "enum":
            return f"must be {fault['ctx']['expected']}, not {_shown(given)}"
        case _:
            text = str(fault["msg"]).removeprefix("Value error, ")
            return text[:1].lower() + text[1:]


def _shown(given: object) -> str:
    """A value as an error shows it: short, and never a whole structure."""
    if given is None:
        return "nothing"
    if isinstance(given, list | dict):
        return "a list" if isinstance(given, list) else "a mapping"
    return repr(given)[:40] if isinstance(given, str) else json.dumps(given)[:40]
