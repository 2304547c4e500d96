"""`check` says what is read and sent where, and finds every fault that looking can find, without telling a secret."""

import json
import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from canary.cli.check import command
from canary.cli.main import run
from canary.feed import feed_file
from tests.canary.cli.logins import SECRET, claude_login, codex_login, script

CONFIG = """\
[ladder]
primary = "fable"
second = "astra"
[[rung]]
name = "fable"
kind = "claude"
model = "claude-fable-5"
{rung}
[[rung.seat]]
name = "desk"
sources = ["claude-usage"]
{seat}
[[rung]]
name = "astra"
kind = "codex"
model = "gpt-6-astra"
[[rung.seat]]
name = "codex-main"
sources = ["codex-usage"]
{rest}
"""
Powerless = Callable[[], AbstractContextManager[None]]


def check(home: Path, *arguments: str, rung: str = "", seat: str = "", rest: str = "") -> Result:
    """The command on that configuration."""
    path = home / "rungwatch.toml"
    path.write_text(CONFIG.format(rung=rung, seat=seat, rest=rest), encoding="utf-8")
    return CliRunner().invoke(command, ["--config", str(path), *arguments])


def findings(home: Path, **parts: str) -> tuple[int, dict[str, list[str]]]:
    """The exit code, and the texts of the findings by weight."""
    done = check(home, "--json", **parts)
    document: dict[str, Any] = json.loads(done.stdout)
    assert document["usable"] is (done.exit_code == 0)
    found: dict[str, list[str]] = {"fault": [], "warning": []}
    for each in document["findings"]:
        found[each["weight"]].append(f"{each['about']}: {each['text']}; {each['remedy']}")
    return done.exit_code, found


@pytest.fixture
def logins(home: Path) -> Path:
    """A home with a login for each rung."""
    claude_login(home / ".claude")
    codex_login(home / ".codex")
    return home


def test_a_sound_configuration_tells_what_is_read_and_sent(logins: Path) -> None:
    done = check(logins)
    assert done.exit_code == 0
    assert f"configuration  {logins / 'rungwatch.toml'}" in done.stdout
    assert f"state folder   {logins / '.local' / 'state' / 'rungwatch'}" in done.stdout
    assert f"    reads  {logins / '.claude' / '.credentials.json'}\n" in done.stdout
    for line in (
        "    claude-usage: sends the seat's own login to the Claude usage endpoint, which shows quotas",
        "      sends   to api.anthropic.com\n",
        "    codex-usage: sends the seat's own login to the Codex usage endpoint, which shows quotas",
        "      sends   to chatgpt.com\n",
    ):
        assert line in done.stdout
    assert done.stdout.endswith("can be used (0 faults, 0 warnings)\n")
    assert not (logins / ".local").exists()


def test_the_host_is_the_configured_one(logins: Path) -> None:
    done = check(logins, rest='[source]\nclaude_base_url = "https://gateway.example:8443/claude"')
    assert "sends   to gateway.example:8443\n" in done.stdout
    assert "api.anthropic.com" not in done.stdout


def test_every_fault_is_listed(home: Path) -> None:
    code, found = findings(home, rest=f'[state]\ndir = "{home / "rungwatch.toml"}"')
    assert code == 64
    assert [each.partition(":")[0] for each in found["fault"]] == ["state folder", "fable/desk", "astra/codex-main"]
    assert found["fault"][1] == (
        f"fable/desk: there is no login ({home}/.claude/.credentials.json does not exist); "
        "log in with the seat's client, or fix the seat's path"
    )


def test_a_login_that_may_not_be_read(logins: Path, powerless: Powerless) -> None:
    path = logins / ".claude" / ".credentials.json"
    (logins / ".codex" / "auth.json").chmod(0o644)
    with powerless():
        done = CliRunner().invoke(command, ["--json"])
    assert done.exit_code == 64
    faults = [each["text"] for each in json.loads(done.stdout)["findings"] if each["weight"] == "fault"]
    assert f"no permission to read {path}: it must belong to this user with mode 0600" in " ".join(faults)


def test_a_state_folder_that_may_not_be_written(logins: Path, powerless: Powerless) -> None:
    for path in (logins / ".claude" / ".credentials.json", logins / ".codex" / "auth.json"):
        os.chown(path, 65534, 65534) if os.geteuid() == 0 else None
    logins.chmod(0o555)
    with powerless():
        done = CliRunner().invoke(command, [])
    assert done.exit_code == 64
    assert f"fault: state folder: {logins}/.local/state/rungwatch cannot be written; give another" in done.stdout


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644, 0o777])
def test_a_login_that_others_may_read_is_a_warning(logins: Path, mode: int) -> None:
    path = claude_login(logins / ".claude", mode=mode)
    code, found = findings(logins)
    assert code == 0
    assert found["warning"] == [f"fable/desk: {path} may be read by others (mode {mode:04o}); chmod 600 {path}"]


