"""Evidence: every kind of source read once and bounded, what is refused and how it says so, and equal digests."""

import asyncio
import os
import subprocess
from collections.abc import Awaitable, Callable, Iterable
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decide.evidence import Bounds, EvidenceError, Far, collect
from decide.rungs.http import Request
from decide.snapshot import Evidence, Snapshot, Source, SourceKind
from tests.decide.rungs.far import Script, far, nobody

TEXT, FILE, GLOB, GIT, URL = SourceKind.TEXT, SourceKind.FILE, SourceKind.GLOB, SourceKind.GIT, SourceKind.URL
HERE = Far(nobody, {"PATH": os.environ["PATH"]})


async def read(folder: Path, *sources: tuple[SourceKind, str], bounds: Bounds | None = None) -> tuple[Evidence, ...]:
    """The evidence of sources on this machine."""
    found = await collect([Source(*one) for one in sources], folder=folder, far=HERE, bounds=bounds)
    return found.items


async def refused(folder: Path, kind: SourceKind, place: str, bounds: Bounds | None = None) -> str:
    """What a source that cannot be read is told."""
    with pytest.raises(EvidenceError) as caught:
        await read(folder, (kind, place), bounds=bounds)
    assert caught.value.source == Source(kind, place)
    return str(caught.value)


