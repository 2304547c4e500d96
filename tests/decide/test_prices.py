"""Prices: one's own rates before the list's, whole names only, every token once, and rounding that never loses."""

from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decide.prices import PriceError, Prices, Rate, load_prices
from decide.reply import Usage

NOW = datetime(2026, 10, 15, tzinfo=UTC)
LISTED = Prices(now=lambda: NOW)
MILLION = 1_000_000


def own(tmp_path: Path, text: str) -> Prices:
    """The prices with a file before them."""
    path = tmp_path / "prices.toml"
    path.write_text(text)
    return load_prices(path, lambda: NOW)


def test_each_kind_of_token_has_its_rate(tmp_path: Path) -> None:
    prices = own(tmp_path, '["m"]\ninput = "1"\ncache_read = "0.1"\ncache_write = "2"\noutput = "4"\nreasoning = "8"')
    assert prices.price(Usage(input=MILLION), "m") == 1_000_000
    assert prices.price(Usage(cache_read=MILLION), "m") == 100_000
    assert prices.price(Usage(cache_write=MILLION), "m") == 2_000_000
    assert prices.price(Usage(output=MILLION), "m") == 4_000_000
    assert prices.price(Usage(reasoning=MILLION), "m") == 8_000_000
    assert prices.price(Usage(10, 10, 10, 10, 10), "m") == 151


def test_what_a_file_leaves_out_costs_as_its_whole(tmp_path: Path) -> None:
    prices = own(tmp_path, '["m"]\ninput = "3"\noutput = 15')
    assert prices.price(Usage(1, 1, 1, 1, 1), "m") == 3 + 3 + 3 + 15 + 15


@pytest.mark.parametrize("written", ['"1.25"', "1.25", '"1.250"'])
def test_a_rate_is_exact_however_it_is_written(tmp_path: Path, written: str) -> None:
    prices = own(tmp_path, f'["m"]\ninput = {written}\noutput = 0')
    assert prices.price(Usage(input=4), "m") == 5
    assert prices.price(Usage(input=5), "m") == 7


def test_an_explicit_zero_is_a_price(tmp_path: Path) -> None:
    prices = own(tmp_path, '["qwen3"]\ninput = 0\noutput = "0"')
    assert prices.priced("qwen3")
    assert prices.price(Usage(10**9, 0, 0, 10**9), "qwen3") == 0


def test_ones_own_rate_comes_before_the_list(tmp_path: Path) -> None:
    prices = own(tmp_path, '["claude-fable-5"]\ninput = 1\noutput = 1')
    assert prices.price(Usage(input=100), "claude-fable-5") == 100
    assert prices.price(Usage(input=100), "gpt-6-astra") == 1_000


@pytest.mark.parametrize("model", ["fable-5-20261014", "Fable-5", "fable-5 ", "fable", "fable-50", ""])
def test_a_file_names_models_whole(tmp_path: Path, model: str) -> None:
    """Case LED-13: the price of one model is never another's."""
    prices = own(tmp_path, '["fable-5"]\ninput = 1\noutput = 1')
    assert prices.priced("fable-5")
    assert not prices.priced(model)
    assert prices.price(Usage(input=1), model) is None


@pytest.mark.parametrize(
    ("model", "micro"),
    [
        ("claude-fable-5", 10_000),
        ("claude-fable-5-20261014", 10_000),
        ("gpt-6-astra", 10_000),
        ("gpt-6-astra-2026-09-08", 10_000),
        ("gpt-4o-2024-05-13", 5_000),
        ("gpt-4o", 2_500),
        ("claude-opus-4-1-20250805", 15_000),
        # no list knows these, though a looser search would find a neighbour
        ("claude-fable-9", None),
        ("claude-fable-5-turbo", None),
        ("claude-2-fantasy", None),
        ("claude-opus-4-1-fantasy", None),
        ("gpt-6-astra-pro", None),
        ("o3-fantasy", None),
        ("gpt-oss:20b", None),
        ("fable-5-20261014", None),
        ("anthropic/claude-fable-5", None),
        ("qwen3", None),
        # listed, but without a price for what a model answers
        ("text-embedding-3-large", None),
        ("", None),
    ],
)
def test_a_model_in_the_list(model: str, micro: int | None) -> None:
    assert LISTED.price(Usage(input=1_000), model) == micro
    assert LISTED.priced(model) is (micro is not None)