@pytest.mark.parametrize(
    ("text", "told"),
    [("{", "does not hold a JSON object"), ('{"mcpOAuth": {}}', "there is no login"), ("[]", "a JSON object")],
)
def test_a_login_that_is_none(logins: Path, text: str, told: str) -> None:
    (logins / ".claude" / ".credentials.json").write_text(text, encoding="utf-8")
    code, found = findings(logins)
    assert code == 64
    assert told in found["fault"][0]


def test_a_codex_login_in_the_key_ring_is_a_warning(logins: Path) -> None:
    (logins / ".codex" / "auth.json").unlink()
    (logins / ".codex" / "config.toml").write_text('cli_auth_credentials_store = "keyring"', encoding="utf-8")
    code, found = findings(logins)
    assert code == 0
    assert "the client keeps its login in 'keyring'" in found["warning"][0]


def test_a_missing_key_is_a_fault(logins: Path) -> None:
    code, found = findings(logins, seat='auth = "api_key"\nquota = "unmetered"\napi_key_env = "TEAM_KEY"')
    assert code == 64
    assert "the variable TEAM_KEY is not set" in found["fault"][0]


def test_seats_without_sources_and_scopes_unread_are_warnings(logins: Path) -> None:
    path = logins / "rungwatch.toml"
    text = CONFIG.format(rung='scopes = ["Fable"]', seat="", rest="").replace('sources = ["claude-usage"]', "")
    path.write_text(text, encoding="utf-8")
    done = CliRunner().invoke(command, ["--config", str(path)])
    assert done.exit_code == 0
    assert "warning: fable: it has `scopes`, but no source that reports them" in done.stdout
    assert "warning: fable/desk: it is metered and has no source, so its quota stays unknown" in done.stdout
    assert "claude-usage, claude-feed" in done.stdout
    assert done.stdout.endswith("can be used (0 faults, 2 warnings)\n")


def test_seats_files_and_textfiles_are_looked_at(logins: Path) -> None:
    (logins / "folder.json").mkdir()
    code, found = findings(
        logins,
        rung='seats_file = "~/none.json"',
        seat='seats_file = "~/folder.json"',
        rest='[canary]\ntextfile = "~/nowhere/ladder.prom"',
    )
    assert code == 64
    assert found["warning"][0].startswith(f"fable: {logins}/none.json does not exist; ")
    assert found["fault"] == [
        f"textfile: {logins}/nowhere is no folder that can be written; mend `textfile`",
        f"fable/desk: {logins}/folder.json is not a regular file; "
        "let the program that writes it run, or mend `seats_file`",
    ]


@pytest.mark.parametrize(
    "name",
    ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN", "CODEX_API_KEY", "CODEX_ACCESS_TOKEN"],
)
def test_variables_that_replace_a_seat_are_told_by_name_only(
    logins: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, SECRET)
    for done in (check(logins), check(logins, "--json")):
        assert done.exit_code == 0
        assert f"{name} is set" in done.stdout
        assert SECRET not in done.output


def test_without_a_configuration_it_checks_the_discovered_one(logins: Path) -> None:
    done = CliRunner().invoke(command, [])
    assert done.exit_code == 0
    assert done.stdout.startswith("configuration  none: this is what is read without one\n")
    assert "    no source: sends nothing\n" in done.stdout


