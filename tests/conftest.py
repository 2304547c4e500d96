"""Fixtures that many tests share: an empty home, and a user whom permission bits stop."""

import os
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# a busy machine is no fault of a rule: no example is timed
settings.register_profile("rungwatch", deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("rungwatch")

# a runner that was started in the background ignores Ctrl-C, and every program that a test starts would inherit that
for _number, _usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, _usual)

LONGEST = "test_alerts.py"
"""Waits out a day of the demo: begun first, it takes six minutes of nobody's time."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the longest file first; the others stay in their order."""
    items.sort(key=lambda item: (item.path.parent.name, item.path.name) != ("e2e", LONGEST))


NOBODY = 65534
VARIABLES = (
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CONFIG_DIR",
    "CODEX_ACCESS_TOKEN",
    "CODEX_API_KEY",
    "CODEX_HOME",
    "RUNGWATCH_CONFIG",
    "RUNGWATCH_STATE_DIR",
    "XDG_CONFIG_HOME",
    "XDG_STATE_HOME",
)


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty home that every user may enter, with none of the variables that name a login or a configuration."""
    folder = Path(tempfile.mkdtemp(prefix="rungwatch-home-"))
    folder.chmod(0o755)
    monkeypatch.setenv("HOME", str(folder))
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    yield folder
    shutil.rmtree(folder)


Powerless = Callable[[], AbstractContextManager[None]]


@pytest.fixture
def powerless() -> Powerless:
    """Within it the process is a user whom permission bits stop, where the tests run as root."""

    @contextmanager
    def within() -> Iterator[None]:
        root = os.geteuid() == 0
        if root:
            os.seteuid(NOBODY)
        try:
            yield
        finally:
            if root:
                os.seteuid(0)

    return within
