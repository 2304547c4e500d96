"""Log line: one tick in one line, for a log and for whoever greps it (design 5)."""

from decide.ladder import LadderState, LadderWord, RungState, RungStatus
from exporters.moment import iso

_OK = "ladder OK"


def logline(state: LadderState) -> str:
    """Exactly one line, starting with the tick's own time.

    `ladder OK` stands in it only while every rung is reachable. Otherwise each rung that is not is told with its
    reasons, and with when it clears where that is known.
    """
    word = state.state
    if word is LadderWord.OK and not _all_reachable(state):
        word = LadderWord.BLIND
    rungs = "; ".join(_rung(rung) for rung in state.rungs)
    notes = f" [notes: {', '.join(state.notes)}]" if state.notes else ""
    demo = " [demo]" if state.demo else ""
    rest = f"{demo} {rungs or 'no rung was read'}{notes}".replace(_OK, "ladder_OK")
    return f"{iso(state.at)} ladder {word.upper()}{rest}"


def _all_reachable(state: LadderState) -> bool:
    return bool(state.rungs) and all(rung.state is RungState.REACHABLE for rung in state.rungs)


def _rung(rung: RungStatus) -> str:
    if rung.state is RungState.REACHABLE:
        return f"{_safe(rung.name)}=reachable" + (f" (next seat {_safe(rung.picked)})" if rung.picked else "")
    reasons = ", ".join(rung.reasons) or "no reason known"
    clears = f"clears {iso(rung.clears_at)}" if rung.clears_at else "no clear time known"
    return f"{_safe(rung.name)}={rung.state} ({reasons}; {clears})"


def _safe(name: str) -> str:
    """A name that can neither break the line nor pass for another word of it."""
    return "".join(char if char.isprintable() and not char.isspace() else "_" for char in name)
