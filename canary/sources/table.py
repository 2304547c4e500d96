"""The tables of logins and sources: a new source is one file and one row here."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType

from canary.files import FileFault, read_object
from canary.login import Login
from canary.sources import (
    api_key,
    ccswitch,
    claude_feed,
    claude_login,
    claude_swap,
    claude_usage,
    clients,
    codex_auth,
    codex_login,
    codex_sessions,
    codex_usage,
    command,
    litellm,
    openrouter,
    seats_file,
)
from canary.sources.answer import Answer
from canary.sources.target import Target
from canary.world import World
from decide.quota import Reading
from decide.reason import Reason
from decide.rungs.http import Request, Response
from decide.seat import Auth

LOGIN_KINDS: Mapping[str, str] = MappingProxyType(
    {"claude": "claude", "codex": "codex", "anthropic": "key", "openai": "key", "chat": "key", "command": "none"}
)
"""The kind of login behind each kind of rung."""


async def _claude(target: Target, world: World, now: datetime) -> Login:
    return await claude_login.read_login(
        target.config_dir,
        now=now,
        sleep=world.sleep,
        offload=world.offloader.owned(target.key),
        keychain=world.keychain if target.keychain else None,
        service=claude_login.keychain_service(target.config_dir_setting),
        account=target.keychain_account,
    )


async def _codex(target: Target, world: World, now: datetime) -> Login:
    offload = world.offloader.owned(target.key)
    return await codex_login.read_login(target.config_dir, now=now, sleep=world.sleep, offload=offload)


async def _key(target: Target, world: World, now: datetime) -> Login:
    offload = world.offloader.owned(target.key)
    return await api_key.read_login(target.api_key_env, target.api_key_file, environ=world.environ, offload=offload)


async def _none(target: Target, world: World, now: datetime) -> Login:
    return target.listed.login if target.listed else api_key.no_login()


LOGINS: Mapping[str, Callable[[Target, World, datetime], Awaitable[Login]]] = MappingProxyType(
    {"claude": _claude, "codex": _codex, "key": _key, "none": _none}
)


@dataclass(frozen=True, slots=True)
class Source:
    """One way to read a seat's quota.

    `login_kind`: the only kind of login it serves, None for any. `polls`: it asks the vendor, so that the poll
    budget and back-off apply and a lapsed login is never sent. `reports_scopes`: it can name per-model windows.
    `renews`: it lets the vendor's own client ask, which renews a lapsed login by itself. `tells`: what it reads and
    what it sends where, for `init` and `check`.
    """

    login_kind: str | None
    polls: bool
    reports_scopes: bool
    read: Callable[[Target, Login, World], Awaitable[Answer]]
    tells: str
    renews: bool = False


async def _ask(ask: Request, interpret: Callable[[Response], Answer], world: World) -> Answer:
    return interpret(await world.fetch(ask))


async def _claude_usage(target: Target, login: Login, world: World) -> Answer:
    if login.secret is None:
        return Answer(failure=Reason.MISSING, step="nothing to ask with")
    return await _ask(claude_usage.ask(target.claude_base_url, login.secret), claude_usage.interpret, world)


async def _codex_usage(target: Target, login: Login, world: World) -> Answer:
    if login.secret is None:
        return Answer(failure=Reason.MISSING, step="nothing to ask with")
    if login.auth is Auth.API_KEY:
        nothing = Reading(codex_usage.NAME, world.clock.now())
        return Answer(reading=nothing, step="not asked: the client's own API key has no such quota")
    ask = codex_usage.ask(target.codex_base_url, login.secret, login.account)
    return await _ask(ask, lambda reply: codex_usage.interpret(reply, target.model), world)


async def _seats_file(target: Target, login: Login, world: World) -> Answer:
    if target.listed is not None:
        return _of_listed(target.listed)
    if target.seats_file is None:
        return Answer(failure=Reason.MISSING, step="no seats_file is configured")
    offload = world.offloader.owned(target.key)
    found = await read_object(target.seats_file, sleep=world.sleep, offload=offload)
    if isinstance(found, FileFault):
        return Answer(failure=found.reason, step=found.text)
    now = world.clock.now()
    seats = seats_file.parse(found.value, modified_at=found.modified_at, now=now, salt=b"")
    if seats is None:
        return Answer(failure=Reason.MALFORMED, step=f"{target.seats_file} is not a seats.json document")
    listed = next((seat for seat in seats if seat.name == target.seat), None)
    if listed is None:
        return Answer(failure=Reason.MISSING, step=f"{target.seats_file} names no seat {target.seat!r}")
    return _of_listed(listed)


def _of_listed(listed: seats_file.ListedSeat) -> Answer:
    if listed.failure is not None:
        return Answer(failure=listed.failure, step=listed.note or f"listed as {listed.failure}")
    return Answer(reading=listed.reading, step=listed.note or "read the seats file")


SOURCES: Mapping[str, Source] = MappingProxyType(
    {
        claude_usage.NAME: Source(
            login_kind="claude",
            polls=True,
            reports_scopes=True,
            read=_claude_usage,
            tells="sends the seat's own login to the Claude usage endpoint, which shows quotas and calls no model",
        ),
        codex_usage.NAME: Source(
            login_kind="codex",
            polls=True,
            reports_scopes=True,
            read=_codex_usage,
            tells="sends the seat's own login to the Codex usage endpoint, which shows quotas and calls no model",
        ),
        claude_feed.NAME: Source(
            login_kind="claude",
            polls=False,
            reports_scopes=False,
            read=claude_feed.read_feed,
            tells="reads what `rungwatch feed` kept of Claude Code's status line; sends nothing",
        ),
        codex_sessions.NAME: Source(
            login_kind="codex",
            polls=False,
            reports_scopes=False,
            read=codex_sessions.read_sessions,
            tells="reads the ends of the newest Codex session files, which name no account; sends nothing",
        ),
        claude_swap.NAME: Source(
            login_kind="claude",
            polls=False,
            reports_scopes=True,
            read=claude_swap.read_cache,
            tells="reads the row of this login's account in claude-swap's cache; sends nothing",
        ),
        ccswitch.NAME: Source(
            login_kind="claude",
            polls=False,
            reports_scopes=False,
            read=ccswitch.read_cache,
            tells="reads the row that `switcher_row` names in ccswitch's cache; sends nothing",
        ),
        codex_auth.NAME: Source(
            login_kind="codex",
            polls=False,
            reports_scopes=False,
            read=codex_auth.read_registry,
            tells="reads the record of this login's account in codex-auth's registry; sends nothing",
        ),
        clients.CLAUDE: Source(
            login_kind="claude",
            polls=True,
            reports_scopes=True,
            read=clients.read_claude,
            tells="starts Claude Code, which asks for its own quotas and calls no model; it may renew the login, "
            "and empties one whose renewal is refused",
            renews=True,
        ),
        clients.CODEX: Source(
            login_kind="codex",
            polls=True,
            reports_scopes=True,
            read=clients.read_codex,
            tells="starts Codex's app-server, which asks for its quotas and calls no model; it may renew the login",
            renews=True,
        ),
        openrouter.KEY: Source(
            login_kind="key",
            polls=True,
            reports_scopes=False,
            read=openrouter.read_key,
            tells="sends the key to OpenRouter's /key, which shows what it may spend and calls no model",
        ),
        openrouter.CREDITS: Source(
            login_kind="key",
            polls=True,
            reports_scopes=False,
            read=openrouter.read_credits,
            tells="sends the key to OpenRouter's /credits; newer keys may be refused there (403)",
        ),
        litellm.NAME: Source(
            login_kind="key",
            polls=True,
            reports_scopes=False,
            read=litellm.read_budgets,
            tells="sends the key to the proxy's /key/info and then /team/info or /user/info; sees no budget above",
        ),
        command.NAME: Source(
            login_kind=None,
            polls=False,
            reports_scopes=True,
            read=command.read_command,
            tells="runs a program of yours, without a shell, and reads the seats.json that it prints",
        ),
        seats_file.NAME: Source(
            login_kind=None,
            polls=False,
            reports_scopes=True,
            read=_seats_file,
            tells="reads a seats.json that another program writes; sends nothing",
        ),
    }
)
