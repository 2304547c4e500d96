"""Shown: the built dashboards as Grafana would read them."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from dashboards.build import boards
from dashboards.settings import Settings

Json = dict[str, Any]
BOARDS: Mapping[str, Json] = {board.value: json.loads(text) for board, text in boards(Settings()).items()}


def panels(document: Json) -> list[Json]:
    """The panels of a dashboard that show something."""
    return [panel for panel in document["panels"] if panel["type"] != "row"]


def every_panel() -> Iterator[tuple[str, Json]]:
    """Every panel, with the uid of its dashboard."""
    for uid, document in BOARDS.items():
        for panel in panels(document):
            yield uid, panel


def every_target() -> Iterator[tuple[str, str, Json]]:
    """Every query of every panel, with the uid of its dashboard and the title of its panel."""
    for uid, panel in every_panel():
        for target in panel["targets"]:
            yield uid, panel["title"], target


def variables(document: Json) -> Mapping[str, Json]:
    """The variables of a dashboard by name."""
    return {one["name"]: one for one in document["templating"]["list"]}


def annotations(document: Json) -> list[Json]:
    """The annotations of a dashboard."""
    found: list[Json] = document["annotations"]["list"]
    return found
