"""Plan: the mixes that are worth simulating, and what their outcomes answer."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import product

from canary.capacity.batch import Batch, Mix, Task, mix_of
from canary.capacity.estimate import Estimate, share
from canary.capacity.outcome import Outcome, difference, outcome, seats_micro_usd, working_share
from canary.capacity.scenario import Scenario
from canary.capacity.stretches import missing_share, overlap
from canary.capacity.work import Work
from decide.question import LevelName
from decide.reply import Billing

BATCHES = 20
"""How many independent batches the weeks are split into: enough for Student's interval to be narrow."""
FEWEST_WEEKS = BATCHES
AHEAD = 5
"""How many seats beyond those that there are the table goes, where the scenario does not say."""
SEARCHED = 400
"""The most mixes of several kinds that are simulated for a rung."""


@dataclass(frozen=True, slots=True)
class Budget:
    """How much is simulated: weeks in all, the seed, and the share of `high` that is tried at `medium`."""

    weeks: int = 300
    seed: int = 1
    move: float = 0.25


@dataclass(frozen=True, slots=True)
class Next:
    """What one more seat of a kind changes: missing time, and dollars a month (None: not known)."""

    kind: str
    after: Outcome
    missing: Estimate
    month_micro_usd: int | None


@dataclass(frozen=True, slots=True)
class Moved:
    """What asking a share of the questions at `medium` instead of `high` changes on a rung, with today's seats."""

    share: float
    after: Outcome
    missing: Estimate
    micro_usd_per_week: Mapping[Billing, Estimate]
    cheapest: Outcome | None


@dataclass(frozen=True, slots=True)
class RungPlan:
    """A rung: with today's seats, by number of seats of each kind, the cheapest mix and what may be changed."""

    rung: str
    have: Outcome | None
    by_seats: tuple[Outcome, ...]
    cheapest: Outcome | None
    nexts: tuple[Next, ...] = ()
    moved: Moved | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """What was found; `either` and `both` are the time in which a rung, and the whole ladder, is missing today."""

    scenario: Scenario
    budget: Budget
    rungs: tuple[RungPlan, ...]
    either: Estimate | None
    both: Estimate | None
    stopped: bool
    notes: tuple[str, ...] = field(default=())


def make_plan(scenario: Scenario, budget: Budget, work: Work) -> Plan:
    """Simulate what the plan needs and say what came of it; a work that is stopped makes a plan of what is done."""
    planner = _Planner(scenario, budget, work)
    with work.open():
        planner.simulate()
    return planner.plan()


