"""Wire: JSON answers of models read strictly and numbers exactly; what is not plausible is unsaid, never guessed."""

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, NoReturn

from decide.reply import Usage
from decide.rungs.cost import stated
from decide.rungs.http import Response

COST_HEADER = "x-litellm-response-cost"
TOKENS_LIMIT = 10**10

_NONE: Mapping[str, Any] = {}


def document(body: bytes) -> dict[str, Any] | None:
    """The JSON object that a body is, its fractions as exact decimals; None for anything else."""
    try:
        found = json.loads(body, parse_float=Decimal, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def mapping(value: Any) -> Mapping[str, Any]:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else _NONE


def objects(value: Any) -> Iterator[Mapping[str, Any]]:
    """The objects of a list; nothing where there is no list."""
    yield from (one for one in value if isinstance(one, dict)) if isinstance(value, list) else ()


def text(value: Any) -> str:
    """The value if it is text, else an empty one."""
    return value if isinstance(value, str) else ""


def models(found: Mapping[str, Any]) -> tuple[str, ...]:
    """The model that a document names as having answered."""
    named = text(found.get("model")).strip()
    return (named,) if named else ()


def tokens(found: Mapping[str, Any], *names: str, absent: int | None = 0) -> int | None:
    """A count of tokens under the first of these names that is there, `absent` where none is; None for no count."""
    value = next((found[name] for name in names if found.get(name) is not None), absent)
    return value if type(value) is int and 0 <= value < TOKENS_LIMIT else None


def split(
    *, all_input: int | None, read: int | None, written: int | None, all_output: int | None, reasoning: int | None
) -> Usage | None:
    """Each token once, of sums that hold their parts, as OpenAI and those who speak like it count; None for a part
    that is no count or larger than its sum.
    """
    if all_input is None or read is None or written is None or all_output is None or reasoning is None:
        return None
    if read + written > all_input or reasoning > all_output:
        return None
    return Usage(all_input - read - written, read, written, all_output - reasoning, reasoning)


def stated_cost(response: Response, usage: Mapping[str, Any]) -> int | None:
    """What the host itself says that the call cost, in micro-dollars: OpenRouter's usage, LiteLLM's header.

    OpenRouter's figure for a call on one's own key of the vendor holds its fee alone, and is not taken.
    """
    if usage.get("is_byok") is not True:
        cost = stated(usage.get("cost"))
        if cost is not None:
            return cost
    return stated(response.headers.get(COST_HEADER))


def moment(value: Any, now: datetime) -> datetime | None:
    """A time in epoch seconds that is plausible for a window's reset; None for any other."""
    try:
        at = datetime.fromtimestamp(int(value), UTC)
    except (TypeError, ValueError, OverflowError, OSError):
        return None
    return at if timedelta(days=-1) <= at - now <= timedelta(days=400) else None
