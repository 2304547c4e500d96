"""World: the series of a ladder that is well for hours, minute by minute, and what befalls an exporter without harm."""

from collections.abc import Callable, Iterable, Mapping

from dashboards.promql import values
from tests.dashboards.promtool import placed

MINUTES = 5 * 60
Value = float | str
"""A number, `_` for no sample, or `stale` for a scrape that failed."""
World = dict[str, list[Value]]
GONE: Value = "_"
FAILED: Value = "stale"


def _always(value: float) -> list[Value]:
    return [value] * MINUTES


def _at(made: Callable[[int], float]) -> list[Value]:
    return [round(made(minute), 4) for minute in range(MINUTES)]


def _one_hot(name: str, word: str, **labels: str) -> World:
    return {placed(name, **labels, state=one): _always(float(one == word)) for one in values(name, "state")}


def _last_tick(minute: int) -> float:
    return minute // 5 * 300.0


def _seat(rung: str, seat: str) -> World:
    """A seat whose session fills to 97 % in four hours and then resets, again and again."""
    at = {"rung": rung, "seat": seat}
    used = placed("ladder_seat_quota_used_ratio", **at, window="session")
    reset = placed("ladder_seat_quota_reset_timestamp_seconds", **at, window="session")
    return {
        **_one_hot("ladder_seat_state", "available", **at),
        **_one_hot("ladder_token_state", "live", **at),
        used: _at(lambda minute: 0.97 * (minute // 5 * 5 % 240) / 240),
        reset: _at(lambda minute: (minute // 240 + 1) * 240 * 60.0),
        placed("ladder_seat_reading_timestamp_seconds", **at): _at(_last_tick),
        placed("ladder_token_expiry_timestamp_seconds", **at): _at(lambda minute: (minute // 210 + 1) * 210 * 60.0),
        placed("ladder_token_renewable", **at): _always(1),
        placed("ladder_canary_poll_budget_used_ratio", **at): _always(0.6),
    }


def _rung(rung: str) -> World:
    at = {"rung": rung}
    counts = {"resolved": 12, "flip": 90, "unreachable": 0, "needs_human": 40}
    return {
        **_one_hot("ladder_rung_state", "reachable", **at),
        placed("ladder_rung_reachable", **at): _always(1),
        **{
            placed("ladder_rung_blocked", **at, reason=reason): _always(0)
            for reason in ("asleep", "session_cap", "stale")
        },
        **{
            placed("ladder_consultations_total", **at, level="medium", result=result): _at(_each(every))
            for result, every in counts.items()
        },
        placed("ladder_unpriced_tokens_total", **at): _always(0),
        **_seat(rung, f"{rung}-1"),
        **_seat(rung, f"{rung}-2"),
    }


def _each(every: int) -> Callable[[int], float]:
    """A counter that grows by 1 each so many minutes; never for 0."""
    return lambda minute: float(minute // every) if every else 0.0


def _decisions() -> World:
    outcomes = {"agreed": 15, "single_rung": 60, "reconsidered": 120, "needs_human": 90, "error": 0, "walled": 0}
    clicks = {"minted": 40, "consumed": 50, "expired": 200}
    return {
        **{
            placed("ladder_decisions_total", level="medium", outcome=outcome): _at(_each(every))
            for outcome, every in outcomes.items()
        },
        **{
            placed("ladder_confirm_clicks_total", event=event, reason="none"): _at(_each(every))
            for event, every in clicks.items()
        },
        placed("ladder_cap_passes_limit"): _always(200),
        placed("ladder_cap_passes_used"): _at(lambda minute: minute % 240 * 0.7),
        placed("ladder_ledger_readable"): _always(1),
        placed("ladder_inbox_oldest_timestamp_seconds"): _at(lambda minute: max(0, minute - 3) * 60.0),
        **{placed("ladder_queue_depth", urgency=urgency): _always(0) for urgency in values("ladder_queue_depth", "urgency")},
    }  # fmt: skip


def _canary() -> World:
    return {
        placed("up"): _always(1),
        placed("ladder_build_info", version="1"): _always(1),
        placed("ladder_canary_last_tick_timestamp_seconds"): _at(_last_tick),
        placed("ladder_canary_missed_ticks_total"): _always(0),
        placed("ladder_canary_clock_skew_seconds"): _always(0.3),
        placed("ladder_config_reload_success"): _always(1),
        **{
            placed("ladder_collector_success", collector=name): _always(1)
            for name in values("ladder_collector_success", "collector")
        },
    }


def healthy() -> World:
    """A ladder of two rungs with two seats each; questions are asked, a few rest on one rung, most clicks are pressed."""
    return {**_one_hot("ladder_state", "ok"), **_rung("fable"), **_rung("astra"), **_decisions(), **_canary()}


def written(world: Mapping[str, Iterable[Value]]) -> dict[str, str]:
    """The world in promtool's notation."""
    return {name: " ".join(str(value) for value in listed) for name, listed in world.items()}


def deployed(world: World) -> World:
    """Prometheus and the exporter are new: the first scrape comes after a minute, the first tick after two."""
    found: World = {}
    for name, listed in world.items():
        found[name] = [GONE, *listed[1:]]
        if "timestamp" in name:
            found[name][:3] = [GONE, GONE, GONE]
    return _unknown(found, 1, 3)


def restarted(world: World, *, folder_lost: bool = False) -> World:
    """Two scrapes fail, then all is unknown until the first tick; with the state folder lost, the canary counts anew."""
    found = _failing(world, 200, 202)
    if folder_lost:
        name = placed("ladder_canary_missed_ticks_total")
        found[name] = [*[7.0] * 200, *found[name][200:]]
    return _unknown(found, 202, 204)


def gapped(world: World) -> World:
    """Nothing is scraped for four minutes, and once more later; the exporter goes on meanwhile."""
    return _failing(_failing(world, 100, 104), 260, 261)


def missed(world: World) -> World:
    """One tick is due and does not run."""
    name, counter = placed("ladder_canary_last_tick_timestamp_seconds"), placed("ladder_canary_missed_ticks_total")
    found = dict(world)
    found[name] = [*world[name][:150], *world[name][145:150], *world[name][155:]]
    found[counter] = [*[0.0] * 155, *[1.0] * (MINUTES - 155)]
    return found


def silent(world: World) -> World:
    """Nobody asks anything: every counter of decisions and clicks stands where it was."""
    still = ("ladder_decisions_total", "ladder_consultations_total", "ladder_confirm_clicks_total")
    standing: World = {name: [3.0] * MINUTES for name in world if name.startswith(still)}
    return {**world, **standing}


def _failing(world: World, begins: int, ends: int) -> World:
    gap: list[Value] = [FAILED, *[GONE] * (ends - begins - 1)]
    found = {name: [*listed[:begins], *gap, *listed[ends:]] for name, listed in world.items()}
    up = placed("up")
    found[up] = [*world[up][:begins], *[0.0] * (ends - begins), *world[up][ends:]]
    return found


def _unknown(world: World, begins: int, ends: int) -> World:
    """All states unknown, and the ladder blind, as before a first tick."""
    found = dict(world)
    for name, listed in world.items():
        if "_state{" in name or name.startswith("ladder_state"):
            unknown = 'state="unknown"' in name or 'state="blind"' in name
            found[name] = [*listed[:begins], *[float(unknown)] * (ends - begins), *listed[ends:]]
        elif name.startswith("ladder_rung_reachable"):
            found[name] = [*listed[:begins], *[0.0] * (ends - begins), *listed[ends:]]
    return found