class _Planner:
    def __init__(self, scenario: Scenario, budget: Budget, work: Work) -> None:
        self._scenario, self._budget, self._work = scenario, budget, work
        self._have = {
            rung: mix_of({kind.name: scenario.have.get(kind.name, 0) for kind in scenario.of_rung(rung)})
            for rung in scenario.rungs
        }
        levels = {draw.level for draw in scenario.demand.draws}
        self._move = budget.move if {LevelName.HIGH, LevelName.MEDIUM} <= levels else 0.0

    def simulate(self) -> None:
        """First what every plan shows, batch by batch so that a stop leaves all equally far; then the search."""
        first = [(rung, mix, 0.0) for rung in self._scenario.rungs for mix in self._shown(rung)]
        first += [(rung, self._have[rung], self._move) for rung in self._scenario.rungs if self._move]
        self._run(first)
        for moved in dict.fromkeys((0.0, self._move)):
            for rung in self._scenario.rungs:
                self._search(rung, moved)

    def plan(self) -> Plan:
        """What the done batches answer."""
        rungs = tuple(self._rung(rung) for rung in self._scenario.rungs)
        either, both = self._ladder()
        return Plan(self._scenario, self._budget, rungs, either, both, self._work.stopped, self._notes())

    def _run(self, wanted: Sequence[tuple[str, Mix, float]]) -> None:
        self._work.run(
            [self._task(rung, mix, moved, batch) for batch in range(BATCHES) for rung, mix, moved in wanted]
        )

    def _task(self, rung: str, mix: Mix, moved: float, batch: int) -> Task:
        weeks = self._budget.weeks // BATCHES + (batch < self._budget.weeks % BATCHES)
        return Task(rung, mix, batch, weeks, self._budget.seed, moved)

    def _shown(self, rung: str) -> list[Mix]:
        """Today's seats, one more of each kind, and each kind alone in every number."""
        have, kinds = dict(self._have[rung]), self._scenario.of_rung(rung)
        more = [mix_of(have | {kind.name: have.get(kind.name, 0) + 1}) for kind in kinds]
        alone = [mix_of({kind.name: count}) for kind in kinds for count in range(1, self._most(kind.name) + 1)]
        return list(dict.fromkeys([self._have[rung], *more, *alone]))

    def _most(self, kind: str) -> int:
        return self._scenario.most.get(kind, self._scenario.have.get(kind, 0) + AHEAD)

    def _search(self, rung: str, moved: float) -> None:
        """Try mixes from the middle of what is undecided, by price, until it is known which is the cheapest."""
        undecided = self._by_price(rung)
        for mix in tuple(undecided):
            undecided = self._left(undecided, self._outcome(rung, mix, moved))
        while undecided and not self._work.stopped:
            mix = undecided[len(undecided) // 2]
            self._run([(rung, mix, moved)])
            undecided = self._left(undecided, self._outcome(rung, mix, moved))

    def _left(self, undecided: list[Mix], found: Outcome | None) -> list[Mix]:
        """What an outcome leaves to be tried: nothing dearer than a mix that does, nothing within one that fails."""
        if found is None:
            return undecided
        if not found.meets(self._scenario.target):
            return [mix for mix in undecided if not _within(mix, found.mix)]
        best = found.month_micro_usd or 0, found.seats, found.mix
        return [mix for mix in undecided if mix != found.mix and self._price(mix) < best]

    def _by_price(self, rung: str) -> list[Mix]:
        kinds = self._scenario.of_rung(rung)
        counts = product(*(range(self._most(kind.name) + 1) for kind in kinds))
        mixes = [mix_of({kind.name: n for kind, n in zip(kinds, each, strict=True)}) for each in counts]
        return sorted(filter(None, mixes), key=self._price)[:SEARCHED]

    def _price(self, mix: Mix) -> tuple[int, int, Mix]:
        return seats_micro_usd(self._scenario, mix) or 0, sum(count for _, count in mix), mix

    def _batches(self, rung: str, mix: Mix, moved: float = 0.0) -> list[Batch]:
        tasks = (self._task(rung, mix, moved, batch) for batch in range(BATCHES))
        return [self._work.done[task] for task in tasks if task in self._work.done]

    def _outcome(self, rung: str, mix: Mix, moved: float = 0.0) -> Outcome | None:
        return outcome(self._scenario, self._batches(rung, mix, moved))

    def _rung(self, rung: str) -> RungPlan:
        alone = (mix for mix in self._shown(rung) if len(mix) == 1)
        shown = (self._outcome(rung, mix) for mix in alone)
        return RungPlan(
            rung,
            self._outcome(rung, self._have[rung]),
            tuple(sorted((each for each in shown if each is not None), key=lambda each: each.mix)),
            self._cheapest(rung, 0.0),
            tuple(self._nexts(rung)),
            self._moved(rung) if self._move else None,
        )

    def _cheapest(self, rung: str, moved: float) -> Outcome | None:
        tried = (self._outcome(rung, mix, moved) for mix in self._by_price(rung))
        good = [each for each in tried if each is not None and each.meets(self._scenario.target)]
        return min(good, key=lambda each: (each.month_micro_usd or 0, each.seats, each.mix), default=None)

    def _nexts(self, rung: str) -> Iterable[Next]:
        have = dict(self._have[rung])
        for kind in self._scenario.of_rung(rung):
            mix = mix_of(have | {kind.name: have.get(kind.name, 0) + 1})
            before, after = self._outcome(rung, self._have[rung]), self._outcome(rung, mix)
            change = difference(self._batches(rung, mix), self._batches(rung, self._have[rung]), self._working)
            if before is None or after is None or change is None:
                continue
            prices = before.month_micro_usd, after.month_micro_usd
            dearer = None if None in prices else (prices[1] or 0) - (prices[0] or 0)
            yield Next(kind.name, after, change, dearer)

    def _moved(self, rung: str) -> Moved | None:
        before, after = self._batches(rung, self._have[rung]), self._batches(rung, self._have[rung], self._move)
        found, change = outcome(self._scenario, after), difference(after, before, self._working)
        if found is None or change is None:
            return None
        usd = {each: difference(after, before, partial(_usd, billing=each)) for each in Billing}
        known = {each: change for each, change in usd.items() if change is not None}
        return Moved(self._move, found, change, known, self._cheapest(rung, self._move))

    def _working(self, batch: Batch) -> float:
        return working_share(batch, self._scenario)

    def _ladder(self) -> tuple[Estimate | None, Estimate | None]:
        """A rung or the whole ladder missing with today's seats, hour by hour of the batches that both rungs have."""
        today = (self._batches(rung, self._have[rung]) for rung in self._scenario.rungs)
        one, other = ({batch.task.batch: batch for batch in batches} for batches in today)
        pairs = [(one[batch], other[batch]) for batch in one if batch in other]
        if len(pairs) < 2:
            return None, None
        working, weeks = sorted(self._scenario.working), sum(batch.task.weeks for batch, _ in pairs)
        both = [missing_share(overlap(a.missing, b.missing), a.task.weeks, working) for a, b in pairs]
        apart = [self._working(a) + self._working(b) for a, b in pairs]
        either = [total - twice for total, twice in zip(apart, both, strict=True)]
        return share(either, weeks), share(both, weeks)

    def _notes(self) -> tuple[str, ...]:
        most = {rung: len(self._by_price(rung)) for rung in self._scenario.rungs}
        return tuple(
            f"{rung}: only the {SEARCHED} cheapest mixes of seats were looked at"
            for rung, count in most.items()
            if count == SEARCHED
        )


def _within(mix: Mix, other: Mix) -> bool:
    """Whether a mix holds no more of any kind than another."""
    counts = dict(other)
    return all(count <= counts.get(name, 0) for name, count in mix)


def _usd(batch: Batch, billing: Billing) -> float:
    return sum(tally.micro_usd[billing] for tally in batch.levels.values())
