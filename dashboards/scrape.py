"""Scrape configuration: how Prometheus reads rungwatch, evaluates its rules and reaches Alertmanager."""

from dashboards.document import document
from dashboards.scale import REAL
from dashboards.settings import Settings


def scrape_config(settings: Settings) -> str:
    """A whole Prometheus configuration, for a rungwatch, a Prometheus and an Alertmanager on one machine."""
    config = {
        "global": {
            "scrape_interval": REAL.span(settings.scrape_interval_s),
            "scrape_timeout": REAL.span(min(settings.scrape_interval_s, 10)),
            "evaluation_interval": REAL.span(settings.evaluation_interval_s),
        },
        "rule_files": ["rules.yml"],
        "alerting": {"alertmanagers": [{"static_configs": [{"targets": [settings.alertmanager]}]}]},
        "scrape_configs": [{"job_name": settings.job, "static_configs": [{"targets": [settings.target]}]}],
    }
    start = "Start with: prometheus --config.file=prometheus.yml --enable-feature=exemplar-storage"
    return document(config, start, "docs/metrics.md lists what is scraped.")
