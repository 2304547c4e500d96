"""State folder: what is kept on disk between runs, written whole or not at all, by one canary at a time."""

import fcntl
import json
import os
import secrets
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, Self

from pydantic import TypeAdapter, ValidationError

from canary.memory import Memory
from decide.ladder import LadderState, Transition

STATE = "state.json"
MEMORY = "memory.json"
TRANSITIONS = "transitions.jsonl"
LOCK = "canary.lock"
SALT = "salt"


class FolderError(Exception):
    """The state folder cannot be used; the text names it and what to do."""


class LockedError(Exception):
    """Another canary holds the state folder."""


def default_folder(environ: Mapping[str, str]) -> Path:
    """`$XDG_STATE_HOME/rungwatch`, or `~/.local/state/rungwatch`."""
    base = environ.get("XDG_STATE_HOME") or "~/.local/state"
    return Path(base).expanduser() / "rungwatch"


def prepare(folder: Path) -> None:
    """Make the folder, private to its user; raises FolderError when it cannot be made or written."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        probe = folder / f".write-{os.getpid()}"
        probe.touch(mode=0o600)
        probe.unlink()
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise FolderError(
            f"the state folder {folder} cannot be written ({why}); "
            "give another with --state-dir, RUNGWATCH_STATE_DIR or [state] dir"
        ) from error


class Lock:
    """The hold of one canary on its folder; the system lets go of it when the process ends, however it ends."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / LOCK
        self._handle = _locked(self._path)

    def renew(self) -> None:
        """Hold the folder that is there now, also when it was deleted and made anew; raises LockedError."""
        held = os.fstat(self._handle)
        try:
            there = self._path.stat()
        except FileNotFoundError:
            there = None
        if there is None or (there.st_dev, there.st_ino) != (held.st_dev, held.st_ino):
            renewed = _locked(self._path)
            os.close(self._handle)
            self._handle = renewed

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._handle)


def lock(folder: Path) -> Lock:
    """Hold the folder's lock; raises LockedError when another process holds it, FolderError when none can."""
    return Lock(folder)


def _locked(path: Path) -> int:
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise FolderError(
            f"the lock {path} cannot be opened: {error.strerror}; it must belong to this user"
        ) from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(handle)
        raise LockedError(
            f"another rungwatch canary holds {path.parent}; `rungwatch status` shows what it sees"
        ) from error
    return handle


_MEMORY = TypeAdapter(Memory)


@cache
def _state() -> TypeAdapter[LadderState]:
    return TypeAdapter(LadderState)


def peek_memory(folder: Path, *, marks: bool = False) -> Memory:
    """What is kept, for one who only looks: a blank where it cannot be read, and a broken file is left as it is.

    With `marks` the blank's salt is kept in the folder, for one whose marks must mean the same next time.
    """
    try:
        return _MEMORY.validate_json((folder / MEMORY).read_bytes())
    except (OSError, ValidationError):
        return blank(folder if marks else None)


def load_memory(folder: Path) -> tuple[Memory, str]:
    """What is kept, and a warning when it could not be read (then it starts anew, and the old file is kept aside)."""
    path = folder / MEMORY
    try:
        return _MEMORY.validate_json(path.read_bytes()), ""
    except FileNotFoundError:
        return blank(folder), ""
    except (OSError, ValidationError) as error:
        aside = path.with_suffix(".unreadable")
        path.replace(aside)
        return blank(folder), f"{path} could not be read ({type(error).__name__}); it is kept as {aside.name}"


def blank(folder: Path | None = None) -> Memory:
    """A memory of nothing, with the salt of the folder, or a fresh one where there is no folder to keep it in."""
    return Memory(salt=_salt(folder / SALT) if folder is not None else _fresh())


def _fresh() -> bytes:
    return secrets.token_hex(16).encode()


def _salt(path: Path) -> bytes:
    """The salt in a file, made once: a mark that one process leaves must mean the same to the next."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        try:
            return path.read_bytes() or _fresh()
        except OSError:
            return _fresh()
    except OSError:
        return _fresh()
    salt = _fresh()
    with os.fdopen(handle, "wb") as file:
        file.write(salt)
    return salt


def save(folder: Path, memory: Memory, transitions: Iterable[Transition]) -> None:
    """Keep a tick: transitions are appended first, so that none is lost when the rest is not written."""
    _append(folder / TRANSITIONS, transitions)
    replace_file(folder / MEMORY, _MEMORY.dump_json(memory), mode=0o600)
    if memory.state is not None:
        state = _MEMORY.dump_python(memory, mode="json", include={"state"})["state"]
        replace_file(folder / STATE, json.dumps(state).encode(), mode=0o600)


def load_state(folder: Path) -> LadderState | None:
    """The last published state; None when there is none or it cannot be read."""
    try:
        return _state().validate_json((folder / STATE).read_bytes())
    except (OSError, ValidationError):
        return None


def replace_file(path: Path, content: bytes, *, mode: int) -> None:
    """Write a file whole: a temporary one in the same folder, synced, then renamed over it."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, mode)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError:
        with suppress(OSError):
            temporary.unlink()
        raise


def _append(path: Path, transitions: Iterable[Transition]) -> None:
    lines = "".join(json.dumps(_plain(transition)) + "\n" for transition in transitions)
    if not lines:
        return
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    with os.fdopen(handle, "r+b") as file:
        end = file.seek(0, os.SEEK_END)
        if end:
            file.seek(end - 1)
            torn = file.read(1) != b"\n"  # a line cut by a crash must not swallow the next
            lines = "\n" * torn + lines
        file.write(lines.encode())
        file.flush()
        os.fsync(file.fileno())


def _plain(transition: Transition) -> dict[str, Any]:
    return {
        "at": transition.at.isoformat(),
        "subject": transition.subject,
        "before": transition.before,
        "after": transition.after,
        "reasons": list(transition.reasons),
    }
