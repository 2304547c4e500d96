"""The incident day as tables: what each of seven Claude seats and one Codex seat is told to be, minute by minute.

Clock times are those of the day in UTC, 12:00 being its start; 26:00 is two in the next morning. The story is that of
ADR-0016: six seats spend their Fable week, the seventh hits its session at 19:26, and the rung is gone until 20:40.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from canary.demo.logins import SCOPES, claude_token, codex_token
from canary.demo.script import FULL, Fault, Kind, Meter, MeterKind, SeatScript, Shape, Vendor

CLAUDE_SEATS = tuple(f"desk-{number}" for number in range(1, 8))
CODEX_SEAT = "astra-main"
EVERYONE = "*"
SETUP = ("user:inference",)
LENGTH = timedelta(hours=12)
BLOCK = timedelta(hours=5)
NEARLY = FULL - 1


def clock(text: str) -> timedelta:
    """A clock time of the day, as the time since 12:00."""
    hours, minutes = text.split(":")
    return timedelta(hours=int(hours) - 12, minutes=int(minutes))


@dataclass(frozen=True, slots=True)
class Phase:
    """A stretch of the day, since its start, and the sentence that says what a viewer sees in it."""

    begins: timedelta
    ends: timedelta
    caption: str


@dataclass(frozen=True, slots=True)
class Session:
    """A seat's five-hour blocks by the times they end; each climbs to `peak`, at `full_at` or at its end."""

    seat: str
    ends: tuple[str, ...]
    peak: float
    full_at: str | None = None


@dataclass(frozen=True, slots=True)
class Week:
    """A seat's week: percent at 12:00, and the percent it holds from `then` on; a full one jumps there from 99."""

    seat: str
    at_noon: float
    then: str
    percent: float
    resets: str
    kind: MeterKind = MeterKind.WEEKLY


@dataclass(frozen=True, slots=True)
class Login:
    """A login on a seat's disk from `begins` on; without `expires` the file names no expiry."""

    seat: str
    begins: str
    expires: str | None
    refreshable: bool = True
    scopes: tuple[str, ...] = SCOPES


@dataclass(frozen=True, slots=True)
class Change:
    """What differs from the well-behaved seat between two times; a value may be made of the day's start."""

    begins: str
    ends: str
    seat: str
    fields: Mapping[str, Any]


def _phases(*rows: tuple[str, str]) -> tuple[Phase, ...]:
    """Phases that follow one another up to the day's end."""
    ends = [clock(begins) for begins, _ in rows[1:]] + [LENGTH]
    return tuple(Phase(clock(row[0]), end, row[1]) for row, end in zip(rows, ends, strict=True))


PHASES = _phases(
    ("12:00", "All is well: seven Claude seats and the Codex seat have quota and live logins."),
    ("12:15", "desk-1's session is past its reset and still full; desk-2 reports a full window that nobody knows."),
    ("12:30", "desk-3's credentials file names no expiry, so nobody can say whether its token lives."),
    ("12:45", "desk-5's answer is garbled, desk-6 has reached its spend limit, desk-7's host redirects."),
    ("13:00", "desk-4's usage read is throttled (429), which says nothing about its quota."),
    ("13:30", "desk-2's login lapsed; its own client can renew it, the canary must not."),
    ("13:45", "desk-7's login has no scope for work, so its own client would not use it."),
    ("14:00", "desk-1's read never ends; it is cut off at its time, and the other seats do not wait for it."),
    ("14:15", "desk-3 runs on a setup token: it lives, but may not read its own quota (403)."),
    ("14:45", "desk-1's answer is cut off, desk-5's connection drops, desk-6's login is rejected by the vendor."),
    ("15:00", "desk-5's login lapsed with nothing to renew it: somebody has to log in again."),
    ("16:00", "desk-6 sits behind a guest network that answers every read with a web page."),
    ("16:30", "desk-1's usage read ends in a server error, desk-5's is far too large; others carry the rung."),
    ("17:00", "astra-main's token nears its end, its own client renews it at 17:25; desk-3 spent its whole week."),
    ("17:30", "astra-main reports its week alone, as primary; desk-3's old-form answer leaves the Fable week out."),
    ("18:15", "One Claude seat after another has spent its Fable week."),
    ("19:00", "Six of seven have spent it; desk-7 carries the rung alone, and its session is filling."),
    ("19:26", "desk-7 hit its session limit: no Claude seat can answer until 20:40, the Codex rung carries on."),
    ("20:05", "astra-main hit its limit too: the ladder is down to a person."),
    ("20:25", "astra-main's window reset; the Claude rung is still out."),
    ("20:40", "desk-7's session reset: both rungs are reachable again."),
    ("22:00", "Both vendors answer with errors: nobody can tell what is reachable."),
    ("22:30", "The vendors are back, and both rungs are reachable."),
    ("23:00", "This machine's clock is two minutes off what the vendors say, so no login's expiry can be judged."),
    ("23:15", "The clock is right again, and the day ends with both rungs reachable."),
)

