"""Receipt check: how a receipt tells what a look for faults in an agreed answer came to (design 4.3, 4.6)."""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from decide.consultation import Declined
from decide.cross_check import Checked, Finding, NoFault, Skipped


class CheckWord(StrEnum):
    """What a look for faults in an agreed answer came to."""

    NO_FAULT = "no_fault"
    FINDING = "finding"
    HELD = "held"
    SKIPPED = "skipped"


def checked(found: Checked | None) -> dict[str, Any] | None:
    """What a look for faults came to as JSON values, None where none was due.

    `row` is the policy row that the check's verdict touches, `says` the fault, or why there was no check.
    """
    nothing = {"option": None, "kind": None, "row": None, "says": None}
    match found:
        case None:
            return None
        case NoFault():
            return {"result": CheckWord.NO_FAULT.value} | nothing
        case Finding():
            kind = None if found.kind is None else found.kind.value
            told = {"option": found.option_id or None, "kind": kind, "says": found.text}
            return {"result": CheckWord.FINDING.value} | nothing | told
        case Declined():
            return {"result": CheckWord.HELD.value} | nothing | {"kind": found.kind.value, "row": found.row}
        case Skipped():
            return {"result": CheckWord.SKIPPED.value} | nothing | {"says": found.why}


_SAYS_LIMIT = 200
_LINES: Mapping[str, str] = MappingProxyType(
    {
        CheckWord.NO_FAULT: "found no fault",
        CheckWord.FINDING: "found a fault: {says}",
        CheckWord.HELD: "touches the policy row {row}",
        CheckWord.SKIPPED: "skipped: {says}",
    }
)


def check_line(receipt: Mapping[str, Any]) -> str:
    """What a look for faults came to, in one line; empty where none was due, as in a receipt older than checks."""
    found = receipt.get("cross_check")
    if found is None:
        return ""
    says = " ".join((found["says"] or "").split())[:_SAYS_LIMIT]
    return _LINES[found["result"]].format_map({**found, "says": says})
