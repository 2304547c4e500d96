"""Fixtures: golden files, written anew by `UPDATE_GOLDEN=1 pytest tests/exporters` and then read by a person."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parent.parent / "golden" / "exporters"


@pytest.fixture
def golden() -> Callable[[str, str], None]:
    """Compares a text with the golden file of that name, byte for byte."""

    def compare(name: str, text: str) -> None:
        path = GOLDEN / name
        if os.environ.get("UPDATE_GOLDEN") == "1":
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())
        assert text == path.read_bytes().decode(), f"{name} differs; UPDATE_GOLDEN=1 writes it anew"

    return compare
