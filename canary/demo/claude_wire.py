"""A Claude seat's state as Anthropic's own documents: usage in three shapes, profile, renewal (formats 1-2)."""

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache

from canary.demo.reply import Ask, Reply, json_reply
from canary.demo.script import FULL, Json, Meter, MeterKind, SeatScript, Shape, Vendor

KINDS: Mapping[MeterKind, tuple[str, str]] = {
    MeterKind.SESSION: ("session", "session"),
    MeterKind.WEEKLY: ("weekly_all", "weekly"),
    MeterKind.WEEKLY_MODEL: ("weekly_scoped", "weekly"),
}
CODENAMES = (
    "seven_day_oauth_apps",
    "seven_day_opus",
    "seven_day_sonnet",
    "seven_day_cowork",
    "seven_day_omelette",
    "tangelo",
    "iguana_necktie",
    "omelette_promotional",
    "cinder_cove",
    "amber_ladder",
)
NO_OVERAGE: Json = {
    "is_enabled": False,
    "monthly_limit": None,
    "used_credits": None,
    "utilization": None,
    "currency": "USD",
    "decimal_places": 2,
    "disabled_reason": None,
    "user_disabled": False,
    "spend_limit_reached": False,
}


def extra_usage(limit_minor: int | None, used_minor: float, *, enabled: bool = True) -> Json:
    """An `extra_usage` block: money in minor units, utilization in percent, a null limit unlimited (2.3)."""
    percent = used_minor / limit_minor * 100 if limit_minor else None
    return NO_OVERAGE | {
        "is_enabled": enabled,
        "monthly_limit": limit_minor,
        "used_credits": used_minor,
        "utilization": percent,
        "spend_limit_reached": percent is not None and percent >= FULL,
    }


def spend(limit_minor: int, used_minor: int) -> Json:
    """A `spend` block: both amounts in minor units, percent rounded down (2.2 b)."""
    percent = used_minor * 100 // limit_minor
    return {
        "enabled": True,
        "used": {"amount_minor": used_minor, "currency": "USD", "exponent": 2},
        "limit": {"amount_minor": limit_minor, "currency": "USD", "exponent": 2},
        "cap": None,
        "balance": None,
        "percent": percent,
        "severity": _severity(percent),
        "disclaimer": "Spend may lag.",
    }


def _severity(percent: float) -> str:
    return "critical" if percent >= FULL else "normal"


def _iso(moment: datetime | None) -> str | None:
    """ISO-8601 with microseconds and `+00:00`, as the endpoint has written it since 2026 (2.2 b)."""
    return None if moment is None else moment.astimezone(UTC).isoformat(timespec="microseconds")


def _iso_z(moment: datetime | None) -> str | None:
    """ISO-8601 with milliseconds and `Z`, as the endpoint wrote it in 2025 (2.2 a)."""
    return None if moment is None else moment.astimezone(UTC).isoformat(timespec="milliseconds")[:-6] + "Z"


def _flat(seat: SeatScript) -> Json:
    """Shape (a): only Opus and Sonnet have a per-model key, so any other model's meter is not told."""

    def window(meter: Meter | None) -> Json | None:
        if meter is None:
            return None
        return {"utilization": meter.percent, "resets_at": _iso_z(meter.resets_at)}

    models = {(meter.model or "").casefold(): meter for meter in seat.models()}
    return {
        "five_hour": window(seat.meter(MeterKind.SESSION)),
        "seven_day": window(seat.meter(MeterKind.WEEKLY)),
        "seven_day_opus": window(models.get("opus")),
        "seven_day_sonnet": window(models.get("sonnet")),
        "seven_day_oauth_apps": None,
        "extra_usage": seat.extra_usage or NO_OVERAGE,
    }


def _limit(meter: Meter, *, active: bool) -> Json:
    kind, group = KINDS[meter.kind]
    scope = meter.model and {"model": {"id": None, "display_name": meter.model}, "surface": None}
    return {
        "kind": kind,
        "group": group,
        "percent": int(meter.percent),
        "severity": _severity(meter.percent),
        "resets_at": _iso(meter.resets_at),
        "scope": scope,
        "is_active": active,
    }


