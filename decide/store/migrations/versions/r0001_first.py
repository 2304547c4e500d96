"""The first shape of the store."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
GENESIS = "sha256:" + "0" * 64
NUMBERS = (
    "at_us", "micro_usd", "input_tokens", "cache_read_tokens", "cache_write_tokens", "output_tokens",
    "reasoning_tokens", "duration_us",
)  # fmt: skip
TEXTS = (
    "kind", "level", "rung", "seat", "role", "result", "billing", "source", "gate_row", "stage", "question",
    "receipt", "call_id", "body",
)  # fmt: skip

SQLITE_GUARDS = (
    "CREATE TRIGGER ledger_no_update BEFORE UPDATE ON ledger "
    "BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END",
    "CREATE TRIGGER ledger_no_delete BEFORE DELETE ON ledger "
    "BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END",
    # INSERT OR REPLACE deletes without asking the trigger for deletes
    "CREATE TRIGGER ledger_no_replace BEFORE INSERT ON ledger WHEN EXISTS (SELECT 1 FROM ledger WHERE seq = NEW.seq) "
    "BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END",
)
POSTGRESQL_GUARDS = (
    "CREATE FUNCTION ledger_is_append_only() RETURNS trigger LANGUAGE plpgsql AS "
    "$$ BEGIN RAISE EXCEPTION 'the ledger is append-only'; END $$",
    "CREATE TRIGGER ledger_no_change BEFORE UPDATE OR DELETE ON ledger "
    "FOR EACH ROW EXECUTE FUNCTION ledger_is_append_only()",
    "CREATE TRIGGER ledger_no_truncate BEFORE TRUNCATE ON ledger "
    "FOR EACH STATEMENT EXECUTE FUNCTION ledger_is_append_only()",
)


def upgrade() -> None:
    """Make every table, and the triggers that keep the ledger append-only."""
    _ledger()
    _caps()
    _questions()
    _receipts()
    guards = SQLITE_GUARDS if op.get_bind().dialect.name == "sqlite" else POSTGRESQL_GUARDS
    for guard in guards:
        op.execute(guard)


def _key(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), primary_key=True)


def _number(name: str, *, key: bool = False) -> sa.Column[int]:
    return sa.Column(name, BIG, nullable=False, primary_key=key, autoincrement=False)


def _text(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), nullable=False)


def _index(name: str, table: str, column: str, where: str | None = None) -> None:
    condition = None if where is None else sa.text(where)
    op.create_index(name, table, [column], sqlite_where=condition, postgresql_where=condition)


def _ledger() -> None:
    op.create_table(
        "ledger",
        _number("seq", key=True),
        _text("before"),
        _text("digest"),
        *map(_number, NUMBERS),
        sa.Column("clears_at_us", BIG),
        *map(_text, TEXTS),
    )
    _index("ledger_refused", "ledger", "at_us", "kind = 'refused'")
    _index("ledger_accept", "ledger", "at_us", "kind = 'accept'")
    one = sa.CheckConstraint("id = 1", name="head_is_one")
    head = op.create_table(
        "head", _number("id", key=True), _number("seq"), _text("digest"), _number("probed_us"), _text("held"), one
    )
    op.bulk_insert(head, [{"id": 1, "seq": 0, "digest": GENESIS, "probed_us": 0, "held": ""}])


def _caps() -> None:
    op.create_table("days", _key("day"), _number("passes"), _number("micro_usd"))
    op.create_table(
        "slots",
        _key("call_id"),
        _text("run_id"),
        _text("day"),
        _number("micro_usd"),
        _text("state"),
        _number("at_us"),
    )
    _index("ix_slots_run_id", "slots", "run_id")
    _index("slots_unclear", "slots", "state", "state IN ('open', 'unsettled')")


def _questions() -> None:
    op.create_table(
        "runs",
        _key("run_id"),
        *map(_text, ("question_key", "snapshot", "host")),
        _number("pid"),
        _text("started"),
        *map(_number, ("at_us", "until_us")),
        sa.Column("ended_us", BIG),
    )
    op.create_table(
        "questions",
        _key("question_key"),
        *map(_text, ("digest", "document", "snapshot")),
        _number("attempts"),
        *map(_text, ("run_id", "receipt_id")),
        _number("at_us"),
    )
    op.create_table("evidence", _key("digest"), sa.Column("document", sa.Text()), _number("at_us"))
    op.create_table(
        "kept", _key("call_id"), *map(_text, ("question_key", "snapshot")), _number("seq"), _text("document")
    )
    _index("ix_kept_question_key", "kept", "question_key")


def _receipts() -> None:
    op.create_table(
        "receipts",
        _number("place", key=True),
        *map(_text, ("receipt_id", "question_key", "run_id", "outcome")),
        *map(_number, ("exit_code", "at_us")),
        _text("document"),
        sa.UniqueConstraint("receipt_id"),
    )
