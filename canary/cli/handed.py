"""Handed: the queue, inbox and clicks of a configuration as the commands that work on them open them."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from canary.cli.main import UsageFault
from canary.cli.store import Opened, on_ledger
from canary.own_name import own_name

if TYPE_CHECKING:
    from canary.config import Config
    from decide.handoff.ports import HandoffStore
    from decide.store.store import SqlStore

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Handed:
    """A store that is there, its handoff, and the state folder beside it."""

    config: "Config"
    folder: Path
    store: "SqlStore"
    handoff: "HandoffStore"


def on_handoff(
    config_path: Path | None, state_dir: Path | None, act: Callable[[Handed], Awaitable[T]], *, make: bool = False
) -> T:
    """What an act on queue, inbox or clicks returns; `make` makes the store where there is none.

    Raises UsageFault for what the caller has to mend, HeldFault for a store that cannot be used.
    """
    from decide.handoff.entry import HandoffError

    async def handed(opened: Opened) -> T:
        store = opened.store
        if store is None:
            raise UsageFault(
                f"nothing waits here: {opened.label} is not there yet; `rungwatch ask` or `raise` makes it"
            )
        try:
            return await act(Handed(opened.config, opened.folder, store, store.handoff))
        except LookupError as error:
            raise UsageFault(str(error.args[0])) from error
        except HandoffError as error:
            raise UsageFault(str(error)) from error

    return on_ledger(config_path, state_dir, handed, make=make)


def me() -> str:
    """The name of whoever runs this command; raises UsageFault where the system knows none."""
    name = own_name()
    if not name:
        raise UsageFault("this system does not say who you are; name yourself with --person")
    return name
