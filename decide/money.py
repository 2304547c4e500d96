"""Money: integer micro-dollars, read from and shown as decimal text, never through a float."""

from decimal import ROUND_CEILING, Context, Decimal, InvalidOperation

MICRO = 1_000_000
LARGEST = 10**12
"""The most dollars that an amount may be; its micro-dollars fit into 64 bits."""
_UP = Context(prec=40, rounding=ROUND_CEILING)


def micro_usd(amount: str | Decimal | int) -> int:
    """Micro-dollars of an amount in dollars; a fraction of one rounds up, so that nothing costs less than it does.

    Raises ValueError for what is no amount of 0 to LARGEST.
    """
    try:
        exact = Decimal(amount)
    except InvalidOperation as error:
        raise ValueError(f'must be an amount in dollars such as "20.00", not {amount!r}') from error
    if not exact.is_finite() or not 0 <= exact <= LARGEST:
        raise ValueError(f"must be an amount of 0 to {LARGEST} dollars, not {amount!r}")
    return int(_UP.multiply(exact, Decimal(MICRO)).to_integral_value(ROUND_CEILING))


def dollars(micro: int) -> str:
    """The amount as decimal text in dollars, with two to six places."""
    text = f"{Decimal(micro) / MICRO:.6f}"
    whole, _, places = text.partition(".")
    return f"{whole}.{places.rstrip('0').ljust(2, '0')}"
