"""Work: the processes that simulate never hear Ctrl-C, which is for the one that started them."""

import os
import re
from pathlib import Path

import pytest

from canary.capacity.work import Work
from tests.canary.capacity.scenes import team

CHILDREN = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children")
SIGINT = 1 << 1


@pytest.mark.skipif(not CHILDREN.exists(), reason="needs a system that tells of processes in /proc")
def test_no_process_hears_ctrl_c_however_early_it_comes() -> None:
    before = set(CHILDREN.read_text().split())
    with Work(team(), processes=3).open():
        started = set(CHILDREN.read_text().split()) - before
        blocked = {
            child: int(found[1], 16) & SIGINT
            for child in started
            if (found := re.search(r"SigBlk:\s*(\w+)", Path(f"/proc/{child}/status").read_text()))
        }
    assert len(started) >= 3
    assert blocked == dict.fromkeys(started, SIGINT)
