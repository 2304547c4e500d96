"""Kept: passes that stand for a resumed run, as JSON text and back."""

import json
from dataclasses import asdict
from datetime import datetime
from typing import Any

from decide.consultation import AnsweredBy, Ballot, ModelFrom, Order
from decide.ports import KeptPass
from decide.quota import WindowKind
from decide.reply import Failure, Trouble
from decide.verdict import Decline, Declined, NoVerdict, Resolved, Result


def dump(kept: KeptPass) -> str:
    """The pass as JSON text, from which `load` makes an equal one."""
    ballot = kept.ballot
    document = {
        "consultation": kept.consultation,
        "order": ballot.order,
        "answered_by": asdict(ballot.answered_by),
        "reread": ballot.reread,
        "result": {"is": type(ballot.result).__name__, **asdict(ballot.result)},
        "record": dict(kept.record),
    }
    return json.dumps(document, default=_plain)


def load(text: str) -> KeptPass:
    """The pass of a text that `dump` made; raises ValueError, KeyError or TypeError for another."""
    document = json.loads(text)
    answered_by = AnsweredBy(document["answered_by"]["model"], ModelFrom(document["answered_by"]["source"]))
    ballot = Ballot(Order(document["order"]), _result(document["result"]), answered_by, document.get("reread", False))
    return KeptPass(document["consultation"], ballot, document["record"])


def _result(fields: dict[str, Any]) -> Result:
    if fields["is"] == Resolved.__name__:
        return Resolved(fields["option_id"], tuple(fields["touches"]), fields["rationale"])
    if fields["is"] == Declined.__name__:
        return Declined(Decline(fields["kind"]), tuple(fields["touches"]), fields["gap"], fields["rationale"])
    trouble = fields["trouble"]
    window, clears_at = trouble["window"], trouble["clears_at"]
    told = Trouble(
        Failure(trouble["failure"]),
        None if window is None else WindowKind(window),
        None if clears_at is None else datetime.fromisoformat(clears_at),
        trouble["retry_after_s"],
        trouble["detail"],
        trouble["billed"],
    )
    return NoVerdict(told, fields["reached"])


def _plain(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(f"a kept pass holds text, numbers and times, not {value!r}")
