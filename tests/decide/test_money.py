"""Money: exact micro-dollars in, exact decimal text out."""

from decimal import Decimal
from fractions import Fraction
from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decide.money import LARGEST, MICRO, dollars, micro_usd

AMOUNTS: list[tuple[str | Decimal | int, int]] = [
    ("20.00", 20_000_000),
    ("0", 0),
    ("-0", 0),
    (20, 20_000_000),
    (Decimal("0.0614"), 61_400),
    ("0.000001", 1),
    # a fraction of a micro-dollar rounds up: nothing costs less than it does
    ("0.0000001", 1),
    ("0.0000010000001", 2),
    ("1e-1000100", 1),
    ("0.003", 3_000),
    ("0.1", 100_000),
    ("1e3", 1_000_000_000),
    ("999999999999.9999999", LARGEST * MICRO),
    ("123456789012.1234560000000000000000000001", 123_456_789_012_123_457),
    (LARGEST, LARGEST * MICRO),
]


@pytest.mark.parametrize(("amount", "micro"), AMOUNTS)
def test_an_amount_is_exact(amount: str | Decimal | int, micro: int) -> None:
    assert micro_usd(amount) == micro
    assert type(micro_usd(amount)) is int


REFUSED = [
    ("", "must be an amount in dollars such as \"20.00\", not ''"),
    ("twenty", "must be an amount in dollars such as \"20.00\", not 'twenty'"),
    ("$20", "must be an amount in dollars such as \"20.00\", not '$20'"),
    ("20,00", "must be an amount in dollars such as \"20.00\", not '20,00'"),
    ("-0.01", "must be an amount of 0 to 1000000000000 dollars, not '-0.01'"),
    ("-1e-1000100", "must be an amount of 0 to 1000000000000 dollars, not '-1e-1000100'"),
    ("nan", "must be an amount of 0 to 1000000000000 dollars, not 'nan'"),
    ("sNaN", "must be an amount of 0 to 1000000000000 dollars, not 'sNaN'"),
    ("inf", "must be an amount of 0 to 1000000000000 dollars, not 'inf'"),
    ("1e999999", "must be an amount of 0 to 1000000000000 dollars, not '1e999999'"),
    ("1000000000000.01", "must be an amount of 0 to 1000000000000 dollars, not '1000000000000.01'"),
]


@pytest.mark.parametrize(("amount", "message"), REFUSED)
def test_what_is_no_amount_is_refused_with_what_is_allowed(amount: str, message: str) -> None:
    with pytest.raises(ValueError, match="must be") as refused:
        micro_usd(amount)
    assert str(refused.value) == message


SHOWN = [
    (0, "0.00"),
    (1, "0.000001"),
    (10, "0.00001"),
    (61_400, "0.0614"),
    (100_000, "0.10"),
    (20_000_000, "20.00"),
    (1_234_567, "1.234567"),
    (10_000_000_000, "10000.00"),
    (LARGEST * MICRO - 1, "999999999999.999999"),
]


@pytest.mark.parametrize(("micro", "text"), SHOWN)
def test_an_amount_is_shown_with_two_to_six_places(micro: int, text: str) -> None:
    assert dollars(micro) == text


@given(st.integers(0, LARGEST * MICRO))
def test_what_is_shown_is_read_as_the_same_amount(micro: int) -> None:
    assert micro_usd(dollars(micro)) == micro


@given(st.decimals(0, LARGEST, allow_nan=False, allow_infinity=False))
def test_an_amount_is_the_least_whole_number_that_covers_it(amount: Decimal) -> None:
    assert micro_usd(amount) == ceil(Fraction(amount) * MICRO)


def test_many_small_calls_sum_to_what_they_cost() -> None:
    assert 2001 * micro_usd("0.003") == micro_usd("6.003") > micro_usd("6.00")
    assert 3 * micro_usd("0.10") == micro_usd("0.30")
