"""A Codex seat's state as OpenAI's documents: usage in three shapes, accounts, renewal (formats 3-4, clients 6)."""

from collections.abc import Mapping
from datetime import datetime

from canary.demo.reply import Ask, Reply, json_reply
from canary.demo.script import FULL, Json, Meter, MeterKind, SeatScript, Shape

LENGTHS: Mapping[MeterKind, int] = {
    MeterKind.SESSION: 18_000,
    MeterKind.WEEKLY: 604_800,
    MeterKind.WEEKLY_MODEL: 604_800,
    MeterKind.MONTHLY: 2_592_000,
}
MODEL = "gpt-6-astra"
ORIGIN = "https://chatgpt.com"


def credits_block(balance: str | None, *, unlimited: bool = False, exhausted: bool = False) -> Json:
    """A `credits` block; the balance is a decimal string or null (4.2)."""
    return {
        "has_credits": unlimited or balance is not None,
        "unlimited": unlimited,
        "overage_limit_reached": exhausted,
        "balance": balance,
        "approx_local_messages": None,
        "approx_cloud_messages": None,
    }


def spend_control(*, limit: float, used: float, resets_at: datetime, now: datetime) -> Json:
    """A `spend_control` block: money as decimal strings, both percentages as integers (4.2)."""
    percent = int(used / limit * 100)
    individual = {
        "source": "group_based_spend_controls",
        "limit": f"{limit:g}",
        "used": f"{used:g}",
        "remaining": f"{limit - used:g}",
        "used_percent": percent,
        "remaining_percent": 100 - percent,
        "reset_after_seconds": _left(resets_at, now),
        "reset_at": int(resets_at.timestamp()),
    }
    names = ("group_default", "workspace_default", "role_budget", "group_shared", "workspace_shared")
    reached = percent >= FULL
    return {
        "reached": reached,
        "reached_limit_type": "individual_limit" if reached else None,
        "individual_limit": individual,
        **{f"{name}_limit": None for name in names},
    }


def _left(moment: datetime, now: datetime) -> int:
    return max(0, int((moment - now).total_seconds()))


def _window(meter: Meter, now: datetime) -> Json:
    """A window is told by its length; percent is an integer, rounded down (0.2, 4.2)."""
    reset = meter.resets_at
    return {
        "used_percent": int(meter.percent),
        "limit_window_seconds": LENGTHS[meter.kind],
        "reset_after_seconds": None if reset is None else _left(reset, now),
        "reset_at": None if reset is None else int(reset.timestamp()),
    }


def usable_credits(seat: SeatScript) -> bool:
    """Credits that lift a full window: unlimited, or a balance above nothing (4.2)."""
    block = seat.credits or credits_block(None)
    if block.get("overage_limit_reached"):
        return False
    return bool(block["unlimited"]) or (block["has_credits"] and float(block["balance"] or 0) > 0)


def limit_reached(seat: SeatScript) -> bool:
    """Whether a window that gates every model is full, unless the script says otherwise."""
    return bool(seat.full_meters()) if seat.limit_reached is None else seat.limit_reached


def allowed(seat: SeatScript) -> bool:
    """The vendor's own verdict: the script's word, else no full window without credits and no spend limit reached."""
    if seat.allowed is not None:
        return seat.allowed
    if seat.spend_control and seat.spend_control["reached"]:
        return False
    return not limit_reached(seat) or usable_credits(seat)


def slots(seat: SeatScript) -> tuple[Meter | None, Meter | None]:
    """The primary and secondary windows: shortest first, so a seat without a session has its week in `primary`."""
    unscoped = [meter for meter in seat.windows if meter.model is None]
    if seat.shape is Shape.WEEKLY_PRIMARY:
        unscoped = [meter for meter in unscoped if meter.kind is MeterKind.WEEKLY]
    ordered: list[Meter | None] = [*sorted(unscoped, key=lambda meter: LENGTHS[meter.kind]), None, None]
    return ordered[0], ordered[1]


def _rate_limit(seat: SeatScript, now: datetime) -> Json:
    primary, secondary = slots(seat)
    return {
        "allowed": allowed(seat),
        "limit_reached": limit_reached(seat),
        "primary_window": primary and _window(primary, now),
        "secondary_window": secondary and _window(secondary, now),
    }


def _additional(meter: Meter, now: datetime) -> Json:
    """A model's own bucket among `additional_rate_limits`."""
    rate = {"allowed": not meter.full(), "limit_reached": meter.full()}
    rate_limit = rate | {"primary_window": _window(meter, now), "secondary_window": None}
    feature = f"codex_{(meter.model or '').casefold().replace(' ', '_')}"
    names = {"limit_name": meter.model, "metered_feature": feature, "normal_model_slug": None}
    return names | {"rate_limit": rate_limit}


def usage_document(seat: SeatScript, now: datetime) -> Json:
    """The body of `GET …/wham/usage` in the seat's shape."""
    business = seat.shape is Shape.BUSINESS
    reached = limit_reached(seat) and not business
    stopped = not allowed(seat)
    blamed = seat.reached_type or ("rate_limit_reached" if reached else None)
    return {
        "user_id": "user-FAKE",
        "account_id": seat.account_id,
        "email": seat.email,
        "plan_type": seat.plan,
        "rate_limit": None if business else _rate_limit(seat, now),
        "code_review_rate_limit": None,
        "additional_rate_limits": [_additional(meter, now) for meter in seat.models()],
        "model_usage": {
            MODEL: {
                "available": not stopped,
                "available_at": None,
                "credits_would_enable": stopped and reached,
            }
        },
        "credits": seat.credits,
        "spend_control": seat.spend_control,
        "rate_limit_reached_type": {"type": blamed} if blamed else None,
        "rate_limit_reset_credits": {"available_count": 0},
    }


def usage(ask: Ask) -> Reply:
    """The usage endpoint's good reply."""
    return json_reply(usage_document(ask.seat, ask.now) | (ask.seat.overlay or {}))


def routing(ask: Ask) -> Reply:
    """`wham/accounts/check`: the workspace to route to, on an https origin as Codex demands (clients 6)."""
    account = {
        "id": ask.seat.account_id,
        "workspace_backend_origin": ORIGIN,
        "account_routing_override": "NO_CONSTRAINT",
    }
    return json_reply({"accounts": [account]})


def accounts(ask: Ask) -> Reply:
    """`accounts/check/v4-2023-04-27`: the workspaces of a login, keyed by id."""
    seat = ask.seat
    account = {"account_id": seat.account_id, "plan_type": seat.plan, "is_deactivated": False}
    entry = {"account": account, "entitlement": {"has_active_subscription": True}}
    return json_reply({"accounts": {seat.account_id: entry}, "account_ordering": [seat.account_id]})


def models(_: Ask) -> Reply:
    """The models a Codex login may ask."""
    return json_reply({"models": [{"slug": MODEL, "display_name": MODEL, "visibility": "list"}]})


def no_websocket(_: Ask) -> Reply:
    """The answer to a request to speak over a websocket: Codex then asks by HTTP at once."""
    return json_reply({"detail": "Upgrade Required"}, status=426)


def renewed(access: str, refresh: str) -> Reply:
    """The token endpoint's good reply: new tokens, the old refresh token spent (3.5)."""
    return json_reply({"access_token": access, "id_token": access, "refresh_token": refresh})
