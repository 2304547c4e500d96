"""Each wrong configuration is refused with a message that names the key, the line and what is allowed, and no secret."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from canary.config import RungSection, SeatSection
from canary.config_level import LevelSection
from canary.load import ConfigError, config_path, discovered, load, parse, read, usual_path
from canary.plan import plan_of
from canary.sources.table import SOURCES

GOOD = """\
[ladder]
primary = "fable"
second = "astra"

[[rung]]
name = "fable"
kind = "claude"
model = "claude-fable-5"

[[rung.seat]]
name = "desk"
sources = ["claude-usage"]

[[rung]]
name = "astra"
kind = "codex"
model = "gpt-6-astra"

[[rung.seat]]
name = "codex-main"
"""
SECRET = "sk-ant-oat01-SECRETSECRETSECRET"
LABEL = "must be 1 to 64 printable characters and no e-mail, path, account id or token: it becomes a label"
DURATION = "must be a duration such as 90s, 5m or 1h30m"
IN_SEAT = ", ".join(sorted(SeatSection.model_fields))
IN_LEVEL = ", ".join(sorted(LevelSection.model_fields))
IN_RUNG = ", ".join(sorted(RungSection.model_fields))


def fault(text: str) -> str:
    """The message with which a configuration is refused."""
    with pytest.raises(ConfigError) as refused:
        parse(text, "r.toml")
    return str(refused.value)


def changed(old: str, new: str) -> str:
    """The good configuration with one text for another."""
    assert old in GOOD
    return GOOD.replace(old, new)


BAD = {
    "bad TOML": (
        changed('primary = "fable"', 'primary = "fable'),
        "r.toml: not valid TOML: Illegal character '\\n' (at line 2, column 17)",
    ),
    "unknown key of a rung": (
        changed('kind = "codex"', 'kind = "codex"\nmodle = "x"'),
        f"r.toml:17: rung[1].modle: unknown key; allowed here: {IN_RUNG}",
    ),
    "unknown key of a seat": (
        GOOD + 'configdir = "~/x"\n',
        f"r.toml:21: rung[1].seat[0].configdir: unknown key; allowed here: {IN_SEAT}",
    ),
    "unknown section": (
        GOOD + '[canry]\ninterval = "5m"\n',
        "r.toml:21: canry: unknown key; "
        "allowed here: canary, caps, command, confirm, console, decide, inbox, ladder, level, queue, rung, serve, "
        "source, state, store, webhook",
    ),
    "unknown level": (
        GOOD + "[level.huge]\nvotes = 2\n",
        "r.toml:21: level.huge: unknown key; allowed here: high, low, medium",
    ),
    "unknown key of a level": (
        GOOD + "[level.high]\nvote = 2\n",
        f"r.toml:22: level.high.vote: unknown key; allowed here: {IN_LEVEL}",
    ),
    "votes that nobody can pay": (
        GOOD + "[level.high]\nvotes = 5\n",
        "r.toml: level.high.max_passes: must be 30 to 200, not 24; "
        "with 5 for each order, two consultations and the reconsideration take the least",
    ),
    "too many votes": (
        GOOD + "[level.low]\none_sentence = true\nvotes = 10\n",
        "r.toml:23: level.low.votes: Input should be less than or equal to 9 (given: 10)",
    ),
    "an effort in words": (
        GOOD + '[level.low]\neffort = "very low"\n',
        "r.toml: level.low.effort: must be a word of at most 32 letters, not 'very low'",
    ),
    "evidence by half": (
        GOOD + '[level.low]\nevidence_budget = "half"\n',
        "r.toml:22: level.low.evidence_budget: must be \"full\" or a number of characters, 1 or more (given: 'half')",
    ),
    "no evidence": (
        GOOD + "[level.low]\nevidence_budget = 0\n",
        'r.toml:22: level.low.evidence_budget: must be "full" or a number of characters, 1 or more (given: 0)',
    ),
    "a level's model for no rung": (
        GOOD + '[level.high.model]\nnova = "gpt-6-astra"\n',
        "r.toml: level.high.model: no rung is named 'nova'; the rungs are fable, astra",
    ),
    "a level's model that its rung does not accept": (
        GOOD + '[level.high]\nmodel = { fable = "gpt-6-astra" }\n',
        "r.toml: level.high.model: rung 'fable' accepts 'claude-fable-5', not 'gpt-6-astra'; see rung.accepts",
    ),
    "wrong type": (
        GOOD + '[canary]\nconcurrency = "many"\n',
        "r.toml:22: canary.concurrency: Input should be a valid integer (given: 'many')",
    ),
    "wrong type of a model": (
        changed('"gpt-6-astra"', "6"),
        "r.toml:17: rung[1].model: Input should be a valid string (given: 6)",
    ),
    "missing key": (changed('kind = "codex"\n', ""), "r.toml:14: rung[1].kind: Field required"),
    "empty": ("", "r.toml: ladder: Field required\nr.toml: rung: Field required"),
    "two seats of one name": (
        GOOD + '[[rung.seat]]\nname = "codex-main"\n',
        "r.toml: rung.seat.name: rung 'astra' has two seats named 'codex-main'; names must be unique in a rung",
    ),
    "two rungs accept one model": (
        changed('kind = "codex"', 'kind = "codex"\naccepts = ["gpt-6-astra", "Claude-Fable-5"]'),
        "r.toml: rung.accepts: rungs 'fable' and 'astra' both accept 'claude-fable-5'; "
        "one model must never count as two rungs",
    ),
    "unknown source": (
        changed("claude-usage", "claude-usages"),
        "r.toml: rung.seat.sources: seat 'desk' of rung 'fable': unknown source 'claude-usages'; "
        f"the sources are {', '.join(map(repr, sorted(SOURCES)))}",
    ),
    "source of another kind": (
        changed("claude-usage", "codex-usage"),
        "r.toml: rung.seat.sources: seat 'desk' of rung 'fable': "
        "source 'codex-usage' does not read a seat of kind 'claude'",
    ),
    "source without its file": (
        changed("claude-usage", "seats-file"),
        "r.toml: rung.seat.seats_file: seat 'desk' of rung 'fable': source 'seats-file' needs the path of the file",
    ),
    "rung without a seat": (
        changed('[[rung.seat]]\nname = "codex-main"\n', ""),
        "r.toml: rung.seat: rung 'astra' has no seat; add a [[rung.seat]], seats_file or seats_command",
    ),
    "primary names no rung": (
        changed('primary = "fable"', 'primary = "fabel"'),
        "r.toml: ladder.primary: no rung is named 'fabel'; the rungs are 'fable', 'astra'",
    ),
    "one rung twice": (
        changed('second = "astra"', 'second = "fable"'),
        "r.toml: ladder.second: must be another rung than ladder.primary ('fable')",
    ),
    "duration in words": (
        GOOD + '[canary]\ninterval = "5 minutes"\n',
        f"r.toml:22: canary.interval: {DURATION} (given: '5 minutes')",
    ),
    "duration as a number": (
        GOOD + "[canary]\ninterval = 300\n",
        f"r.toml:22: canary.interval: {DURATION} (given: 300)",
    ),
    "interval too long": (
        GOOD + '[canary]\ninterval = "2h"\n',
        "r.toml:21: canary: interval must lie between 1s and 1h",
    ),
    "stale before the next tick": (
        GOOD + '[canary]\nstale_after = "1m"\n',
        "r.toml:21: canary: stale_after must be 10m 40s or more: with this interval, jitter, tick_deadline and reads_per_hour a seat is not read more often, and would be unknown in between",
    ),
    "readings kept for less than forecasts look back at": (
        GOOD + '[canary]\nkeep_readings = "2d"\n',
        "r.toml:21: canary: keep_readings must be 3d or more: forecasts look back so far",
    ),
    "a budget above the limit": (
        GOOD + "[canary]\nreads_per_hour = 60\n",
        "r.toml:22: canary.reads_per_hour: Input should be less than or equal to 20 (given: 60)",
    ),
    "http to a foreign host": (
        GOOD + '[source]\nclaude_base_url = "http://usage.example"\n',
        "r.toml:22: source.claude_base_url: must be an https:// address (plain http:// only on this machine): "
        "a login is sent there",
    ),
    "listen without a host": (
        GOOD + '[serve]\nlisten = "9477"\n',
        'r.toml:22: serve.listen: must be "HOST:PORT" with a port from 0 to 65535, '
        "for example \"127.0.0.1:9477\" (given: '9477')",
    ),
    "e-mail as a label": (
        changed('"codex-main"', '"me@example.com"'),
        f"r.toml:20: rung[1].seat[0].name: {LABEL}",
    ),
    "key without a place": (
        GOOD + 'auth = "api_key"\n',
        "r.toml: rung.seat.api_key_env: seat 'codex-main' of rung 'astra': "
        "auth 'api_key' needs api_key_env or api_key_file",
    ),
    "caps and store": (
        GOOD + '[caps]\nusd_per_day = 20\nzone = "Mars"\n[store]\npath = "a"\nurl_env = "B"\n',
        'r.toml:22: caps.usd_per_day: must be an amount in dollars as text, such as "20.00" (given: 20)\n'
        'r.toml:23: caps.zone: must be the name of a time zone, such as "UTC" or "Europe/Oslo" (given: \'Mars\')\n'
        "r.toml:24: store: give path or url_env, not both",
    ),
    "several": (
        GOOD + "[canary]\ninterval = 3\nconcurrency = 0\n[serve]\nport = 1\n",
        f"r.toml:22: canary.interval: {DURATION} (given: 3)\n"
        "r.toml:23: canary.concurrency: Input should be greater than or equal to 1 (given: 0)\n"
        "r.toml:25: serve.port: unknown key; allowed here: listen",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_a_wrong_configuration_is_refused_with_its_message(name: str) -> None:
    text, message = BAD[name]
    assert fault(text) == message


@pytest.mark.parametrize(
    "text",
    [
        changed('"codex-main"', f'"{SECRET}"'),
        changed('primary = "fable"', f'primary = "{SECRET}"'),
        changed('kind = "codex"', f'kind = "{SECRET}"'),
        changed("claude-usage", SECRET),
        changed('["claude-usage"]', f"""["it's {SECRET}"]"""),
        GOOD + f'[canary]\ninterval = "{SECRET}"\n',
        GOOD + f'[source]\nclaude_base_url = "{SECRET}"\n',
        GOOD + f'api_key = "{SECRET}"\n',
        GOOD + f'{SECRET} = "x"\n',
        GOOD + f"api_key = {SECRET}\n",
    ],
)
def test_a_secret_that_went_astray_is_not_told(text: str) -> None:
    assert SECRET not in fault(text)


def test_a_model_spelled_like_a_path_is_told() -> None:
    text = changed('"gpt-6-astra"', '"vendor/claude-fable-5"').replace(
        '"claude-fable-5"', '"vendor/claude-fable-5"', 1
    )
    assert "both accept 'vendor/claude-fable-5'" in fault(text)


@pytest.mark.parametrize("prefix", [b"", b"\xef\xbb\xbf"], ids=["plain", "BOM"])
def test_a_good_one_loads(tmp_path: Path, prefix: bytes) -> None:
    path = tmp_path / "rungwatch.toml"
    path.write_bytes(prefix + GOOD.replace("\n", "\r\n").encode())
    loaded = load(path, {})
    assert loaded.path == path
    assert [rung.name for rung in loaded.config.in_order()] == ["fable", "astra"]


def test_no_such_configuration(tmp_path: Path) -> None:
    path = tmp_path / "none.toml"
    with pytest.raises(ConfigError) as refused:
        load(None, {"RUNGWATCH_CONFIG": str(path)})
    assert str(refused.value) == f"there is no configuration at {path}; `rungwatch init` writes one"


def test_a_file_that_is_no_text_or_no_file(tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_bytes(b"\xff")
    for path, why in ((tmp_path / "x.toml", "it is not UTF-8"), (tmp_path, "Is a directory")):
        with pytest.raises(ConfigError) as refused:
            read(path)
        assert str(refused.value) == f"the configuration {path} cannot be read: {why}"


def test_a_file_that_may_not_be_read(home: Path, powerless: Callable[[], AbstractContextManager[None]]) -> None:
    path = home / "rungwatch.toml"
    path.write_text(GOOD, encoding="utf-8")
    path.chmod(0)
    with powerless(), pytest.raises(ConfigError) as refused:
        read(path)
    assert str(refused.value) == f"the configuration {path} cannot be read: Permission denied"


def test_which_configuration_applies(tmp_path: Path) -> None:
    environ = {"XDG_CONFIG_HOME": str(tmp_path)}
    assert config_path(None, environ) is None
    usual = usual_path(environ)
    usual.parent.mkdir()
    usual.touch()
    assert config_path(None, environ) == usual == tmp_path / "rungwatch" / "rungwatch.toml"
    named = environ | {"RUNGWATCH_CONFIG": "/named.toml"}
    assert config_path(None, named) == Path("/named.toml")
    assert config_path(Path("/given.toml"), named) == Path("/given.toml")


def test_without_one_the_local_logins_are_looked_for(tmp_path: Path) -> None:
    environ = {"XDG_CONFIG_HOME": str(tmp_path), "CLAUDE_CONFIG_DIR": "/logins/claude", "HOME": str(tmp_path)}
    loaded = load(None, environ)
    assert loaded.path is None
    assert loaded.config == discovered(environ)
    claude, codex = plan_of(loaded.config).rungs
    assert claude.targets[0].config_dir == Path("/logins/claude")
    assert codex.targets[0].sources == ()


def test_a_file_that_decisions_need_is_read_with_the_configuration(tmp_path: Path) -> None:
    path, prices = tmp_path / "r.toml", tmp_path / "prices.toml"
    path.write_text(GOOD + f'[decide]\nprices = "{prices}"\n')
    prices.write_text('["model"]\ninput = "cheap"\n')
    with pytest.raises(ConfigError, match=r"prices\.toml.*input"):
        load(path, {})
    prices.write_text('["model"]\ninput = "1"\noutput = "2"\n')
    assert load(path, {}).config.decide.prices == prices
