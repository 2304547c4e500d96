"""Slots: what a run has reserved goes to the part it is for, and nothing is lent out that a part still needs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decide.ports import Slot
from decide.slots import CROSS_CHECK, PARTS, Slots, allot, every

WORST = {"primary": 5, "second": 7, "reconsideration": 5}


def slots(own: int, spare: int) -> Slots:
    """So many slots for each consultation, and so many spare ones."""
    count = own * len(PARTS) + spare
    return allot([f"c{n}" for n in range(count)], dict.fromkeys(PARTS, own), WORST)


def test_each_part_has_its_own_at_its_own_worst_and_the_rest_at_the_dearest() -> None:
    made = slots(2, 3)
    assert {part: [slot.micro_usd for slot in own] for part, own in made.own.items()} == {
        part: [WORST[part]] * 2 for part in PARTS
    }
    assert [slot.micro_usd for slot in made.spare] == [7, 7, 7]
    assert len({slot.call_id for slot in every(made)}) == 9


def test_own_slots_go_first_and_then_spare_ones() -> None:
    made = slots(1, 1)
    first, then, none = (made.take("primary") for _ in range(3))
    assert (first, then, none) == (Slot("c0", 5), Slot("c3", 7), None)
    assert made.take("second") == Slot("c1", 7)


def test_a_check_is_paid_from_what_its_rung_did_not_need_else_from_the_spare() -> None:
    made = slots(1, 1)
    assert made.take(CROSS_CHECK) == Slot("c1", 7)
    assert made.take(CROSS_CHECK) == Slot("c3", 7)
    assert made.take(CROSS_CHECK) is None
    assert made.take("reconsideration") == Slot("c2", 5)


@pytest.mark.parametrize(
    ("own", "spare", "count", "allowed"), [(0, 3, 2, 2), (0, 1, 2, 1), (0, 0, 2, 0), (1, 0, 2, 1)]
)
def test_what_is_allowed_is_kept_for_the_part_that_it_was_allowed_to(
    own: int, spare: int, count: int, allowed: int
) -> None:
    made = slots(own, spare)
    assert made.allow("second", count) == allowed
    while made.take("primary"):
        pass
    assert [made.take("second") is not None for _ in range(count)] == [True] * allowed + [False] * (count - allowed)


def test_a_refused_call_is_made_again_by_the_part_it_was_for() -> None:
    made = slots(1, 0)
    for part in (*PARTS, CROSS_CHECK):
        slot = made.take(part)
        if slot is None:
            continue
        made.give_back(part, slot)
        assert made.take(part) == slot
    assert made.take("primary") is None


acts = st.lists(st.tuples(st.sampled_from(["take", "allow", "back"]), st.sampled_from([*PARTS, CROSS_CHECK])))


@given(st.integers(0, 3), st.integers(0, 4), acts)
def test_no_slot_is_lost_or_doubled_whoever_takes_what(own: int, spare: int, done: list[tuple[str, str]]) -> None:
    made = slots(own, spare)
    whole = sorted(slot.call_id for slot in every(made))
    out: list[tuple[str, Slot]] = []
    for act, part in done:
        if act == "allow":
            assert 0 <= made.allow(part, 2) <= 2
        elif act == "back" and out:
            made.give_back(*out.pop())
        elif act == "take" and (slot := made.take(part)) is not None:
            out.append((part, slot))
        assert sorted([*(slot.call_id for slot in every(made)), *(slot.call_id for _, slot in out)]) == whole
