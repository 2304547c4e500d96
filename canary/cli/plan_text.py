"""Plan text: a plan and a backtest as a person reads them on a terminal or in a pipe."""

from collections.abc import Iterator, Sequence

from canary.capacity.backtest import LEAD, WITHIN, Backtest, Score
from canary.capacity.cost import LevelCost, Quantity
from canary.capacity.estimate import Estimate
from canary.capacity.hours import DAYS, HOURS, hour_words
from canary.capacity.outcome import Outcome
from canary.capacity.plan import Moved, Next, Plan, RungPlan
from canary.cli.cost_text import per_answer
from canary.cli.sheet import Sheet
from canary.cli.telling import Fact, Weight
from decide.money import dollars
from decide.reply import Billing
from exporters.moment import iso, span_words

_BAR = 30
Row = tuple[str, ...]


def show(plan: Plan, sheet: Sheet, costs: Sequence[LevelCost] = ()) -> None:
    """Print what the plan answers, the most important first, what the history's levels cost, and what is assumed."""
    sheet.facts(_answers(plan))
    for rung in plan.rungs:
        sheet.title(f"{rung.rung}: working time in which no seat can be picked, by number of seats")
        sheet.rows(("SEATS", "USD/MONTH", "MISSING", "95 IN 100 BETWEEN", "", ""), _by_seats(rung, plan))
        seen = rung.have if rung.have is not None and rung.have.mix else rung.cheapest
        if seen is not None and seen.missing.mean:
            sheet.title(f"{rung.rung}: chance that it is missing with {seen.words}, by hour of the week")
            sheet.rows(("", _HOURS), _week(seen))
            sheet.facts([Fact("", ". never, 0 below 10 %, 1 below 20 %, and so on to 9")])
    _show_spend(plan, sheet)
    _show_history(costs, sheet)
    _show_changes(plan, sheet)
    sheet.title("Taken for granted")
    sheet.facts(Fact("", f"- {text}") for text in (*plan.scenario.assumptions, *plan.notes))


_HOURS = "".join(f"{hour:-<3}" for hour in range(0, 24, 3))


def _answers(plan: Plan) -> Iterator[Fact]:
    target = plan.scenario.target
    for rung in plan.rungs:
        yield _cheapest(rung, target)
        if rung.have is not None:
            met = rung.have.meets(target)
            words = f"{rung.have.words}: {_share(rung.have.missing)}"
            yield Fact("today", words, Weight.GOOD if met else Weight.BAD)
            if rung.have.mix and rung.have.missing.mean:
                worst = max(range(HOURS), key=rung.have.by_hour.__getitem__)
                chance = f"{rung.have.by_hour[worst]:.1%}"
                yield Fact("worst", f"{hour_words(worst)}, when it is missing in {chance} of weeks")
    if plan.either is not None and plan.both is not None:
        words = f"a rung today: {_share(plan.either)}; both at once: {_share(plan.both)}"
        yield Fact("ladder", words)
    simulated = max((rung.have.weeks for rung in plan.rungs if rung.have), default=0)
    yield Fact("after", f"{simulated} simulated weeks, seed {plan.budget.seed}")


def _cheapest(rung: RungPlan, target: float) -> Fact:
    allowed = f"missing at most {target:.2%} of working time"
    if rung.cheapest is None:
        return Fact("", f"{rung.rung}: no mix that was looked at is {allowed}; raise `most`", Weight.BAD)
    words = f"{rung.rung}: {rung.cheapest.words} for {_usd(rung.cheapest.month_micro_usd)} a month"
    return Fact("", f"{words} is the cheapest that is {allowed}", Weight.GOOD)


def _by_seats(rung: RungPlan, plan: Plan) -> Iterator[Row]:
    for each in rung.by_seats:
        missing = each.missing
        marks = ["meets the target"] if each.meets(plan.scenario.target) else []
        marks += ["today"] if rung.have is not None and each.mix == rung.have.mix else []
        between = f"{missing.low:.2%} to {missing.high:.2%}"
        bar = "#" * round(missing.mean * _BAR) or ("." if missing.mean else "")
        yield each.words, _usd(each.month_micro_usd), f"{missing.mean:.2%}", between, bar, ", ".join(marks)


def _week(outcome: Outcome) -> Iterator[Row]:
    for number, day in enumerate(DAYS):
        yield day, "".join(map(_digit, outcome.by_hour[number * 24 : number * 24 + 24]))


def _digit(chance: float) -> str:
    return str(min(9, int(chance * 10))) if chance > 0 else "."


