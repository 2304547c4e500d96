"""Place: where a store is, how texts call it without its password, and whether its file can be used."""

import os
import stat
from dataclasses import dataclass, field
from pathlib import Path

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from decide.fault import StoreError, StoreFault

RESTORE = "nothing was changed; restore a copy of it, or name another with [store] in the configuration"
_SECRETS = ("password", "sslpassword")


@dataclass(frozen=True, slots=True)
class Place:
    """A SQLite file (`path`) or a PostgreSQL database; texts call it `label` and leave out its `secrets`."""

    url: URL = field(repr=False)
    label: str
    path: Path | None = None
    secrets: tuple[str, ...] = field(repr=False, default=())

    def clean(self, text: str) -> str:
        """The first line of a text of the database's, without any secret."""
        line = next(iter(text.strip().splitlines()), "")
        for secret in self.secrets:
            line = line.replace(secret, "***")
        return line


def locate(target: str | Path) -> Place:
    """The place that a path or a `postgresql://` URL names; raises ValueError for any other URL."""
    if isinstance(target, Path) or "://" not in target:
        path = Path(target).absolute()
        return Place(URL.create("sqlite+pysqlite", database=str(path)), str(path), path)
    scheme = target.partition("://")[0]
    if scheme not in ("postgresql", "postgres"):
        raise ValueError(f"the store must be a path or a postgresql:// URL, not {scheme[:40]}://...")
    try:
        url = make_url(target)
    except (ArgumentError, ValueError):
        raise ValueError("the store's postgresql:// URL cannot be read; it is postgresql://USER@HOST/NAME") from None
    secrets = [url.password or "", *(str(url.query[name]) for name in _SECRETS if name in url.query)]
    shown = url.set(drivername="postgresql").update_query_dict({n: "***" for n in _SECRETS if n in url.query})
    label = shown.render_as_string(hide_password=True).replace("%2A", "*")
    return Place(url.set(drivername="postgresql+psycopg"), label, None, tuple(filter(None, secrets)))


def identity(path: Path) -> tuple[int, int]:
    """What tells a file from another that takes its name; raises StoreError when it is gone."""
    status = _status(path)
    return status.st_dev, status.st_ino


def check(path: Path, *, opened: tuple[int, int] | None = None, writing: bool = True) -> None:
    """Raise StoreError unless the file can be used, and is the one that was `opened`.

    Mode bits count for root as well, whom the system lets write a file of mode 0400.
    """
    status = _status(path)
    if not stat.S_ISREG(status.st_mode):
        kind = "a directory" if stat.S_ISDIR(status.st_mode) else "no regular file"
        raise StoreError(StoreFault.UNREADABLE, f"the store {path} is {kind}; name a file")
    if opened is not None and (status.st_dev, status.st_ino) != opened:
        told = f"the store {path} was replaced while it was open; start whatever has it open anew"
        raise StoreError(StoreFault.UNREADABLE, told)
    if status.st_size == 0:
        raise StoreError(StoreFault.UNREADABLE, f"the store {path} is empty, and its ledger with it; {RESTORE}")
    mode = stat.S_IMODE(status.st_mode)
    if not mode & 0o444 or not os.access(path, os.R_OK):
        raise StoreError(StoreFault.UNREADABLE, f"the store {path} may not be read (mode {mode:04o}); chmod 600 it")
    if writing and (not mode & 0o222 or not os.access(path, os.W_OK)):
        raise StoreError(
            StoreFault.UNWRITABLE, f"the store {path} may not be written (mode {mode:04o}); chmod 600 it"
        )


def _status(path: Path) -> os.stat_result:
    try:
        return path.stat()
    except FileNotFoundError:
        raise StoreError(StoreFault.UNREADABLE, f"the store {path} is gone; {RESTORE}") from None
    except OSError as error:
        raise StoreError(StoreFault.UNREADABLE, f"the store {path} cannot be reached: {error.strerror}") from error
