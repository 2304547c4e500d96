"""Meters: readings of seats' windows, and ledger rows that say what consultations took of them."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make the table of meters, and add columns to the ledger that are empty in every row that there is."""
    op.add_column("ledger", sa.Column("window_kind", sa.Text(), nullable=False, server_default=""))
    op.add_column("ledger", sa.Column("micro_ratio", BIG, nullable=False, server_default="0"))
    _index("ledger_pass", "ledger", "kind = 'pass'")
    _index("runs_under_way", "runs", "ended_us IS NULL")
    op.create_table(
        "meters",
        *(sa.Column(name, sa.Text(), primary_key=True) for name in ("rung", "seat", "kind", "scope")),
        sa.Column("at_us", BIG, primary_key=True, autoincrement=False),
        sa.Column("used_micro", BIG, nullable=False),
        sa.Column("resets_us", BIG),
        sa.Column("split", BIG, nullable=False),
    )
    _index("meters_unsplit", "meters", "split = 0")
    op.create_index("meters_by_time", "meters", ["at_us"])


def _index(name: str, table: str, where: str) -> None:
    condition = sa.text(where)
    op.create_index(name, table, ["at_us"], sqlite_where=condition, postgresql_where=condition)