SESSIONS = (
    Session("desk-1", ("13:10", "18:10", "23:10", "28:10"), 46),
    Session("desk-2", ("12:30", "17:30", "22:30", "27:30"), 38),
    Session("desk-3", ("14:40", "19:40", "24:40"), 52),
    Session("desk-4", ("16:20", "21:20", "26:20"), 31),
    Session("desk-5", ("15:05", "20:05", "25:05"), 44),
    Session("desk-6", ("13:45", "18:45", "23:45", "28:45"), 27),
    Session("desk-7", ("15:40", "25:40"), 41),
    Session("desk-7", ("20:40",), 101, full_at="19:26"),
    Session(CODEX_SEAT, ("15:25", "25:25"), 35),
    Session(CODEX_SEAT, ("20:25",), 100, full_at="20:05"),
)

_FABLE = MeterKind.WEEKLY_MODEL
WEEKS = (
    Week("desk-1", 61, "17:40", 101, "45:00", _FABLE),
    Week("desk-2", 74, "16:10", 100, "52:30", _FABLE),
    Week("desk-3", 48, "19:00", 100, "69:00", _FABLE),
    Week("desk-4", 83, "14:30", 101, "45:00", _FABLE),
    Week("desk-5", 55, "18:30", 100, "93:15", _FABLE),
    Week("desk-6", 69, "17:10", 101, "77:45", _FABLE),
    Week("desk-7", 49, "24:00", 63, "117:00", _FABLE),
    Week("desk-1", 24, "24:00", 37, "45:00"),
    Week("desk-2", 31, "24:00", 44, "52:30"),
    Week("desk-3", 19, "24:00", 35, "69:00"),
    Week("desk-4", 33, "24:00", 41, "45:00"),
    Week("desk-5", 22, "24:00", 39, "93:15"),
    Week("desk-6", 28, "24:00", 40, "77:45"),
    Week("desk-7", 20, "24:00", 29, "117:00"),
    Week(CODEX_SEAT, 26, "24:00", 43, "88:00"),
)

LOGINS = (
    Login("desk-1", "10:00", "18:00"),
    Login("desk-1", "17:50", "25:50"),
    Login("desk-2", "05:30", "13:30"),
    Login("desk-2", "14:15", "22:15"),
    Login("desk-2", "22:05", "30:05"),
    Login("desk-3", "09:00", "17:00"),
    Login("desk-3", "12:30", None),
    Login("desk-3", "13:00", "21:00"),
    Login("desk-3", "14:15", "8000:00", refreshable=False, scopes=SETUP),
    Login("desk-3", "15:00", "23:00"),
    Login("desk-3", "22:50", "30:50"),
    Login("desk-4", "08:40", "16:40"),
    Login("desk-4", "16:30", "24:30"),
    Login("desk-5", "07:00", "15:00", refreshable=False),
    Login("desk-5", "16:00", "28:00"),
    Login("desk-6", "11:20", "19:20"),
    Login("desk-6", "19:10", "27:10"),
    Login("desk-7", "09:50", "17:50"),
    Login("desk-7", "13:45", "21:45", scopes=("user:profile",)),
    Login("desk-7", "14:00", "22:00"),
    Login("desk-7", "17:40", "25:40"),
    Login(CODEX_SEAT, "-222:00", "17:30"),
    Login(CODEX_SEAT, "17:25", "257:25"),
)

_READS = frozenset({Kind.USAGE})


def _overdue(start: datetime) -> dict[str, object]:
    return {"five_hour": {"utilization": 100.0, "resets_at": (start + clock("12:10")).isoformat()}}


def _spent_week(start: datetime) -> list[Meter]:
    return [
        Meter(MeterKind.SESSION, 31.0, start + clock("19:40")),
        Meter(MeterKind.WEEKLY, 100.0, start + clock("69:00")),
    ]


