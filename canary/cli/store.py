"""Store: the ledger of a configuration as the commands that read and mend it open it."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from canary.cli.main import UsageFault

if TYPE_CHECKING:
    from canary.config import Config
    from decide.store.store import SqlStore

T = TypeVar("T")


class HeldFault(click.ClickException):
    """A ledger that cannot be used until a person has looked (exit 4)."""

    exit_code = 4


@dataclass(frozen=True, slots=True)
class Opened:
    """The store, None where none was made yet, and how texts call its place: never with a password."""

    config: "Config"
    folder: Path
    label: str
    store: "SqlStore | None"


def on_ledger(
    config_path: Path | None, state_dir: Path | None, act: Callable[[Opened], Awaitable[T]], *, make: bool = False
) -> T:
    """What an act on the ledger returns; nothing is made where there is none, unless `make` says so.

    Raises UsageFault for a configuration or an argument to mend, HeldFault for a ledger that cannot be used.
    """
    from canary.app import state_folder
    from canary.ledger import Ledger, place_of
    from canary.load import ConfigError, load
    from decide.fault import StoreError
    from decide.question import QuestionError

    async def opened(config: "Config", folder: Path, place: str | Path, *, there: bool) -> T:
        from decide.store.place import locate

        ledger = Ledger(place)
        try:
            return await act(Opened(config, folder, locate(place).label, await ledger.opened() if there else None))
        finally:
            await ledger.close()

    try:
        config = load(config_path, os.environ).config
        folder = state_folder(state_dir, config, os.environ)
        place = place_of(config, folder, os.environ)
        there = make or not isinstance(place, Path) or os.path.lexists(place)
        return asyncio.run(opened(config, folder, place, there=there))
    except (ConfigError, QuestionError) as error:
        raise UsageFault(str(error)) from error
    except StoreError as error:
        raise HeldFault(f"{error.fault}: {error}") from error
