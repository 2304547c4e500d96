"""plan_300_weeks: 300 simulated weeks of 10 seats and 200 questions a day on two processes, and twice as many."""

import resource
from functools import partial
from statistics import median

from canary.capacity.batch import Task, mix_of
from canary.capacity.hours import HOURS
from canary.capacity.scenario import Draw, Rates, Scenario, SeatKind, Starts, Take, WindowRule
from canary.capacity.work import Work
from decide.quota import WindowKind
from tests.bench.measure import Row, interleaved, say, seconds

NAME = "plan_300_weeks"
WEEKS, BATCHES, PROCESSES, RUNS = 300, 20, 2, 3
WITHIN_S = 30.0
LINEAR = 2.1
"""How many times the processor time twice the weeks may take."""
A_DAY = 200
_WEEK = WindowRule(WindowKind.WEEKLY, starts=Starts.ANCHOR, length_s=HOURS * 3600)
_MODEL = WindowRule(WindowKind.WEEKLY_MODEL, starts=Starts.ANCHOR, length_s=HOURS * 3600, scope="Fable")
_KINDS = (
    SeatKind("max", "fable", (WindowRule(WindowKind.SESSION), _WEEK, _MODEL)),
    SeatKind("pro", "astra", (WindowRule(WindowKind.SESSION), _WEEK)),
)
_POINTS = {WindowKind.SESSION: 1.5, WindowKind.WEEKLY: 0.25, WindowKind.WEEKLY_MODEL: 0.3}
_DAYTIME = tuple(A_DAY / 10 if 8 <= hour % 24 < 18 else 0.0 for hour in range(HOURS))
_DRAW = Draw("medium", {"fable": Take(2, 100_000, _POINTS), "astra": Take(2, 80_000, _POINTS)}, 0.1)
SCENARIO = Scenario(("fable", "astra"), _KINDS, Rates({"medium": _DAYTIME}, (_DRAW,)))
_MIXES = (("fable", mix_of({"max": 5})), ("astra", mix_of({"pro": 5})))


def measure() -> list[Row]:
    """Seconds for the weeks; the floor is half of what twice the weeks take."""
    spent: dict[int, list[float]] = {WEEKS: [], 2 * WEEKS: []}
    ours, twice = interleaved(
        partial(_took, WEEKS, spent), partial(_took, 2 * WEEKS, spent), RUNS, f"{NAME} (seconds)"
    )
    once, again = (median(spent[weeks]) for weeks in (WEEKS, 2 * WEEKS))
    say(f"{NAME}: {once:.1f} s of processor time; twice the weeks took {again / once:.2f} times as much")
    if again / once > LINEAR:
        raise RuntimeError(f"not linear in weeks: {once:.1f} s for {WEEKS}, {again:.1f} s for {2 * WEEKS}")
    return [Row(NAME, ours, twice / 2, "s", RUNS, most=WITHIN_S)]


def _took(weeks: int, spent: dict[int, list[float]]) -> float:
    """Seconds for so many weeks of both rungs, the start of the processes among them; their processor time is noted."""
    work = Work(SCENARIO, PROCESSES)
    tasks = [Task(rung, mix, batch, weeks // BATCHES, 1) for batch in range(BATCHES) for rung, mix in _MIXES]

    def run() -> None:
        with work.open():
            work.run(tasks)

    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    taken = seconds(run)
    spent[weeks].append(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before)
    wanted = sum(batch.levels["medium"].wanted * batch.task.weeks for batch in work.done.values())
    # the primary is asked a tenth more: it reconsiders
    if len(work.done) != len(tasks) or not 0.98 < wanted / (2.1 * A_DAY * 7 * weeks) < 1.02:
        raise RuntimeError(f"only {len(work.done)} batches with {wanted:.0f} consultations were simulated")
    return taken
