"""Scenes: views of the ladder that the tests show, built by `decide`'s own rules."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from decide.ladder import LadderState, Role, RungStatus, follow, judge_ladder, judge_rung
from decide.pick import pick_seat
from decide.quota import Measure, Reading, Window, WindowKind
from decide.reason import Reason
from decide.seat import Quota, Seat, Token, TokenState
from exporters.view import CanaryFacts, Forecast, Forecasts, RungName, TickResult, View

NOW = datetime(2026, 7, 1, 12, 0, tzinfo=UTC)
NAMES = (RungName("fable", Role.PRIMARY), RungName("astra", Role.SECOND))
SOURCES = ("claude-usage", "codex-usage")
LIVE = Token(TokenState.LIVE, expires_at=NOW + timedelta(hours=6))
HOSTILE = ('desk 14" left', "back\\slash", "two\nlines", "Ünïcødé 座席", '}{,="', "", "\ud800 half", "ladder OK")
SECRET = "sk-planted-5ecret"


def minutes(count: float) -> timedelta:
    """That many minutes."""
    return timedelta(minutes=count)


def meter(kind: WindowKind, used: float, resets_in: float | None = 60, scope: str = "") -> Window:
    """A metered window that resets in that many minutes."""
    return Window(kind, used, NOW + minutes(resets_in) if resets_in is not None else None, scope)


def read(*windows: Window, age: float = 1, source: str = "claude-usage") -> tuple[Reading, ...]:
    """One reading taken that many minutes ago."""
    return (Reading(source, NOW - minutes(age), windows),)


def open_seat(name: str, used: float = 0.25) -> Seat:
    """An available seat."""
    windows = meter(WindowKind.SESSION, used, 90), meter(WindowKind.WEEKLY, used / 2, 3000)
    return Seat(name, LIVE, readings=read(*windows))


def full_seat(name: str, used: float = 1.0, resets_in: float = 150) -> Seat:
    """A seat whose weekly window is full."""
    return Seat(name, LIVE, readings=read(meter(WindowKind.SESSION, 0.4), meter(WindowKind.WEEKLY, used, resets_in)))


def failed_seat(name: str, reason: Reason = Reason.MALFORMED) -> Seat:
    """A seat whose last read failed, seven minutes after one that went well."""
    return Seat(name, LIVE, readings=read(meter(WindowKind.SESSION, 0.12), age=7), failure=reason)


def lapsed_seat(name: str) -> Seat:
    """A seat that needs a login."""
    return Seat(name, Token(TokenState.NEEDS_LOGIN, Reason.EXPIRED, NOW - minutes(20)), readings=read())


def key_seat(name: str) -> Seat:
    """An unmetered seat with an API key."""
    return Seat(name, Token(TokenState.LIVE), quota=Quota.UNMETERED)


def mixed_seat(name: str) -> Seat:
    """A seat with windows of every measure, two of one kind that bind, and one that does not bind."""
    windows = (
        meter(WindowKind.SESSION, 0.5),
        meter(WindowKind.WEEKLY_MODEL, 0.3, 500, "Fable"),
        meter(WindowKind.WEEKLY_MODEL, 0.7, 600, "Fable Max"),
        meter(WindowKind.WEEKLY_MODEL, 1.0, 700, "Other"),
        Window(WindowKind.MONTHLY, measure=Measure.UNLIMITED),
        Window(WindowKind.SPEND, measure=Measure.REFUSED, resets_at=NOW + minutes(900)),
    )
    return Seat(name, LIVE, readings=read(*windows), scopes=("Fable", "Fable Max"))


def rung(name: RungName, *seats: Seat, at: datetime = NOW) -> RungStatus:
    """A rung as judged."""
    return judge_rung(name.name, name.role, pick_seat(seats, now=at))


def state(*rungs: RungStatus, at: datetime = NOW, previous: LadderState | None = None) -> LadderState:
    """A tick's state that follows the previous one."""
    return follow(previous, LadderState(at, judge_ladder(rungs), rungs, duration_s=1.25), stale_after=minutes(600))[0]


def view(*rungs: RungStatus, at: datetime = NOW, previous: LadderState | None = None) -> View:
    """A view of those rungs after one good tick; without rungs, the one before the first tick."""
    if not rungs:
        return View(NAMES, SOURCES, version="0.1.0")
    facts = CanaryFacts({TickResult.OK: 1}, 0, at, at, 1.25, {("claude-usage", "ok"): 3}, skew_s=0.5)
    return View(NAMES, SOURCES, state(*rungs, at=at, previous=previous), facts, version="0.1.0")


FABLE, ASTRA = NAMES


def ok_view() -> View:
    """Both rungs reachable."""
    return view(rung(FABLE, open_seat("desk"), open_seat("lab", 0.85)), rung(ASTRA, open_seat("codex-main", 0.4)))


def degraded_view() -> View:
    """The second rung lost to caps, for an hour; a mixture of seats on the first."""
    earlier = replace(ok_view(), state=state(*_rungs(ok_view()), at=NOW - minutes(60)))
    seats = (open_seat("desk"), full_seat("lab"), lapsed_seat("spare"), failed_seat("loan"), key_seat("api"))
    lost = full_seat("codex-main", 1.03), full_seat("codex-two", resets_in=400)
    found = view(rung(FABLE, *seats, mixed_seat("mixed")), rung(ASTRA, *lost), previous=earlier.state)
    polls = {("fable", "desk"): 0.25, ("fable", "gone"): 0.5, ("astra", "codex-main"): 0.6}
    return replace(found, canary=replace(found.canary, poll_used=polls))


def ahead(at: float, earliest: float, latest: float | None = None) -> Forecast:
    """A forecast in minutes from now."""
    return Forecast(NOW + minutes(at), NOW + minutes(earliest), None if latest is None else NOW + minutes(latest))


def foreseen_view() -> View:
    """Both rungs reachable: the first will be spent tomorrow, one seat of it sooner; the second today."""
    seats = {
        "fable": {"desk": ahead(130, 95, 400), "lab": ahead(1500, 700)},
        "astra": {"codex-main": ahead(140, 110, 210)},
    }
    rungs = {"fable": ahead(1500, 700), "astra": ahead(140, 110, 210)}
    return replace(ok_view(), forecasts=Forecasts(NOW, rungs, seats))


def down_view() -> View:
    """Neither rung has a seat that may be asked."""
    return view(rung(FABLE, full_seat("desk"), lapsed_seat("spare")), rung(ASTRA, full_seat("codex-main", 1.1)))


def blind_view() -> View:
    """Neither rung can be told."""
    return view(rung(FABLE, failed_seat("desk")), rung(ASTRA, failed_seat("codex-main", Reason.NETWORK)))


def hostile_view() -> View:
    """Seats whose names break careless encoders."""
    seats = [open_seat(name) for name in HOSTILE]
    return view(rung(FABLE, *seats), rung(ASTRA, full_seat("ladder OK")))


SCENES = {
    "start": view,
    "ok": ok_view,
    "foreseen": foreseen_view,
    "degraded": degraded_view,
    "down": down_view,
    "blind": blind_view,
    "hostile": hostile_view,
}
"""Every scene by name."""


def _rungs(shown: View) -> tuple[RungStatus, ...]:
    return shown.state.rungs if shown.state else ()
