"""Claude events: what Claude Code's output says of one call, read as a stream of events (clients 2.2)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from decide.quota import WindowKind
from decide.reply import Failure, Finish, Reply, Trouble, Usage
from decide.rungs import wire
from decide.rungs.client import Event, ended, events, last_line
from decide.rungs.cost import stated
from decide.rungs.process import Finished
from decide.rungs.wording import says_cut, says_refusal, trouble_of

SYNTHETIC = "<synthetic>"
"""What the client calls the model of a message that it wrote itself."""
WINDOWS: Mapping[str, WindowKind] = {
    "five_hour": WindowKind.SESSION,
    "seven_day": WindowKind.WEEKLY,
    "seven_day_opus": WindowKind.WEEKLY_MODEL,
    "seven_day_sonnet": WindowKind.WEEKLY_MODEL,
    "seven_day_overage_included": WindowKind.WEEKLY_MODEL,
    "overage": WindowKind.SPEND,
}
"""What `rateLimitType` calls a window (clients 2.2); any other is one that this version does not know."""
CODES: Mapping[str, tuple[Failure, WindowKind | None]] = {
    "authentication_failed": (Failure.NEEDS_LOGIN, None),
    "oauth_org_not_allowed": (Failure.NEEDS_LOGIN, None),
    "billing_error": (Failure.SEAT_CAPPED, WindowKind.SPEND),
    "model_not_found": (Failure.MODEL_UNAVAILABLE, None),
    "rate_limit": (Failure.RATE_LIMITED, None),
    "server_error": (Failure.SERVER_ERROR, None),
}
"""What the `error` of a message means where the text is one that nobody knows (clients 2.2)."""


@dataclass(frozen=True, slots=True)
class Told:
    """The events of one call, by kind."""

    events: tuple[Event, ...]

    @property
    def result(self) -> Event | None:
        """The last word of the client, None when it has not come."""
        return next((event for event in reversed(self.events) if event.get("type") == "result"), None)

    @property
    def answers(self) -> Sequence[Event]:
        """The messages that a model wrote."""
        found = (event for event in self.events if event.get("type") == "assistant")
        return [message for event in found if _model(message := wire.mapping(event.get("message"))) != SYNTHETIC]

    @property
    def code(self) -> str:
        """The client's own word for what went wrong."""
        codes = [wire.text(e.get("error")) for e in self.events if e.get("type") == "assistant" and e.get("error")]
        return codes[-1] if codes else ""

    @property
    def limit(self) -> Event:
        """The last report of a quota."""
        found = (event for event in reversed(self.events) if event.get("type") == "rate_limit_event")
        return wire.mapping(next(found, {}).get("rate_limit_info"))

    @property
    def refusing(self) -> str:
        """The model that refused, also where the client then asked another one."""
        found = (event for event in self.events if str(event.get("subtype", "")).startswith("model_refusal"))
        return wire.text(next(found, {}).get("original_model"))


def reply_of(done: Finished, now: datetime, *, secret: str | None = None) -> Reply:
    """The reply in a client's output."""
    failed = ended(done, secret=secret)
    if failed is not None:
        return failed
    told = Told(tuple(events(done.stdout)))
    result = told.result
    if result is None:
        return _without_result(done, told, now, secret)
    facts = Reply(
        models=_models(told, result), usage=_usage(result), cost_micro_usd=stated(result.get("total_cost_usd"))
    )
    text, failure = _prose(told.answers), _error(result)
    failing = _failing(result, done)
    if result.get("stop_reason") == "refusal" or told.refusing or (failing and says_refusal(failure)):
        refusing = (told.refusing,) if told.refusing else facts.models
        return replace(facts, text=text, finish=Finish.REFUSAL, models=refusing)
    structured = result.get("structured_output")
    if not failing:
        answer = wire.text(result.get("result")) or text
        return replace(facts, text=answer, structured=structured if isinstance(structured, dict) else None)
    if told.code == "max_output_tokens" or says_cut(failure):
        return replace(facts, text=text, finish=Finish.LENGTH)
    if result.get("subtype") == "error_max_turns":  # an answer in prose, or none: the schema asks for a second turn
        return replace(facts, text=text)
    return _in_trouble(replace(facts, text=text), told, failure, now, secret)


