"""Golden files of the command line: UPDATE_GOLDEN=1 writes them anew, to be read by a person."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parents[2] / "golden" / "cli"


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """None of the variables by which the machine of the tests could be told apart from another."""
    for name in ("ANTHROPIC_BASE_URL", "XDG_DATA_HOME", "CCSWITCH_CONFIG_DIR"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def golden() -> Callable[[str, str], None]:
    """Compares a text with the golden file of that name."""

    def compare(name: str, text: str) -> None:
        path = GOLDEN / name
        if os.environ.get("UPDATE_GOLDEN") == "1":
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        assert text == path.read_text(encoding="utf-8"), f"{name} differs; UPDATE_GOLDEN=1 writes it anew"

    return compare
