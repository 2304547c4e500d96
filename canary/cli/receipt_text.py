"""Receipt text: a whole receipt for a person, both rungs side by side, each call, and where it all comes from."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from canary.cli.telling import Fact, Receipt, Weight, ended
from canary.cli.wording import Reader, distance
from decide.consultation import Order
from decide.money import micro_usd
from decide.receipt_check import check_line

PARTS = ("primary", "second", "reconsideration")
ROLES = ("primary", "second")
_DIGEST = len("sha256:") + 12


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the text: facts, or rows below their heads."""

    title: str
    facts: Sequence[Fact] = ()
    heads: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()


def sections(receipt: Receipt, reader: Reader) -> Iterator[Section]:
    """What stands behind a ruling, part by part."""
    yield _question(receipt, reader)
    options = [(o["id"], o["text"], o["action"] or "", ", ".join(o["acts"])) for o in receipt["question"]["options"]]
    yield Section("options", heads=("OPTION", "TEXT", "RUNS", "DECLARED"), rows=options)
    yield Section("rungs", list(_flips(receipt)), *_side_by_side(receipt, reader))
    if receipt["passes"]:
        yield Section("calls", heads=_CALLS, rows=[_call(one) for one in receipt["passes"]])
    if receipt["refused"]:
        yield Section("refused unbilled", heads=_CALLS, rows=[_call(one) for one in receipt["refused"]])
    if quota := receipt.get("quota"):  # receipts of earlier versions have none
        yield Section("quota", heads=_QUOTA, rows=[_quota(one) for one in quota])
    if reasons := list(_reasons(receipt)):
        yield Section("reasons", heads=("RUNG", "FOR", "ORDER", "SAYS"), rows=reasons)
    if receipt["snapshot"] and receipt["snapshot"]["sources"]:
        heads = ("KIND", "NAME", "DIGEST", "NOTE")
        yield Section("evidence", heads=heads, rows=[_source(one) for one in receipt["snapshot"]["sources"]])
    yield _provenance(receipt, reader)


def _question(receipt: Receipt, reader: Reader) -> Section:
    asked = receipt["question"]
    facts = [
        ("asks", asked["text"]),
        ("id", asked["id"]),
        ("raised by", asked["raised_by"]),
        ("waiting", f"{asked['consequence']}" + _deadline(asked, reader)),
        ("cites", asked["cites"]),
    ]
    return Section("question", [Fact(name, text) for name, text in facts if text])


def _deadline(asked: Mapping[str, Any], reader: Reader) -> str:
    return "" if asked["deadline"] is None else f"; needed by {distance(asked['deadline'], reader)}"


def _side_by_side(receipt: Receipt, reader: Reader) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
    """Both rungs in a column each: what was asked, what each order brought, what that came to."""
    names = {rung["role"]: rung["name"] for rung in receipt["rungs"]}
    models = {rung["role"]: rung["model"] for rung in receipt["rungs"]}
    again = [one for one in receipt["passes"] if one["consultation"] == "reconsideration"]
    rows = [
        ("asked for", *(models[role] for role in ROLES)),
        *((str(order), *(_results(receipt, role, order) for role in ROLES)) for order in Order),
        ("comes to", *(_state(receipt["consultations"][role], reader) for role in ROLES)),
        ("answered by", *(_by(receipt["consultations"][role]) for role in ROLES)),
    ]
    if check := check_line(receipt):
        rows.append(("cross-check", "", check))
    if again:
        rows += [(f"again, {order}", _results(receipt, "reconsideration", order), "") for order in Order]
        rows += [("then", _state(receipt["consultations"]["reconsideration"], reader), "")]
    return ("", *(f"{names[role]} ({role})" for role in ROLES)), rows


def _results(receipt: Receipt, part: str, order: Order) -> str:
    """What the calls of one order brought, in their own sequence."""
    calls = [one for one in receipt["passes"] if one["consultation"] == part and one["order"] == order]
    return ", ".join(_result(one["result"]) for one in calls)


def _result(result: Mapping[str, Any]) -> str:
    return str(result.get("option") or result.get("kind") or result.get("reason") or result["state"])


def _state(state: Mapping[str, Any] | None, reader: Reader) -> str:
    if state is None:
        return ""
    why = state.get("option") or state.get("kind") or ", ".join(dict.fromkeys(state.get("failures", ())))
    row = f" ({state['row']})" if state.get("row") else ""
    clears = f", clears {distance(state['clears_at'], reader)}" if state.get("clears_at") else ""
    return f"{state['state']}: {why}{row}{clears}"


