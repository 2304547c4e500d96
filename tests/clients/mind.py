"""Minds: what a vendor's model makes of each brief, read from the brief itself: its nonce and its options."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from canary.demo.script import Fault, SeatScript, Vendor
from decide.consultation import Order
from decide.question import Option, Question
from decide.reply import Usage

QUESTION = Question(
    "Does the retry loop belong in the client or in the caller?",
    (Option("client", "Put it into the client"), Option("caller", "Leave it to the caller")),
    raised_by="tests",
)
RATIONALE = "The caller alone knows how long it may wait."
GAP = "what a retry costs"


class Does(StrEnum):
    """What a model does with a brief, beside naming an option."""

    LACKS = "insufficient_evidence"
    REFUSES = "model_refusal"
    REFUSES_IN_A_PART = "refusal part"
    HANGS = "timeout"


STOPS: Mapping[tuple[str, Vendor], str] = {
    (Does.REFUSES, Vendor.CLAUDE): "refusal",
    (Does.REFUSES, Vendor.CODEX): "content_filter",
    (Does.REFUSES_IN_A_PART, Vendor.CODEX): "refusal",
}
"""How each vendor's wire says that its model refuses."""


@dataclass
class Mind:
    """The model behind a seat: what it says to one consultation after the other, the last word for all that follow.

    `backward` is what it says to the reversed order instead. `given` are the tokens of each answer, as its vendor
    counts them.
    """

    seat: SeatScript
    says: Sequence[str]
    backward: Sequence[str] = ()
    given: list[tuple[Order, Usage]] = field(default_factory=list)
    _words: dict[str, tuple[Order, str]] = field(default_factory=dict)

    def __call__(self, prompt: str) -> str:
        """The answer to a brief, with what the seat then does on the wire; anything else gets no verdict."""
        schema = verdict_schema(prompt)
        if schema is None:
            return "The loopback provider says hello."
        nonce, (_, first, *_) = schema["nonce"]["enum"][0], schema["rec"]["enum"]
        order = Order.FORWARD if first == QUESTION.options[0].id else Order.REVERSED
        if nonce not in self._words:
            self._words[nonce] = order, self._next(order)
        word = self._words[nonce][1]
        self.seat.fault = Fault.HANG if word == Does.HANGS else None
        self.seat.stop_reason = STOPS.get((word, self.seat.vendor))
        text = "I will not say." if self.seat.stop_reason else _verdict(word, nonce)
        self.given.append((order, Usage(len(prompt) // 4, output=len(text) // 4 + 1)))
        return text

    def _next(self, order: Order) -> str:
        words = self.backward if self.backward and order is Order.REVERSED else self.says
        asked = sum(one is order for one, _ in self._words.values())
        return words[min(asked, len(words) - 1)]


def verdict_schema(prompt: str) -> dict[str, Any] | None:
    """The fields of the verdict's schema, which is the brief's last line; None for what is no brief."""
    lines = [line for line in prompt.splitlines() if line.startswith('{"type": "object"')]
    return json.loads(lines[-1])["properties"] if lines else None


def _verdict(word: str, nonce: str) -> str:
    lacks = word == Does.LACKS
    fields = {"nonce": nonce, "resolvable": not lacks, "rec": "" if lacks else word}
    kind = {"kind": word, "gap": GAP} if lacks else {"kind": "", "gap": ""}
    return json.dumps(fields | kind | {"touches": [], "rationale": RATIONALE})
