"""Reading other programs' files: odd files, half-written ones, and never a touch (cases QUO-20, 22, 23)."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from canary.files import Document, FileFault, parse_object, read_bytes, read_object
from canary.offload import Offloader
from decide.reason import Reason

offload = Offloader().owned("test")


@pytest.fixture
def nobody() -> Iterator[None]:
    """Runs a test without root's rights, which no permission stops."""
    before = os.geteuid()
    if before == 0:
        os.seteuid(65534)
    yield
    os.seteuid(before)


def reason(path: Path, **options: int) -> Reason:
    found = read_bytes(path, **options)
    assert isinstance(found, FileFault)
    assert str(path) in found.text
    return found.reason


def test_odd_files_are_unreadable_and_hold_nothing_up(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    (tmp_path / "folder-link").symlink_to(tmp_path)
    (tmp_path / "zero-link").symlink_to("/dev/zero")
    assert reason(tmp_path / "absent") is Reason.MISSING
    for name in ("fifo", "dangling", "folder-link", "zero-link", "."):
        assert reason(tmp_path / name) is Reason.UNREADABLE, name
    assert reason(tmp_path / ("x" * 300)) is Reason.UNREADABLE
    assert reason(tmp_path / "absent" / "below") is Reason.MISSING


def test_a_link_to_a_regular_file_works(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(b"{}")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert not isinstance(read_bytes(tmp_path / "link"), FileFault)


def test_a_file_over_the_limit_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "big").write_bytes(b"x" * 11)
    assert reason(tmp_path / "big", limit=10) is Reason.TOO_LARGE
    found = read_bytes(tmp_path / "big", limit=11)
    assert isinstance(found, tuple)
    assert found[0] == b"x" * 11


def test_no_permission_names_the_mode(tmp_path_factory: pytest.TempPathFactory, nobody: None) -> None:
    before = os.geteuid()
    os.seteuid(os.getuid())
    folder = tmp_path_factory.mktemp("open")
    for parent in (folder, folder.parent, folder.parent.parent):
        parent.chmod(0o755)
    (folder / "secret").write_text("{}")
    (folder / "secret").chmod(0)
    os.seteuid(before)
    found = read_bytes(folder / "secret")
    assert isinstance(found, FileFault)
    assert found.reason is Reason.UNREADABLE
    assert "permission" in found.text
    assert "0600" in found.text


@pytest.mark.parametrize(
    ("content", "value"),
    [
        (b'{"a": 1}', {"a": 1}),
        (b'\xef\xbb\xbf{"a": 1}', {"a": 1}),
        ('\ufeff{"a": 1}', {"a": 1}),
        (b"", None),
        (b"[1]", None),
        (b'{"a"', None),
        (b"\xff\xfe", None),
        (b"[" * 100_000, None),
        (b"null", None),
    ],
)
def test_what_is_a_json_object(content: bytes | str, value: dict[str, int] | None) -> None:
    assert parse_object(content) == value


@pytest.mark.parametrize(
    ("seen", "good"),
    [([b"", b'{"a', b'{"a": 1}'], True), ([b'{"a', b'{"a": 1}'], True), ([b"", b'{"a', b'{"a'], False)],
)
async def test_a_file_that_is_being_rewritten_is_read_again(tmp_path: Path, seen: list[bytes], good: bool) -> None:
    path, pauses = tmp_path / "f", list[float]()
    path.write_bytes(seen[0])

    async def written_meanwhile(seconds: float) -> None:
        pauses.append(seconds)
        path.write_bytes(seen[min(len(pauses), len(seen) - 1)])

    found = await read_object(path, sleep=written_meanwhile, offload=offload)
    assert isinstance(found, Document) is good
    assert sum(pauses) <= 0.5
    if isinstance(found, FileFault):
        assert found.reason is Reason.MALFORMED
