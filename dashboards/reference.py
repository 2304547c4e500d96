"""Metric reference: the catalog as the page that people read."""

from exporters.catalog import markdown

_HEAD = """# Metrics

Built from `exporters/catalog.py` by `make generate`; do not edit. Every way out (the page, the textfile,
`rungwatch status --format prometheus`) shows exactly these.

State and counter series are there from the start for every configured rung and closed value: when one is absent, the
exporter is gone. Ratios (0 to 1, above 1 as read) and timestamps (Unix seconds, UTC) are absent while unknown or
before they ever happened; they are never 0 instead. When the last tick is older than `stale_after`, every state is
unknown and the ladder blind.

The groups Decisions, Spend, Queue and inbox, and Clicks are folded from the ledger, so that they go on where they
were when the exporter is started anew. Two things are absent there without the exporter being gone: all of their
counters until the ledger has been read once from its beginning (`ladder_ledger_fold_lag_rows` tells how far that is),
and in a fleet on every exporter but the one that serves them. While the ledger cannot be used they stand still and
`ladder_ledger_readable` is 0. `(other)` is no word of its own: a series with that value appears once a newer version
has written a word into the ledger that this one does not know. A histogram's buckets carry the latest receipt as an
exemplar, in OpenMetrics only.

What waits now (entries of the queue, items of the inbox, pending clicks) is not folded but read anew every 15 s: it
is there before the whole ledger has been read, and absent until the store could be read once. The same exporter of a
fleet serves it. How urgent an entry is follows from its deadline, from what waiting does and from the moment of the
page, and from nothing else: while the store is lost, entries stay as they were last read and go on getting more
urgent. So a store that is gone silences no `ladder_queue_depth{urgency="wake"}`; where the exporter itself is gone,
`ladder_queue_next_deadline_timestamp_seconds` as it was last seen tells when somebody is to be woken.

"""


def reference() -> str:
    """The page, as Markdown."""
    return _HEAD + markdown()
