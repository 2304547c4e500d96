"""The probe text: the last tick, then the failures that were kept."""

from collections.abc import Callable

from exporters.probe import probe_text
from exporters.view import ProbeLog
from tests.exporters.scenes import NOW, minutes

LOGS = (
    ProbeLog("astra", NOW - minutes(15), ("codex-usage: timeout after 10 s",), failed=True),
    ProbeLog("astra", NOW - minutes(5), ("login: live", "codex-usage: 200 in 0.2 s"), failed=False),
    ProbeLog("astra", NOW - minutes(10), ("codex-usage: 200 in 0.1 s",), failed=False),
    ProbeLog("astra", NOW - minutes(20), ("codex-usage: 503 in 0.3 s",), failed=True),
)


def test_golden_probe(golden: Callable[[str, str], None]) -> None:
    golden("probe.txt", probe_text("astra", LOGS, NOW))


def test_the_newest_comes_first_whatever_the_order() -> None:
    assert probe_text("astra", LOGS, NOW) == probe_text("astra", LOGS[::-1], NOW)
    text = probe_text("astra", LOGS, NOW)
    order = ["login: live", "earlier failures kept: 2", "timeout after", "503 in"]
    assert [text.index(part) for part in order] == sorted(text.index(part) for part in order)
    assert "0.1 s" not in text


def test_before_the_first_tick() -> None:
    assert "no tick has ended yet" in probe_text("astra", (), NOW)


def test_a_line_cannot_break_out() -> None:
    text = probe_text("a\nb", [ProbeLog("a\nb", NOW, ("one\ntwo\x1b[31m",), failed=False)], NOW)
    assert "one two [31m" in text
    assert "\x1b" not in text
