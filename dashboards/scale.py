"""Scale: how spans and the present are written in PromQL, in real time or at the speed of the demo's day."""

from dataclasses import dataclass

_UNITS = (("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1))


@dataclass(frozen=True, slots=True)
class Scale:
    """How fast the exporter's clock runs, and what it `shown` at one `real` moment (both in Unix seconds).

    Prometheus measures ranges in real time, while every timestamp on the page is the exporter's own. At a speed of 1
    both are the same; the demo's day runs faster and on a date of its own.
    """

    speed: float = 1.0
    real: float = 0.0
    shown: float = 0.0

    def __post_init__(self) -> None:
        """Refuse a clock that stands still."""
        if not self.speed > 0:
            raise ValueError(f"speed: above 0, not {self.speed!r}")

    def span(self, seconds: float) -> str:
        """A span of the exporter's time as a PromQL duration, in the largest unit that holds it whole."""
        real = seconds / self.speed
        for unit, size in _UNITS:
            if real >= size and real % size == 0:
                return f"{real / size:.0f}{unit}"
        return f"{max(1, round(real * 1000))}ms"

    @property
    def now(self) -> str:
        """The exporter's present, as PromQL."""
        if self == REAL:
            return "time()"
        return f"({self.shown:.3f} + {self.speed:g} * (time() - {self.real:.3f}))"

    def per_second(self, slope: str) -> str:
        """A slope in units per real second, as one per second of the exporter's time."""
        return slope if self.speed == 1 else f"{slope} / {self.speed:g}"


REAL = Scale()
"""The exporter's clock is the real one."""
