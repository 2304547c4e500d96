"""Policy: the rows, prices, caps and levels that a configuration puts over decisions."""

from collections.abc import Mapping

from canary.config import Config
from decide.gate import GateRow
from decide.handoff.execution import Rules
from decide.level import Level
from decide.policy import default_rows, load_rows
from decide.ports import Caps
from decide.prices import Prices, load_prices
from decide.question import LevelName


def policy_of(config: Config) -> tuple[GateRow, ...]:
    """The policy rows that apply; raises PolicyError for a file that is none."""
    return default_rows() if config.decide.policy is None else load_rows(config.decide.policy)


def prices_of(config: Config) -> Prices:
    """The prices that apply; raises PriceError for a file that is none."""
    return load_prices(config.decide.prices)


def caps_of(config: Config) -> Caps:
    """The caps of a day."""
    return Caps(config.caps.passes_per_day, config.caps.usd_per_day, config.caps.zone)


def levels_of(config: Config) -> Mapping[LevelName, Level]:
    """The levels as questions find them."""
    return config.level.made()


def rules_of(config: Config) -> Rules:
    """The allow-list of commands, and the class from which on one takes a click."""
    return Rules(tuple(section.command() for section in config.command), config.confirm.kind)


def gate_rows_of(config: Config) -> tuple[tuple[str, str], ...]:
    """The names of the policy rows that apply, each with its stage; raises PolicyError."""
    return tuple((row.id, row.stage.value) for row in policy_of(config))
