"""Receipt: what stands behind a ruling, as a page shows it (pure)."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from decide.consultation import Order
from decide.money import dollars, micro_usd
from decide.receipt import banner, headline
from decide.receipt_check import check_line
from decide.reply import Billing

Receipt = Mapping[str, Any]
ROLES = ("primary", "second")
AGAIN = "reconsideration"
BILLINGS: Mapping[str, str] = {Billing.METERED: "metered", Billing.SUBSCRIPTION: "by subscription, notional"}


def shown(receipt: Receipt) -> dict[str, Any]:
    """What a page tells of a receipt beside its plain fields."""
    return {
        "headline": headline(receipt),
        "banner": banner(receipt),
        "rungs": [_rung(receipt, role) for role in ROLES],
        "again": _again(receipt),
        "check": check_line(receipt),
        "flips": list(_flips(receipt)),
        "calls": [_call(one) for one in receipt["passes"]],
        "unbilled": [_call(one) for one in receipt["refused"]],
        "reasons": list(_reasons(receipt["passes"])),
        "costs": list(_costs(receipt["passes"])),
        "level": [(_plain(name), _plain(value)) for name, value in receipt["level"].items() if name != "name"],
    }


def _rung(receipt: Receipt, role: str) -> dict[str, Any]:
    rung: Mapping[str, Any] = next((one for one in receipt["rungs"] if one["role"] == role), {})
    state = receipt["consultations"][role]
    return {
        "name": rung.get("name", role),
        "role": role,
        "asked_for": rung.get("model", ""),
        "orders": _orders(receipt["passes"], role),
        **_came_to(state),
    }


def _again(receipt: Receipt) -> dict[str, Any] | None:
    state = receipt["consultations"][AGAIN]
    orders = _orders(receipt["passes"], AGAIN)
    asked = state is not None or any(results for _, results in orders)
    return {"orders": orders, **_came_to(state)} if asked else None


def _came_to(state: Mapping[str, Any] | None) -> dict[str, Any]:
    """What a consultation came to: its state, why, who answered, and when a wall clears."""
    if state is None:
        return {"state": "not asked", "why": "", "by": "", "row": "", "clears_at": None, "gap": ""}
    why = state.get("option") or state.get("kind") or ", ".join(dict.fromkeys(state.get("failures", ())))
    return {
        "state": state["state"],
        "why": str(why).replace("_", " ") if not state.get("option") else why,
        "by": _by(state.get("answered_by")),
        "row": state.get("row") or "",
        "clears_at": state.get("clears_at"),
        "gap": state.get("gap") or "",
    }


def _by(by: Mapping[str, Any] | None) -> str:
    """The model that answered; how that is known stands beside it, unless nobody knows either."""
    if by is None:
        return ""
    return str(by["model"]) if by["model"] == by["from"] else f"{by['model']} ({by['from']})"


def _orders(passes: Sequence[Mapping[str, Any]], part: str) -> list[tuple[str, list[str]]]:
    """What the calls of each order of the options brought, in their own sequence."""
    return [
        (
            str(order),
            [result(one["result"]) for one in passes if one["consultation"] == part and one["order"] == order],
        )
        for order in Order
    ]


def result(found: Mapping[str, Any]) -> str:
    """A call's result in a word: the option, the kind of decline, or why there is no verdict."""
    plain = found.get("kind") or found.get("reason") or found["state"]
    return str(found.get("option") or str(plain).replace("_", " "))


def _flips(receipt: Receipt) -> Iterator[str]:
    """Each rung whose answer went with the order of the options."""
    rungs = {rung["role"]: rung["name"] for rung in receipt["rungs"]}
    for part in (*ROLES, AGAIN):
        state = receipt["consultations"][part]
        if state is not None and state.get("kind") == "flip":
            named = [f"{', '.join(results)} in {order} order" for order, results in _orders(receipt["passes"], part)]
            yield f"{rungs.get(part, rungs.get('primary', part))} names {' and '.join(named)}"


def _call(one: Mapping[str, Any]) -> dict[str, Any]:
    found = one["result"]
    answered = found["state"] in ("resolved", "declined")
    return {
        **one,
        "word": result(found),
        "state": found["state"],
        "detail": found.get("detail") or "",
        "model": one["answered_by"]["model"] if answered else "",
        "seconds": f"{one['duration_s']:.1f}",
        "token_sum": "" if one["tokens"] is None else f"{sum(one['tokens'].values()):,}".replace(",", " "),
        "usd": _usd(one),
        "usd_from": _usd_from(one),
    }


def _usd(one: Mapping[str, Any]) -> str:
    if one["cost"] is not None:
        return f"{one['cost']['usd']} USD"
    return "" if not micro_usd(one["charged_usd"]) else "unknown"


def _usd_from(one: Mapping[str, Any]) -> str:
    if one["cost"] is not None:
        return f"{BILLINGS.get(one['billing'], one['billing'])}, {_plain(one['cost']['source'])}"
    return "" if not micro_usd(one["charged_usd"]) else f"charged {one['charged_usd']} USD"


def _reasons(passes: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, str]]:
    for one in passes:
        said, gap = one["result"].get("rationale"), one["result"].get("gap")
        if said or gap:
            yield {
                "rung": one["rung"],
                "word": result(one["result"]),
                "order": one["order"],
                "part": one["consultation"],
                "said": said or "",
                "gap": gap or "",
            }


def _costs(passes: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """What a run's own calls cost: each kind of billing apart, and then those of which nobody knows."""
    own = [one for one in passes if not one["kept"]]
    for billing in Billing:
        priced = [one for one in own if one["billing"] == billing and one["cost"] is not None]
        if priced:
            yield f"{dollars(sum(micro_usd(one['cost']['usd']) for one in priced))} USD {BILLINGS[billing]}"
    unknown = [one for one in own if one["cost"] is None and micro_usd(one["charged_usd"])]
    if unknown:
        held = dollars(sum(micro_usd(one["charged_usd"]) for one in unknown))
        yield f"{len(unknown)} of unknown cost, charged to the caps at {held} USD"


def _plain(value: object) -> str:
    """A preset's name or value as a word."""
    words = {None: "none", True: "yes", False: "no"}
    if isinstance(value, Mapping):
        return " and ".join(f"{model} for {rung}" for rung, model in value.items()) or "none"
    if isinstance(value, Mapping):
        return " and ".join(f"{model} for {rung}" for rung, model in value.items()) or "none"
    return words[value] if value is None or isinstance(value, bool) else str(value).replace("_", " ")
