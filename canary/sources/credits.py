"""Credits of a Codex seat: whether there are any to be spent past a full window (formats 4.2)."""

from typing import Any

from canary.sources.wire import finite


def spendable(purse: Any) -> bool:
    """Whether credits are surely there; `balance` is a decimal text or a number, and null leaves it to the flag."""
    reached = purse.get("overage_limit_reached") if isinstance(purse, dict) else True
    if not isinstance(purse, dict) or not isinstance(reached, bool | None) or reached:
        return False
    if purse.get("unlimited") is True:
        return True
    balance = purse.get("balance")
    if purse.get("has_credits") is not True or balance is None:
        return purse.get("has_credits") is True
    try:
        amount = float(balance) if isinstance(balance, str) else finite(balance)
    except ValueError:
        return False
    return amount is not None and amount > 0
