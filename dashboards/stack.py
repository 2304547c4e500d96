"""Stack: Grafana's provisioning, and Prometheus, Alertmanager and Grafana wired up in one compose file."""

from typing import Any
from urllib.parse import urlsplit

from dashboards.document import document
from dashboards.scale import REAL
from dashboards.settings import Settings

FOLDER, FOLDER_UID = "rungwatch", "rungwatch"
SOURCE_UID = "rungwatch-prometheus"
_IMAGES = {
    "prometheus": "prom/prometheus:v3.5.0",
    "alertmanager": "prom/alertmanager:v0.28.1",
    "grafana": "grafana/grafana:12.1.0",
}
_MOUNTED = "/var/lib/rungwatch/dashboards"


def datasource(settings: Settings) -> str:
    """The data source, with exemplars that open the receipt they belong to."""
    receipt = {
        "name": "receipt",
        "url": f"{settings.console_url}/decisions/$${{__value.raw}}",
        "urlDisplayLabel": "Receipt",
    }
    source = {
        "name": "Prometheus",
        "uid": SOURCE_UID,
        "type": "prometheus",
        "access": "proxy",
        "url": settings.prometheus_url,
        "isDefault": True,
        "jsonData": {
            "timeInterval": REAL.span(settings.scrape_interval_s),
            "httpMethod": "POST",
            "exemplarTraceIdDestinations": [receipt],
        },
    }
    return document({"apiVersion": 1, "datasources": [source]})


def providers() -> str:
    """Where Grafana finds the dashboards."""
    provider = {
        "name": "rungwatch",
        "folder": FOLDER,
        "folderUid": FOLDER_UID,
        "type": "file",
        "allowUiUpdates": False,
        "options": {"path": _MOUNTED},
    }
    return document({"apiVersion": 1, "providers": [provider]})


def compose(settings: Settings) -> str:
    """The three servers on the host's own network, since rungwatch listens on this machine only."""
    services = {
        "prometheus": {
            "image": _IMAGES["prometheus"],
            "command": [
                "--config.file=/etc/prometheus/prometheus.yml",
                "--storage.tsdb.path=/prometheus",
                "--enable-feature=exemplar-storage",
                f"--web.listen-address={_listen(settings.prometheus_url)}",
            ],
            "volumes": [
                "./prometheus.yml:/etc/prometheus/prometheus.yml:ro",
                "./rules.yml:/etc/prometheus/rules.yml:ro",
                "prometheus:/prometheus",
            ],
        },
        "alertmanager": {
            "image": _IMAGES["alertmanager"],
            "command": [
                "--config.file=/etc/alertmanager/alertmanager.yml",
                "--storage.path=/alertmanager",
                f"--web.listen-address={settings.alertmanager}",
                "--cluster.listen-address=",
            ],
            "volumes": ["./alertmanager.yml:/etc/alertmanager/alertmanager.yml:ro", "alertmanager:/alertmanager"],
        },
        "grafana": _grafana(settings),
    }
    whole = {
        "services": {
            name: {**found, "network_mode": "host", "restart": "unless-stopped"} for name, found in services.items()
        },
        "volumes": dict.fromkeys(services),
    }
    return document(
        whole,
        "Start `rungwatch serve` first, then: docker compose up",
        "The servers share this machine's network (Linux, or a Docker that offers it) and listen on it alone.",
    )


def _grafana(settings: Settings) -> dict[str, Any]:
    host, _, port = _listen(settings.grafana_url).rpartition(":")
    return {
        "image": _IMAGES["grafana"],
        "environment": {
            "GF_SERVER_HTTP_ADDR": host,
            "GF_SERVER_HTTP_PORT": port,
            "GF_AUTH_ANONYMOUS_ENABLED": "true",
            "GF_AUTH_ANONYMOUS_ORG_ROLE": "Viewer",
            "GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH": f"{_MOUNTED}/rungwatch-oncall.json",
        },
        "volumes": [
            "./grafana/provisioning:/etc/grafana/provisioning:ro",
            f"./dashboards:{_MOUNTED}:ro",
            "grafana:/var/lib/grafana",
        ],
    }


def _listen(url: str) -> str:
    """Host and port of a URL; raises ValueError for one that names none."""
    parts = urlsplit(url)
    if parts.port is None or not parts.hostname:
        raise ValueError(f"{url!r} names no host and port to listen on")
    return f"{parts.hostname}:{parts.port}"
