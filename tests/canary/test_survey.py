"""A survey says how each login's quota could be read here, and starts and sends nothing."""

import asyncio
import json
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest

from canary.clock import SystemClock
from canary.discover import discover
from canary.feed import FOLDER, feed_file
from canary.sources.claude_swap import default_file
from canary.sources.keychain import system_keychain
from canary.sources.table import SOURCES
from canary.survey import Line, Offer, Surveyed, status_line, survey
from canary.world import World
from decide.rungs.http import Request, Response
from tests.canary.cli.logins import SECRET, claude_login, codex_login, script


async def _nobody(ask: Request) -> Response:
    raise AssertionError("a survey asks no host")


def surveyed(home: Path, environ: Mapping[str, str] | None = None) -> dict[str, Surveyed]:
    """Each kind of login in a home, by kind."""
    world = World(SystemClock(), _nobody, asyncio.sleep, system_keychain, environ or {"PATH": str(home / "bin")})
    found = discover({}, home, datetime.now(UTC))
    return {each.kind: asyncio.run(survey(each, home / "state", world)) for each in found}


def offers(seat: Surveyed) -> dict[str, Offer]:
    """The offers by source."""
    return {offer.use.source: offer for offer in seat.offers}


@pytest.fixture
def logins(home: Path) -> Path:
    """A home with both logins."""
    claude_login(home / ".claude")
    codex_login(home / ".codex")
    return home


def write(path: Path, document: object) -> Path:
    """A JSON file, with its folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def test_a_plain_home_offers_what_needs_no_find(logins: Path) -> None:
    seats = surveyed(logins)
    assert {name: offer.ready for name, offer in offers(seats["claude"]).items()} == {
        "claude-feed": False,
        "claude-usage": False,
    }
    assert {name: offer.ready for name, offer in offers(seats["codex"]).items()} == {
        "codex-sessions": True,
        "codex-usage": False,
    }
    assert (
        offers(seats["claude"])["claude-usage"].caution
        == "not documented: see first whether the vendor's terms allow it"
    )


def test_a_kept_feed_or_a_set_status_line_makes_the_feed_ready(logins: Path) -> None:
    kept = Path(feed_file(logins / "state" / FOLDER, logins / ".claude"))
    write(kept, {})
    assert offers(surveyed(logins)["claude"])["claude-feed"].ready
    kept.unlink()
    write(logins / ".claude" / "settings.json", {"statusLine": {"type": "command", "command": "rungwatch feed"}})
    offer = offers(surveyed(logins)["claude"])["claude-feed"]
    assert (offer.ready, offer.note) == (True, "set, but nothing is kept yet")


def test_a_switcher_is_ready_only_with_this_accounts_row(logins: Path) -> None:
    write(logins / ".claude.json", {"oauthAccount": {"emailAddress": "a@example.com", "organizationUuid": "org-1"}})
    row = {
        "email": "a@example.com",
        "organizationUuid": "org-1",
        "lastGood": {"five_hour": {"pct": 12.0}},
        "fetchedAt": datetime.now(UTC).timestamp(),
    }
    cache = default_file({}, sys.platform)
    write(cache, {"schemaVersion": 2, "accounts": {"1": row}})
    assert offers(surveyed(logins)["claude"])["claude-swap"].ready
    write(cache, {"schemaVersion": 2, "accounts": {"1": row | {"organizationUuid": "org-2"}}})
    offer = offers(surveyed(logins)["claude"])["claude-swap"]
    assert (offer.ready, offer.note) == (False, "the cache has no row of this account and organisation")


def test_the_profiles_of_ccswitch_are_named_and_none_is_taken(logins: Path) -> None:
    cache = write(logins / "ccswitch" / "cache" / "usage.json", {"rows": {"work": {}, "me@example.com": {}, "b": {}}})
    environ = {"CCSWITCH_CONFIG_DIR": str(cache.parents[1])}
    offer = offers(surveyed(logins, environ)["claude"])["ccswitch"]
    assert not offer.ready
    assert (
        offer.caution
        == "to use it, set switcher_row to this seat's profile (it knows 'b', 'work') and add it to sources"
    )


def test_codex_auth_is_offered_where_its_registry_is(logins: Path) -> None:
    write(logins / ".codex" / "accounts" / "registry.json", {"schema_version": 3, "accounts": []})
    offer = offers(surveyed(logins)["codex"])["codex-auth"]
    assert (offer.ready, offer.note) == (False, "the registry has no record of this account and user")


def test_an_api_key_login_has_no_quota_to_offer(home: Path) -> None:
    write(home / ".codex" / "auth.json", {"OPENAI_API_KEY": SECRET})
    seat = surveyed(home)["codex"]
    assert (seat.unmetered, seat.offers) == (True, ())


def test_a_client_on_the_path_is_found_and_not_started(logins: Path) -> None:
    for name in ("claude", "codex"):
        script(logins / "bin" / name)
    seats = surveyed(logins)
    for kind in ("claude", "codex"):
        offer = offers(seats[kind]).get(f"{kind}-client")
        assert (offer is not None) == (f"{kind}-client" in SOURCES)
        assert offer is None or (not offer.ready and "renews" in offer.caution)
    assert not (logins / "bin" / "started").exists()


@pytest.mark.parametrize(
    ("text", "line", "program"),
    [
        ("{}", Line.NONE, ""),
        ('{"statusLine": null}', Line.NONE, ""),
        ('{"statusLine": {"type": "command", "command": "rungwatch feed"}}', Line.OURS, ""),
        ('{"statusLine": {"command": "\'/opt/my tools/rungwatch\' feed --state-dir /x"}}', Line.OURS, ""),
        ('{"statusLine": {"command": "python3 -P -m canary.feed"}}', Line.OURS, ""),
        ('{"statusLine": {"command": "r=$(cat); printf %s | rungwatch feed; other"}}', Line.OURS, ""),
        ('{"statusLine": {"command": "KEY=sk-ant-x /usr/bin/ccline --token sk-ant-y"}}', Line.OTHER, "ccline"),
        ('{"statusLine": {"command": "rungwatch-other feeds"}}', Line.OTHER, "rungwatch-other"),
        ('{"statusLine": {"command": "sk-ant-oat01-x"}}', Line.OTHER, ""),
        ('{"statusLine": {"command": "$(cat secret)"}}', Line.OTHER, ""),
        ('{"statusLine": {"command": "unclosed \'"}}', Line.OTHER, ""),
        ('{"statusLine": {"command": ""}}', Line.OTHER, ""),
        ('{"statusLine": {"command": 3}}', Line.OTHER, ""),
        ('{"statusLine": "x"}', Line.OTHER, ""),
        ("{", Line.UNREADABLE, ""),
        ("[]", Line.UNREADABLE, ""),
    ],
)
def test_what_settings_say_of_the_status_line(tmp_path: Path, text: str, line: Line, program: str) -> None:
    (tmp_path / "settings.json").write_text(text, encoding="utf-8")
    found = status_line(tmp_path)
    assert (found.line, found.program, found.off) == (line, program, False)


def test_settings_that_switch_the_status_line_off(tmp_path: Path) -> None:
    assert status_line(tmp_path).line is Line.NONE
    write(tmp_path / "settings.json", {"disableAllHooks": True})
    assert status_line(tmp_path).off