def _in_trouble(facts: Reply, told: Told, text: str, now: datetime, secret: str | None) -> Reply:
    """A reply with what stood in its way. A status of the server is a refusal to start, which costs nothing."""
    result = told.result or {}
    status = result.get("api_error_status")
    trouble = _hinted(trouble_of(text, now, secrets=(secret,)), told, status)
    trouble = _named(trouble, told.limit, now)
    worked = facts.usage is not None and facts.usage.total > 0
    refused = isinstance(status, int) or not trouble.billed
    if not worked and not refused:  # cut off before anything was counted, which is not the same as costing nothing
        facts = replace(facts, usage=None, cost_micro_usd=None)
    return replace(facts, trouble=replace(trouble, billed=worked or not refused))


def _hinted(trouble: Trouble, told: Told, status: Any) -> Trouble:
    """The trouble, of which the client's codes say more where its text is not known."""
    if trouble.failure is not Failure.CLIENT_ERROR:
        return trouble
    failure, window = CODES.get(told.code, (trouble.failure, None))
    if failure is Failure.CLIENT_ERROR and isinstance(status, int):
        failure = Failure.RATE_LIMITED if status == 429 else failure
        failure = Failure.SERVER_ERROR if status >= 500 else failure
    if failure is Failure.RATE_LIMITED and told.limit.get("rateLimitType"):
        failure = Failure.SEAT_CAPPED
    return replace(trouble, failure=failure, window=window)


def _named(trouble: Trouble, limit: Event, now: datetime) -> Trouble:
    """A wall with the window and reset that the client reports beside its text: exact, and in the same words ever."""
    kind = wire.text(limit.get("rateLimitType"))
    if trouble.failure is not Failure.SEAT_CAPPED or limit.get("status") != "rejected" or not kind:
        return trouble
    if trouble.window is WindowKind.SPEND:
        return trouble
    at = wire.moment(limit.get("resetsAt"), now)
    ahead = at if at is not None and at > now else trouble.clears_at
    return replace(trouble, window=WINDOWS.get(kind, WindowKind.OTHER), clears_at=ahead)


def _without_result(done: Finished, told: Told, now: datetime, secret: str | None) -> Reply:
    """A client that ended without its last word: what it said instead is its channel for errors, if it failed."""
    said = "" if told.events else done.stdout.decode(errors="replace").strip()
    error = said or last_line(done.stderr)
    if done.code != 0 and says_refusal(error):
        return Reply(finish=Finish.REFUSAL)
    if done.code != 0 and error:
        return Reply(trouble=trouble_of(error, now, secrets=(secret,)))
    detail = f"the client ended without a result, exit status {done.code}"
    return Reply(text=_prose(told.answers), trouble=Trouble(Failure.CLIENT_ERROR, detail=detail))


def _failing(result: Event, done: Finished) -> bool:
    """Whether the client calls its last word an error; where it does not say, its exit status does."""
    stated = result.get("is_error")
    return stated if isinstance(stated, bool) else done.code != 0


def _error(result: Event) -> str:
    """What the client says went wrong: in its result, or in a list beside it."""
    listed = result.get("errors")
    errors = [one for one in listed if isinstance(one, str)] if isinstance(listed, list) else []
    return wire.text(result.get("result")) or " ".join(errors)


def _model(message: Event) -> str:
    return wire.text(message.get("model")).strip()


def _prose(messages: Iterable[Event]) -> str:
    """What models wrote, as it came."""
    blocks = (block for message in messages for block in wire.objects(message.get("content")))
    return "\n".join(wire.text(block.get("text")) for block in blocks if block.get("type") == "text")


def _models(told: Told, result: Event) -> tuple[str, ...]:
    """The models that answered; where no message tells, those that the client counted."""
    named = [_model(message) for message in told.answers] or list(wire.mapping(result.get("modelUsage")))
    return tuple(dict.fromkeys(name.split("[")[0] for name in named if name))


_USAGE = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens")
_BY_MODEL = ("inputTokens", "cacheReadInputTokens", "cacheCreationInputTokens", "outputTokens")


def _usage(result: Event) -> Usage | None:
    """The tokens of all calls; Anthropic counts what a cache held apart from its input.

    Of the client's two sums the larger one counts: that by model holds calls which the other leaves out.
    """
    by_model = list(wire.mapping(result.get("modelUsage")).values())
    found = (_summed([result.get("usage")], _USAGE), _summed(by_model, _BY_MODEL))
    return max((one for one in found if one is not None), key=lambda one: one.total, default=None)


def _summed(rows: Sequence[Any], names: Sequence[str]) -> Usage | None:
    """The sum of rows of counts under these names; None where there is no row, or anything that is no count."""
    columns = [[wire.tokens(row, name) for row in wire.objects(rows)] for name in names]
    counts = [[count for count in column if count is not None] for column in columns]
    if not rows or any(len(column) != len(rows) for column in counts):
        return None
    return Usage(*(sum(column) for column in counts))
