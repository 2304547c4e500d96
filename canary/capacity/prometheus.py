"""Prometheus: a history read through the query API of a server that scraped rungwatch."""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import isfinite
from typing import Any
from urllib.parse import urlencode, urlsplit

from canary.capacity.history import Decision, History, RungUse
from canary.capacity.scenario import ScenarioError
from decide.consultation import PassRole
from decide.meter import MeterSample
from decide.quota import WindowKind
from decide.rungs.http import Fetch, Request
from exporters.catalog import CATALOG

HOUR = timedelta(hours=1)
METER_STEP = timedelta(minutes=5)
"""How closely meters are read: a canary reads them no oftener by default."""
PORTION = timedelta(days=7)
"""How much is asked for at a time: below the 11,000 points a series that a server gives at most."""
BODY_LIMIT = 256 * 1024 * 1024
TIMEOUT_S = 60.0
_NAMES = frozenset(metric.name for metric in CATALOG)


def named(name: str) -> str:
    """A metric's name; raises ValueError for one that the catalog lacks."""
    if name not in _NAMES:
        raise ValueError(f"the catalog has no metric {name!r}")
    return name


DECISIONS = named("ladder_decisions_total")
PASSES = named("ladder_passes_total")
TOKENS = named("ladder_tokens_total")
SPEND = named("ladder_spend_usd_total")
USED = named("ladder_seat_quota_used_ratio")
RESETS = named("ladder_seat_quota_reset_timestamp_seconds")

Key = tuple[str, ...]
Series = Mapping[Key, Sequence[tuple[float, float]]]
"""By the values of the labels that were asked for: seconds since 1970, and values."""


@dataclass(frozen=True, slots=True)
class Server:
    """A Prometheus: its address, how it is asked, and what its series are chosen by, such as `job="rungwatch"`."""

    url: str
    fetch: Fetch
    matching: str = ""

    async def counters(self, name: str, labels: Sequence[str], since: datetime, until: datetime) -> Series:
        """A counter by labels, once an hour; of exporters that show the same ledger the one that is ahead counts."""
        return await self._ranges(self._of(name, labels), labels, since, until, HOUR)

    async def gauges(self, name: str, labels: Sequence[str], since: datetime, until: datetime) -> Series:
        """A gauge by labels, as closely as meters are read."""
        return await self._ranges(self._of(name, labels), labels, since, until, METER_STEP)

    def _of(self, name: str, labels: Sequence[str]) -> str:
        chosen = f"{name}{{{self.matching}}}" if self.matching else name
        return f"max by ({', '.join(labels)}) ({chosen})"

    async def _ranges(
        self, query: str, labels: Sequence[str], since: datetime, until: datetime, step: timedelta
    ) -> Series:
        found: dict[Key, list[tuple[float, float]]] = defaultdict(list)
        begin = since
        while begin < until:
            end = min(until, begin + PORTION - step)
            for series in await self._range(query, begin, end, step):
                key = tuple(str(series["metric"].get(label, "")) for label in labels)
                values = ((float(at), float(value)) for at, value in series["values"])
                found[key] += [(at, value) for at, value in values if isfinite(value)]
            begin = end + step
        return found

    async def _range(self, query: str, begin: datetime, end: datetime, step: timedelta) -> list[Any]:
        asked = {"query": query, "start": begin.timestamp(), "end": end.timestamp(), "step": step.total_seconds()}
        url = f"{self.url.rstrip('/')}/api/v1/query_range?{urlencode(asked)}"
        reply = await self.fetch(Request(url, timeout_s=TIMEOUT_S, limit=BODY_LIMIT))
        if reply.failure is not None:
            why = f"{reply.failure}, {reply.detail}" if reply.detail else str(reply.failure)
            raise self._fault(f"did not answer ({why})")
        try:
            document = json.loads(reply.body)
            if document["status"] != "success":
                raise self._fault(f"refused the query: {str(document.get('error', ''))[:200]}")
            result: list[Any] = document["data"]["result"]
        except (ValueError, KeyError, TypeError):
            raise self._fault(f"gave no answer of a Prometheus (HTTP status {reply.status})") from None
        return result

    def _fault(self, what: str) -> ScenarioError:
        allowed = "give the address at which its own pages are, such as http://127.0.0.1:9090"
        return ScenarioError(f"--prometheus: {shown(self.url)} {what}; {allowed}")


