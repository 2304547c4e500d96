"""A configuration is a frozen value with the defaults that the design names, and its schema is published."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from pydantic import ValidationError

from canary.config import DEFAULT_LISTEN, Config, config_schema


def document(**more: Any) -> dict[str, Any]:
    """The least that a configuration holds."""
    return {
        "ladder": {"primary": "fable", "second": "astra"},
        "rung": [
            {"name": "astra", "kind": "codex", "model": "gpt-6-astra", "seat": [{"name": "codex-main"}]},
            {"name": "fable", "kind": "claude", "model": "claude-fable-5", "seat": [{"name": "desk"}]},
        ],
    } | more


def test_defaults() -> None:
    config = Config.model_validate(document())
    canary = config.canary
    assert (canary.interval, canary.stale_after) == (timedelta(minutes=5), timedelta(seconds=900))
    assert (canary.seat_timeout, canary.tick_deadline) == (timedelta(seconds=10), timedelta(seconds=30))
    assert (canary.reads_per_hour, canary.textfile) == (20, None)
    assert canary.keep_readings == timedelta(days=60)
    assert config.serve.listen == DEFAULT_LISTEN == "127.0.0.1:9477"
    assert config.source.claude_base_url == "https://api.anthropic.com"
    assert config.source.codex_base_url == "https://chatgpt.com/backend-api"
    assert config.rung[0].seat[0].sources == ()


def test_the_primary_comes_first_however_the_rungs_are_written() -> None:
    assert [rung.name for rung in Config.model_validate(document()).in_order()] == ["fable", "astra"]


def test_it_is_frozen() -> None:
    config = Config.model_validate(document())
    with pytest.raises(ValidationError, match="frozen"):
        config.serve.listen = "0.0.0.0:1"


def test_a_rung_accepts_its_model_unless_told_otherwise() -> None:
    rungs = document()["rung"]
    rungs[0]["accepts"] = ["GPT-6-Astra", "gpt-6-astra-mini"]
    config = Config.model_validate(document(rung=rungs))
    assert config.rung[0].accepted == {"gpt-6-astra", "gpt-6-astra-mini"}
    assert config.rung[1].accepted == {"claude-fable-5"}


@pytest.mark.parametrize(
    ("kind", "sends"),
    [("claude", False), ("codex", False), ("command", False), ("anthropic", True), ("openai", True), ("chat", True)],
)
def test_which_rungs_send_the_token_themselves(kind: str, sends: bool) -> None:
    rungs = document()["rung"]
    rungs[0]["kind"] = kind
    assert Config.model_validate(document(rung=rungs)).rung[0].sends_token_itself is sends


def test_folders_may_start_at_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/oncall")
    assert Config.model_validate(document(state={"dir": "~/kept"})).state.dir == Path("/home/oncall/kept")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]"])
def test_plain_http_is_for_this_machine_only(host: str) -> None:
    url = f"http://{host}:8080"
    assert Config.model_validate(document(source={"claude_base_url": url})).source.claude_base_url == url


@pytest.mark.parametrize("url", ["http://127.0.0.1.example", "http://localhost@evil.example", "ftp://x", "https", ""])
def test_a_login_is_sent_to_no_other_kind_of_address(url: str) -> None:
    with pytest.raises(ValidationError, match="a login is sent there"):
        Config.model_validate(document(source={"codex_base_url": url}))


def test_the_schema_describes_it() -> None:
    schema = config_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    assert validator.is_valid(document(canary={"interval": "90s"}))
    assert not validator.is_valid(document(canary={"interwal": "90s"}))
    assert not validator.is_valid({"ladder": {}})
