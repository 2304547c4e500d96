"""Discovery: the Claude Code and Codex logins of this machine, found by looking at their usual folders."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import count
from pathlib import Path
from types import MappingProxyType

from canary.files import FileFault, parse_object, read_bytes
from canary.label import usable_name
from canary.login import Login
from canary.sources import claude_login, codex_login


@dataclass(frozen=True, slots=True)
class Vendor:
    """Where a vendor's client keeps logins: the variable, the usual folder below home, the file, how to read it."""

    variable: str
    folder: str
    file: str
    parse: Callable[[dict[str, object], datetime], Login]


VENDORS: Mapping[str, Vendor] = MappingProxyType(
    {
        "claude": Vendor("CLAUDE_CONFIG_DIR", ".claude", ".credentials.json", claude_login.parse),
        "codex": Vendor("CODEX_HOME", ".codex", "auth.json", codex_login.parse),
    }
)


@dataclass(frozen=True, slots=True)
class Found:
    """A folder that holds a login, or should; `absent` says why it holds none that can be used, else empty."""

    kind: str
    folder: Path
    file: Path
    name: str
    usual: bool
    absent: str = ""


def discover(environ: Mapping[str, str], home: Path, now: datetime) -> tuple[Found, ...]:
    """The logins found, or for a vendor without any the one folder where its login would be."""
    return tuple(found for kind in VENDORS for found in _of_vendor(kind, environ, home, now))


def _of_vendor(kind: str, environ: Mapping[str, str], home: Path, now: datetime) -> list[Found]:
    vendor = VENDORS[kind]
    usual = home / vendor.folder
    setting = environ.get(vendor.variable)
    first = _expanded(setting, home) if setting else usual
    looked = [
        _look(kind, folder, folder == usual, now) for folder in _distinct([first, usual, *_siblings(home, vendor)])
    ]
    return _named([found for found in looked if not found.absent] or looked[:1])


def _expanded(setting: str, home: Path) -> Path:
    """A folder as a variable names it; `~` is this home."""
    path = Path(setting)
    return home.joinpath(*path.parts[1:]) if path.parts[:1] == ("~",) else home / path


def _siblings(home: Path, vendor: Vendor) -> list[Path]:
    """Folders such as `~/.claude-work`, in the order of their names; one that no text can name is left out."""
    try:
        found = sorted(path for path in home.iterdir() if path.name.startswith(f"{vendor.folder}-"))
    except OSError:
        return []
    return [path for path in found if str(path).isprintable() and path.is_dir()]


def _distinct(folders: Iterable[Path]) -> list[Path]:
    """Each folder once, whatever links lead to it."""
    known: dict[Path, Path] = {}
    for folder in folders:
        known.setdefault(folder.resolve(), folder)
    return list(known.values())


def _look(kind: str, folder: Path, usual: bool, now: datetime) -> Found:
    vendor = VENDORS[kind]
    file = folder / vendor.file
    return Found(
        kind, folder, file, folder.name.removeprefix(vendor.folder).strip("-."), usual, _absent(kind, file, now)
    )


def _absent(kind: str, file: Path, now: datetime) -> str:
    found = read_bytes(file)
    if isinstance(found, FileFault):
        return found.text
    document = parse_object(found[0])
    if document is None:
        return f"{file} does not hold a JSON object"
    return f"{file} holds no login" if VENDORS[kind].parse(document, now).secret is None else ""


def _named(found: list[Found]) -> list[Found]:
    """Each under a seat name of its own: that of its folder where it may be a label, else a number."""
    named: list[Found] = []
    for each in found:
        taken = {other.name for other in named}
        wish = each.name or "main"
        name = wish if usable_name(wish) and wish not in taken else _number(taken)
        named.append(replace(each, name=name))
    return named


def _number(taken: Collection[str]) -> str:
    return next(name for number in count(1) if (name := f"seat-{number}") not in taken)
