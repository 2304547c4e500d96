"""The one place where the public cases' neutral names become ours; their expectations stay as they are."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from canary.memory import Memory
from canary.plan import RungPlan
from canary.sources import claude_usage
from canary.tick import Ticked, tick
from decide.ladder import Role, RungStatus
from decide.pick import Pick, pick_seat
from decide.quota import Reading
from decide.reason import Reason
from decide.seat import Seat, SeatState, SeatStatus, Token, TokenState, judge_seat
from tests.canary.fakes import LIMITS, NOW, FakeClock, memory, plan, world

CASES = {
    case["id"]: case for case in map(json.loads, Path(__file__).with_name("cases.jsonl").read_text().splitlines())
}
STATES = {
    "OK": SeatState.AVAILABLE,
    "WALLED": SeatState.CAPPED,
    "UNKNOWN": SeatState.UNKNOWN,
    "EXPIRED": SeatState.NO_TOKEN,
}
NONCE = "5d0c77e1"
KINDS = {"session_5h": "session", "session": "session", "weekly": "weekly"}
LIVE = Token(TokenState.LIVE)


def given(case: str) -> Any:
    """The input of a case."""
    return CASES[case]["input"]


def when(epoch: float) -> datetime:
    """Epoch seconds of a case as a time."""
    return datetime.fromtimestamp(epoch, UTC)


def claude_seat(document: Mapping[str, Any], *, at: datetime = NOW, scopes: Sequence[str] = ()) -> Seat:
    """A seat whose usage endpoint gave `document` at `at`."""
    return Seat("s1", LIVE, readings=(claude_usage.parse(dict(document), at),), scopes=tuple(scopes))


def neutral_windows(windows: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Windows of a case as a seats.json has them."""
    return [
        {"kind": KINDS[name], "used_percent": value.get("percent"), "resets_at": value.get("resets_at")}
        for name, value in windows.items()
    ]


def seats_document(case_document: Mapping[str, Any]) -> dict[str, Any]:
    """A case's snapshot of seats as a seats.json; their logins are not the matter of these cases."""
    seats = []
    for seat in case_document["seats"]:
        windows = seat.get("windows")
        if windows is None:
            percents = {"session": seat.get("session", seat.get("percent")), "weekly": seat.get("weekly")}
            windows = {name: {"percent": percent} for name, percent in percents.items() if percent is not None}
            if "session_resets_at" in seat:
                windows["session"]["resets_at"] = seat["session_resets_at"]
        seats.append({"name": seat["id"], "organization": seat.get("org"), "token": {"kind": "none"}, "windows": neutral_windows(windows)})  # fmt: skip
    document: dict[str, Any] = {"schema_version": 1, "seats": seats}
    if "observed_at" in case_document:
        document["fetched_at"] = when(case_document["observed_at"]).isoformat()
    return document


def renamed(text: str) -> str:
    """A case's reply with our names of its fields, as planted or echoed text holds it: without any nonce."""
    return text.replace('"choice":', '"rec":').replace('"reason":', '"rationale":')


def own(text: str) -> str:
    """A case's reply as the model's own: each verdict that it begins repeats the brief's nonce."""
    return re.sub(r'\{(?="(?:resolvable|rec)":)', f'{{"nonce": "{NONCE}", ', renamed(text))


def judged(seat: Seat, now: datetime = NOW) -> SeatStatus:
    """A seat as judged now."""
    return judge_seat(seat, now=now)


def picked(seats: Sequence[Seat], now: datetime = NOW) -> Pick:
    """What a decision would pick."""
    return pick_seat(seats, now=now)


def reading_of(windows: Sequence[Any], at: datetime) -> Reading:
    """A reading of ready windows."""
    return Reading("case", at, tuple(windows))


class ListedRung:
    """A rung whose seats come from a file, ticked again and again as the file changes."""

    def __init__(self, folder: Path) -> None:
        self.path, self.clock = folder / "seats.json", FakeClock()
        self.memory: Memory = memory()
        self.done: Ticked | None = None
        self.meanwhile: Callable[[float], None] = lambda seconds: None

    def write(self, content: str | bytes) -> None:
        """Put this content into the file."""
        self.path.write_bytes(content if isinstance(content, bytes) else content.encode())

    async def tick(self) -> RungStatus:
        """The rung after one more tick."""

        async def pause(seconds: float) -> None:
            self.meanwhile(seconds)

        outside = world(self.clock)
        outside = type(outside)(outside.clock, outside.fetch, pause, outside.keychain, outside.environ)
        rung = RungPlan("fable", Role.PRIMARY, seats_file=self.path, model="claude-fable-5")
        both = plan([], rungs=(rung, RungPlan("astra", Role.SECOND)), limits=LIMITS)
        self.done = await tick(both, self.memory, outside)
        self.memory = self.done.memory
        return self.done.state.rungs[0]


def only(rung: RungStatus) -> tuple[SeatState, Reason | None]:
    """State and reason of a rung's one seat."""
    (seat,) = rung.seats
    return seat.state, seat.reason
