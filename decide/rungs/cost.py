"""Cost: the price of a call as a client states it, exact or not at all."""

from decimal import Decimal
from typing import Any

from decide.money import micro_usd

LIMIT = Decimal(100_000)
"""The largest price of one call that is believed, in dollars."""
PLACES = 12
"""Clients add their prices up in binary fractions, whose noise lies beyond this place."""


def stated(amount: Any) -> int | None:
    """The micro-dollars of an amount in dollars, a number or decimal text; None for what is no such amount."""
    if not isinstance(amount, str | int | Decimal) or isinstance(amount, bool):
        return None
    try:
        exact = Decimal(amount)
        return micro_usd(round(exact, PLACES)) if exact.is_finite() and 0 <= exact <= LIMIT else None
    except (ArithmeticError, ValueError):
        return None
