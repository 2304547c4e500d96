"""A plan: the cheapest mix, what changes buy, what a stop leaves, and that it is the same on any number of processes."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from canary.capacity.batch import Batch, Task, mix_of, simulate
from canary.capacity.plan import BATCHES, Budget, Plan, RungPlan, make_plan
from canary.capacity.scenario import Scenario, SeatKind, WindowRule
from canary.capacity.work import Work
from decide.reply import Billing
from tests.canary.capacity.scenes import MAX, PRO, SESSION, team, week

BUDGET = Budget(weeks=20)
SMALL = SeatKind("mini", "fable", (WindowRule(SESSION, 50.0), week(holds=50.0)), 70_000_000)
KEY = SeatKind("key", "astra", (), 0, Billing.METERED)


@pytest.fixture(scope="module")
def plan() -> Plan:
    return made(team())


def made(scenario: Scenario) -> Plan:
    return make_plan(scenario, BUDGET, Work(scenario))


def rung(plan: Plan, name: str) -> RungPlan:
    return next(each for each in plan.rungs if each.rung == name)


def test_the_table_has_every_number_of_seats_and_today(plan: Plan) -> None:
    assert [each.mix for each in rung(plan, "fable").by_seats] == [(("max", count),) for count in range(1, 7)]
    have = rung(plan, "fable").have
    assert have is not None
    assert (have.mix, have.weeks, have.batches, have.month_micro_usd) == ((("max", 3),), 20, BATCHES, 600_000_000)
    assert not plan.stopped


def test_the_cheapest_meets_the_target_and_one_seat_less_does_not(plan: Plan) -> None:
    for each in plan.rungs:
        assert each.cheapest is not None
        assert each.cheapest.meets(plan.scenario.target)
        less = [one for one in each.by_seats if one.seats == each.cheapest.seats - 1]
        assert less
        assert not any(one.meets(plan.scenario.target) for one in less)


def test_the_next_seat_buys_what_the_table_says(plan: Plan) -> None:
    (found,) = rung(plan, "fable").nexts
    table = {one.seats: one.missing.mean for one in rung(plan, "fable").by_seats}
    assert (found.kind, found.month_micro_usd) == ("max", 200_000_000)
    assert found.missing.mean == pytest.approx(table[4] - table[3])
    assert found.missing.low < 0


def test_moving_high_to_medium_buys_time_and_money(plan: Plan) -> None:
    moved = rung(plan, "fable").moved
    assert moved is not None
    assert moved.missing.mean < 0
    assert moved.micro_usd_per_week[Billing.SUBSCRIPTION].mean != 0
    assert moved.cheapest is not None
    cheapest = rung(plan, "fable").cheapest
    assert cheapest is not None
    assert moved.cheapest.seats <= cheapest.seats


def test_nothing_is_moved_where_nothing_is_high() -> None:
    assert all(each.moved is None for each in made(team({"medium": 0.75})).rungs)


def test_a_rung_or_both_missing_fit_the_rungs_own(plan: Plan) -> None:
    assert plan.either is not None
    assert plan.both is not None
    own = [each.have.missing.mean for each in plan.rungs if each.have is not None]
    assert plan.both.mean <= min(own)
    assert plan.either.mean == pytest.approx(sum(own) - plan.both.mean)


def test_spend_is_by_level_and_by_who_pays(plan: Plan) -> None:
    have = rung(plan, "astra").have
    assert have is not None
    spend = {each.level: each for each in have.spend}
    assert list(spend) == ["medium", "high"]
    paid = spend["medium"].micro_usd
    answered = spend["medium"].wanted.mean - spend["medium"].blocked.mean
    assert paid[Billing.SUBSCRIPTION].mean == pytest.approx(answered * 90_000)
    assert paid[Billing.METERED].mean == 0
    assert spend["medium"].passes.mean == pytest.approx(2 * answered)
    assert spend["medium"].wanted.mean == pytest.approx(100, rel=0.1)


def test_the_cheapest_of_two_kinds_is_the_cheapest_of_all_mixes() -> None:
    kinds = (MAX, SMALL, PRO)
    scenario = replace(team({"medium": 1.5}), kinds=kinds, most={"max": 2, "mini": 3, "pro": 2})
    found = rung(made(scenario), "fable").cheapest
    assert found is not None
    prices = {}
    for large in range(3):
        for small in range(4):
            mix = mix_of({"max": large, "mini": small})
            tasks = [Task("fable", mix, batch, 1, BUDGET.seed) for batch in range(BATCHES)]
            found_hours = [simulate(scenario, task).hours[:, sorted(scenario.working)] for task in tasks]
            prices[mix] = large * 200 + small * 70, sum(float(hours.mean()) for hours in found_hours)
    meeting = [price for mix, (price, missing) in prices.items() if missing == 0.0]
    assert found.month_micro_usd is not None
    assert found.month_micro_usd <= min(meeting) * 1_000_000


def test_a_key_that_is_billed_by_use_counts_with_what_it_is_used_for() -> None:
    scenario = replace(team({"medium": 1.5}), kinds=(MAX, PRO, KEY), most={"max": 2, "pro": 4, "key": 1})
    found = rung(made(scenario), "astra")
    alone = next(each for each in found.by_seats if each.mix == (("key", 1),))
    assert alone.missing.mean == 0
    assert alone.month_micro_usd is not None
    assert alone.month_micro_usd > 20_000_000
    assert found.cheapest is not None
    assert (found.cheapest.month_micro_usd or 0) <= alone.month_micro_usd


def test_a_target_out_of_reach_has_no_cheapest() -> None:
    found = rung(made(team({"medium": 15.0}, most={"max": 2, "pro": 2})), "fable")
    assert found.cheapest is None


def test_two_processes_find_the_same() -> None:
    scenario = team({"medium": 1.5}, most={"max": 3, "pro": 2}, have={"max": 2, "pro": 1})
    alone, together = made(scenario), make_plan(scenario, BUDGET, Work(scenario, processes=2))
    assert alone.rungs == together.rungs


class Stopping(Work):
    """A work at which somebody presses Ctrl-C after so many batches."""

    def _each(self, tasks: object) -> Iterator[Batch]:
        for count, task in enumerate(tasks):  # type: ignore[var-annotated, arg-type]
            if count == 60:
                raise KeyboardInterrupt
            yield simulate(self.scenario, task)


def test_a_stop_leaves_a_plan_of_what_was_done() -> None:
    scenario = team()
    found = make_plan(scenario, BUDGET, Stopping(scenario))
    assert found.stopped
    batches = {each.batches for one in found.rungs for each in one.by_seats}
    assert batches
    assert max(batches) - min(batches) <= 1
    assert max(batches) < BATCHES


def test_progress_is_told() -> None:
    scenario = team({"medium": 0.75}, most={"max": 2, "pro": 1}, have={"max": 1, "pro": 1})
    told: list[tuple[int, int]] = []
    make_plan(scenario, BUDGET, Work(scenario, told=lambda done, of: told.append((done, of))))
    assert [done for done, _ in told] == list(range(1, len(told) + 1))
    assert all(done <= of for done, of in told)


def test_weeks_are_shared_out_among_the_batches() -> None:
    scenario = team({"medium": 0.75}, most={"max": 1, "pro": 1}, have={"max": 1, "pro": 1})
    found = make_plan(scenario, Budget(weeks=27), Work(scenario))
    have = found.rungs[0].have
    assert have is not None
    assert (have.weeks, have.batches) == (27, BATCHES)


def test_people_who_use_the_seats_too_leave_less() -> None:
    shared = replace(MAX, others={SESSION: 15.0})
    quiet, busy = team({"medium": 1.0}), replace(team({"medium": 1.0}), kinds=(shared, PRO))
    task = Task("fable", mix_of({"max": 2}), 0, 4, 1)
    assert simulate(busy, task).hours.sum() > simulate(quiet, task).hours.sum()
