"""Histogram: inclusive bounds, and the latest receipt of each bucket."""

import pytest

from exporters.histogram import DECISION_BOUNDS, PASS_BOUNDS, Exemplar, Histogram, Observations, merged, nothing

BOUNDS = (1.0, 10.0)


@pytest.mark.parametrize(
    ("micros", "bucket"),
    [(0, 0), (999_999, 0), (1_000_000, 0), (1_000_001, 1), (10_000_000, 1), (10_000_001, 2), (10**12, 2)],
)
def test_a_bound_belongs_to_its_bucket(micros: int, bucket: int) -> None:
    observed = Observations(BOUNDS)
    observed.add([9], ["r"], [micros], [5])
    found = observed.histogram()
    assert [place for place, count in enumerate(found.counts) if count] == [bucket]
    assert found.sum_us == micros
    assert found.exemplars[bucket] == Exemplar("r", micros, 5)


def test_an_observation_without_a_receipt_leaves_the_exemplar() -> None:
    observed = Observations(BOUNDS)
    observed.add([1, 2], ["first", "second"], [1, 1], [5, 5])
    observed.add([3], [""], [1], [5])
    assert observed.histogram().exemplars == (Exemplar("second", 1, 5), None, None)
    assert observed.histogram().counts == (3, 0, 0)


def test_the_exemplar_is_the_latest_row_not_the_latest_addition() -> None:
    observed = Observations(BOUNDS)
    observed.add([4, 7], ["r4", "r7"], [1, 20_000_000], [5, 5])
    observed.add([5, 6], ["r5", "r6"], [1, 20_000_000], [5, 5])
    assert [found and found.receipt for found in observed.histogram().exemplars] == ["r5", None, "r7"]


def test_merging_adds_and_keeps_the_later_exemplar() -> None:
    one = Histogram(BOUNDS, (1, 0, 2), 7, (Exemplar("old", 1, 1), None, Exemplar("only", 2, 2)))
    other = Histogram(BOUNDS, (4, 5, 0), 8, (Exemplar("new", 3, 3), None, None))
    both = Histogram(BOUNDS, (5, 5, 2), 15, (Exemplar("new", 3, 3), None, Exemplar("only", 2, 2)))
    assert merged(one, other) == merged(other, one) == both
    assert merged(one, nothing(BOUNDS)) == one


def test_different_bounds_cannot_be_merged_nor_buckets_left_out() -> None:
    with pytest.raises(ValueError, match="bounds differ"):
        merged(nothing(BOUNDS), nothing((1.0,)))
    with pytest.raises(ValueError, match="2 buckets do not fit 2 bounds"):
        Histogram(BOUNDS, (1, 2), 3, (None, None))


@pytest.mark.parametrize("bounds", [DECISION_BOUNDS, PASS_BOUNDS])
def test_bounds_rise(bounds: tuple[float, ...]) -> None:
    assert list(bounds) == sorted(set(bounds))
    assert bounds[0] == 0.5


def test_decisions_are_told_apart_up_to_an_hour() -> None:
    assert DECISION_BOUNDS[-1] == 3600