def shown(url: str) -> str:
    """An address without the user and password that may stand in it."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()


async def read(server: Server, since: datetime, until: datetime, *, decisions: bool = True) -> History:
    """The history that a Prometheus has, meters alone if so asked; raises ScenarioError when it does not answer.

    It knows counts by the hour, so the decisions of an hour are alike but for their level and outcome, and evenly
    spread.
    """
    begin = since.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
    found = await _decisions(server, begin, until) if decisions else []
    samples = await _samples(server, begin, until)
    return History(tuple(found), tuple(samples), f"Prometheus at {shown(server.url)}", even=True)


async def _decisions(server: Server, since: datetime, until: datetime) -> list[Decision]:
    decided = _hourly(await server.counters(DECISIONS, ("level", "outcome"), since, until))
    passes = _hourly(await server.counters(PASSES, ("rung", "level", "role"), since, until))
    tokens = _hourly(await server.counters(TOKENS, ("rung", "level"), since, until))
    spend = _hourly(await server.counters(SPEND, ("rung", "level", "billing", "source"), since, until))
    uses = _uses(decided, passes, tokens, spend)
    found = []
    for (level, outcome), counts in decided.items():
        for second, count in counts.items():
            whole = round(count)
            for number in range(whole):
                at = datetime.fromtimestamp(second - 3600 + 3600 * (number + 0.5) / whole, UTC)
                found.append(Decision(at, level, outcome, uses.get(level, {})))
    return sorted(found, key=lambda decision: decision.at)


Hourly = Mapping[Key, Mapping[float, float]]
"""By labels: the second at which an hour ends, and by how much the counter grew in it."""


def _hourly(series: Series) -> Hourly:
    return {key: dict(_increases(values)) for key, values in series.items()}


def _increases(values: Sequence[tuple[float, float]]) -> Iterator[tuple[float, float]]:
    """By how much a counter grew up to each sample but the first; one that fell back began anew at 0."""
    before: float | None = None
    for at, value in values:
        if before is not None and value != before:
            yield at, value - before if value > before else value
        before = value


def _uses(decided: Hourly, passes: Hourly, tokens: Hourly, spend: Hourly) -> dict[str, dict[str, RungUse]]:
    """What a decision of each level took from each rung, as the mean over all."""
    counts: dict[str, float] = defaultdict(float)
    for (level, _), hours in decided.items():
        counts[level] += sum(hours.values())
    calls: dict[tuple[str, str], dict[str, float]] = defaultdict(dict)
    for (rung, level, role), hours in passes.items():
        calls[level, rung][role] = sum(hours.values())
    return {
        level: {
            rung: RungUse(
                sum(by_role.values()) / count,
                by_role.get(PassRole.RECONSIDERATION, 0.0) / count,
                sum(tokens.get((rung, level), {}).values()) / count,
                {
                    (key[2], key[3]): 1e6 * sum(grew.values()) / count
                    for key, grew in spend.items()
                    if key[:2] == (rung, level)
                },
            )
            for (of, rung), by_role in calls.items()
            if of == level and sum(by_role.values()) > 0
        }
        for level, count in counts.items()
        if count
    }


async def _samples(server: Server, since: datetime, until: datetime) -> list[MeterSample]:
    labels = ("rung", "seat", "window")
    used = await server.gauges(USED, labels, since, until)
    resets = {key: dict(values) for key, values in (await server.gauges(RESETS, labels, since, until)).items()}
    known = set(WindowKind)
    return sorted(
        (
            _sample(key, at, value, resets.get(key, {}).get(at))
            for key, values in used.items()
            if key[2] in known
            for at, value in values
        ),
        key=lambda sample: sample.at,
    )


def _sample(key: Key, at: float, used: float, resets_at: float | None) -> MeterSample:
    rung, seat, window = key
    reset = None if resets_at is None else datetime.fromtimestamp(resets_at, UTC)
    return MeterSample(rung, seat, WindowKind(window), "", datetime.fromtimestamp(at, UTC), used, reset)
