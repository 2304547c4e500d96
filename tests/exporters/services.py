"""Programs that some tests need; missing ones skip a test only where nothing demands them."""

import os
import shutil

import pytest


def need(program: str) -> str:
    """The program's path; without it the test is skipped, or fails where RUNGWATCH_REQUIRE_SERVICES is 1."""
    found = shutil.which(program)
    if found is None:
        if os.environ.get("RUNGWATCH_REQUIRE_SERVICES") == "1":
            pytest.fail(f"{program} is not installed, and RUNGWATCH_REQUIRE_SERVICES=1 demands it")
        pytest.skip(f"{program} is not installed")
    return found
