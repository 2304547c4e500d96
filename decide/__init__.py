"""The ladder's rules, and the run that applies them; imports nothing of ours."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from decide.question import Option, Question
    from decide.receipt import Receipt
    from decide.run import ask
    from decide.setup import RungSetup, Setup

__all__ = ["Option", "Question", "Receipt", "RungSetup", "Setup", "ask"]

_HOMES = {
    "Option": "decide.question",
    "Question": "decide.question",
    "Receipt": "decide.receipt",
    "RungSetup": "decide.setup",
    "Setup": "decide.setup",
    "ask": "decide.run",
}


def __getattr__(name: str) -> object:
    """The public names, each imported when it is first used, so that the pure rules stay light."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
