"""Terms: what the expressions of all rules are made of, at the scale of the settings."""

from dataclasses import dataclass

from dashboards.promql import UP, Selectors
from dashboards.scale import REAL
from dashboards.settings import Settings

SELECT = Selectors()


@dataclass(frozen=True, slots=True)
class Terms:
    """Writes parts of expressions for one collection of settings."""

    settings: Settings

    def span(self, seconds: float) -> str:
        """A duration of the exporter's clock."""
        return self.settings.scale.span(seconds)

    @property
    def now(self) -> str:
        """The exporter's present."""
        return self.settings.scale.now

    def held(self, name: str, **equal: str | tuple[str, ...]) -> str:
        """The last value within the bridge: a scrape that fails changes nothing, a new value counts at once."""
        return f"last_over_time({SELECT(name, **equal)}[{self.span(self.settings.bridge_s)}])"

    def age(self, name: str, **equal: str | tuple[str, ...]) -> str:
        """Seconds since a timestamp, while the exporter shows one."""
        return f"({self.now} - {self.held(name, **equal)})"

    def grown(self, window_s: int, name: str, *, by: str, **equal: str | tuple[str, ...]) -> str:
        """How much counters grew in a window, summed."""
        return f"sum by ({by}) (increase({SELECT(name, **equal)}[{self.span(window_s)}]))"

    @property
    def targets(self) -> str:
        """Whether Prometheus reaches the exporters of the job."""
        return Selectors((f'job="{self.settings.job}"',))(UP)


def window(seconds: int) -> str:
    """A window as names of rules have it, which no scale changes."""
    return REAL.span(seconds)
