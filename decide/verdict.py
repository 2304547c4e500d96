"""Verdict: what one pass yields, read strictly out of a reply in which it is found leniently (design 4.1)."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from decide.question import Question, folded
from decide.reply import Failure, Finish, Reply, Trouble

TRIES = 5_000
"""How many braces of a reply may turn out to begin no object."""
TOUCHES_LIMIT = 64


class Decline(StrEnum):
    """Why a model that was reached does not decide; the order is the precedence (design 4.2, rule 1)."""

    OUTSIDE_AUTHORITY = "outside_authority"
    MODEL_REFUSAL = "model_refusal"
    NEEDS_HUMAN = "needs_human"
    INSUFFICIENT_EVIDENCE = "insufficient_evidence"
    CLASS_GATE = "class_gate"
    SPLIT = "split"
    FLIP = "flip"


VERDICT_DECLINES = (Decline.NEEDS_HUMAN, Decline.INSUFFICIENT_EVIDENCE, Decline.OUTSIDE_AUTHORITY)
"""The kinds that a verdict itself can give."""


@dataclass(frozen=True, slots=True)
class Resolved:
    """One verdict for one option, by its canonical id; `touches` are the policy rows the model says it touches."""

    option_id: str
    touches: tuple[str, ...] = ()
    rationale: str = ""


@dataclass(frozen=True, slots=True)
class Declined:
    """A verdict, or the wire's own refusal, that does not decide; `gap` is the evidence that is missing."""

    kind: Decline
    touches: tuple[str, ...] = ()
    gap: str = ""
    rationale: str = ""


@dataclass(frozen=True, slots=True)
class NoVerdict:
    """No verdict, and why; `reached` says that an accepted model all the same brought an object with the nonce.

    `touches` are what such an object says that it touches.
    """

    trouble: Trouble
    reached: bool = False
    touches: tuple[str, ...] = ()

    @property
    def failure(self) -> Failure:
        """The reason."""
        return self.trouble.failure


Result = Resolved | Declined | NoVerdict


def accepts(accepted: Iterable[str], model: str) -> bool:
    """Whether a model's answer counts: it is an accepted one, or a dated build of one."""
    named = folded(model)
    owns = [own for own in map(folded, accepted) if named.startswith(own)]
    return any(named == own or _DATED.fullmatch(named, len(own)) for own in owns)


_DATED = re.compile(r"-\d{4}-?\d{2}-?\d{2}")


def judge(reply: Reply, question: Question, *, nonce: str, accepted: Iterable[str]) -> Result:
    """What a pass yields: exactly one of Resolved, Declined and NoVerdict."""
    accepted = tuple(accepted)
    strangers = [model for model in reply.models if not accepts(accepted, model)]
    if strangers:
        detail = f"answered by {strangers[0][:80]!r}, which this rung does not accept"
        return NoVerdict(Trouble(Failure.SUBSTITUTED, detail=detail))
    if reply.finish is Finish.REFUSAL:
        return Declined(Decline.MODEL_REFUSAL)
    found = [verdict for verdict in found_in(reply) if _shaped(verdict)]
    ours = [verdict for verdict in found if verdict.get("nonce") == nonce]
    results = [_read(verdict, question) for verdict in ours or found]
    if not ours:
        ours = [verdict for verdict in _nested(found_in(reply)) if verdict.get("nonce") == nonce]
        results = [_wrapped(_read(verdict, question)) for verdict in ours] or results
    declines = [result for result in results if isinstance(result, Declined)]
    if declines:
        return min(declines, key=lambda declined: tuple(Decline).index(declined.kind))
    if reply.trouble is not None:
        return NoVerdict(reply.trouble, reached=bool(ours), touches=_touched(results) if ours else ())
    return _agreed(results, reply) if ours else _none(found, reply)


def _agreed(results: list[Result], reply: Reply) -> Result:
    """The one result of verdicts that carry the nonce; different ones are ambiguous, never the first or last."""
    touches = _touched(results)
    if reply.finish is Finish.LENGTH:
        return NoVerdict(Trouble(Failure.TRUNCATED, detail="the answer was cut off at its length"), True, touches)
    named = {result.option_id if isinstance(result, Resolved) else None for result in results}
    if len(named) > 1:
        return _malformed("several verdicts that differ", touches)
    return replace(results[0], touches=touches)


def _touched(results: Iterable[Result]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word for result in results for word in result.touches))


def _wrapped(result: Result) -> Result:
    """A verdict that another object holds: its decline stands, its approval is nobody's answer."""
    return (
        _malformed("the verdict is inside another object", result.touches) if isinstance(result, Resolved) else result
    )


