"""Ways out: the metric catalog, what is collected, and the pages, files and lines that carry it."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from exporters.ledger_collector import LedgerCollector

__all__ = ["LedgerCollector"]


def __getattr__(name: str) -> object:
    """The name that other programs import from here, loaded when it is first asked for."""
    if name == "LedgerCollector":
        from exporters.ledger_collector import LedgerCollector

        return LedgerCollector
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
