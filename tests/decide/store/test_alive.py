"""Alive: a process is known by host, number and start."""

import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from decide.store.alive import alive, process
from tests.conftest import Powerless
from tests.decide.store.work import dead_pid


def test_this_process_lives_and_one_that_ended_does_not() -> None:
    assert alive(process("here", os.getpid()), here="here") is True
    assert alive(process("here", dead_pid()), here="here") is False
    assert alive(process("there", dead_pid()), here="here") is None


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the system does not say when a process started")
def test_a_later_process_of_the_same_number_is_another() -> None:
    mine = process("here", os.getpid())
    assert alive(replace(mine, started=""), here="here") is True
    assert alive(replace(mine, started=mine.started + "0"), here="here") is False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the system does not say who waits to be reaped")
def test_one_that_was_killed_and_not_yet_reaped_is_gone() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        one = process("here", child.pid)
        assert alive(one, here="here") is True
        child.send_signal(signal.SIGKILL)
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert alive(one, here="here") is False
        child.wait()


def test_another_users_process_lives(powerless: Powerless) -> None:
    first = process("here", 1)
    with powerless():
        assert alive(first, here="here") is True
