"""Plans: what a configuration makes of each kind of rung and seat."""

from pathlib import Path

import pytest

from canary.load import parse
from canary.plan import plan_of
from canary.sources.target import Target
from decide.ladder import Role
from decide.seat import Auth, Quota

TEXT = """
[ladder]
primary = "one"
second = "two"
[[rung]]
name = "one"
kind = "{kind}"
model = "m-1"
scopes = ["Fable"]
[[rung.seat]]
name = "s"
{seat}
[[rung]]
name = "two"
kind = "command"
model = "m-2"
[[rung.seat]]
name = "t"
"""


def made(kind: str, seat: str = "") -> Target:
    return plan_of(parse(TEXT.format(kind=kind, seat=seat), "test")).rungs[0].targets[0]


@pytest.mark.parametrize(
    ("kind", "seat", "login", "auth", "quota", "renews"),
    [
        ("claude", "", "claude", Auth.OAUTH, Quota.METERED, True),
        ("codex", "", "codex", Auth.OAUTH, Quota.METERED, True),
        ("codex", 'quota = "unmetered"', "codex", Auth.OAUTH, Quota.UNMETERED, True),
        ("claude", 'auth = "api_key"\napi_key_env = "K"', "key", Auth.API_KEY, Quota.UNMETERED, True),
        ("anthropic", 'api_key_env = "K"', "key", Auth.API_KEY, Quota.UNMETERED, False),
        ("openai", 'api_key_file = "/k"', "key", Auth.API_KEY, Quota.UNMETERED, False),
        ("chat", 'auth = "none"', "none", Auth.NONE, Quota.UNMETERED, False),
        ("command", "", "none", Auth.NONE, Quota.UNMETERED, True),
        (
            "command",
            'quota = "metered"\nsources = ["seats-file"]\nseats_file = "/s"',
            "none",
            Auth.NONE,
            Quota.METERED,
            True,
        ),
    ],
)
def test_each_kind_of_seat(kind: str, seat: str, login: str, auth: Auth, quota: Quota, renews: bool) -> None:
    target = made(kind, seat)
    assert (target.login_kind, target.auth, target.quota, target.client_renews) == (login, auth, quota, renews)
    assert (target.rung, target.seat, target.model, target.scopes, target.key) == (
        "one",
        "s",
        "m-1",
        ("Fable",),
        "one/s",
    )


def test_folders_default_to_the_clients_own_and_sources_say_whether_scopes_are_seen() -> None:
    assert made("claude").config_dir == Path("~/.claude").expanduser()
    assert made("codex").config_dir == Path("~/.codex").expanduser()
    assert not made("claude").reports_scopes
    assert made("claude", 'sources = ["claude-usage"]').reports_scopes


def test_the_primary_comes_first_whatever_the_order_in_the_file() -> None:
    text = TEXT.format(kind="claude", seat="").replace(
        'primary = "one"\nsecond = "two"', 'primary = "two"\nsecond = "one"'
    )
    plan = plan_of(parse(text, "test"))
    assert [(rung.name, rung.role) for rung in plan.rungs] == [("two", Role.PRIMARY), ("one", Role.SECOND)]
