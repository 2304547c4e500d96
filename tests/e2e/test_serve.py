"""`rungwatch serve` and `canary` as real processes: pages, refusals, the lock, signals and reload."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from canary.demo.provider import Fault, Kind
from tests.e2e.running import RUNGWATCH, Served, run, serving, started, until
from tests.e2e.scene import READ_SEATS, Scene
from tests.exporters.pages import value

USAGE, LOCKED = 64, 75


@pytest.fixture
def served(ladder: Scene) -> Iterator[Served]:
    with serving(*ladder.options, home=ladder.home) as running:
        yield running


def test_pages(served: Served) -> None:
    assert served.page("/-/healthy") == "ok\n"
    assert served.page("/-/ready") == "ok\n"
    page = served.page("/")
    assert "<html" in page
    assert all(name in page for name in ("fable", "astra", "desk", "lab", "spare", "loan", "codex-two"))
    assert "sk-ant" not in page
    probe = served.page("/probe?rung=fable&debug=true")
    assert "rung fable: reachable" in probe
    assert "lab: capped" in probe
    assert "sk-ant" not in probe
    assert value(served.page("/probe?rung=astra"), "ladder_rung_reachable", rung="astra") == 1


def test_no_model_is_called_and_a_lapsed_login_is_never_sent(ladder: Scene, served: Served) -> None:
    provider = ladder.provider
    assert provider.count(kind=Kind.USAGE) == len(provider.log) == READ_SEATS
    assert provider.count(seat="spare") == 0


def test_a_taken_port_is_a_usage_error(ladder: Scene, served: Served) -> None:
    address, other = served.base.removeprefix("http://"), str(ladder.home / "other-state")
    done = run("serve", "--listen", address, "--config", str(ladder.config), "--state-dir", other, home=ladder.home)
    assert done.returncode == USAGE
    assert f"cannot listen on {address}" in done.stderr
    assert "--listen" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("name", ["canary", "serve"])
def test_an_unwritable_state_folder_is_a_usage_error(ladder: Scene, name: str) -> None:
    ladder.state_dir.mkdir(mode=0o555)
    for folder in (ladder.home, *_private_parents(ladder.home)):
        folder.chmod(0o755)
    ladder.config.chmod(0o644)
    user = ("--as-nobody",) if os.geteuid() == 0 else ()
    done = run(name, *ladder.options, home=ladder.home, command=(*RUNGWATCH, *user))
    assert done.returncode == USAGE, done.stderr
    assert f"the state folder {ladder.state_dir} cannot be written (Permission denied)" in done.stderr
    assert "--state-dir" in done.stderr
    assert "Traceback" not in done.stderr
    assert ladder.provider.log == []


def _private_parents(folder: Path) -> list[Path]:
    """The folders above that pytest made for this user alone."""
    return [parent for parent in folder.parents if parent.name.startswith(("pytest-", "popen-"))]


def test_a_second_canary_says_so_and_reads_nothing(ladder: Scene, served: Served) -> None:
    before, kept = len(ladder.provider.log), _kept(ladder)
    second = run("canary", *ladder.options, home=ladder.home)
    assert second.returncode == 0
    assert "another rungwatch canary holds" in second.stderr
    assert str(ladder.state_dir) in second.stderr
    third = run("serve", "--listen", "127.0.0.1:0", *ladder.options, home=ladder.home)
    assert third.returncode == LOCKED
    assert "another rungwatch canary holds" in third.stderr
    assert len(ladder.provider.log) == before
    assert _kept(ladder) == kept


def _kept(ladder: Scene) -> dict[str, bytes]:
    """What stands in the state folder, but for the ledger, in which the first canary writes at any time."""
    files = [path for path in sorted(ladder.state_dir.iterdir()) if not path.name.startswith("ledger.db")]
    return {path.name: path.read_bytes() for path in files}


def test_kill_9_frees_the_lock(ladder: Scene, served: Served) -> None:
    served.process.kill()
    assert served.process.wait(30) == -signal.SIGKILL
    before = len(ladder.provider.log)
    done = run("canary", *ladder.options, home=ladder.home)
    assert (done.returncode, len(ladder.provider.log)) == (0, before + READ_SEATS)
    assert "another rungwatch canary" not in done.stderr


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_promptly(served: Served, number: signal.Signals) -> None:
    began = time.monotonic()
    served.process.send_signal(number)
    assert served.process.wait(10) == 0
    assert time.monotonic() - began < 5
    assert "Traceback" not in served.said()


def test_a_signal_ends_it_while_a_vendor_hangs(ladder: Scene) -> None:
    ladder.provider.seat("desk").fault = Fault.HANG
    with serving(*ladder.options, home=ladder.home, ready="/-/healthy") as running:
        until(lambda: ladder.provider.count(seat="desk"), "read of the seat that hangs")
        running.process.send_signal(signal.SIGTERM)
        assert running.process.wait(10) == 0
        assert "Traceback" not in running.said()


def test_reload_keeps_the_old_configuration_until_the_new_one_is_right(ladder: Scene, served: Served) -> None:
    good = ladder.config.read_text(encoding="utf-8")
    assert value(served.page("/metrics"), "ladder_config_reload_success") == 1
    ladder.config.write_text(good.replace('model = "gpt-6-astra"', 'modle = "gpt-6-astra"'), encoding="utf-8")
    served.process.send_signal(signal.SIGHUP)
    until(lambda: value(served.page("/metrics"), "ladder_config_reload_success") == 0, "refused configuration")
    assert "modle: unknown key" in until(served.said, "log")
    assert value(served.page("/metrics"), "ladder_rung_reachable", rung="astra") == 1
    ladder.config.write_text(good, encoding="utf-8")
    served.process.send_signal(signal.SIGHUP)
    until(lambda: value(served.page("/metrics"), "ladder_config_reload_success") == 1, "configuration that is right")


def test_sch_10_of_four_canaries_at_once_one_reads(ladder: Scene) -> None:
    ladder.provider.delay_s = 10
    with ExitStack() as stack:
        running = [_start_canary(ladder, number, stack) for number in range(4)]
        codes = [process.wait(60) for process in running]
    said = [(ladder.home / f"canary-{number}.log").read_text(encoding="utf-8") for number in range(4)]
    assert codes == [0, 0, 0, 0], said
    assert sum("another rungwatch canary holds" in text for text in said) == 3, said
    assert len(ladder.provider.log) == READ_SEATS


def _start_canary(ladder: Scene, number: int, stack: ExitStack) -> subprocess.Popen[str]:
    log = ladder.home / f"canary-{number}.log"
    return stack.enter_context(started("canary", *ladder.options, home=ladder.home, log=log))
