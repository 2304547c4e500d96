"""Uses: what each source of a seat reads, whom it asks and which program it starts, as `check` and `init` tell it."""

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from urllib.parse import urlsplit

from canary.feed import feed_file
from canary.sources import (
    ccswitch,
    claude_feed,
    claude_swap,
    claude_usage,
    clients,
    codex_auth,
    codex_sessions,
    codex_usage,
    command,
    litellm,
    openrouter,
    seats_file,
)
from canary.sources.table import SOURCES
from canary.sources.target import Target

Environ = Mapping[str, str]

CLIENTS: Mapping[str, str] = MappingProxyType({clients.CLAUDE: "claude", clients.CODEX: "codex"})
"""The sources that start a vendor's own client, and the name by which that client is started."""
RISKS: Mapping[str, str] = MappingProxyType(
    {
        clients.CLAUDE: "the client renews a login that lapses, and blanks one whose renewal is refused",
        clients.CODEX: "the client renews a login that lapses",
    }
)
"""What reading through a client may do to the seat's login (clients 1, point 2)."""

_FILES: Mapping[str, Callable[[Target, Environ], Path | None]] = MappingProxyType(
    {
        claude_feed.NAME: lambda target, environ: Path(feed_file(target.feeds, target.config_dir)),
        codex_sessions.NAME: lambda target, environ: target.config_dir / "sessions",
        claude_swap.NAME: lambda target, environ: target.switcher_file or claude_swap.default_file(environ),
        ccswitch.NAME: lambda target, environ: target.switcher_file or ccswitch.default_file(environ),
        codex_auth.NAME: lambda target, environ: (
            target.switcher_file or target.config_dir / "accounts" / "registry.json"
        ),
        seats_file.NAME: lambda target, environ: target.seats_file,
    }
)
_HOSTS: Mapping[str, Callable[[Target], str | None]] = MappingProxyType(
    {
        claude_usage.NAME: lambda target: target.claude_base_url,
        codex_usage.NAME: lambda target: target.codex_base_url,
        openrouter.KEY: lambda target: target.base_url or openrouter.BASE_URL,
        openrouter.CREDITS: lambda target: target.base_url or openrouter.BASE_URL,
        litellm.NAME: lambda target: target.base_url,
    }
)

LOOKS = frozenset(_FILES) - {seats_file.NAME}
"""The sources that only look at files which other programs leave on this machine; whoever looks sends nothing."""


@dataclass(frozen=True, slots=True)
class Use:
    """One source of one seat: where it reads, the host it asks, the program it starts; empty where there is none."""

    source: str
    tells: str
    reads: str = ""
    asks: str = ""
    starts: str = ""


def use_of(name: str, target: Target, environ: Environ) -> Use:
    """What a source does for a seat; of a command only the program is told, for its arguments may be secret."""
    file, host = _FILES.get(name, _no_file)(target, environ), _HOSTS.get(name, _no_host)(target)
    return Use(
        source=name,
        tells=SOURCES[name].tells,
        reads=str(file) if file is not None else "",
        asks=urlsplit(host).netloc if host else "",
        starts=program_of(name, target),
    )


def _no_file(target: Target, environ: Environ) -> Path | None:
    return None


def _no_host(target: Target) -> str | None:
    return None


def program_of(name: str, target: Target) -> str:
    """The program that a source starts for a seat, empty for one that starts none."""
    if name in CLIENTS:
        return target.client or CLIENTS[name]
    return target.command[0] if name == command.NAME and target.command else ""


def found_program(program: str, environ: Environ) -> str | None:
    """Where a program is, by the PATH of that environment; None where it cannot be started."""
    return shutil.which(program, path=environ.get("PATH", ""))
