"""Classification: what was read of every seat, made into the state of rungs and ladder; pure."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from statistics import median

from canary.login import judge_token
from canary.memory import digest, login_digest
from canary.probed import Probed
from decide.ladder import LadderState, Role, RungStatus, judge_ladder, judge_rung
from decide.ladder import unlisted as as_unlisted
from decide.pick import pick_seat
from decide.quota import CLOCK_TOLERANCE
from decide.reason import Reason
from decide.refusal import Refusal, marked
from decide.seat import Auth, Quota, Seat


def seat_of(
    probed: Probed, *, now: datetime, skew: timedelta | None, refusals: Iterable[Refusal] = (), salt: bytes = b""
) -> Seat:
    """A seat as it was read and as decision runs left it, ready to be judged; `refusals` are those of all seats."""
    target, kept = probed.target, probed.memory.sources
    token = judge_token(
        probed.login, now=now, rejected=probed.rejected, skew=skew, client_renews=target.client_renews
    )
    failures = [kept[name].failure for name in target.sources if name in kept]
    readings = tuple(reading for name in target.sources if name in kept for reading in kept[name].readings)
    seat = Seat(
        name=target.seat,
        token=token,
        quota=_quota(probed),
        readings=readings,
        failure=next((failure for failure in failures if failure), None) if failures and all(failures) else None,
        scopes=target.scopes,
        reports_scopes=target.reports_scopes,
        ignore_windows=target.ignore_windows,
        allow_overage=target.allow_overage,
    )
    mark = credential(probed, salt)
    for refusal in refusals:
        if (refusal.rung, refusal.seat) == (target.rung, target.seat):
            seat = marked(seat, refusal, credential=mark, now=now)
    return seat


def credential(probed: Probed, salt: bytes) -> str:
    """A mark of a seat's login and of how it is reached, by which it is known that either changed."""
    target = probed.target
    how = (str(target.config_dir), target.base_url or "", target.client or "", target.model)
    return digest(salt, "credential", login_digest(salt, probed.login.secret), *how)


def _quota(probed: Probed) -> Quota:
    """An API key in a client's own login has no quota to read, whatever was expected of the seat (formats 4.1)."""
    keyed = probed.login.auth is Auth.API_KEY and probed.target.auth is Auth.OAUTH
    return Quota.UNMETERED if keyed else probed.target.quota


def rung_of(
    name: str,
    role: Role,
    probed: Iterable[Probed],
    *,
    now: datetime,
    skew: timedelta | None,
    stale_after: timedelta,
    unlisted: Reason | None = None,
    refusals: Sequence[Refusal] = (),
    salt: bytes = b"",
) -> RungStatus:
    """A rung from its seats; `unlisted` says why its list of seats could not be read."""
    seats = [seat_of(found, now=now, skew=skew, refusals=refusals, salt=salt) for found in probed]
    rung = judge_rung(name, role, pick_seat(seats, now=now, stale_after=stale_after))
    return rung if unlisted is None else as_unlisted(rung, unlisted)


def ladder_of(
    rungs: Sequence[RungStatus],
    *,
    now: datetime,
    duration_s: float,
    skew: timedelta | None,
    stepped: bool,
    demo: bool,
) -> LadderState:
    """The state of the ladder at the end of a tick; `stepped`: the clock went back since the last one."""
    doubted = stepped or (skew is not None and abs(skew) > CLOCK_TOLERANCE)
    return LadderState(
        at=now,
        state=judge_ladder(rungs),
        rungs=tuple(rungs),
        duration_s=duration_s,
        skew_s=skew.total_seconds() if skew is not None else None,
        notes=(Reason.CLOCK,) if doubted else (),
        demo=demo,
    )


def skew_of(probed: Iterable[Probed]) -> float | None:
    """By how many seconds this machine's clock is ahead: the median of what hosts said, None when none did."""
    told = [skew for found in probed for skew in found.skews_s]
    return median(told) if told else None