def _limits(seat: SeatScript) -> Json:
    """Shape (b): the windows and `limits[]`, the tightest unscoped limit marked active."""

    def window(meter: Meter | None) -> Json | None:
        if meter is None:
            return None
        money = {"limit_dollars": None, "used_dollars": None, "remaining_dollars": None}
        return {"utilization": meter.percent, "resets_at": _iso(meter.resets_at), **money}

    unscoped = [meter for meter in seat.windows if meter.model is None]
    active = max(unscoped, key=lambda meter: meter.percent, default=None)
    return {
        "five_hour": window(seat.meter(MeterKind.SESSION)),
        "seven_day": window(seat.meter(MeterKind.WEEKLY)),
        **dict.fromkeys(CODENAMES),
        "nimbus_quill": {"utilization": 0.0, "resets_at": None},
        "extra_usage": seat.extra_usage or NO_OVERAGE,
        "limits": [_limit(meter, active=meter is active) for meter in seat.windows],
        "spend": seat.spend,
    }


def _spend_only(seat: SeatScript) -> Json:
    """Shape (c): every window null, money alone decides."""
    windows = dict.fromkeys(("five_hour", "seven_day", *CODENAMES))
    return {**windows, "extra_usage": seat.extra_usage or NO_OVERAGE, "spend": seat.spend}


def usage_document(seat: SeatScript) -> Json:
    """The body of `GET /api/oauth/usage` in the seat's shape."""
    if seat.meter(MeterKind.MONTHLY):
        raise ValueError("formats 2 knows no monthly window of Claude; use extra_usage or spend")
    match seat.shape:
        case Shape.FLAT:
            return _flat(seat)
        case Shape.SPEND_ONLY:
            return _spend_only(seat)
        case _:
            return _limits(seat)


def _told(seat: SeatScript) -> Reply:
    return json_reply(usage_document(seat) | (seat.overlay or {}), headers=(("request-id", "req_FAKE"),))


@lru_cache(maxsize=4096)
def _told_windows(shape: Shape, windows: tuple[Meter, ...]) -> Reply:
    return _told(SeatScript("any", Vendor.CLAUDE, shape=shape, windows=list(windows)))


def usage(ask: Ask) -> Reply:
    """The usage endpoint's good reply, kept for as long as nothing in it changes."""
    seat = ask.seat
    if seat.shape is None or seat.extra_usage or seat.spend or seat.overlay:
        return _told(seat)
    return _told_windows(seat.shape, tuple(seat.windows))


def profile(ask: Ask) -> Reply:
    """The profile endpoint's good reply: whose token it is (1.3)."""
    seat = ask.seat
    account = {"uuid": seat.account_id, "email": seat.email, "full_name": None, "display_name": seat.name}
    organization = {"uuid": seat.organization_id, "organization_type": f"claude_{seat.plan}"}
    return json_reply({"account": account, "organization": organization})


def hello() -> Reply:
    """The reachability probe, which asks for no token (2.1)."""
    return json_reply({"message": "hello"})


def models(_: Ask) -> Reply:
    """The list of models; validity of a key shows without a model call (5)."""
    names = ("claude-fable-5", "claude-opus-4-8", "claude-sonnet-5", "claude-haiku-4-5-20251001")
    data = [{"type": "model", "id": name, "display_name": name} for name in names]
    return json_reply({"data": data, "has_more": False, "first_id": names[0], "last_id": names[-1]})


def renewed(seat: SeatScript, access: str, refresh: str) -> Reply:
    """The token endpoint's good reply: a new pair, the old refresh token spent (1.4)."""
    return json_reply(
        {
            "token_type": "Bearer",
            "access_token": access,
            "refresh_token": refresh,
            "expires_in": 28800,
            "scope": "user:inference user:profile",
            "account": {"uuid": seat.account_id, "email_address": seat.email},
            "organization": {"uuid": seat.organization_id},
        }
    )