CHANGES = (
    Change("12:15", "12:30", "desk-1", {"overlay": _overdue}),
    Change("12:15", "12:30", "desk-2", {"overlay": {"amber_ladder": {"utilization": 100.0, "resets_at": None}}}),
    Change("12:45", "13:00", "desk-5", {"overlay": {"seven_day": {"utilization": "n/a", "resets_at": None}}}),
    Change("12:45", "13:00", "desk-6", {"extra_usage": {"is_enabled": True, "spend_limit_reached": True}}),
    Change("12:45", "13:00", "desk-7", {"fault": Fault.REDIRECT, "redirect_to": "/v1/models", "fault_on": _READS}),
    Change("13:00", "13:30", "desk-4", {"fault": Fault.THROTTLED, "retry_after": "1200", "fault_on": _READS}),
    Change("14:00", "14:15", "desk-1", {"fault": Fault.HANG, "fault_on": _READS}),
    Change("14:15", "15:00", "desk-3", {"fault": Fault.FORBIDDEN_SCOPE}),
    Change("14:45", "15:00", "desk-1", {"fault": Fault.TRUNCATED_JSON, "fault_on": _READS}),
    Change("14:45", "15:00", "desk-5", {"fault": Fault.DROP, "fault_on": _READS}),
    Change("14:45", "15:00", "desk-6", {"fault": Fault.UNAUTHORIZED}),
    Change("16:00", "16:30", "desk-6", {"fault": Fault.HTML}),
    Change("16:30", "17:00", "desk-1", {"fault": Fault.SERVER_ERROR}),
    Change("16:30", "17:00", "desk-5", {"fault": Fault.HUGE, "huge_mb": 2, "fault_on": _READS}),
    Change("17:00", "17:30", "desk-3", {"windows": _spent_week}),
    Change("17:30", "18:15", "desk-3", {"shape": Shape.FLAT}),
    Change("17:30", "18:15", CODEX_SEAT, {"shape": Shape.WEEKLY_PRIMARY}),
    Change("22:00", "22:30", EVERYONE, {"fault": Fault.SERVER_ERROR}),
    Change("23:00", "23:15", EVERYONE, {"date_offset_s": -120.0}),
)


@dataclass(frozen=True, slots=True)
class DaySeat:
    """A seat at one moment: what the far side is told, and the login on the seat's disk."""

    script: SeatScript
    token: str
    issued_at: datetime
    expires_at: datetime | None
    refresh_token: str | None
    scopes: tuple[str, ...]


def phase_at(moment: datetime, start: datetime) -> Phase:
    """The phase of a moment; before the day its first, after the day its last."""
    since = moment - start
    return next((phase for phase in PHASES if since < phase.ends), PHASES[-1])


def _climb(since: timedelta, begins: timedelta, low: float, ends: timedelta, peak: float) -> float:
    """Percent on a straight line from `low` to the peak; a full peak is reached at `ends` and not a minute before."""
    if since >= ends:
        return peak
    part = (since - begins) / (ends - begins)
    return round(low + (min(peak, NEARLY) - low) * part, 1)


def _session(seat: str, since: timedelta, start: datetime) -> Meter:
    rows = ((clock(end), row) for row in SESSIONS if row.seat == seat for end in row.ends)
    end, row = min(((end, row) for end, row in rows if end > since), key=lambda pair: pair[0])
    full = clock(row.full_at) if row.full_at else end
    percent = _climb(since, end - BLOCK, 1.0, full, row.peak)
    return Meter(MeterKind.SESSION, percent, start + end)


def _week(row: Week, since: timedelta, start: datetime) -> Meter:
    percent = _climb(since, timedelta(0), row.at_noon, clock(row.then), row.percent)
    model = "Fable" if row.kind is MeterKind.WEEKLY_MODEL else None
    return Meter(row.kind, percent, start + clock(row.resets), model)


def _login(seat: str, since: timedelta) -> tuple[int, Login]:
    """The login on disk, and how many of the table the seat has had before it."""
    rows = [row for row in LOGINS if row.seat == seat and clock(row.begins) <= since]
    return len(rows) - 1, rows[-1]


def _seat(seat: str, since: timedelta, start: datetime) -> DaySeat:
    generation, login = _login(seat, since)
    issued = start + clock(login.begins)
    expires = start + clock(login.expires) if login.expires else None
    account, email = f"acct-{seat}", f"{seat}@example.invalid"
    if seat == CODEX_SEAT and expires:
        token = codex_token(expires, issued_at=issued, account_id=account, email=email)
    else:
        token = claude_token(seat, generation)
    refresh = f"{'rt' if seat == CODEX_SEAT else 'sk-ant-ort01'}-FAKE-{seat}-{generation}"
    script = SeatScript(
        seat,
        Vendor.CODEX if seat == CODEX_SEAT else Vendor.CLAUDE,
        account_id=account,
        email=email,
        plan="pro" if seat == CODEX_SEAT else "max",
        windows=[_session(seat, since, start), *(_week(row, since, start) for row in WEEKS if row.seat == seat)],
        expires_at=expires,
        refresh_token=refresh if login.refreshable else None,
    )
    for change in CHANGES:
        if change.seat in (seat, EVERYONE) and clock(change.begins) <= since < clock(change.ends):
            for name, value in change.fields.items():
                setattr(script, name, value(start) if callable(value) else value)
    return DaySeat(script, token, issued, expires, script.refresh_token, login.scopes)


def seats_at(moment: datetime, start: datetime) -> tuple[DaySeat, ...]:
    """Every seat at a moment of the day that began at `start` (12:00); outside the day, as at its nearer end."""
    since = min(max(moment - start, timedelta(0)), LENGTH)
    return tuple(_seat(seat, since, start) for seat in (*CLAUDE_SEATS, CODEX_SEAT))
