"""Picture: a plan drawn as SVG or PNG; the only file that imports matplotlib."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from canary.capacity.hours import DAYS
from canary.capacity.outcome import Outcome
from canary.capacity.plan import Plan, RungPlan
from decide.money import dollars

_INK, _FAINT, _GOOD, _BAD = "#1f2933", "#9aa5b1", "#2a7f62", "#b3362b"
_HEAT = LinearSegmentedColormap.from_list("missing", ["#f7f8f9", "#f2c2a0", "#d9683c", "#7c1d12"])


def draw(plan: Plan, path: Path) -> None:
    """Write the picture, by the ending of the path; kinds of seats that never run out are no part of it.

    Raises OSError.
    """
    spendable = {kind.name for kind in plan.scenario.kinds if kind.windows}
    shown = [(rung, kind) for rung in plan.rungs for kind in _kinds(rung) if kind in spendable]
    figure = Figure(figsize=(13, 1.4 + 3.3 * max(1, len(shown))), layout="constrained")
    figure.suptitle(_headline(plan), x=0.01, ha="left", fontsize=14, fontweight="bold", color=_INK)
    axes = figure.subplots(max(1, len(shown)), 2, squeeze=False, width_ratios=[1, 2])
    for row, (rung, kind) in enumerate(shown):
        outcomes = [each for each in rung.by_seats if each.mix[0][0] == kind]
        _by_seats(axes[row][0], plan, rung, kind, outcomes)
        _by_hour(figure, axes[row][1], kind, outcomes)
    # without a date two pictures of one plan are the same file
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


def _by_hour(figure: Figure, axes: Any, kind: str, outcomes: Sequence[Outcome]) -> None:
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
