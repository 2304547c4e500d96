"""Tables: the shape of the store in both databases; money in micro-dollars, times in microseconds since 1970."""

from sqlalchemy import BigInteger, CheckConstraint, Column, Index, Integer, MetaData, Table, Text, text

BIG = BigInteger().with_variant(Integer, "sqlite")
"""A whole number of 64 bits; SQLite knows a row's own number by the name INTEGER only."""
TEXT_COLUMNS = (
    "kind", "level", "rung", "seat", "role", "result", "billing", "source", "gate_row", "stage", "question",
    "receipt", "call_id", "body", "window_kind",
)  # fmt: skip
NUMBER_COLUMNS = (
    "at_us", "micro_usd", "input_tokens", "cache_read_tokens", "cache_write_tokens", "output_tokens",
    "reasoning_tokens", "duration_us", "micro_ratio",
)  # fmt: skip

METADATA = MetaData()

LEDGER = Table(
    "ledger",
    METADATA,
    Column("seq", BIG, primary_key=True, autoincrement=False),
    Column("before", Text, nullable=False),
    Column("digest", Text, nullable=False),
    *(Column(name, BIG, nullable=False) for name in NUMBER_COLUMNS),
    Column("clears_at_us", BIG),
    *(Column(name, Text, nullable=False) for name in TEXT_COLUMNS),
)
"""One row for each thing that happened: the fields of `decide.ledger.Row`, its place and the chain's digests."""
for _kind in ("refused", "accept", "pass"):
    _where = text(f"kind = '{_kind}'")
    Index(f"ledger_{_kind}", LEDGER.c.at_us, sqlite_where=_where, postgresql_where=_where)

HEAD = Table(
    "head",
    METADATA,
    Column("id", BIG, CheckConstraint("id = 1", name="head_is_one"), primary_key=True, autoincrement=False),
    Column("seq", BIG, nullable=False),
    Column("digest", Text, nullable=False),
    Column("probed_us", BIG, nullable=False),
    Column("held", Text, nullable=False),
)
"""The one row that names the last ledger row; whoever writes holds it, so that no two appends share a place."""

DAYS = Table(
    "days",
    METADATA,
    Column("day", Text, primary_key=True),
    Column("passes", BIG, nullable=False),
    Column("micro_usd", BIG, nullable=False),
)
"""What each day is charged: the sum over its slots, kept by the transaction that changes one."""

SLOTS = Table(
    "slots",
    METADATA,
    Column("call_id", Text, primary_key=True),
    Column("run_id", Text, nullable=False, index=True),
    Column("day", Text, nullable=False),
    Column("micro_usd", BIG, nullable=False),
    Column("state", Text, nullable=False),
    Column("at_us", BIG, nullable=False),
)
"""Model calls that were reserved, each with what its day is charged for it now."""
_unclear = text("state IN ('open', 'unsettled')")
Index("slots_unclear", SLOTS.c.state, sqlite_where=_unclear, postgresql_where=_unclear)

RUNS = Table(
    "runs",
    METADATA,
    Column("run_id", Text, primary_key=True),
    Column("question_key", Text, nullable=False),
    Column("snapshot", Text, nullable=False),
    Column("host", Text, nullable=False),
    Column("pid", BIG, nullable=False),
    Column("started", Text, nullable=False),
    Column("at_us", BIG, nullable=False),
    Column("until_us", BIG, nullable=False),
    Column("ended_us", BIG),
)
"""Attempts at questions, with the process that makes each and the digest of the snapshot that it works on."""
_under_way = text("ended_us IS NULL")
Index("runs_under_way", RUNS.c.at_us, sqlite_where=_under_way, postgresql_where=_under_way)

QUESTIONS = Table(
    "questions",
    METADATA,
    Column("question_key", Text, primary_key=True),
    Column("digest", Text, nullable=False),
    Column("document", Text, nullable=False),
    Column("snapshot", Text, nullable=False),
    Column("attempts", BIG, nullable=False),
    Column("run_id", Text, nullable=False),
    Column("receipt_id", Text, nullable=False),
    Column("at_us", BIG, nullable=False),
)
"""Questions; `run_id` is the run that holds one, and a `receipt_id` says that it is closed."""

EVIDENCE = Table(
    "evidence",
    METADATA,
    Column("digest", Text, primary_key=True),
    Column("document", Text),
    Column("at_us", BIG, nullable=False),
)
"""Snapshots as text, until they are purged."""

KEPT = Table(
    "kept",
    METADATA,
    Column("call_id", Text, primary_key=True),
    Column("question_key", Text, nullable=False, index=True),
    Column("snapshot", Text, nullable=False),
    Column("seq", BIG, nullable=False),
    Column("document", Text, nullable=False),
)
"""Passes that stand for a resumed run, each on the snapshot that it saw."""

RECEIPTS = Table(
    "receipts",
    METADATA,
    Column("place", BIG, primary_key=True, autoincrement=False),
    Column("receipt_id", Text, nullable=False, unique=True),
    Column("question_key", Text, nullable=False),
    Column("run_id", Text, nullable=False),
    Column("outcome", Text, nullable=False),
    Column("exit_code", BIG, nullable=False),
    Column("at_us", BIG, nullable=False),
    Column("document", Text, nullable=False),
)
"""The receipt of every run, in the order in which they ended."""
Index("receipts_of_question", RECEIPTS.c.question_key, RECEIPTS.c.place)
Index("receipts_by_time", RECEIPTS.c.at_us, RECEIPTS.c.outcome)
