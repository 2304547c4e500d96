"""Codex events: what the output of `codex exec --json` says of one call (clients 3.2, 3.3)."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from decide.reply import Failure, Finish, Reply, Trouble, Usage
from decide.rungs import wire
from decide.rungs.client import Event, ended, events, last_line
from decide.rungs.process import Finished
from decide.rungs.wording import says_cut, says_refusal, trouble_of


def reply_of(done: Finished, now: datetime, *, secret: str | None = None) -> Reply:
    """The reply in a client's output; a message counts as the answer only once its turn is complete."""
    told = tuple(events(done.stdout))
    failed = ended(done, secret=secret, last=_last_error(told))
    if failed is not None:
        return failed
    completed = next((event for event in reversed(told) if event.get("type") == "turn.completed"), None)
    if completed is not None:
        return Reply(_last_message(told), usage=_usage(wire.mapping(completed.get("usage"))))
    error = _failure(told) or _last_error(told) or last_line(done.stderr)
    if says_refusal(error):
        return Reply(finish=Finish.REFUSAL)
    if says_cut(error):
        return Reply(_last_message(told), finish=Finish.LENGTH)
    if done.code == 0 or not error:
        detail = f"the client ended without completing its turn, exit status {done.code}"
        return Reply(trouble=Trouble(Failure.CLIENT_ERROR, detail=detail))
    # Its times bear no zone: they are of the one that it was given.
    return Reply(_last_message(told), trouble=trouble_of(error, now, zone=UTC, secrets=(secret,)))


def _last_message(told: Sequence[Event]) -> str:
    items = (wire.mapping(event.get("item")) for event in reversed(told) if event.get("type") == "item.completed")
    return next((wire.text(item.get("text")) for item in items if item.get("type") == "agent_message"), "")


def _failure(told: Sequence[Event]) -> str:
    """The message of a turn that failed."""
    failed = (event.get("error") for event in reversed(told) if event.get("type") == "turn.failed")
    return wire.text(wire.mapping(next(failed, None)).get("message"))


def _last_error(told: Sequence[Event]) -> str:
    """The last trouble that was told on the way, which may have been got over."""
    return next((wire.text(event.get("message")) for event in reversed(told) if event.get("type") == "error"), "")


def _usage(counts: Mapping[str, Any]) -> Usage | None:
    """Each token once: the client's input holds what a cache held, its output what was thought."""
    return (
        wire.split(
            all_input=wire.tokens(counts, "input_tokens"),
            read=wire.tokens(counts, "cached_input_tokens"),
            written=wire.tokens(counts, "cache_write_input_tokens"),
            all_output=wire.tokens(counts, "output_tokens"),
            reasoning=wire.tokens(counts, "reasoning_output_tokens"),
        )
        if counts
        else None
    )
