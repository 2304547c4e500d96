"""Picture: a plan drawn as SVG or PNG; the only file that imports matplotlib."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure, SubFigure
from matplotlib.patches import Patch

from canary.capacity.estimate import Estimate
from canary.capacity.hours import DAYS
from canary.capacity.outcome import Outcome, Spend
from canary.capacity.plan import Plan, RungPlan
from decide.money import MICRO, dollars
from decide.reply import Billing

_INK, _FAINT, _GOOD, _BAD = "#1f2933", "#9aa5b1", "#2a7f62", "#b3362b"
_RUNGS = ("#2f6690", "#e0a458")
_PANEL = 3.3
"""Inches that the panels of one kind of seat are high."""
_BAR = 0.38
"""The part of a level's height that a rung's bar takes."""
_PAID: Mapping[Billing, str] = MappingProxyType(
    {Billing.METERED: "paid by use", Billing.SUBSCRIPTION: "covered by subscriptions (notional)"}
)
_HEAT = LinearSegmentedColormap.from_list("missing", ["#f7f8f9", "#f2c2a0", "#d9683c", "#7c1d12"])


def draw(plan: Plan, path: Path) -> None:
    """Write the picture, by the ending of the path; kinds of seats that never run out are no part of it.

    Raises OSError.
    """
    spendable = {kind.name for kind in plan.scenario.kinds if kind.windows}
    shown = [(rung, kind) for rung in plan.rungs for kind in _kinds(rung) if kind in spendable]
    heights = [*[_PANEL] * len(shown), _spend_height(plan)]
    figure = Figure(figsize=(13, 1.2 + sum(heights)), layout="constrained")
    figure.suptitle(_headline(plan), x=0.01, ha="left", fontsize=14, fontweight="bold", color=_INK)
    parts = figure.subfigures(len(heights), 1, height_ratios=heights, squeeze=False)[:, 0]
    for part, (rung, kind) in zip(parts[:-1], shown, strict=True):
        outcomes = [each for each in rung.by_seats if each.mix[0][0] == kind]
        seats, hours = part.subplots(1, 2, width_ratios=[1, 2])
        _by_seats(seats, plan, rung, kind, outcomes)
        _by_hour(part, hours, kind, outcomes)
    for axes, billing in zip(parts[-1].subplots(1, 2), _PAID, strict=True):
        _by_level(axes, plan, billing)
    # without a date and with a known salt two pictures of one plan are the same file
    with rc_context({"svg.hashsalt": "rungwatch"}):
        figure.savefig(path, dpi=120, metadata={"Date": None} if path.suffix == ".svg" else None)


def _kinds(rung: RungPlan) -> list[str]:
    return list(dict.fromkeys(each.mix[0][0] for each in rung.by_seats))


def _headline(plan: Plan) -> str:
    parts = []
    for rung in plan.rungs:
        if rung.cheapest is None:
            parts.append(f"{rung.rung}: no mix that was looked at is enough")
        else:
            price = rung.cheapest.month_micro_usd
            month = "" if price is None else f" for {dollars(price)} USD a month"
            parts.append(f"{rung.rung}: {rung.cheapest.words}{month}")
    allowed = f"a rung missing at most {plan.scenario.target * 100:g} % of working time"
    return f"{';  '.join(parts)}\n(the cheapest with {allowed})"


def _by_seats(axes: Any, plan: Plan, rung: RungPlan, kind: str, outcomes: Sequence[Outcome]) -> None:
    """The missing share by number of seats, with its interval, the target and how many there are today."""
    target = plan.scenario.target
    for each in outcomes:
        color = _GOOD if each.meets(target) else _BAD
        low, high = each.missing.low * 100, each.missing.high * 100
        axes.vlines(each.seats, low, high, color=color, linewidth=5, alpha=0.35)
        axes.plot(each.seats, each.missing.mean * 100, "o", color=color, markersize=6, clip_on=False)
    axes.axhline(target * 100, color=_INK, linewidth=1, linestyle="--")
    axes.annotate(f"target {target:.2%}", (1, target * 100), (0, 4), textcoords="offset points", fontsize=8)
    have = plan.scenario.have.get(kind, 0)
    if have:
        axes.axvline(have, color=_FAINT, linewidth=8, alpha=0.25, zorder=0)
        axes.annotate("today", (have, 1), (5, -12), ("data", "axes fraction"), textcoords="offset points", fontsize=8)
    axes.set_title(f"{rung.rung}: working time without a usable seat", loc="left", fontsize=10, color=_INK)
    axes.set_xlabel(f"seats of kind {kind}")
    axes.set_ylabel("% of working time")
    axes.set_xticks([each.seats for each in outcomes])
    axes.set_ylim(bottom=0)
    axes.spines[["top", "right"]].set_visible(False)


def _spend_height(plan: Plan) -> float:
    return 1.1 + 0.55 * max(1, len(_spends(plan)))


def _spends(plan: Plan) -> dict[str, dict[str, Spend]]:
    """What today's seats would take in a week by level and rung; empty where that was not simulated."""
    found: dict[str, dict[str, Spend]] = defaultdict(dict)
    for rung in plan.rungs:
        for each in rung.have.spend if rung.have else ():
            found[each.level][rung.rung] = each
    return found


