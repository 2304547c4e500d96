"""Prices: what tokens cost by a price list, one's own before genai-prices; a model in no list has no price."""

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from decide.money import MICRO, micro_usd
from decide.reply import Usage

if TYPE_CHECKING:
    from genai_prices.data_snapshot import DataSnapshot
    from genai_prices.types import MatchLogic, ModelInfo, Provider

REQUIRED = ("input", "output")
ALLOWED = (*REQUIRED, "cache_read", "cache_write", "reasoning")
RATE_LIMIT = Decimal(1_000_000)


@dataclass(frozen=True, slots=True)
class Rate:
    """A model's prices, each in dollars for a million tokens, which is micro-dollars for one."""

    input: Decimal
    output: Decimal
    cache_read: Decimal
    cache_write: Decimal
    reasoning: Decimal

    def cost(self, usage: Usage) -> int:
        """Micro-dollars for these tokens, rounded up once."""
        exact = (
            self.input * usage.input
            + self.cache_read * usage.cache_read
            + self.cache_write * usage.cache_write
            + self.output * usage.output
            + self.reasoning * usage.reasoning
        )
        return micro_usd(exact / MICRO)


class PriceError(Exception):
    """A price file is wrong: the text names the file, the key and what is allowed (usage, exit 64)."""


def _clock() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Prices:
    """The price lists that apply: `own` rates by a model's whole name, before those that genai-prices brings.

    `now` is read because the list knows from which day on a price holds.
    """

    own: Mapping[str, Rate] = field(default_factory=dict)
    now: Callable[[], datetime] = _clock

    def priced(self, model: str) -> bool:
        """Whether the model has a price; 0 is one, and no price is not 0 (case LED-13)."""
        return self.price(Usage(), model) is not None

    def price(self, usage: Usage, model: str) -> int | None:
        """Micro-dollars for these tokens; None for a model in no list."""
        rate = self.own.get(model)
        if rate is not None:
            return rate.cost(usage)
        found = _listed(model, self.now())
        return None if found is None else _by_list(found, usage, self.now())


def load_prices(path: Path | None, now: Callable[[], datetime] = _clock) -> Prices:
    """The prices, with those of a file before the list's; raises PriceError."""
    if path is None:
        return Prices(now=now)
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"), parse_float=Decimal)
    except (OSError, ValueError) as error:
        raise PriceError(f"{path}: cannot be read as TOML: {error}") from error
    return Prices({model: _rate(path, model, table) for model, table in tables.items()}, now)


def _rate(path: Path, model: str, table: Any) -> Rate:
    place = f'{path}: ["{model}"]'
    if not isinstance(table, dict):
        raise PriceError(f"{place} must be a table with {_names(ALLOWED)}")
    unknown = sorted(table.keys() - set(ALLOWED))
    if unknown:
        raise PriceError(f"{place} {unknown[0]}: no such key; allowed are {_names(ALLOWED)}")
    missing = [name for name in REQUIRED if name not in table]
    if missing:
        raise PriceError(f"{place} {missing[0]}: is missing; {_names(REQUIRED)} are required")
    rates = {name: _amount(f"{place} {name}", value) for name, value in table.items()}
    defaults = {"cache_read": rates["input"], "cache_write": rates["input"], "reasoning": rates["output"]}
    return Rate(**(defaults | rates))


def _amount(place: str, value: Any) -> Decimal:
    """Dollars for a million tokens, exactly as they are written."""
    decimal_text = isinstance(value, str) and re.fullmatch(r"\d{1,9}(\.\d{1,9})?", value) is not None
    number = isinstance(value, int | Decimal) and not isinstance(value, bool)
    if decimal_text or number:
        amount = Decimal(value)
        if amount.is_finite() and 0 <= amount <= RATE_LIMIT:
            return amount
    raise PriceError(f'{place}: must be dollars for a million tokens such as "1.25", from 0, not {value!r}')


def _names(names: tuple[str, ...]) -> str:
    return ", ".join(f"`{name}`" for name in names)


@cache
def _snapshot() -> "DataSnapshot":
    """The list as the installed version brings it; it is never updated over the network."""
    from genai_prices.data import providers
    from genai_prices.data_snapshot import DataSnapshot

    return DataSnapshot(providers=providers, from_auto_update=False)


def _listed(model: str, now: datetime) -> "tuple[Provider, ModelInfo] | None":
    """The model in genai-prices, if that lists it with a price by this whole name, a build's date aside.

    Its own search also takes names that only begin with or contain what it knows, and would give a model that it has
    never seen the price of another.
    """
    try:
        provider, found = _snapshot().find_provider_model(model, None, None, None)
    except LookupError:
        return None
    name, names = model.lower(), {found.id.lower(), *_whole_names(found.match)}
    prices = found.get_prices(now)
    whole = prices.input_mtok is not None and prices.output_mtok is not None
    return (provider, found) if whole and ({name, _DATE.sub("", name)} & names) else None


_DATE = re.compile(r"-\d{4}-?\d{2}-?\d{2}$")


def _whole_names(clause: "MatchLogic") -> set[str]:
    """The names that a clause lists whole."""
    from genai_prices.types import ClauseEquals, ClauseOr

    if isinstance(clause, ClauseEquals):
        return {clause.equals.lower()}
    return set().union(*map(_whole_names, clause.or_)) if isinstance(clause, ClauseOr) else set()


def _by_list(listed: "tuple[Provider, ModelInfo]", usage: Usage, now: datetime) -> int:
    """Micro-dollars by genai-prices, whose input and output hold their parts."""
    from genai_prices import Usage as Listed

    provider, model = listed
    counted = Listed(
        input_tokens=usage.input + usage.cache_read + usage.cache_write,
        cache_read_tokens=usage.cache_read,
        cache_write_tokens=usage.cache_write,
        output_tokens=usage.output + usage.reasoning,
        output_reasoning_tokens=usage.reasoning,
    )
    return micro_usd(model.calc_price(counted, provider, genai_request_timestamp=now).total_price)