def _by(state: Mapping[str, Any] | None) -> str:
    by = None if state is None else state.get("answered_by")
    return "" if by is None else by["model"] if by["model"] == by["from"] else f"{by['model']} ({by['from']})"


def _flips(receipt: Receipt) -> Iterator[Fact]:
    """Each rung whose answer went with the order of the options."""
    rungs = {rung["role"]: rung["name"] for rung in receipt["rungs"]}
    for part in PARTS:
        state = receipt["consultations"][part]
        if state is not None and state.get("kind") == "flip":
            named = [f"{_results(receipt, part, order)} in {order} order" for order in Order]
            name = rungs.get(part, rungs["primary"]).upper()
            yield Fact("", f"FLIP: {name} names {' and '.join(named)}", Weight.WARNING)


_CALLS = ("RUNG", "SEAT", "FOR", "ORDER", "RESULT", "MODEL", "SECONDS", "TOKENS", "COST")


def _call(one: Mapping[str, Any]) -> tuple[str, ...]:
    detail = one["result"].get("detail")
    kept = " (kept of an earlier attempt)" if one["kept"] else ""
    answered = one["result"]["state"] in ("resolved", "declined")
    return (
        one["rung"],
        one["seat"],
        one["role"],
        one["order"],
        _result(one["result"]) + (f": {detail}" if detail else "") + kept,
        one["answered_by"]["model"] if answered else "",
        f"{one['duration_s']:.1f}",
        "" if one["tokens"] is None else str(sum(one["tokens"].values())),
        _cost(one),
    )


def _cost(one: Mapping[str, Any]) -> str:
    if one["cost"] is not None:
        return f"{one['cost']['usd']} USD {one['billing']}"
    return "" if not micro_usd(one["charged_usd"]) else f"unknown, charged {one['charged_usd']} USD"


_QUOTA = ("RUNG", "SEAT", "FOR", "WINDOW", "POINTS", "NOTE")


def _quota(one: Mapping[str, Any]) -> tuple[str, ...]:
    """What a consultation took of a window of its seat, in hundredths of that."""
    window = one["window"].replace("_", " ") + (f" {one['scope']}" if one["scope"] else "")
    note = "shared: others ran meanwhile, split by tokens" if one["shared"] else ""
    return one["rung"], one["seat"], one["role"].replace("_", " "), window, f"{one['points']:g}", note


def _reasons(receipt: Receipt) -> Iterator[tuple[str, ...]]:
    for one in receipt["passes"]:
        said = [one["result"].get("rationale"), one["result"].get("gap")]
        text = "; missing: ".join(part for part in said if part)
        if text:
            yield one["rung"], _result(one["result"]), one["order"], text


def _source(one: Mapping[str, Any]) -> tuple[str, ...]:
    cut = one["cut"]
    some = "" if cut is None else f"{cut['kept_chars']} of {cut['of_chars']} characters were shown"
    return one["kind"], one["name"], one["digest"][:_DIGEST], "; ".join(part for part in (one["note"], some) if part)


def _provenance(receipt: Receipt, reader: Reader) -> Section:
    level = ", ".join(f"{_plain(name)} {_plain(value)}" for name, value in receipt["level"].items() if name != "name")
    skipped = "; ".join(f"{one['check']}: {one['why']}" for one in receipt["skipped_checks"])
    facts = [
        ("ended", ended(receipt, reader)),
        ("outcome", f"{receipt['outcome']} (exit {receipt['exit_code']})"),
        ("attempts", str(receipt["attempts"])),
        ("level", f"{receipt['level']['name']}: {level}"),
        ("skipped", skipped),
        ("question", receipt["question"]["digest"]),
        ("snapshot", "" if receipt["snapshot"] is None else receipt["snapshot"]["digest"]),
        ("schema", receipt["schema"]),
    ]
    return Section("provenance", [Fact(name, text) for name, text in facts if text])


def _plain(value: object) -> str:
    """A preset's name or value as a word."""
    words = {None: "none", True: "yes", False: "no"}
    if isinstance(value, Mapping):
        return " and ".join(f"{model} for {rung}" for rung, model in value.items()) or "none"
    return words[value] if value is None or isinstance(value, bool) else str(value).replace("_", " ")
