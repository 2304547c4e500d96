"""A moment of the incident day put on stage: the provider's seats, and the logins under a scratch folder."""

from datetime import datetime
from functools import partial
from pathlib import Path

from canary.demo.day import DaySeat, seats_at
from canary.demo.logins import write_claude_login, write_codex_login
from canary.demo.provider import Provider
from canary.demo.questions import answer
from canary.demo.script import Vendor


def apply(provider: Provider, folder: Path, moment: datetime, *, start: datetime) -> None:
    """The provider answers as at that moment, and `folder/<seat>` holds each login, rewritten only if it changed."""
    seats = seats_at(moment, start)
    for seat in seats:
        seat.script.answer = partial(answer, seat.script.vendor)
    provider.seats.clear()
    provider.seats.update({seat.token: seat.script for seat in seats})
    for seat in seats:
        _write(folder / seat.script.name, seat)


def _write(folder: Path, seat: DaySeat) -> None:
    script = seat.script
    if script.vendor is Vendor.CLAUDE:
        write_claude_login(
            folder,
            seat.token,
            expires_at=seat.expires_at,
            refresh_token=seat.refresh_token,
            scopes=seat.scopes,
            account_id=script.account_id,
            organization_id=script.organization_id,
            email=script.email,
        )
    elif seat.expires_at is not None:
        write_codex_login(
            folder,
            expires_at=seat.expires_at,
            issued_at=seat.issued_at,
            account_id=script.account_id,
            plan=script.plan,
            email=script.email,
            refresh_token=seat.refresh_token or "",
        )
