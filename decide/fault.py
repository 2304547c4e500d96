"""Fault: what is wrong with a store that cannot be used."""

from enum import StrEnum


class StoreFault(StrEnum):
    """Why the store cannot be used (outcome `held`, exit 4)."""

    UNREADABLE = "ledger_unreadable"
    UNWRITABLE = "ledger_unwritable"
    BROKEN = "ledger_broken"


class StoreError(Exception):
    """The store cannot be used: `fault` says how, and the text what was tried and what helps."""

    def __init__(self, fault: StoreFault, text: str) -> None:
        super().__init__(text)
        self.fault = fault
