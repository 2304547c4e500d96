"""Cost text: what decisions of each level took, as a person reads it on a terminal or in a pipe."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType

from canary.capacity.cost import FEWEST_P95, UNASKED, Figure, LevelCost, Quantity
from canary.cli.sheet import Sheet
from canary.cli.telling import Fact
from decide.money import MICRO
from exporters.moment import iso

Row = tuple[str, ...]
NOT_KNOWN = "not known"
_NAMES: Mapping[Quantity, str] = MappingProxyType(
    {
        Quantity.USD_METERED: "USD metered",
        Quantity.USD_SUBSCRIPTION: "USD notional",
        Quantity.TOKENS: "tokens",
        Quantity.PASSES: "calls",
        Quantity.SECONDS: "seconds",
    }
)
_LEGEND = (
    "PER ANSWER is the total, runs without an answer too, by answered run.",
    "Notional is what a subscription covers; metered is paid, and the two are never added up.",
    "Points are percents of a window, of runs that asked its rung.",
)


def show(costs: Sequence[LevelCost], sheet: Sheet, since: datetime) -> None:
    """Print a table by level, and below it what is not known."""
    sheet.facts([Fact("", f"Runs that ended since {iso(since)}, by level")])
    for cost in costs:
        sheet.title(f"{cost.level}: {_counted(cost)}")
        if cost.answered or cost.figures[Quantity.PASSES].total:
            sheet.rows(_heads(cost), _rows(cost))
        sheet.facts(Fact("", f"- {text}") for text in _remarks(cost))
    sheet.title("How to read it")
    sheet.facts(Fact("", f"- {text}") for text in _LEGEND)


def _counted(cost: LevelCost) -> str:
    outcomes = ", ".join(f"{count} {name}" for name, count in cost.outcomes.items())
    return f"{cost.answered} of {cost.runs} runs answered ({outcomes})"


def _heads(cost: LevelCost) -> Row:
    more = (f"{cost.unasked} MORE",) if cost.unasked else ()
    return ("", "MEDIAN", "P95", "KNOWN OF", "TOTAL", "PER ANSWER", *more)


def _rows(cost: LevelCost) -> Iterator[Row]:
    for quantity, figure in cost.figures.items():
        yield _row(cost, _NAMES[quantity], figure, quantity)
    for (rung, kind), figure in cost.points.items():
        yield _row(cost, f"points of {rung}, {kind}", figure, None)


def _row(cost: LevelCost, name: str, figure: Figure, quantity: Quantity | None) -> Row:
    sums = _sum(figure.total, figure, quantity), per_answer(figure, quantity)
    known = f"{figure.known} of {figure.of}"
    more = (_value(figure.unasked, quantity),) if cost.unasked else ()
    p95 = "too few" if 0 < figure.known < FEWEST_P95 else _value(figure.p95, quantity)
    return (name, _value(figure.median, quantity), p95, known, *sums, *more)


def per_answer(figure: Figure, quantity: Quantity | None) -> str:
    """What an answer took, and that it may be more where not all is known."""
    return _sum(figure.per_answer, figure, quantity)


def _sum(amount: float | None, figure: Figure, quantity: Quantity | None) -> str:
    more = " or more" if amount is not None and figure.at_least else ""
    return _value(amount, quantity) + more


def _value(amount: float | None, quantity: Quantity | None) -> str:
    """An amount in as many places as make sense; without a quantity it is points of a window."""
    if amount is None:
        return NOT_KNOWN
    match quantity:
        case Quantity.USD_METERED | Quantity.USD_SUBSCRIPTION:
            return f"{amount / MICRO:.4f}"
        case Quantity.TOKENS:
            return f"{amount:,.0f}"
        case Quantity.PASSES | Quantity.SECONDS:
            return f"{amount:.1f}"
        case None:
            return f"{amount:.2f}"


def _remarks(cost: LevelCost) -> Iterator[str]:
    figures = [*cost.figures.values(), *cost.points.values()]
    if not cost.answered:
        yield "nothing was answered, so what an answer takes is not known"
    if any(0 < each.known < FEWEST_P95 for each in figures):
        yield f"P95 takes {FEWEST_P95} runs or more: of fewer it would be the greatest, whatever the others are"
    for rung, count in cost.unpriced.items():
        yield f"of {_runs(count)} the cost of a call of {rung} is not known: it is left out, not taken as 0"
    for rung, count in cost.unread.items():
        yield f"what {_runs(count)} took from windows of {rung} is not known: no meter of it was read around them"
    if cost.unasked:
        words = " and ".join(f"{cost.outcomes[each]} {each}" for each in UNASKED if each in cost.outcomes)
        yield f"{cost.unasked} MORE is what the {words} would have taken at the mean of the answered runs"


def _runs(count: int) -> str:
    return f"{count} run" if count == 1 else f"{count} runs"
