"""Queue, inbox, acts and clicks; receipts by their question and by their day."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make the tables of the handoff beside those that there are, in which nothing is changed."""
    _entries()
    _items()
    _acts()
    _clicks()
    op.create_index("receipts_of_question", "receipts", ["question_key", "place"])
    op.create_index("receipts_by_time", "receipts", ["at_us", "outcome"])


def _key(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), primary_key=True)


def _texts(*names: str) -> list[sa.Column[str]]:
    return [sa.Column(name, sa.Text(), nullable=False) for name in names]


def _numbers(*names: str, nullable: bool = False) -> list[sa.Column[int]]:
    return [sa.Column(name, BIG, nullable=nullable) for name in names]


def _some(name: str, table: str, columns: list[str], where: str, *, unique: bool = False) -> None:
    condition = sa.text(where)
    op.create_index(name, table, columns, unique=unique, sqlite_where=condition, postgresql_where=condition)


def _entries() -> None:
    op.create_table(
        "entries",
        _key("entry_id"),
        *_texts("question_key", "state", "why", "consequence"),
        *_numbers("deadline_us", nullable=True),
        *_numbers("entered_us"),
        *_texts("raised_by", "title"),
        *_numbers("clears_us", nullable=True),
        *_numbers("asked_again"),
        *_numbers("closed_us", nullable=True),
        *_texts("closed_by", "note", "answer", "document"),
    )
    op.create_index("entries_of_question", "entries", ["question_key"])
    op.create_index("entries_by_time", "entries", ["entered_us", "entry_id"])
    _some("entries_waiting", "entries", ["entered_us", "entry_id"], "state = 'open'")
    _some("entries_open", "entries", ["question_key"], "state = 'open'", unique=True)


def _items() -> None:
    op.create_table(
        "items",
        _key("item_id"),
        *_texts("question_key", "state"),
        *_numbers("deadline_us", nullable=True),
        *_numbers("raised_us", "due_us"),
        *_texts("digest", "evidence", "surface", "requester", "raised_by", "receipt_id", "host"),
        *_numbers("pid"),
        *_texts("started"),
        *_numbers("until_us"),
        *_texts("news", "told"),
        *_numbers("tries", "again_us"),
        *_texts("document"),
        sa.UniqueConstraint("question_key"),
    )
    _some("items_due", "items", ["due_us"], "state IN ('waiting', 'retrying')")
    _some("items_live", "items", ["state", "raised_us"], "state != 'done'")
    _some("items_news", "items", ["raised_us"], "news != told")


def _acts() -> None:
    op.create_table(
        "acts",
        _key("act_id"),
        *_texts("question_key", "thread", "requester", "surface", "line", "runner", "state"),
        *_numbers("at_us"),
        *_texts("fate", "reason", "command", "kind", "words", "click_id", "host"),
        *_numbers("pid"),
        *_texts("started"),
        *_numbers("started_us", "ended_us", nullable=True),
        *_texts("ended"),
    )
    _some("acts_due", "acts", ["at_us"], "state = 'due'")
    _some("acts_running", "acts", ["at_us"], "state = 'running'")


def _clicks() -> None:
    op.create_table(
        "clicks",
        _key("click_id"),
        *_texts("thread", "requester", "line", "command", "kind", "act_id", "question_key", "state"),
        *_numbers("minted_us", "expires_us"),
        *_numbers("closed_us", nullable=True),
        sa.CheckConstraint("expires_us > minted_us", name="click_expires"),
    )
    op.create_index("clicks_by_time", "clicks", ["minted_us", "click_id"])
    _some("clicks_due", "clicks", ["expires_us"], "state = 'pending'")
    _some("clicks_pending", "clicks", ["thread"], "state = 'pending'", unique=True)
