"""Scrape configuration: how Prometheus reads rungwatch, with nothing that an honest content type does not need."""

from exporters.catalog import CATALOG

TARGET = "127.0.0.1:9477"
INTERVAL_S = 15
"""As often as the page is rendered anew; a tick is rarer."""


def scrape_config() -> str:
    """A whole Prometheus configuration that scrapes a rungwatch on this machine."""
    prefix = {metric.name.split("_")[0] for metric in CATALOG}
    return f"""# Built by `make generate`; do not edit. Start with: prometheus --config.file=prometheus.yml
# Every metric begins with {", ".join(sorted(prefix))}_; docs/metrics.md lists them.
global:
  scrape_interval: {INTERVAL_S}s
  evaluation_interval: {INTERVAL_S}s
scrape_configs:
  - job_name: rungwatch
    static_configs:
      - targets: ["{TARGET}"]
"""