async def test_the_order_is_the_questions(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("file")
    items = await read(tmp_path, (TEXT, "one"), (FILE, "a.txt"), (TEXT, "two"))
    assert [(item.kind, item.name, item.text, item.note) for item in items] == [
        (TEXT, "text 1", "one", ""),
        (FILE, "a.txt", "file", ""),
        (TEXT, "text 2", "two", ""),
    ]


async def test_a_source_named_twice_is_read_once(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x")
    (tmp_path / "b.txt").write_text("y")
    items = await read(tmp_path, (FILE, "b.txt"), (FILE, "b.txt"), (GLOB, "*.txt"), (GLOB, "[ab].txt"))
    assert [item.name for item in items] == ["b.txt", "a.txt"]


DECODED = [
    (b"plain", "plain", ""),
    (b"\xef\xbb\xbfwith a mark", "with a mark", ""),
    ("✓".encode(), "✓", ""),
    (b"caf\xe9", "caf\ufffd", "not all of it is UTF-8"),
    ("\ufffd".encode(), "\ufffd", ""),
    (b"", "", ""),
]


@pytest.mark.parametrize(("content", "text", "note"), DECODED)
async def test_text_is_read_tolerantly(tmp_path: Path, content: bytes, text: str, note: str) -> None:
    (tmp_path / "f").write_bytes(content)
    (item,) = await read(tmp_path, (FILE, "f"))
    assert (item.text, item.note) == (text, note)


async def test_what_is_binary_is_named_and_not_embedded(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"\x89PNG\0\0")
    (item,) = await read(tmp_path, (FILE, "f"))
    (tmp_path / "f").write_bytes(b"\x89PNG\0\1")
    (other,) = await read(tmp_path, (FILE, "f"))
    assert item.text == other.text == ""
    assert item.note.startswith("binary, not shown: 6 bytes, sha256 ")
    assert Snapshot((item,)).digest != Snapshot((other,)).digest


async def test_a_source_is_cut_at_its_bound_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("ab✓def")
    (tmp_path / "g").write_text("abcd")
    bounds = Bounds(source_bytes=4)
    cut, whole, inline = await read(tmp_path, (FILE, "f"), (FILE, "g"), (TEXT, "12345"), bounds=bounds)
    assert (cut.text, cut.note) == ("ab", "cut: the first 4 bytes of 8")
    assert (whole.text, whole.note) == ("abcd", "")
    assert (inline.text, inline.note) == ("1234", "cut: the first 4 bytes of 5")


async def test_all_of_it_is_bounded_and_what_is_left_out_is_named(tmp_path: Path) -> None:
    for name in "abc":
        (tmp_path / name).write_text("123456")
    items = await read(tmp_path, (GLOB, "*"), bounds=Bounds(total_bytes=8))
    assert [(item.name, item.text, item.note) for item in items] == [
        ("a", "123456", ""),
        ("b", "12", "cut: the first 2 bytes of 6"),
        ("c", "", "cut: the first 0 bytes of 6"),
    ]


async def test_a_pattern_is_sorted_and_passes_over_what_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "deep" / "er").mkdir(parents=True)
    for name in ("b.md", "a.md", "deep/c.md", "deep/er/d.md", ".hidden.md", "x.txt"):
        (tmp_path / name).write_text(name)
    (tmp_path / "folder.md").mkdir()
    os.mkfifo(tmp_path / "pipe.md")
    (tmp_path / "lost.md").symlink_to("nowhere")
    (tmp_path / "z.md").symlink_to("a.md")
    items = await read(tmp_path, (GLOB, "**/*.md"))
    assert [item.name for item in items] == ["a.md", "b.md", "deep/c.md", "deep/er/d.md"]
    assert {item.kind for item in items} == {GLOB}


async def test_a_pattern_with_too_many_files_or_none(tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / f"{number}.md").write_text("x")
    assert "matches more than 2 files" in await refused(tmp_path, GLOB, "*.md", Bounds(files=2))
    assert "matches no file" in await refused(tmp_path, GLOB, "*.rst")
    assert "matches no file" in await refused(tmp_path, GLOB, "/proc/self/stat*")
    assert len(await read(tmp_path, (GLOB, "*.md"), bounds=Bounds(files=3))) == 3


async def test_files_that_are_none(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "kernel").symlink_to("/proc/self/environ")
    assert "No such file" in await refused(tmp_path, FILE, "nothing")
    assert "no regular file" in await refused(tmp_path, FILE, "pipe")
    assert "no regular file" in await refused(tmp_path, FILE, ".")
    assert "cannot be read" in await refused(tmp_path, FILE, "loop")
    assert "cannot be read" in await refused(tmp_path, FILE, "a\0b")
    for place in (
        "/dev/zero",
        "/dev/stdin",
        "/proc/self/environ",
        "/proc/1/../self/status",
        "/sys/kernel/uevent_seqnum",
        "kernel",
    ):
        assert "lies in /proc, /sys or /dev" in await refused(tmp_path, FILE, place)


async def test_a_link_counts_as_what_it_leads_to(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("x")
    (tmp_path / "link").symlink_to("real")
    (item,) = await read(tmp_path, (FILE, "link"))
    assert (item.name, item.text) == ("link", "x")


async def test_a_name_stands_on_one_line(tmp_path: Path) -> None:
    (tmp_path / "a\n>>> evidence").write_text("x")
    (item,) = await read(tmp_path, (GLOB, "a*"))
    assert item.name == "a\\n>>> evidence"
    assert "\n" not in await refused(tmp_path, FILE, "no\nsuch")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository whose configuration would run a program wherever git lets it."""
    folder = tmp_path / "repo"
    folder.mkdir()
    tripwire = tmp_path / "tripwire.sh"
    tripwire.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\ncat\n")
    tripwire.chmod(0o755)

    def git(*words: str) -> None:
        subprocess.run(
            ["git", "-c", "user.name=a", "-c", "user.email=a@b.invalid", *words],
            cwd=folder,
            check=True,
            capture_output=True,
        )

    git("init", "-q", "-b", "main")
    (folder / "notes.md").write_text("first")
    (folder / ".gitattributes").write_text("*.md filter=trip diff=trip\n")
    git("add", "-A")
    git("commit", "-q", "-m", "one")
    (folder / "notes.md").write_text("second")
    for key in (
        "core.pager",
        "core.fsmonitor",
        "filter.trip.smudge",
        "filter.trip.clean",
        "diff.trip.textconv",
        "pager.cat-file",
    ):
        git("config", key, str(tripwire))
    return folder


async def test_an_object_of_git_as_it_is_stored(repository: Path) -> None:
    (item,) = await read(repository, (GIT, "HEAD:notes.md"))
    assert (item.kind, item.name, item.text, item.note) == (GIT, "HEAD:notes.md", "first", "")
    assert not (repository.parent / "ran").exists()
    (cut,) = await read(repository, (GIT, "main:notes.md"), bounds=Bounds(source_bytes=3))
    assert (cut.text, cut.note) == ("fir", "cut: the first 3 bytes")


@pytest.mark.parametrize("place", ["HEAD", "HEAD:", ":notes.md", "", "--help", "--output=x"])
async def test_what_is_no_object(repository: Path, place: str) -> None:
    assert "write REVISION:PATH" in await refused(repository, GIT, place)


@pytest.mark.parametrize(
    "place", ["HEAD:none.md", "nope:notes.md", "--textconv:notes.md", "-p:x", "HEAD:../..", "HEAD^{tree}:x"]
)
async def test_an_object_that_is_not_there(repository: Path, place: str) -> None:
    said = await refused(repository, GIT, place)
    assert "is no file in the repository" in said
    assert place in said
    assert "switch" not in said
    assert "option" not in said


async def test_git_that_is_not_there_and_a_folder_that_is_no_repository(repository: Path, tmp_path: Path) -> None:
    source = [Source(GIT, "HEAD:notes.md")]
    with pytest.raises(EvidenceError, match="git cannot be started"):
        await collect(source, folder=repository, far=Far(nobody, {"PATH": "/nonexistent"}))
    assert "not a git repository" in await refused(tmp_path, GIT, "HEAD:notes.md")


async def test_git_is_told_no_more_of_the_environment_than_it_needs(repository: Path) -> None:
    environ = {"PATH": os.environ["PATH"], "GIT_DIR": "/nonexistent", "GIT_EXTERNAL_DIFF": "x", "API_KEY": "SENTINEL"}
    found = await collect([Source(GIT, "HEAD:notes.md")], folder=repository, far=Far(nobody, environ))
    assert found.items[0].text == "first"


async def test_a_source_has_a_time(tmp_path: Path) -> None:
    async with far(Script(), Script(hang=True)) as side:
        await side.http.fetch(Request(side.base_url))  # the first request of a process has httpx to import
        bounds = Bounds(within=timedelta(seconds=0.2), allow_private=True)
        with pytest.raises(EvidenceError, match=r"is not read within 0\.2 s"):
            await collect([Source(URL, side.base_url)], folder=tmp_path, far=Far(side.http.fetch, {}), bounds=bounds)
        await asyncio.wait_for(side.left.wait(), 5)


async def test_a_name_that_never_resolves_has_a_time_too(tmp_path: Path) -> None:
    async def never(host: str, port: int) -> Iterable[str]:
        await asyncio.Event().wait()
        return []

    bounds = Bounds(within=timedelta(seconds=0.1))
    with pytest.raises(EvidenceError, match=r"is not read within 0\.1 s"):
        await collect(
            [Source(URL, "http://slow.example")], folder=tmp_path, far=Far(nobody, {}, never), bounds=bounds
        )


def in_folder(act: Callable[[Path], Awaitable[None]]) -> None:
    """Run an act in a folder that is gone afterwards."""
    with TemporaryDirectory() as name:
        asyncio.run(act(Path(name)))  # type: ignore[arg-type]  # a coroutine is what it is


@given(st.binary(max_size=300), st.binary(max_size=300), st.integers(1, 200))
def test_a_change_after_the_read_changes_nothing(first: bytes, then: bytes, bound: int) -> None:
    async def act(folder: Path) -> None:
        place, bounds = folder / "f", Bounds(source_bytes=bound)

        async def taken() -> Snapshot:
            return await collect([Source(FILE, "f"), Source(GLOB, "*")], folder=folder, far=HERE, bounds=bounds)

        place.write_bytes(first)
        before = await taken()
        again = await taken()
        digest = before.digest
        place.write_bytes(then)
        after = await taken()
        assert again == before
        assert before.digest == digest == again.digest
        assert (after == before) is (after.digest == digest)
        if first[:bound] != then[:bound] and b"\xff" not in first + then and first.isascii() and then.isascii():
            assert after.digest != digest
        place.write_bytes(first)
        assert (await taken()).digest == digest

    in_folder(act)
