"""Textfile: readers see a whole page or the one before, also when the writer is killed (EXP-11)."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from exporters.textfile import Textfile

ROUNDS = 20
WRITER = """
import sys
from pathlib import Path
from exporters.textfile import Textfile

out = Textfile(Path(sys.argv[1]))
print("ready", flush=True)
for number in range(10**9):
    lines = [f'ladder_seat{{seat="s{seat}"}} {number}' for seat in range(200)]
    out.write(("# TYPE ladder_seat gauge\\n" + "\\n".join(lines) + "\\n").encode())
"""


def test_exp_11_a_killed_writer_never_leaves_half_a_page(tmp_path: Path) -> None:
    path = tmp_path / "ladder.prom"
    for number in range(ROUNDS):
        with subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, cwd=Path(__file__).parents[2]
        ) as writer:
            assert writer.stdout is not None
            assert writer.stdout.readline() == b"ready\n"
            pages = 0
            while pages <= number % 5:
                pages += _read(tmp_path)
            writer.send_signal(signal.SIGKILL)
        assert _read(tmp_path) == 1
    Textfile(path)
    assert [found.name for found in tmp_path.iterdir()] == ["ladder.prom"]


def _read(folder: Path) -> int:
    """How many whole pages node_exporter would find; half of one fails the test."""
    pages = [path.read_text() for path in folder.glob("*.prom")]
    for text in pages:
        (family,) = text_string_to_metric_families(text)
        assert len(family.samples) == 200
        assert len({sample.value for sample in family.samples}) == 1
    return len(pages)


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077, 0o777])
def test_exp_11_the_mode_is_0644_whatever_the_umask(tmp_path: Path, umask: int) -> None:
    path = tmp_path / "ladder.prom"
    before = os.umask(umask)
    try:
        Textfile(path).write(b"a 1\n")
        Textfile(path).write(b"a 2\n")
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o7777 == 0o644
    assert path.read_bytes() == b"a 2\n"


def test_exp_11_own_leftovers_are_removed_at_start_and_nothing_else(tmp_path: Path) -> None:
    others = ["other.prom", "ladder.prom", ".other.prom.tmp-1", "notes.tmp"]
    for name in [*others, ".ladder.prom.tmp-0123"]:
        (tmp_path / name).touch()
    Textfile(tmp_path / "ladder.prom")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(others)


def test_a_write_that_fails_leaves_the_old_page_and_no_leftover(tmp_path: Path) -> None:
    path = tmp_path / "ladder.prom"
    path.mkdir()
    (path / "in the way").touch()
    with pytest.raises(OSError, match=r"ladder\.prom"):
        Textfile(path).write(b"a 1\n")
    assert [found.name for found in tmp_path.iterdir()] == ["ladder.prom"]


@pytest.mark.parametrize("name", ["ladder.txt", "ladder", "ladder.prom.tmp", ".prom"])
def test_a_name_that_node_exporter_would_not_read_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match=r"must be named \*\.prom") as refused:
        Textfile(tmp_path / name)
    assert repr(name) in str(refused.value)


def test_a_missing_folder_fails_at_the_write(tmp_path: Path) -> None:
    out = Textfile(tmp_path / "missing" / "ladder.prom")
    with pytest.raises(FileNotFoundError):
        out.write(b"a 1\n")
