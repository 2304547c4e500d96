"""Policy: the rows, prices and caps that a configuration puts over decisions."""

from canary.config import Config
from decide.gate import GateRow
from decide.policy import default_rows, load_rows
from decide.ports import Caps
from decide.prices import Prices, load_prices


def policy_of(config: Config) -> tuple[GateRow, ...]:
    """The policy rows that apply; raises PolicyError for a file that is none."""
    return default_rows() if config.decide.policy is None else load_rows(config.decide.policy)


def prices_of(config: Config) -> Prices:
    """The prices that apply; raises PriceError for a file that is none."""
    return load_prices(config.decide.prices)


def caps_of(config: Config) -> Caps:
    """The caps of a day."""
    return Caps(config.caps.passes_per_day, config.caps.usd_per_day, config.caps.zone)


def gate_rows_of(config: Config) -> tuple[tuple[str, str], ...]:
    """The names of the policy rows that apply, each with its stage; raises PolicyError."""
    return tuple((row.id, row.stage.value) for row in policy_of(config))
