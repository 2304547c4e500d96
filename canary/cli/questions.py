"""Questions: what a command line asks, from a file, from standard input or from flags."""

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from canary.cli.main import UsageFault
from decide.question import Consequence
from decide.snapshot import SourceKind

if TYPE_CHECKING:
    from decide.question import Question
    from decide.snapshot import Source

F = TypeVar("F", bound=Callable[..., Any])

STDIN = "standard input"
FLAGS = "flags"
_EVIDENCE = {
    SourceKind.TEXT: ("TEXT", "Evidence: this very text."),
    SourceKind.FILE: ("PATH", "Evidence: a file."),
    SourceKind.GLOB: ("PATTERN", 'Evidence: files by a pattern, such as "src/**/*.py".'),
    SourceKind.GIT: ("REV:PATH", "Evidence: a file as git has it, such as HEAD:src/app.py."),
    SourceKind.URL: ("URL", "Evidence: what is read there over HTTP."),
}


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, its evidence still to be read, and the folder from which its paths count."""

    question: "Question"
    sources: "tuple[Source, ...]"
    folder: Path


def question_options(command: F) -> F:
    """The argument FILE, and the flags that describe a question without one."""
    options = [
        click.argument("file", required=False, metavar="[FILE]"),
        click.option("--question", "-q", metavar="TEXT", help="What is to be decided."),
        click.option(
            "--option", "-o", "options", metavar="ID=TEXT", multiple=True, help="A way to decide; two or more."
        ),
        *(
            click.option(f"--{kind}", f"of_{kind}", multiple=True, metavar=name, help=told)
            for kind, (name, told) in _EVIDENCE.items()
        ),
        click.option("--id", "question_id", metavar="ID", help="Your own name for the question."),
        click.option(
            "--consequence",
            type=click.Choice([one.value for one in Consequence]),
            help="What waiting for an answer does  [default: costly]",
        ),
        click.option("--deadline", metavar="TIME", help='When it is needed, such as "2026-10-15T14:00:00+02:00".'),
        click.option("--by", "raised_by", metavar="NAME", help="Who asks."),
        click.option("--cites", metavar="RECEIPT", help="The receipt that this question follows up."),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def asked(file: str | None, flags: dict[str, Any]) -> Asked:
    """The question of a command line; raises QuestionError or UsageFault for one that cannot be asked."""
    given = [f"--{_flag(name)}" for name, value in flags.items() if value]
    if file is None and not flags["question"]:
        raise UsageFault("give a question: a FILE, - for standard input, or --question with two --option ID=TEXT")
    if file is not None and given:
        raise UsageFault(f"{given[0]} describes a question of its own: leave it out, or leave out {file!r}")
    from decide.document import parse, question_of
    from decide.document_text import Read

    if file is None:
        return Asked(*question_of(Read(_document(flags)), FLAGS), Path.cwd())
    name = STDIN if file == "-" else file
    return Asked(*parse(_content(file), name), Path.cwd() if file == "-" else Path(file).absolute().parent)


def refusals() -> tuple[type[Exception], ...]:
    """What says that a question or a configuration cannot be asked, with nothing spent."""
    from decide.evidence import EvidenceError
    from decide.handoff.entry import HandoffError
    from decide.policy import PolicyError
    from decide.prices import PriceError
    from decide.question import QuestionError, UsageError

    return EvidenceError, HandoffError, PolicyError, PriceError, QuestionError, UsageError


def _flag(name: str) -> str:
    return {"question_id": "id", "raised_by": "by", "options": "option"}.get(name, name.removeprefix("of_"))


def _document(flags: dict[str, Any]) -> dict[str, Any]:
    """The flags as the document that says the same."""
    evidence = [{kind.value: place} for kind in SourceKind for place in flags[f"of_{kind}"]]
    rest = {name: flags[name] for name in ("question", "consequence", "deadline", "raised_by", "cites")}
    return rest | {"id": flags["question_id"], "options": list(_options(flags["options"])), "evidence": evidence}


def _options(given: Iterable[str]) -> Iterable[dict[str, str]]:
    for one in given:
        name, equals, text = one.partition("=")
        if not equals:
            raise UsageFault(f"--option: must be ID=TEXT, such as keep='Keep the first', not {one[:40]!r}")
        yield {"id": name, "text": text}


def _content(file: str) -> bytes:
    from decide.document_text import LIMIT

    if file == "-":
        if sys.stdin.isatty():
            click.echo("The question is read from standard input; Ctrl-D ends it.", err=True)
        return sys.stdin.buffer.read(LIMIT + 1)
    try:
        with Path(file).open("rb") as opened:
            return opened.read(LIMIT + 1)
    except FileNotFoundError as error:
        raise UsageFault(f"there is no question at {file}") from error
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise UsageFault(f"the question {file} cannot be read: {why}") from error
