"""Evidence: the sources of a question, each read once, as the snapshot that both rungs are shown."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from decide import evidence_files, evidence_url
from decide.evidence_read import Bounds, Bytes, EvidenceError, Refused, evidence
from decide.rungs.http import Fetch
from decide.rungs.process import run
from decide.rungs.redact import one_line
from decide.snapshot import Evidence, Snapshot, Source, SourceKind

__all__ = ["Bounds", "EvidenceError", "Far", "collect"]

T = TypeVar("T")

KEPT_VARIABLES = frozenset({"PATH", "HOME", "XDG_CONFIG_HOME", "SYSTEMROOT"})
"""What git is told of the environment: where it is, and where it finds which repositories are trusted."""
GIT_VARIABLES = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_PAGER": "cat",
    "LC_ALL": "C",
}
"""No prompt, no lock, no fetch of what is not there."""


@dataclass(frozen=True, slots=True)
class Far:
    """What evidence is read through, beside this machine's files."""

    fetch: Fetch
    environ: Mapping[str, str] = field(repr=False)
    resolve: evidence_url.Resolve = evidence_url.resolve


async def collect(sources: Iterable[Source], *, folder: Path, far: Far, bounds: Bounds | None = None) -> Snapshot:
    """The snapshot of these sources in their order; paths and patterns are relative to `folder`.

    A source that is named twice is read once, and a pattern leaves out files that a source before it gave. Raises
    EvidenceError for the first that cannot be read.
    """
    reader = _Reader(folder, far, bounds or Bounds())
    for source in dict.fromkeys(sources):
        try:
            async with asyncio.timeout(reader.bounds.within.total_seconds()):
                await reader.take(source)
        except Refused as refused:
            raise EvidenceError(source, str(refused)) from refused
        except TimeoutError as error:
            within = f"{reader.bounds.within.total_seconds():g} s"
            raise EvidenceError(source, f"is not read within {within}") from error
    return Snapshot(tuple(reader.items))


class _Reader:
    """What was read so far, and how much may still be."""

    def __init__(self, folder: Path, far: Far, bounds: Bounds) -> None:
        self.folder, self.far, self.bounds = folder, far, bounds
        self.items: list[Evidence] = []
        self.files: set[Path] = set()
        self.texts = 0
        self.left = bounds.total_bytes

    async def take(self, source: Source) -> None:
        """Read a source and keep what it gives."""
        match source.kind:
            case SourceKind.TEXT:
                self.texts += 1
                await self._keep(source, f"text {self.texts}", lambda limit: _inline(source.place, limit))
            case SourceKind.FILE:
                await self._file(source, source.place, self.folder / source.place)
            case SourceKind.GLOB:
                await self._glob(source)
            case SourceKind.GIT:
                await self._keep(source, source.place, lambda limit: self._git(source.place, limit))
            case SourceKind.URL:
                await self._keep(source, source.place, lambda limit: self._url(source.place, limit))

    async def _keep(self, source: Source, name: str, read: Callable[[int], Awaitable[Bytes]]) -> None:
        """One piece, within what is left of the whole; what nothing is left for is named all the same."""
        limit = min(self.bounds.source_bytes, self.left)
        found = await read(limit)
        self.left -= len(found.content)
        self.items.append(evidence(source, name, found))

    async def _file(self, source: Source, name: str, path: Path) -> None:
        async def read(limit: int) -> Bytes:
            whole, found = await aside(lambda: evidence_files.read(path, limit))
            self.files.add(whole)
            return found

        await self._keep(source, name, read)

    async def _glob(self, source: Source) -> None:
        found = await aside(lambda: evidence_files.matches(source.place, self.folder, self.bounds.files))
        for name, path in found:
            if path not in self.files:
                await self._file(source, name, path)

    async def _git(self, place: str, limit: int) -> Bytes:
        """An object's bytes as they are stored: no filter, pager, hook or fetch has a part in it."""
        revision, colon, path = place.partition(":")
        if not (revision and colon and path):
            raise Refused("is no object; write REVISION:PATH, such as HEAD:README.md")
        words = ["git", "--no-pager", "--no-replace-objects", "cat-file", "blob", "--end-of-options", place]
        environ = {name: value for name, value in self.far.environ.items() if name in KEPT_VARIABLES} | GIT_VARIABLES
        done = await run(words, environ=environ, stdin=None, limit=limit + 1, cwd=self.folder)
        if done.code is None and not done.truncated:
            raise Refused("git cannot be started; install it, or name the file itself")
        if done.code != 0 and len(done.stdout) <= limit:
            said = one_line(done.stderr.decode("utf-8", "replace").removeprefix("fatal: "))
            raise Refused(f"is no file in the repository at {self.folder} ({said}); write REVISION:PATH of one")
        return Bytes(done.stdout[:limit], cut=len(done.stdout) > limit)

    async def _url(self, place: str, limit: int) -> Bytes:
        private = self.bounds.allow_private
        return await evidence_url.read(
            place, limit, allow_private=private, fetch=self.far.fetch, find=self.far.resolve
        )


async def _inline(text: str, limit: int) -> Bytes:
    content = text.encode("utf-8", "backslashreplace")
    return Bytes(content[:limit], len(content), cut=len(content) > limit)


async def aside(call: Callable[[], T]) -> T:
    """The result of a blocking call, on a daemon thread of its own: a hung file system holds nothing else up."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def settle(result: T | None, error: Exception | None) -> None:
        if done.done():
            return
        if error is not None:
            done.set_exception(error)
        else:
            done.set_result(result)  # type: ignore[arg-type]  # without an error it is the call's own

    def work() -> None:
        result, error = None, None
        try:
            result = call()
        except Exception as raised:  # noqa: BLE001 - it is raised again where it is awaited
            error = raised
        try:
            loop.call_soon_threadsafe(settle, result, error)
        except RuntimeError:
            return  # the loop is closed: nobody waits any more

    threading.Thread(target=work, name="evidence", daemon=True).start()
    return await done