def _by_level(axes: Any, plan: Plan, billing: Billing) -> None:
    """Dollars a week by level, a bar for each rung, with its interval."""
    spends, rungs = _spends(plan), [rung.rung for rung in plan.rungs]
    axes.set_title(f"spend by level, {_PAID[billing]}", loc="left", fontsize=10, color=_INK)
    axes.spines[["top", "right"]].set_visible(False)
    most = max(
        (each.micro_usd[billing].high for by_rung in spends.values() for each in by_rung.values()), default=0.0
    )
    if not most:
        _say_none(axes, "0.00 USD a week with today's seats" if spends else "not simulated")
        return
    for place, by_rung in enumerate(spends.values()):
        for number, (rung, color) in enumerate(zip(rungs, _RUNGS, strict=True)):
            if rung in by_rung:
                y = place + (number - (len(rungs) - 1) / 2) * _BAR
                _bar(axes, y, by_rung[rung].micro_usd[billing], color)
    axes.set_yticks(range(len(spends)), spends)
    axes.set_xlim(0, most / MICRO * 1.35)
    axes.set_xlabel("USD a week, with today's seats")
    axes.invert_yaxis()
    bars = [Patch(color=color, label=rung) for rung, color in zip(rungs, _RUNGS, strict=True)]
    axes.legend(handles=bars, frameon=False, fontsize=8, ncols=2, loc="lower right", bbox_to_anchor=(1, 0.98))


def _bar(axes: Any, y: float, usd: Estimate, color: str) -> None:
    mean, low, high = (each / MICRO for each in (usd.mean, usd.low, usd.high))
    axes.barh(y, mean, _BAR * 0.9, color=color)
    axes.hlines(y, low, high, color=_INK, linewidth=1.5)
    words = f"{mean:.2f}  ({low:.2f} to {high:.2f})"
    axes.annotate(words, (high, y), (5, 0), textcoords="offset points", fontsize=8, va="center", color=_INK)


def _say_none(axes: Any, words: str) -> None:
    axes.set_axis_off()
    axes.annotate(words, (0, 0.9), xycoords="axes fraction", va="top", fontsize=9, color=_INK)


def _by_hour(figure: SubFigure, axes: Any, kind: str, outcomes: Sequence[Outcome]) -> None:
    """The chance that the rung is missing, by hour of the week and number of seats."""
    heat = np.array([each.by_hour for each in outcomes]) * 100
    counts = [each.seats for each in outcomes]
    edges = np.arange(min(counts) - 0.5, max(counts) + 1.5)
    mesh = axes.pcolormesh(np.arange(169), edges, heat, cmap=_HEAT, vmin=0, vmax=100, rasterized=True)
    axes.set_xticks(np.arange(7) * 24 + 12, DAYS)
    axes.set_xticks(np.arange(8) * 24, minor=True)
    axes.tick_params(axis="x", which="major", length=0)
    axes.vlines(np.arange(1, 7) * 24, edges[0], edges[-1], color="white", linewidth=1)
    axes.set_yticks(counts)
    axes.set_ylabel(f"seats of kind {kind}")
    axes.set_title("chance that it is missing, by hour of the week", loc="left", fontsize=10, color=_INK)
    figure.colorbar(mesh, ax=axes, label="%", pad=0.01)
