"""Command: the allow-list of what an answer may set going, and which of its entries a line is (design 4.8)."""

import re
import shlex
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from decide.rungs.redact import holds_secret

LINE_LIMIT = 500
"""The longest line that a button can show in full, in characters."""
_BLANK = re.compile(r"\{[a-z][a-z0-9_]*\}")
_ARGUMENT = re.compile(r"[A-Za-z0-9_./][A-Za-z0-9_.,:/@%+=-]{0,199}")
"""What fills a blank: ASCII alone, for a letter of another script may look like one of it; and what programs take for
more than a name, an option, a file of arguments or a command, begins with another sign."""
_RUNNERS = frozenset(
    {"sh", "bash", "dash", "zsh", "ksh", "fish", "busybox", "env", "exec", "eval", "nohup", "xargs", "sudo", "doas"}
    | {"su", "setsid", "nice", "python", "python3", "perl", "ruby", "node", "php", "lua"}
)
"""Programs that run what they are given."""
_CODE = frozenset({"-c", "-e", "--command", "--eval"})
"""Their options behind which stands what to run."""


class CommandClass(StrEnum):
    """What running a command does, the harmless first."""

    READ = "read"
    WRITE = "write"
    DESTRUCTIVE = "destructive"

    def reaches(self, other: "CommandClass") -> bool:
        """Whether this class is the other one or worse."""
        order = list(CommandClass)
        return order.index(self) >= order.index(other)


CONFIRM_CLASS = CommandClass.WRITE
"""The class from which on a command takes a click, where the configuration says nothing (design 4.8)."""


@dataclass(frozen=True, slots=True)
class Command:
    """An entry of the allow-list: `words` are program and arguments, a `{name}` standing for one plain argument.

    `timeout_s` is the longest that it may run. Raises ValueError for an entry that could run anything.
    """

    name: str
    words: tuple[str, ...]
    kind: CommandClass
    timeout_s: float = 300.0

    def __post_init__(self) -> None:
        """Refuse a program that the line itself would name."""
        if not self.words or not all(self.words) or "{" in self.words[0]:
            raise ValueError(f"command {self.name!r}: its first word names the program, and no word is empty")
        for before, word in pairwise(self.words):
            if _BLANK.sub("", word) != word and not _BLANK.fullmatch(word):
                raise ValueError(f"command {self.name!r}: {word!r} mixes a blank with text; a blank is a whole word")
            if _BLANK.fullmatch(word) and (_names_runner(before) or (before in _CODE and self._runs)):
                raise ValueError(f"command {self.name!r}: {before!r} would run whatever {word!r} is filled with")

    @property
    def _runs(self) -> bool:
        """Whether one of its words is a program that runs what it is given."""
        return any(map(_names_runner, self.words))

    def fits(self, words: Sequence[str]) -> bool:
        """Whether words are this command's, every blank filled with one plain argument that is no option."""
        if len(words) != len(self.words):
            return False
        return all(
            _ARGUMENT.fullmatch(word) is not None if _BLANK.fullmatch(own) else word == own
            for own, word in zip(self.words, words, strict=True)
        )


def _names_runner(word: str) -> bool:
    return word.rpartition("/")[2] in _RUNNERS


@dataclass(frozen=True, slots=True)
class Bound:
    """A line that is a command of the list: `words` is what is run, `line` the same as it is shown and typed."""

    command: Command
    words: tuple[str, ...]

    @property
    def line(self) -> str:
        """The words as a shell would read them back."""
        return shlex.join(self.words)


def bound(line: str, commands: Iterable[Command]) -> Bound | None:
    """The command that a line is, the gravest where it fits several; None for a line that is on no list."""
    try:
        words = tuple(shlex.split(line))
    except ValueError:
        return None
    fitting = [one for one in commands if one.fits(words)]
    if not fitting:
        return None
    order = list(CommandClass)
    return Bound(max(fitting, key=lambda one: order.index(one.kind)), words)


def unshowable(line: str) -> str:
    """Why a line cannot be shown whole on a button, empty when it can."""
    if len(line) > LINE_LIMIT:
        return f"it has {len(line)} characters, and a button shows {LINE_LIMIT}"
    hidden = next((sign for sign in line if unicodedata.category(sign)[0] in "CZ" and sign != " "), None)
    if hidden is not None:
        return f"it holds the character U+{ord(hidden):04X}, which nobody can see"
    if holds_secret(line):
        return "it holds what looks like a secret"
    return ""


def table(commands: Iterable[Command]) -> Mapping[str, Command]:
    """The list by name; raises ValueError for a name that is there twice."""
    found: dict[str, Command] = {}
    for one in commands:
        if one.name in found:
            raise ValueError(f"command {one.name!r} is there twice")
        found[one.name] = one
    return found
