import json
import os
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from canary import folder
from canary.config import Config
from canary.deciding import Ready, ready
from canary.policy import caps_of
from decide.question import Option, Question, UsageError
from decide.refusal import REFUSAL_LASTS
from decide.reply import Billing, Failure
from decide.ruling import Outcome
from decide.run import ask
from decide.seat import TokenState
from decide.watch import Event, PassOut

QUESTION = Question(
    "Which of the two names is clearer?", (Option("opt_a", "The long one"), Option("opt_b", "The short one"))
)
VERDICT = """\
import json, os, sys
brief = json.load(sys.stdin)
print("a banner before the answer")
print(json.dumps({"nonce": brief["nonce"], "resolvable": True, "rec": "opt_a", "kind": "", "gap": "", "touches": [],
                  "rationale": "it says more"}))
"""


def config_of(tmp_path: Path, **more: Any) -> Config:
    """Two rungs that are programs: each prints a verdict."""
    (tmp_path / "judge.py").write_text(VERDICT)
    command = [sys.executable, str(tmp_path / "judge.py")]
    rungs = [
        {"name": name, "kind": "command", "model": f"{name}-model", "command": command, "seat": [{"name": "box"}]}
        for name in ("fable", "astra")
    ]
    return Config.model_validate({"ladder": {"primary": "fable", "second": "astra"}, "rung": rungs} | more)


async def test_a_configured_ladder_answers_and_remembers(tmp_path: Path) -> None:
    async with ready(config_of(tmp_path), tmp_path / "state", environ=dict(os.environ)) as made:
        done = await ask(QUESTION, setup=made.setup)
        assert (done.outcome, done.option_id) == (Outcome.SINGLE_RUNG, "opt_a")  # a program that names no model
        assert done.document["answered_by"] == {"model": "UNKNOWN", "from": "UNKNOWN"}
    async with ready(config_of(tmp_path), tmp_path / "state", environ=dict(os.environ)) as made:
        again = await ask(QUESTION, setup=made.setup)
        assert again.document == json.loads(json.dumps(done.document))


async def test_caps_hold_over_processes(tmp_path: Path) -> None:
    config = config_of(tmp_path, caps={"passes_per_day": 9})
    async with ready(config, tmp_path / "state", environ=dict(os.environ)) as made:
        assert (await ask(QUESTION, setup=made.setup)).exit_code == 0
    other = Question("And the other name?", QUESTION.options)
    async with ready(config, tmp_path / "state", environ=dict(os.environ)) as made:
        done = await ask(other, setup=made.setup)
        assert (done.outcome, done.exit_code) == (Outcome.HELD, 2)


async def test_a_store_that_cannot_be_opened_holds(tmp_path: Path) -> None:
    state = tmp_path / "state"
    state.mkdir()
    (state / "ledger.db").write_bytes(bytes(4096))
    events: list[Event] = []
    async with ready(config_of(tmp_path), state, environ=dict(os.environ)) as made:
        done = await ask(QUESTION, setup=made.setup, watch=events.append)
    assert (done.outcome, done.exit_code, done.stored) == (Outcome.HELD, 4, False)
    assert "ledger_unreadable" in done.document["why"]
    assert not any(isinstance(event, PassOut) for event in events)
    assert (state / "ledger.db").read_bytes() == bytes(4096)


async def test_an_unpriced_model_is_refused_where_a_cap_in_usd_is_set(tmp_path: Path) -> None:
    config = config_of(tmp_path, caps={"usd_per_day": "20.00"})
    async with ready(config, tmp_path / "state", environ=dict(os.environ)) as made:
        with pytest.raises(UsageError, match="fable-model"):
            await ask(QUESTION, setup=made.setup)
    prices = tmp_path / "prices.toml"
    prices.write_text('["fable-model"]\ninput = "1"\noutput = "2"\n["astra-model"]\ninput = "0"\noutput = "0"\n')
    config = config_of(tmp_path, caps={"usd_per_day": "20.00"}, decide={"prices": str(prices)})
    async with ready(config, tmp_path / "state", environ=dict(os.environ)) as made:
        assert (await ask(QUESTION, setup=made.setup)).exit_code == 0


async def test_what_a_run_met_on_a_seat_is_seen_by_the_next_one(tmp_path: Path) -> None:
    config = config_of(tmp_path)
    (tmp_path / "judge.py").write_text(
        'import json\nprint(json.dumps({"schema": "rungwatch.reply/1", "failure": "needs_login"}))'
    )
    async with ready(config, tmp_path / "state", environ=dict(os.environ)) as made:
        done = await ask(QUESTION, setup=made.setup)
        assert done.outcome is Outcome.WALLED
        seats = await made.setup.primary.seats()
        assert [one.seat.token.state for one in seats] == [TokenState.NEEDS_LOGIN]
        refusals = await made.ledger.refusals(datetime.now(UTC) - REFUSAL_LASTS)
        assert {(one.rung, one.seat, one.failure) for one in refusals} >= {("fable", "box", Failure.NEEDS_LOGIN)}
    changed = config_of(tmp_path).model_copy(
        update={"rung": tuple(rung.model_copy(update={"model": f"{rung.model}-2"}) for rung in config.rung)}
    )
    async with ready(changed, tmp_path / "state", environ=dict(os.environ)) as made:
        seats = await made.setup.primary.seats()
        assert [one.seat.token.state for one in seats] == [TokenState.LIVE]


@pytest.mark.parametrize(
    ("seat", "billing", "secret"),
    [
        ({"name": "box", "auth": "none"}, Billing.METERED, None),
        ({"name": "box", "auth": "api_key", "api_key_env": "KEY"}, Billing.METERED, "sk-planted"),
        (
            {"name": "box", "auth": "api_key", "api_key_env": "KEY", "billing": "subscription"},
            Billing.SUBSCRIPTION,
            "sk-planted",
        ),
    ],
)
async def test_a_key_reaches_its_rung_and_nothing_else(
    tmp_path: Path, seat: dict[str, str], billing: Billing, secret: str | None
) -> None:
    rungs = [
        {"name": "fable", "kind": "anthropic", "model": "fable-model", "seat": [seat]},
        {"name": "astra", "kind": "openai", "model": "astra-model", "seat": [seat]},
    ]
    config = Config.model_validate({"ladder": {"primary": "fable", "second": "astra"}, "rung": rungs})
    async with ready(config, tmp_path, environ={"KEY": "sk-planted"}) as made:
        (one,) = await made.setup.primary.seats()
    assert (one.billing, one.access.secret) == (billing, secret)
    assert "sk-planted" not in repr(one) + one.credential


async def test_quotas_are_as_the_canary_last_saw_them(tmp_path: Path) -> None:
    async with ready(config_of(tmp_path), tmp_path / "never-ticked", environ={}) as made:
        assert isinstance(made, Ready)
        assert folder.load_state(tmp_path / "never-ticked") is None
        assert [one.seat.name for one in await made.setup.second.seats()] == ["box"]


def test_the_day_is_in_utc_unless_configured(tmp_path: Path) -> None:
    assert caps_of(config_of(tmp_path)).zone == "UTC"
    assert caps_of(config_of(tmp_path, caps={"zone": "Europe/Oslo"})).zone == "Europe/Oslo"
    assert timedelta(hours=1) == REFUSAL_LASTS