def test_a_refused_configuration_is_64_with_every_fault(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    parts = {"seat": "colour = 1", "rest": '[canary]\ninterval = "soon"'}
    done = check(home, "--json", **parts)
    assert done.exit_code == 64
    assert [each["text"].partition(": ")[2].partition(":")[0] for each in json.loads(done.stdout)["findings"]] == [
        "rung[0].seat[0].colour",
        "canary.interval",
    ]
    assert run(["check", "--config", str(home / "rungwatch.toml")]) == 64
    assert "rung[0].seat[0].colour: unknown key" in capsys.readouterr().err


def with_sources(home: Path, claude: str, codex: str = "", *, scopes: str = "") -> dict[str, Any]:
    """The JSON of the command for a configuration whose seats have these sources, as TOML writes them."""
    path = home / "rungwatch.toml"
    text = CONFIG.format(rung=scopes, seat="", rest=codex).replace('sources = ["claude-usage"]', claude)
    path.write_text(text.replace('sources = ["codex-usage"]', ""), encoding="utf-8")
    document: dict[str, Any] = json.loads(CliRunner().invoke(command, ["--config", str(path), "--json"]).stdout)
    return document


def texts(document: dict[str, Any], about: str) -> list[str]:
    """The findings about a seat or rung, with their weights."""
    return [f"{each['weight']}: {each['text']}" for each in document["findings"] if each["about"] == about]


def test_every_source_is_listed_with_what_it_reads_and_starts(logins: Path) -> None:
    program = script(logins / "my-seats")
    document = with_sources(
        logins,
        f'sources = ["claude-feed", "claude-swap", "command"]\ncommand = ["{program}", "--token", "{SECRET}"]',
        'sources = ["codex-sessions", "codex-auth"]',
    )
    sources = [each for rung in document["rungs"] for seat in rung["seats"] for each in seat["sources"]]
    assert [(each["name"], each["reads"].removeprefix(str(logins)), each["starts"]) for each in sources] == [
        ("claude-feed", feed_file("/.local/state/rungwatch/feeds", logins / ".claude"), ""),
        ("claude-swap", "/.local/share/claude-swap/cache/usage.json", ""),
        ("command", "", str(program)),
        ("codex-sessions", "/.codex/sessions", ""),
        ("codex-auth", "/.codex/accounts/registry.json", ""),
    ]
    assert all(each["tells"] and not each["asks"] for each in sources)
    assert SECRET not in json.dumps(document)


def test_files_that_tell_nothing_are_warnings(logins: Path) -> None:
    identity = {"oauthAccount": {"emailAddress": "a@example.com", "organizationUuid": "org-1"}}
    (logins / ".claude.json").write_text(json.dumps(identity), encoding="utf-8")
    cache = logins / "usage.json"
    sources = (
        f'sources = ["claude-feed", "claude-swap", "ccswitch"]\nswitcher_row = "work"\nswitcher_file = "{cache}"'
    )
    assert texts(with_sources(logins, sources), "fable/desk") == [
        "warning: claude-feed: no status line has told anything yet: is `rungwatch feed` set?",
        f"warning: claude-swap: {cache} does not exist",
        f"warning: ccswitch: {cache} does not exist",
    ]
    cache.write_text(json.dumps({"schemaVersion": 2, "accounts": {}}), encoding="utf-8")
    told = texts(with_sources(logins, sources), "fable/desk")
    assert told[1] == "warning: claude-swap: the cache has no row of this account and organisation"
    stamp = datetime.now(UTC).isoformat()
    cache.write_text(json.dumps({"timestamp": stamp, "rows": {"home": {}}}), encoding="utf-8")
    assert (
        texts(with_sources(logins, sources), "fable/desk")[2] == "warning: ccswitch: the cache has no profile 'work'"
    )


def test_sources_that_cannot_report_the_scopes_are_told_by_seat(logins: Path) -> None:
    document = with_sources(logins, 'sources = ["claude-feed"]', scopes='scopes = ["Fable"]')
    told = [text for text in texts(document, "fable/desk") if "scope_unread" in text]
    assert len(told) == 1
    assert "the rung's scopes (Fable) are not in what claude-feed can report" in told[0]
    both = with_sources(logins, 'sources = ["claude-feed", "claude-usage"]', scopes='scopes = ["Fable"]')
    assert "scope_unread" not in json.dumps(both["findings"])


def test_a_program_that_is_not_there_is_a_fault(logins: Path) -> None:
    document = with_sources(logins, 'sources = ["command"]\ncommand = ["no-such-seats"]')
    assert not document["usable"]
    assert texts(document, "fable/desk") == ["fault: command: there is no program 'no-such-seats' to start"]
    listed = with_sources(logins, "", scopes='seats_command = ["no-such-list"]')
    assert "fault: there is no program 'no-such-list' to start" in texts(listed, "fable")


def test_a_client_as_a_source_is_a_warning_and_a_missing_one_a_fault(logins: Path) -> None:
    program = script(logins / "claude")
    document = with_sources(logins, f'sources = ["claude-client"]\nclient = "{program}"')
    assert document["usable"]
    (told,) = texts(document, "fable/desk")
    assert told.startswith("warning: claude-client: such a read may change the seat's login: the client renews")
    assert "blanks" in told
    assert not (logins / "started").exists()
    missing = with_sources(logins, f'sources = ["claude-client"]\nclient = "{logins}/gone"')
    assert texts(missing, "fable/desk") == [f"fault: claude-client: there is no program '{logins}/gone' to start"]


def test_sources_of_an_unmetered_seat_do_not_count(logins: Path) -> None:
    document = with_sources(logins, 'sources = ["claude-usage"]\nquota = "unmetered"')
    assert texts(document, "fable/desk") == [
        "warning: it is unmetered, so that what claude-usage says does not count"
    ]


def test_a_variable_that_leads_a_login_astray_is_told(logins: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", f"https://{SECRET}.example")
    done = check(logins)
    assert (
        "ANTHROPIC_BASE_URL is set: a client started with it sends the login of its seat to that host" in done.stdout
    )
    assert SECRET not in done.output
