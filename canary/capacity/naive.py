"""Naive forecast: what Prometheus' `predict_linear` says of a gauge, by its own definition."""

from bisect import bisect_right
from collections.abc import Sequence


def predict_linear(at: Sequence[float], values: Sequence[float], now: float, range_s: float, ahead_s: float) -> float:
    """The value in `ahead_s` seconds on the straight line of least squares through the last `range_s` seconds.

    `at` are the samples' seconds, in order. NaN for fewer than two samples in the range, where Prometheus gives none.
    """
    first, last = bisect_right(at, now - range_s), bisect_right(at, now)
    count = last - first
    if count < 2:
        return float("nan")
    x = [moment - now for moment in at[first:last]]
    y = values[first:last]
    mean_x, mean_y = sum(x) / count, sum(y) / count
    varies = sum((each - mean_x) ** 2 for each in x)
    together = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
    slope = together / varies if varies else 0.0
    return mean_y + slope * (ahead_s - mean_x)
