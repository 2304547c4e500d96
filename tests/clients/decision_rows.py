"""Decisions: what both models say and how both seats stand, and the receipt that must come of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from types import MappingProxyType

from decide.consultation import ModelFrom, Order
from decide.question import LevelName
from decide.reply import Failure
from decide.ruling import Outcome
from decide.verdict import Decline
from tests.clients.ladder import ASTRA, FABLE, MODELS, Side
from tests.clients.mind import GAP, Does
from tests.clients.scenario import PAST

SOON = timedelta(minutes=2)
OTHER = "claude-opus-4-8"
BY_FABLE = (MODELS[FABLE], ModelFrom.REPORTED)
BY_ASTRA = (MODELS[ASTRA], ModelFrom.REQUESTED)


@dataclass(frozen=True)
class Row:
    """One decision, with what its receipt and the far side's log must hold.

    `passes` and `refused` are lines as `votes` makes them. `calls` are model requests by rung where a client makes
    more than one for a pass. `renewals` are requests to renew a login, by rung: the fewest and the most. `renewed`
    names the rung whose client renews first, alone.
    """

    name: str
    outcome: Outcome
    passes: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    fable: Side = field(default_factory=Side)
    astra: Side = field(default_factory=Side)
    option: str = ""
    by: tuple[str, ModelFrom] | None = None
    fallback: tuple[str, str, str] | None = None
    non_vote: tuple[str, str | None] | None = None
    declined: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    calls: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    renewals: Mapping[str, tuple[int, int]] = field(default_factory=lambda: MappingProxyType({}))
    renewed: str = ""
    level: LevelName = LevelName.MEDIUM

    @property
    def sides(self) -> dict[str, Side]:
        """Both rungs by name."""
        return {FABLE: self.fable, ASTRA: self.astra}


def votes(rung: str, *words: str, part: str = "", role: str = "vote") -> tuple[str, ...]:
    """A line for each order of a consultation; one word stands for both."""
    part = part or ("primary" if rung == FABLE else "second")
    both = zip(Order, words * 2 if len(words) == 1 else words, strict=True)
    return tuple(f"{part} {role} {rung} {order}: {word}" for order, word in both)


def _alone(by: str, because: str) -> dict[str, object]:
    """What holds where one rung stands alone."""
    other = ASTRA if by == FABLE else FABLE
    answered = {"option": "client", "by": BY_FABLE if by == FABLE else BY_ASTRA}
    return {"outcome": Outcome.SINGLE_RUNG, "fallback": (other, by, because), **answered}


def _row(name: str, **more: object) -> Row:
    return Row(name, **more)  # type: ignore[arg-type]


BOTH = (*votes(FABLE, "client"), *votes(ASTRA, "client"))
AGREED: dict[str, object] = {"outcome": Outcome.AGREED, "option": "client", "by": BY_FABLE, "passes": BOTH}
CAPPED, LOGIN = Failure.SEAT_CAPPED.value, Failure.NEEDS_LOGIN.value
WALLED: dict[str, object] = {"outcome": Outcome.WALLED, "non_vote": ("unavailable", None)}
PERSON: dict[str, object] = {"outcome": Outcome.NEEDS_HUMAN}
REFUSES = Decline.MODEL_REFUSAL.value
BOTH_WALLED = (*votes(FABLE, CAPPED), *votes(ASTRA, CAPPED))

ROWS = (
    _row("agree", **AGREED),
    _row("agree, at the low level", **AGREED, level=LevelName.LOW),
    _row(
        "agree at the high level, and the check finds a fault",
        outcome=Outcome.RECONSIDERED,
        astra=Side(("client", "client", "client", "caller"), ("client",)),
        option="client",
        by=BY_FABLE,
        level=LevelName.HIGH,
        passes=(
            *BOTH * 3,
            f"cross_check cross_check {ASTRA} {Order.FORWARD}: caller",
            *votes(FABLE, "client", part="reconsideration", role="reconsideration") * 3,
        ),
    ),
    _row(
        "disagree, and the primary comes round",
        outcome=Outcome.RECONSIDERED,
        fable=Side(("client", "caller")),
        astra=Side(("caller",)),
        option="caller",
        by=BY_FABLE,
        passes=(
            *votes(FABLE, "client"),
            *votes(ASTRA, "caller"),
            *votes(FABLE, "caller", part="reconsideration", role="reconsideration"),
        ),
    ),
    _row("Claude walled", **_alone(ASTRA, CAPPED), fable=Side(walled_min=127), passes=votes(ASTRA, "client"), refused=votes(FABLE, CAPPED)),
    _row("Codex walled", **_alone(FABLE, CAPPED), astra=Side(walled_min=67), passes=votes(FABLE, "client"), refused=votes(ASTRA, CAPPED)),
    _row("both walled, Codex clears first", **WALLED, fable=Side(walled_min=127), astra=Side(walled_min=67), refused=BOTH_WALLED),
    _row("both walled, Claude clears first", **WALLED, fable=Side(walled_min=45), astra=Side(walled_min=26 * 60 + 7), refused=BOTH_WALLED),
    _row("Claude refuses", **PERSON, fable=Side((Does.REFUSES,)), declined={"primary": REFUSES}, passes=(*votes(FABLE, REFUSES), *votes(ASTRA, "client"))),
    # Its built-in provider takes a content filter for an outage and asks five times more.
    _row("Codex refuses", **PERSON, astra=Side((Does.REFUSES,)), declined={"second": REFUSES}, passes=(*votes(FABLE, "client"), *votes(ASTRA, REFUSES)), calls={ASTRA: 12}),
    # The client leaves such a part out without a word: there is nothing to tell it from an empty answer.
    _row("Codex refuses in a part that its client drops", **_alone(FABLE, "empty"), astra=Side((Does.REFUSES_IN_A_PART,)), passes=(*votes(FABLE, "client"), *votes(ASTRA, "empty"))),
    _row("Claude times out, its twin refuses", **PERSON, fable=Side((Does.HANGS,), (Does.REFUSES,), timeout="15s"), declined={"primary": REFUSES}, passes=(*votes(FABLE, "timeout", REFUSES), *votes(ASTRA, "client"))),
    _row("Codex times out, its twin lacks evidence", **PERSON, astra=Side((Does.LACKS,), (Does.HANGS,), timeout="15s"), declined={"second": Does.LACKS.value}, non_vote=("insufficient_evidence", GAP), passes=(*votes(FABLE, "client"), *votes(ASTRA, Does.LACKS, "timeout"))),
    _row("Claude answers as another model", **_alone(ASTRA, "substituted"), fable=Side(login={"answers_as": OTHER}), passes=(*votes(FABLE, "substituted"), *votes(ASTRA, "client"))),
    _row("Claude's login lapses in two minutes", **AGREED, fable=Side(login={"lapses": SOON}), renewals={FABLE: (1, 1)}, renewed=FABLE),
    _row("Codex's login lapses in two minutes", **AGREED, astra=Side(login={"lapses": SOON}), renewals={ASTRA: (1, 1)}, renewed=ASTRA),
    # One goes first; what it met is known before the other one would start.
    _row("Claude's login has lapsed, renewal refused", **_alone(ASTRA, LOGIN), fable=Side(login={"lapses": PAST, "renewable": False}), passes=votes(ASTRA, "client"), refused=votes(FABLE, LOGIN)[:1], calls={FABLE: 0}, renewals={FABLE: (1, 1)}),
    _row("Claude's login rejected", **_alone(ASTRA, LOGIN), fable=Side(login={"known": False}), passes=votes(ASTRA, "client"), refused=votes(FABLE, LOGIN)),
    _row("Codex's login rejected for good", **_alone(FABLE, LOGIN), astra=Side(login={"known": False, "renewable": False}), passes=votes(FABLE, "client"), refused=votes(ASTRA, LOGIN), calls={ASTRA: 0}, renewals={ASTRA: (1, 2)}),
    # Nobody could see it coming, so both clients renew; the loser takes over what the other one got.
    _row("Codex's login rejected, renewable", **AGREED, astra=Side(login={"known": False}), renewals={ASTRA: (1, 2)}),
)  # fmt: skip
