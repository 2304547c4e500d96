"""Probe text: one rung's last tick step by step, then the failures that were kept."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from exporters.moment import iso, span_words
from exporters.view import ProbeLog


def probe_text(rung: str, logs: Sequence[ProbeLog], now: datetime) -> str:
    """The logs of a rung as plain text, the latest tick first, whatever order they come in."""
    newest = sorted(logs, key=lambda log: log.at, reverse=True)
    failures = [log for log in newest[1:] if log.failed]
    lines = [f"rung {_plain(rung)}, at {iso(now)}", ""]
    if not newest:
        return "\n".join([*lines, "no tick has ended yet", ""])
    lines += ["last tick", *_lines(newest[:1], now), f"earlier failures kept: {len(failures)}"]
    return "\n".join([*lines, *_lines(failures, now)]) + "\n"


def _lines(logs: Iterable[ProbeLog], now: datetime) -> Iterator[str]:
    for log in logs:
        yield f"{iso(log.at)} ({span_words(now - log.at)} ago) {'failed' if log.failed else 'ok'}"
        yield from (f"  {_plain(line)}" for line in log.lines)
        yield ""


def _plain(text: str) -> str:
    """The text as one line of printable characters."""
    return "".join(char if char.isprintable() else " " for char in text)
