"""Metric reference: the catalog as the page that people read."""

from exporters.catalog import markdown

_HEAD = """# Metrics

Built from `exporters/catalog.py` by `make generate`; do not edit. Every way out (the page, the textfile,
`rungwatch status --format prometheus`) shows exactly these.

State and counter series are there from the start for every configured rung and closed value: when one is absent, the
exporter is gone. Ratios (0 to 1, above 1 as read) and timestamps (Unix seconds, UTC) are absent while unknown or
before they ever happened; they are never 0 instead. When the last tick is older than `stale_after`, every state is
unknown and the ladder blind.

"""


def reference() -> str:
    """The page, as Markdown."""
    return _HEAD + markdown()
