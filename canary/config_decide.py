"""Configuration of decisions: caps, what a run may do, and where its store is."""

from datetime import timedelta
from typing import Annotated, Self

from pydantic import Field, model_validator

from canary.config_types import Dollars, Duration, Folder, Section, Zone
from decide.level import TieBreak
from decide.question import LevelName


class CapsSection(Section):
    """How much a day may hold; without a cap there is no limit."""

    passes_per_day: int | None = Field(default=None, ge=1)
    """model calls a day"""
    usd_per_day: Dollars | None = None
    """dollars a day, what subscriptions are said to cost included"""
    zone: Zone = "UTC"
    """time zone of the day"""


class DecideSection(Section):
    """How questions are asked."""

    level: Annotated[LevelName, Field(strict=False)] = LevelName.MEDIUM
    """level of a question that names none"""
    tie_break: Annotated[TieBreak, Field(strict=False)] = TieBreak.FRESH
    """what the reconsideration is shown: fresh (nothing new) or with_rationales (both, unattributed)"""
    policy: Folder | None = None
    """file of policy rows (default: the seven of the package)"""
    prices: Folder | None = None
    """file of prices that wins over the built-in table"""
    allow_private_urls: bool = False
    """evidence may be read from private and link-local addresses"""
    keep_evidence: Duration = timedelta(days=30)
    """how long the text of evidence is kept; receipts keep its digest"""


class StoreSection(Section):
    """Where ledger, questions and receipts are kept."""

    path: Folder | None = None
    """SQLite file (default: ledger.db in the state folder)"""
    url_env: str | None = None
    """name of the environment variable that holds a postgresql:// URL"""

    @model_validator(mode="after")
    def _one(self) -> Self:
        if self.path is not None and self.url_env is not None:
            raise ValueError("give path or url_env, not both")
        return self
