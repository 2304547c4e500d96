"""State folder: whole files or none, one holder, and a memory that cannot be read is kept aside."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from canary.folder import (
    FolderError,
    LockedError,
    blank,
    default_folder,
    load_memory,
    load_state,
    lock,
    prepare,
    replace_file,
    save,
)
from exporters.view import Forecast, Forecasts
from tests.canary.fakes import NOW


def test_what_is_saved_is_loaded_again(tmp_path: Path) -> None:
    ahead = Forecast(NOW + timedelta(hours=2), NOW + timedelta(hours=1))
    sure = replace(ahead, latest=NOW + timedelta(hours=3))
    forecasts = Forecasts(NOW, {"fable": ahead}, {"fable": {"desk/1": sure, "x": ahead}, "astra": {}})
    memory = replace(blank(), forecasts=forecasts)
    save(tmp_path, memory, [])
    assert load_memory(tmp_path) == (memory, "")
    assert load_state(tmp_path) is None
    assert blank().salt != memory.salt


def test_a_memory_of_before_there_were_forecasts_is_loaded(tmp_path: Path) -> None:
    save(tmp_path, replace(blank(), last_tick_at=NOW), [])
    kept = json.loads((tmp_path / "memory.json").read_text())
    del kept["forecasts"]
    (tmp_path / "memory.json").write_text(json.dumps(kept))
    memory, warning = load_memory(tmp_path)
    assert (memory.last_tick_at, memory.forecasts, warning) == (NOW, Forecasts(), "")


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"salt": 5}'])
def test_a_memory_that_cannot_be_read_is_kept_aside_and_told(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "memory.json").write_bytes(content)
    memory, warning = load_memory(tmp_path)
    assert memory.seats == {}
    assert "memory.unreadable" in warning
    assert (tmp_path / "memory.unreadable").read_bytes() == content


def test_files_are_private_and_replaced_whole(tmp_path: Path) -> None:
    folder = tmp_path / "state"
    prepare(folder)
    save(folder, blank(), [])
    assert folder.stat().st_mode & 0o777 == 0o700
    assert (folder / "memory.json").stat().st_mode & 0o777 == 0o600
    replace_file(folder / "x", b"1" * 10, mode=0o600)
    replace_file(folder / "x", b"2", mode=0o600)
    assert (folder / "x").read_bytes() == b"2"
    assert {path.name for path in folder.iterdir()} == {"memory.json", "x"}


def test_one_holder_at_a_time_and_none_after_it_was_killed(tmp_path: Path) -> None:
    """Case SCH-10."""
    code = (
        "import sys, pathlib\nfrom canary.folder import lock\n"
        "with lock(pathlib.Path(sys.argv[1])):\n print('held', flush=True)\n sys.stdin.read()"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    assert holder.stdin is not None
    assert holder.stdout.readline() == "held\n"
    with pytest.raises(LockedError, match="another rungwatch canary holds"), lock(tmp_path):
        pass
    holder.kill()
    holder.wait()
    holder.stdout.close()
    holder.stdin.close()
    with lock(tmp_path):
        pass


def test_a_folder_that_cannot_be_written_is_named() -> None:
    with tempfile.TemporaryDirectory() as base:
        os.chmod(base, 0o755)
        before = os.geteuid()
        if before == 0:
            os.seteuid(65534)
        else:
            os.chmod(base, 0o555)
        try:
            with pytest.raises(FolderError, match=r"cannot be written .* give another with --state-dir"):
                prepare(Path(base) / "state")
        finally:
            os.seteuid(before)


def test_a_file_in_the_place_of_the_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(FolderError, match="state folder"):
        prepare(tmp_path / "file")


def test_the_usual_place() -> None:
    assert default_folder({"XDG_STATE_HOME": "/x"}) == Path("/x/rungwatch")
    assert default_folder({}) == Path("~/.local/state/rungwatch").expanduser()


def test_a_folder_that_was_deleted_and_made_anew_is_held_again(tmp_path: Path) -> None:
    folder = tmp_path / "state"
    prepare(folder)
    with lock(folder) as held:
        shutil.rmtree(folder)
        prepare(folder)
        held.renew()
        with pytest.raises(LockedError), lock(folder):
            pass


def test_a_folder_that_another_took_meanwhile_is_not_held(tmp_path: Path) -> None:
    folder = tmp_path / "state"
    prepare(folder)
    with lock(folder) as held:
        shutil.rmtree(folder)
        prepare(folder)
        with lock(folder), pytest.raises(LockedError):
            held.renew()


def test_a_file_that_cannot_be_written_whole_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    with pytest.raises(OSError, match="directory"):
        replace_file(tmp_path / "x", b"1", mode=0o600)
    assert {path.name for path in tmp_path.iterdir()} == {"x"}
