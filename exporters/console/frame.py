"""Frame: what stands round the content of every page, and the clock by which a page tells moments."""

from dataclasses import dataclass
from datetime import UTC, datetime

from exporters.moment import clock_words, span_words, until_words
from exporters.view import View

REFRESH_S = 15
"""After how many seconds a page shows itself anew."""
NAV = (
    ("/", "Ladder"),
    ("/history", "History"),
    ("/decisions", "Decisions"),
    ("/queue", "Queue"),
    ("/clicks", "Clicks"),
    ("/ask", "Ask"),
    ("/ticks", "Ticks"),
)
"""The pages, as they are found on each of them."""


@dataclass(frozen=True, slots=True)
class Clock:
    """Moments in words, seen from `now`; each may be given as ISO text, as receipts and reports hold it."""

    now: datetime

    def when(self, moment: datetime | str) -> str:
        """A moment: `12:00:00 UTC`, with its day where that is not today."""
        return clock_words(_moment(moment), self.now)

    def until(self, moment: datetime | str) -> str:
        """How far ahead a moment is: `in 2 h 5 min`, or `due now`."""
        return until_words(_moment(moment), self.now)

    def ago(self, moment: datetime | str) -> str:
        """How long ago a moment was: `5 min ago`."""
        return f"{span_words(self.now - _moment(moment))} ago"

    def lasted(self, moment: datetime | str) -> str:
        """How long it has lasted since a moment."""
        return span_words(self.now - _moment(moment))

    def due(self, moment: datetime | str) -> str:
        """How a deadline stands: `in 2 h 5 min`, or `5 min ago` once it has passed."""
        return self.until(moment) if _moment(moment) > self.now else self.ago(moment)

    def past(self, moment: datetime | str) -> bool:
        """Whether a moment has come."""
        return _moment(moment) <= self.now

    def iso(self, moment: datetime | str) -> str:
        """A moment for a machine."""
        return _moment(moment).astimezone(UTC).isoformat(timespec="seconds")


@dataclass(frozen=True, slots=True)
class Frame:
    """What every page tells beside its content.

    `here` is its place in the navigation, `person` who looks at it, empty for nobody known. `pages`: there are more
    than the status page. `live`: it shows itself anew; `filled`: it holds a form, so never by being loaded again.
    `source` is where it is found anew, empty for where it is; a page that answers a form is somewhere else.
    `login`: whoever looks at it can say who they are.
    """

    now: datetime
    version: str = ""
    demo: bool = False
    caption: str = ""
    here: str = ""
    person: str = ""
    pages: bool = True
    live: bool = True
    filled: bool = False
    source: str = ""
    login: bool = False

    @property
    def clock(self) -> Clock:
        """The page's clock."""
        return Clock(self.now)

    @property
    def every_s(self) -> int:
        """After how many seconds it shows itself anew."""
        return REFRESH_S


def framed(view: View, now: datetime, *, person: str = "", pages: bool = True) -> Frame:
    """The frame of a page."""
    demo = bool(view.caption) or (view.state is not None and view.state.demo)
    return Frame(now, view.version, demo, view.caption, person=person, pages=pages)


def _moment(moment: datetime | str) -> datetime:
    return datetime.fromisoformat(moment) if isinstance(moment, str) else moment
