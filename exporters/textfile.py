"""Textfile: one page for node_exporter's textfile collector, whole or not at all (EXP-11)."""

import os
import secrets
from pathlib import Path

_MODE = 0o644  # node_exporter runs as another user; a page holds no secret


class Textfile:
    """A `.prom` file that readers only ever see whole; `path` not ending in `.prom` is a ValueError."""

    def __init__(self, path: Path) -> None:
        if path.suffix != ".prom":
            raise ValueError(f"the textfile must be named *.prom, or node_exporter will not read it: {path.name!r}")
        self._path = path
        self._remove_leftovers()

    def write(self, page: bytes) -> None:
        """Replace the file by this page; it survives a loss of power once this returns. Raises OSError."""
        temporary = self._path.with_name(f"{self._prefix}{secrets.token_hex(8)}")
        try:
            _write_synced(temporary, page)
            temporary.replace(self._path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        _sync_folder(self._path.parent)

    @property
    def _prefix(self) -> str:
        return f".{self._path.name}.tmp-"

    def _remove_leftovers(self) -> None:
        """Remove what a writer of this file that was killed left behind."""
        if self._path.parent.is_dir():
            for found in self._path.parent.iterdir():
                if found.name.startswith(self._prefix):
                    found.unlink(missing_ok=True)


def _write_synced(path: Path, page: bytes) -> None:
    with path.open("xb") as file:
        file.write(page)
        file.flush()
        path.chmod(_MODE)  # the umask does not apply to chmod
        os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    if os.name != "posix":
        return  # a folder cannot be opened elsewhere; the rename is as durable as it gets
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
