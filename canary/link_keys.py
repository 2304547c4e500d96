"""Link keys: the file of the keys that sign the links of clicks, made when it is first needed (design 4.8)."""

import os
import secrets
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from canary.config import Config
from canary.folder import replace_file
from decide.handoff.link import SECRET_BYTES, Key, Keys, KeysError, dump, load, rotated

FILE = "link-keys.json"


def place(config: Config, folder: Path) -> Path:
    """Where the keys are: the file that the configuration names, else one in the state folder."""
    return config.confirm.keys_file or folder / FILE


def keys(path: Path) -> Keys:
    """The keys in a file, made where there is none; raises KeysError for one that cannot be read, or made."""
    try:
        return load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return _first(path)
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise KeysError(f"the keys of links in {path} cannot be read: {why}") from error
    except KeysError as error:
        raise KeysError(f"the keys of links in {path} cannot be used: {error}") from error


def rotate(path: Path, now: datetime) -> Keys:
    """New keys in the file: a fresh one signs, the others verify while a link that they signed can live."""
    new = rotated(keys(path), now, _fresh())
    _write(path, new)
    return new


def _first(path: Path) -> Keys:
    """The first key, unless somebody else has just written one."""
    own = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        replace_file(own, dump(Keys((_fresh(),))).encode(), mode=0o600)
        with suppress(FileExistsError):
            os.link(own, path)  # whole or not at all, and never over another's
        own.unlink()
        return load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise KeysError(f"the keys of links cannot be kept in {path}: {error.strerror}") from error


def _write(path: Path, new: Keys) -> None:
    try:
        replace_file(path, dump(new).encode(), mode=0o600)
    except OSError as error:
        raise KeysError(f"the keys of links cannot be kept in {path}: {error.strerror}") from error


def _fresh() -> Key:
    return Key(secrets.token_hex(4), secrets.token_bytes(SECRET_BYTES))