def test_the_list_counts_each_token_once() -> None:
    """Fable 5: 10 dollars for input, 12.5 written to the cache, 1 read from it, 50 for output, a million each."""
    assert LISTED.price(Usage(input=1_000), "claude-fable-5") == 10_000
    assert LISTED.price(Usage(cache_write=1_000), "claude-fable-5") == 12_500
    assert LISTED.price(Usage(cache_read=1_000), "claude-fable-5") == 1_000
    assert LISTED.price(Usage(output=1_000), "claude-fable-5") == 50_000
    assert LISTED.price(Usage(reasoning=1_000), "claude-fable-5") == 50_000
    assert LISTED.price(Usage(1_000, 1_000, 1_000, 1_000, 1_000), "claude-fable-5") == 123_500


def test_the_list_knows_dearer_long_prompts() -> None:
    assert LISTED.price(Usage(input=272_000), "gpt-6-astra") == 2_720_000
    assert LISTED.price(Usage(input=172_001, cache_read=100_000), "gpt-6-astra") == 172_001 * 20 + 100_000 * 2


def test_a_fraction_of_a_micro_dollar_rounds_up() -> None:
    assert LISTED.price(Usage(input=1), "gpt-4o") == 3
    assert Rate(*[Decimal("0.000001")] * 5).cost(Usage(1, 1, 1, 1, 1)) == 1


@given(
    st.lists(st.decimals(0, 1000, places=6), min_size=5, max_size=5),
    st.lists(st.integers(0, 10**9), min_size=5, max_size=5),
)
def test_nothing_costs_less_than_it_does(rates: list[Decimal], tokens: list[int]) -> None:
    rate = Rate(*rates)
    usage = Usage(tokens[0], tokens[2], tokens[3], tokens[1], tokens[4])
    exact = sum(price * count for price, count in zip(rates, tokens, strict=True))
    assert 0 <= rate.cost(usage) - exact < 1


WRONG = [
    ('["m"]\ninput = "1"', '["m"] output: is missing; `input`, `output` are required'),
    (
        '["m"]\ninput = 1\noutput = 1\nprompt = 1',
        '["m"] prompt: no such key; allowed are `input`, `output`, `cache_read`, `cache_write`, `reasoning`',
    ),
    (
        '["m"]\ninput = -1\noutput = 1',
        '["m"] input: must be dollars for a million tokens such as "1.25", from 0, not -1',
    ),
    ('["m"]\ninput = "1e3"\noutput = 1', "not '1e3'"),
    ('["m"]\ninput = "$1"\noutput = 1', "not '$1'"),
    ('["m"]\ninput = nan\noutput = 1', "from 0, not"),
    ('["m"]\ninput = inf\noutput = 1', "from 0, not"),
    ('["m"]\ninput = true\noutput = 1', "not True"),
    ('["m"]\ninput = ""\noutput = 1', "not ''"),
    ('["m"]\ninput = [1]\noutput = 1', "not [1]"),
    ('["m"]\ninput = 10000000\noutput = 1', "from 0, not 10000000"),
    ("m = 1", '["m"] must be a table with `input`, `output`'),
    ("claude.fable = 1", '["claude"] fable: no such key'),
    ("[", "cannot be read as TOML"),
]


@pytest.mark.parametrize(("text", "said"), WRONG)
def test_a_file_that_is_wrong_says_where_and_what_is_allowed(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(PriceError) as caught:
        own(tmp_path, text)
    assert str(caught.value).startswith(f"{tmp_path}/prices.toml: ")
    assert said in str(caught.value)


def test_a_file_that_is_not_there_and_no_file(tmp_path: Path) -> None:
    with pytest.raises(PriceError, match=r"nothing\.toml"):
        load_prices(tmp_path / "nothing.toml")
    assert load_prices(None).priced("claude-fable-5")
