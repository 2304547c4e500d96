"""Exposition: the pages of metrics, rendered when the view changes and as time passes, never for each scrape."""

import gzip
import logging
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from exporters.catalog import CATALOG, Metric
from exporters.collect import COLLECTORS, Collector
from exporters.encode import encode, end
from exporters.negotiate import Format, accepts_gzip, choose_format
from exporters.parts import Part, Sample, Samples
from exporters.present import present
from exporters.view import View

REFRESH_EVERY = timedelta(seconds=15)
"""A page is never older than this (design 6)."""
_LEVEL = 4  # a sixth of the time of level 9, for a page that is a twelfth larger

Key = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Page:
    """A page ready to be sent: the body, its content type, and whether the body is gzip."""

    body: bytes
    content_type: str
    gzipped: bool = False


@dataclass(slots=True)
class _Entry:
    """A part's samples, and their lines by format and metric once a format was asked for."""

    inputs: tuple[object, ...]
    samples: Samples
    lines: dict[Format, dict[str, bytes]] = field(default_factory=dict)


class _Generation:
    """One unchanging set of entries and the pages made of it, each at most once."""

    def __init__(self, entries: Mapping[Key, _Entry], metrics: tuple[Metric, ...]) -> None:
        self.entries = entries
        self._metrics = metrics
        self._pages: dict[tuple[Format, bool, str | None], bytes] = {}

    def page(self, form: Format, gzipped: bool, rung: str | None) -> bytes:
        """The page in that format and coding, of one rung only where one is named."""
        wanted = form, gzipped, rung
        if wanted not in self._pages:
            plain = self.page(form, False, rung) if gzipped else self._plain(form, rung)
            self._pages[wanted] = gzip.compress(plain, _LEVEL, mtime=0) if gzipped else plain
        return self._pages[wanted]

    def _plain(self, form: Format, rung: str | None) -> bytes:
        _encode_missing([entry for entry in self.entries.values() if form not in entry.lines], self._metrics, form)
        found: dict[str, list[bytes]] = {metric.name: [] for metric in self._metrics}
        for key, entry in self.entries.items():
            if rung is None or key[1] == rung:
                for name, lines in entry.lines[form].items():
                    found[name].append(lines)
        return b"".join(self._chunks(form, found, whole=rung is None)) + end(form)

    def _chunks(self, form: Format, found: Mapping[str, list[bytes]], *, whole: bool) -> Iterator[bytes]:
        for metric in self._metrics:
            if whole or found[metric.name]:
                yield encode(metric, (), form)[0]
                yield from found[metric.name]


def _encode_missing(entries: list[_Entry], metrics: Iterable[Metric], form: Format) -> None:
    """Give each entry its lines: all samples of a metric are encoded at once, then dealt out."""
    for entry in entries:
        entry.lines[form] = {}
    for metric in metrics:
        owners = [entry for entry in entries if entry.samples.get(metric.name)]
        samples: list[Sample] = [sample for entry in owners for sample in entry.samples[metric.name]]
        lines = encode(metric, samples, form)[1] if samples else []
        start = 0
        for entry in owners:
            stop = start + len(entry.samples[metric.name])
            entry.lines[form][metric.name] = b"".join(lines[start:stop])
            start = stop


class Exposition:
    """The pages of one exporter, sharing nothing with another one in the same process (EXP-09).

    It belongs to one event loop and takes no lock. Formats that were asked for once are rendered at each change.
    """

    def __init__(
        self,
        view: View,
        clock: Callable[[], datetime],
        *,
        collectors: Mapping[str, Collector] = COLLECTORS,
        log: logging.Logger | None = None,
    ) -> None:
        self._clock = clock
        self._collectors = collectors
        self._log = log or logging.getLogger(__name__)
        self._failing: frozenset[str] = frozenset()
        self._asked: dict[tuple[Format, bool], None] = {}
        self._generation = _Generation({}, ())
        self.publish(view)

    def publish(self, view: View) -> None:
        """Show this view from now on; told every 15 s or sooner, for a tick that is too old turns all unknown."""
        self._view = view
        self._render()

    def page(self, accept: str = "", accept_encoding: str = "", *, rung: str | None = None) -> Page:
        """The page for a scraper's headers; with `rung`, the metrics of that rung only."""
        form, gzipped = choose_format(accept), accepts_gzip(accept_encoding)
        if rung is None:
            self._asked[form, gzipped] = None
        if abs(self._clock() - self._rendered_at) > REFRESH_EVERY:
            self._render()  # whoever publishes has died; the page must not outlive it
        return Page(self._generation.page(form, gzipped, rung), form.value, gzipped)

    def text(self) -> bytes:
        """The page in the text format, for the textfile."""
        return self.page().body

    def _render(self) -> None:
        self._rendered_at = self._clock()
        kept = self._generation.entries
        entries, failed = self._collect(kept)
        success = tuple((name, name not in failed) for name in self._collectors)
        part = Part(("", "", ""), (success,), _success)
        entries[part.key] = _entry(part, kept)
        if any(kept.get(key) is not entry for key, entry in entries.items()) or entries.keys() != kept.keys():
            metrics = tuple(metric for metric in CATALOG if metric.collector not in failed)
            self._generation = _Generation(entries, metrics)
        for form, gzipped in self._asked:
            self._generation.page(form, gzipped, None)

    def _collect(self, kept: Mapping[Key, _Entry]) -> tuple[dict[Key, _Entry], frozenset[str]]:
        seen = present(self._view, self._rendered_at)
        entries: dict[Key, _Entry] = {}
        failed: set[str] = set()
        for name, collector in self._collectors.items():
            try:
                found = {part.key: _entry(part, kept) for part in collector(self._view, seen)}
            except Exception as error:  # noqa: BLE001 - whatever it is, the other collectors stand
                failed.add(name)
                self._tell(name, error)
            else:
                entries |= found
        self._failing = frozenset(failed)
        return entries, self._failing

    def _tell(self, name: str, error: Exception) -> None:
        """Log a failure once while it lasts: its place and type, without its text, which may hold values."""
        if name not in self._failing:
            where = "".join(traceback.format_tb(error.__traceback__))
            self._log.error("collector %s failed: %s\n%s", name, type(error).__name__, where.rstrip())


def _entry(part: Part, kept: Mapping[Key, _Entry]) -> _Entry:
    known = kept.get(part.key)
    if known is not None and known.inputs == part.inputs:
        return known
    return _Entry(part.inputs, part.make(*part.inputs))


def _success(collectors: tuple[tuple[str, bool], ...]) -> Samples:
    return {"ladder_collector_success": [((name,), float(ok)) for name, ok in collectors]}
