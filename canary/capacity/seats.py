"""Seats: what a simulated seat has used of its windows, judged by the rules by which a real one is judged."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from operator import add

from canary.capacity.scenario import EPOCH, SeatKind, WindowRule
from decide.pick import preference
from decide.quota import Reading, Window
from decide.seat import Quota, Seat, SeatState, SeatStatus, Token, TokenState, judge_seat

NEVER = 1 << 62
"""A second that does not come."""
_LIVE = Token(TokenState.LIVE)


def at(second: int) -> datetime:
    """A simulated second as a moment."""
    return EPOCH + timedelta(seconds=second)


class SimSeat:
    """One seat: `used` shares and `resets` (seconds, None before a first use) of its windows, in the kind's order.

    `key` is by what it is preferred, as `decide.pick.preference` has it. Between two changes of its judged state only
    the headroom in it moves, and that is kept by subtraction; whatever else changes is judged anew by `judge_seat`.
    `due` is the second of its next reset; `usable` says whether a consultation may go to it.
    """

    __slots__ = ("_fresh", "due", "key", "kind", "name", "number", "resets", "status", "usable", "used")

    def __init__(self, kind: SeatKind, number: int, second: int = 0) -> None:
        self.kind, self.number = kind, number
        self.name = f"{kind.name}-{number + 1:03}"
        self.used = [0.0] * len(kind.windows)
        self.resets = [rule.next_reset(second, number) for rule in kind.windows]
        self.judge(second)

    def start(self, used: Sequence[float], resets: Sequence[int | None], second: int) -> None:
        """Begin with windows that are in use."""
        self.used, self.resets = list(used), list(resets)
        self.judge(second)

    def seat(self, second: int) -> Seat:
        """The seat as decide knows one, its meters read at that second."""
        windows = tuple(map(_window, self.kind.windows, self.used, self.resets))
        readings = (Reading("plan", at(second), windows),) if windows else ()
        quota = Quota.METERED if windows else Quota.UNMETERED
        return Seat(self.name, _LIVE, quota=quota, readings=readings, scopes=self.kind.scopes)

    def judge(self, second: int) -> None:
        """Have decide judge the seat."""
        self.status: SeatStatus = judge_seat(self.seat(second), now=at(second))
        self.key = preference(self.status)
        self.usable = self.status.state is SeatState.AVAILABLE
        self._watch()

    def _watch(self) -> None:
        """Note which windows are not running, and when the next of the others begins anew."""
        self._fresh = None in self.resets
        self.due = min((reset for reset in self.resets if reset is not None), default=NEVER)

    def roll(self, second: int) -> None:
        """Begin anew every window whose reset has come; a seat that was usable only gains headroom by that."""
        for place, reset in enumerate(self.resets):
            if reset is not None and reset <= second:
                self.used[place] = 0.0
                self.resets[place] = self.kind.windows[place].next_reset(second, self.number)
        if not self.usable:
            self.judge(second)
            return
        self.key = (self.key[0], max(self.used) - 1.0, self.name)
        self._watch()

    def take(self, shares: tuple[float, ...], second: int) -> None:
        """Use shares of the windows; a window that is not running starts now."""
        if self._fresh:
            self._begin(second)
        if not shares:
            return
        self.used = used = [*map(add, self.used, shares)]
        most = max(used)
        if most >= 1.0:
            self.judge(second)
        else:
            self.key = (self.key[0], most - 1.0, self.name)

    def _begin(self, second: int) -> None:
        for place, reset in enumerate(self.resets):
            if reset is None:
                self.resets[place] = begun = second + self.kind.windows[place].length_s
                self.due = min(self.due, begun)
        self._fresh = False


def _window(rule: WindowRule, used: float, reset: int | None) -> Window:
    return Window(rule.kind, used, None if reset is None else at(reset), rule.scope)
