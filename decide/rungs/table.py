"""Kinds of rungs: each way of asking a model is one file and one row here."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType

from decide.ports import Ask
from decide.rungs import anthropic, chat, claude, codex, command, openai
from decide.rungs.http import Fetch


@dataclass(frozen=True, slots=True)
class Ports:
    """What rungs reach the world through."""

    fetch: Fetch
    environ: Mapping[str, str] = field(repr=False)
    now: Callable[[], datetime]


@dataclass(frozen=True, slots=True)
class Kind:
    """One way of asking. `pins_model`: the call fixes the model. `own_price`: the client says what a call cost.

    `sends_secret`: the rung itself sends the seat's key.
    """

    build: Callable[[Ports], Ask]
    pins_model: bool = True
    own_price: bool = False
    sends_secret: bool = False


KINDS: Mapping[str, Kind] = MappingProxyType(
    {
        "claude": Kind(lambda ports: claude.rung(ports.environ, ports.now), own_price=True),
        "codex": Kind(lambda ports: codex.rung(ports.environ, ports.now)),
        "anthropic": Kind(lambda ports: anthropic.rung(ports.fetch), sends_secret=True),
        "openai": Kind(lambda ports: openai.rung(ports.fetch), sends_secret=True),
        "chat": Kind(lambda ports: chat.rung(ports.fetch), sends_secret=True),
        "command": Kind(lambda ports: command.rung(ports.environ, ports.now), pins_model=False),
    }
)
"""Every kind of rung by its name in the configuration (design 7)."""
