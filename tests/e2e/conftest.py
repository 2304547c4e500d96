"""Fixtures: a scene in a folder of its own, with the vendor of the scene answering."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.running import answering
from tests.e2e.scene import Scene, scene


@pytest.fixture
def ladder(tmp_path: Path) -> Iterator[Scene]:
    """The scene, configured to be read from the vendor that answers."""
    made = scene(tmp_path)
    with answering(made.provider) as base:
        made.configure(base)
        yield made