def _none(found: list[dict[str, Any]], reply: Reply) -> NoVerdict:
    if reply.finish is Finish.LENGTH:
        return NoVerdict(Trouble(Failure.TRUNCATED, detail="the answer was cut off at its length"))
    if found:
        return NoVerdict(Trouble(Failure.MALFORMED, detail="a verdict without this brief's nonce"))
    if not reply.text.strip() and reply.structured is None:
        return NoVerdict(Trouble(Failure.EMPTY, detail="the answer was empty"))
    return NoVerdict(Trouble(Failure.NO_JSON, detail="no verdict object in the answer"))


def _read(verdict: Mapping[str, Any], question: Question) -> Result:
    """One verdict object; only JSON true resolves, and only an option's id is a recommendation."""
    if isinstance(verdict, _Twice):
        return _malformed("a key of the verdict is there twice")
    touches, rationale = _words(verdict.get("touches")), _plain(verdict.get("rationale"))
    resolvable = verdict.get("resolvable")
    if _is_no(resolvable):
        return Declined(_kind(verdict.get("kind")), touches or (), _plain(verdict.get("gap")), rationale)
    if touches is None:
        return _malformed("`touches` is no list of words")
    if resolvable is not True:
        return _malformed("`resolvable` is neither true nor a plain no", touches)
    named = verdict.get("rec")
    option_id = question.canonical(named) if isinstance(named, str) else None
    if option_id is None:
        return _malformed("`rec` is no option's id", touches)
    return Resolved(option_id, touches, rationale)


def _is_no(value: Any) -> bool:
    """Whether a value is an explicit no, in whatever type (design 4.1)."""
    if isinstance(value, str):
        return folded(value) in ("false", "no")
    return value is False or (type(value) in (int, float) and value == 0)


def _kind(value: Any) -> Decline:
    stated = folded(value) if isinstance(value, str) else ""
    return next((kind for kind in VERDICT_DECLINES if kind.value == stated), Decline.NEEDS_HUMAN)


def _malformed(detail: str, touches: tuple[str, ...] = ()) -> NoVerdict:
    return NoVerdict(Trouble(Failure.MALFORMED, detail=detail), reached=True, touches=touches)


def _words(value: Any) -> tuple[str, ...] | None:
    """The words of a list, or of a single text; None for what is neither."""
    words = [value] if isinstance(value, str) else [] if value is None else value
    if not isinstance(words, list) or len(words) > TOUCHES_LIMIT:
        return None
    return tuple(word[:128] for word in words) if all(isinstance(word, str) for word in words) else None


def _plain(value: Any) -> str:
    return value[:4_000] if isinstance(value, str) else ""


def found_in(reply: Reply) -> Iterator[dict[str, Any]]:
    """The outermost objects of an answer: what the client took from it, else those in its text."""
    if reply.structured is not None:
        yield dict(reply.structured)
    else:
        yield from located(reply.text)


def _nested(objects: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Every object inside these."""
    left: list[Any] = [value for found in objects for value in found.values()]
    while left:
        value = left.pop()
        if isinstance(value, dict):
            yield value
            left += value.values()
        elif isinstance(value, list):
            left += value


def _shaped(found: Mapping[str, Any]) -> bool:
    return "resolvable" in found or "nonce" in found


def located(text: str) -> Iterator[dict[str, Any]]:
    """Every outermost JSON object in a text, whatever stands around it; nothing is repaired.

    What lies inside an object that turns out to be broken is passed over with it.
    """
    alien: list[str] = []  # NaN and its like, which Python reads and JSON does not have
    decoder = json.JSONDecoder(object_pairs_hook=_pairs, parse_int=_whole, parse_constant=alien.append)
    place, misses = text.find("{"), 0
    while place != -1 and misses < TRIES:
        alien.clear()
        try:
            found, place = decoder.raw_decode(text, place)
        except json.JSONDecodeError as error:
            place, misses = max(place + 1, error.pos), misses + 1
        except RecursionError:
            return
        else:
            if not alien:
                yield found
        place = text.find("{", place)


def _whole(digits: str) -> int | float:
    """A whole number; one that is too long for Python to read as such is at least no zero."""
    return int(digits) if len(digits) < _LONGEST_NUMBER else float(digits)


_LONGEST_NUMBER = 4_000


class _Twice(dict[str, Any]):
    """An object that has a key twice, so that nobody can say what it says."""


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    return fields if len(fields) == len(pairs) else _Twice(fields)