def _show_spend(plan: Plan, sheet: Sheet) -> None:
    rows = [
        (rung.rung, each.level, *map(_number, (each.wanted, each.blocked, each.passes)), *_paid(each.micro_usd))
        for rung in plan.rungs
        if rung.have is not None
        for each in rung.have.spend
    ]
    sheet.title("A week with today's seats, by level")
    heads = ("RUNG", "LEVEL", "CONSULTATIONS", "MISSED", "PASSES", "USD METERED", "USD NOTIONAL")
    sheet.rows(heads, rows)


def _show_history(costs: Sequence[LevelCost], sheet: Sheet) -> None:
    """What an answer took by level in the history that the plan comes from; nothing without one."""
    if not costs:
        return
    sheet.title("What an answer took in that history, runs without one counted in, by level")
    heads = ("LEVEL", "RUNS", "ANSWERED", "USD METERED", "USD NOTIONAL", "TOKENS", "PASSES")
    sheet.rows(heads, ((each.level, str(each.runs), str(each.answered), *_per_answer(each)) for each in costs))


_SHOWN = (Quantity.USD_METERED, Quantity.USD_SUBSCRIPTION, Quantity.TOKENS, Quantity.PASSES)


def _per_answer(cost: LevelCost) -> Row:
    return tuple(per_answer(cost.figures[quantity], quantity) for quantity in _SHOWN)


def _paid(micro_usd: dict[Billing, Estimate]) -> Row:
    return tuple(_dollars(micro_usd[each]) for each in (Billing.METERED, Billing.SUBSCRIPTION))


def _show_changes(plan: Plan, sheet: Sheet) -> None:
    rows = [row for rung in plan.rungs for row in (*map(_next, rung.nexts), *_moved(rung.moved))]
    sheet.title("What a change to today's seats buys")
    sheet.rows(("RUNG", "CHANGE", "MISSING THEN", "POINTS OF WORKING TIME", "USD"), rows)


def _next(each: Next) -> Row:
    month = each.month_micro_usd
    usd = "not known" if month is None else f"{'-' if month < 0 else '+'}{dollars(abs(month))} a month"
    return each.after.rung, f"one more {each.kind}", f"{each.after.missing.mean:.2%}", _change(each.missing), usd


def _moved(moved: Moved | None) -> Iterator[Row]:
    if moved is None:
        return
    paid = ", ".join(
        f"{change.mean / 1e6:+.2f} {'notional' if billing is Billing.SUBSCRIPTION else billing} a week"
        for billing, change in moved.micro_usd_per_week.items()
        if change.mean
    )
    needs = "" if moved.cheapest is None else f" ({moved.cheapest.words} would do)"
    missing = f"{moved.after.missing.mean:.2%}{needs}"
    yield moved.after.rung, f"{moved.share:.0%} of high at medium", missing, _change(moved.missing), paid


def _change(found: Estimate) -> str:
    return f"{found.mean * 100:+.2f} ({found.low * 100:+.2f} to {found.high * 100:+.2f})"


def _share(found: Estimate) -> str:
    if found.mean == 0.0:
        return f"never missing (surely less than {found.high:.2%} of working time)"
    return f"missing {found.mean:.2%} of working time ({found.low:.2%} to {found.high:.2%})"


def _number(found: Estimate) -> str:
    return f"{found.mean:.1f}"


def _dollars(found: Estimate) -> str:
    return f"{found.mean / 1e6:.2f}"


def _usd(micro: int | None) -> str:
    return "not known" if micro is None else dollars(micro)


def show_backtest(found: Backtest, sheet: Sheet) -> None:
    """Print how both ways of forecasting did."""
    first, last = found.span
    ahead = span_words(LEAD)
    sheet.facts(
        [
            Fact("", f"{found.samples} meter readings from {iso(first)} to {iso(last)}"),
            Fact("", f"An alarm names a moment at most {span_words(WITHIN)} away."),
        ]
    )
    rows = [
        *_scores("windows", found.windows, found.windows_naive),
        *_scores("rungs", found.rungs, found.rungs_naive),
    ]
    heads = ("OF", "BY", "SPENT", f"FORESEEN {ahead} AHEAD", "ALARMS", "FALSE", "INTERVALS THAT HELD")
    sheet.rows(heads, rows)


def _scores(of: str, ours: Score, naive: Score) -> Sequence[Row]:
    return [_score(of, "forecast", ours), _score(of, "predict_linear", naive)]


def _score(of: str, by: str, score: Score) -> Row:
    held = f"{score.covered:.0%} of {score.intervals}" if score.covered is not None else ""
    return of, by, str(score.spent), _percent(score.foreseen), str(score.alarms), _percent(score.false), held


def _percent(share: float | None) -> str:
    return "" if share is None else f"{share:.0%}"
