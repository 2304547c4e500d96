"""Fakes of the world for the canary's tests: a clock that is set, pauses that take no time, a far side in a table."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from canary.clock import Clock
from canary.memory import Memory
from canary.plan import Plan, RungPlan
from canary.probe import Limits
from canary.sources.target import Target
from canary.world import World
from decide.ladder import Role
from decide.reason import Reason
from decide.rungs.http import Request, Response

NOW = datetime(2026, 10, 15, 12, 0, tzinfo=UTC)
"""1792065600, the moment of the public cases."""
SALT = b"test-salt"


@dataclass
class FakeClock:
    """A clock that stands still until it is moved; wall and real time move together unless only one is."""

    wall: datetime = NOW
    real: float = 1000.0

    def now(self) -> datetime:
        return self.wall

    def monotonic(self) -> float:
        return self.real

    def pass_(self, seconds: float) -> None:
        """Time goes by."""
        self.wall += timedelta(seconds=seconds)
        self.real += seconds

    def step(self, seconds: float) -> None:
        """The wall clock is set, and no time goes by; a machine that sleeps looks the same."""
        self.wall += timedelta(seconds=seconds)


@dataclass
class FarSide:
    """Replies by path, and every request that came."""

    clock: FakeClock
    replies: Mapping[str, Response | Callable[[Request], Awaitable[Response]]] = field(default_factory=dict)
    asked: list[Request] = field(default_factory=list)

    async def fetch(self, ask: Request) -> Response:
        self.asked.append(ask)
        for part, reply in self.replies.items():
            if part in ask.url:
                return reply if isinstance(reply, Response) else await reply(ask)
        return Response(self.clock.now(), failure=Reason.NETWORK, detail="no such host in this test")


async def no_pause(seconds: float) -> None:
    """A pause that takes no time."""


def no_keychain(service: str, account: str | None) -> Sequence[tuple[str, str]]:
    """A key ring without any item."""
    return []


def world(clock: Clock, far: FarSide | None = None, environ: Mapping[str, str] | None = None) -> World:
    """A world of fakes."""
    fetch = far.fetch if far is not None else FarSide(FakeClock()).fetch
    return World(clock, fetch, no_pause, no_keychain, environ or {})


def json_reply(body: bytes, at: datetime = NOW, status: int = 200, **headers: str) -> Response:
    """An HTTP answer with JSON."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Response(at, status, {"content-type": "application/json"} | named, body)


LIMITS = Limits(timedelta(seconds=10), 20, timedelta(minutes=15))


def target(folder: Path, seat: str = "desk", **changes: object) -> Target:
    """A Claude seat that reads its usage endpoint."""
    values: dict[str, object] = {
        "rung": "fable",
        "seat": seat,
        "login_kind": "claude",
        "model": "claude-fable-5",
        "config_dir": folder,
        "sources": ("claude-usage",),
        "claude_base_url": "https://claude.test",
        "codex_base_url": "https://codex.test/backend-api",
    }
    return Target(**(values | changes))  # type: ignore[arg-type]  # names and types are Target's own


def plan(first: Sequence[Target], second: Sequence[Target] = (), **changes: object) -> Plan:
    """A plan of two rungs, fable and astra."""
    values: dict[str, object] = {
        "rungs": (RungPlan("fable", Role.PRIMARY, tuple(first)), RungPlan("astra", Role.SECOND, tuple(second))),
        "limits": LIMITS,
        "deadline": timedelta(seconds=30),
        "concurrency": 16,
        "interval": timedelta(minutes=5),
    }
    return Plan(**(values | changes))  # type: ignore[arg-type]  # names and types are Plan's own


def memory() -> Memory:
    """A memory of nothing."""
    return Memory(salt=SALT)
