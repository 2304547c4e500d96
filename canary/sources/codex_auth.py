"""codex-auth's registry: what that switcher last saw of each Codex account it keeps (formats 6.7); read only."""

from datetime import datetime
from typing import Any, NamedTuple

from canary.files import FileFault, read_object
from canary.login import Login
from canary.sources import codex_login
from canary.sources.answer import Answer
from canary.sources.codex_sessions import windows_of
from canary.sources.credits import spendable
from canary.sources.target import Target
from canary.sources.wire import expiry_in_s
from canary.world import World
from decide.quota import Reading
from decide.reason import Reason

NAME = "codex-auth"
VERSIONS = (3, 4)
"""Schemas whose account records are the same; an older one knows accounts by e-mail alone."""


class Identity(NamedTuple):
    """Whose login it is: a team's account id is shared by its members, the user id is not. Empty: not told."""

    account: str
    user: str


async def read_registry(target: Target, login: Login, world: World) -> Answer:
    """The record of the account that this seat's folder is logged in to."""
    identity = identity_of(login)
    if not identity.account:
        return Answer(failure=Reason.NEVER_READ, step="the login names no account: no record can be known to be its")
    path = target.switcher_file or target.config_dir / "accounts" / "registry.json"
    found = await read_object(path, sleep=world.sleep, offload=world.offloader.owned(target.key))
    if isinstance(found, FileFault):
        return Answer(failure=found.reason, step=found.text)
    return parse(found.value, identity, world.clock.now())


def identity_of(login: Login) -> Identity:
    """Account and user of a login, the user from the claims of its token (formats 3.3)."""
    claims = codex_login.token_claims(login.secret.get_secret_value()) if login.secret is not None else {}
    auth = claims.get(codex_login.CLAIMS)
    told = [auth.get("chatgpt_user_id"), auth.get("user_id")] if isinstance(auth, dict) else []
    return Identity(login.account, next((user for user in told if isinstance(user, str) and user), ""))


def parse(document: dict[str, Any], identity: Identity, now: datetime) -> Answer:
    """What the registry says of one account; never raises. No snapshot is no reading, never a quota left whole."""
    accounts, version = document.get("accounts"), document.get("schema_version", document.get("version"))
    if isinstance(version, bool) or version not in VERSIONS or not isinstance(accounts, list):
        return Answer(failure=Reason.MALFORMED, step=f"the registry is not of schema {VERSIONS[0]} or {VERSIONS[-1]}")
    rows = [row for row in accounts if isinstance(row, dict) and _matches(row, identity)]
    if not rows:
        return Answer(failure=Reason.NEVER_READ, step="the registry has no record of this account and user")
    if len(rows) > 1:
        return Answer(failure=Reason.NEVER_READ, step="several records could be this account's")
    return _row(rows[0], now)


def _matches(row: dict[str, Any], identity: Identity) -> bool:
    user = row.get("chatgpt_user_id")
    if row.get("chatgpt_account_id") != identity.account:
        return False
    return user is None or user == "" or user == identity.user


def _row(row: dict[str, Any], now: datetime) -> Answer:
    usage = row.get("last_usage")
    if usage is None:
        return Answer(failure=Reason.NEVER_READ, step="the registry holds no snapshot of this account")
    at = expiry_in_s(row.get("last_usage_at"), now).at
    if not isinstance(usage, dict) or at is None:
        return Answer(failure=Reason.MALFORMED, step="this account's record has no snapshot with a time")
    reading = Reading(NAME, at, tuple(windows_of(usage, at)), spendable(usage.get("credits")), frozenset())
    return Answer(reading=reading, step="read the switcher's registry")
