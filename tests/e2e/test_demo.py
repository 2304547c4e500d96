"""`rungwatch serve --demo` as a real process: in half a minute it shows every word of the ladder."""

from pathlib import Path

from decide.ladder import LadderWord
from tests.e2e.running import Served, serving, until


def _words(served: Served) -> set[str]:
    assert served.process.poll() is None, served.said()
    return {word for word in LadderWord if f" ladder {word.upper()} [demo]" in served.said()}


def test_the_day_shows_every_word_and_says_that_it_is_a_demo(tmp_path: Path) -> None:
    with serving("--demo", "--minutes", "0.5", home=tmp_path) as served:
        page = served.page("/")
        assert "(demo)" in page
        assert "Every seat, number and time here is made up." in page
        assert "DEMO" in served.said()
        until(lambda: _words(served) == set(LadderWord), "line of each word")
        assert 'demo="' not in served.page("/metrics")
        assert not list(tmp_path.glob("[!s]*")), "the demo leaves nothing in the home of its user"
