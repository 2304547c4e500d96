"""Frame: a page as a whole Grafana dashboard in the classic schema, with its variables, annotations and links."""

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from grafana_foundation_sdk.builders import dashboard
from grafana_foundation_sdk.builders import prometheus as query
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models import dashboard as parts

from dashboards.draw import SOURCE, Builder, drawn
from dashboards.panel import Page
from dashboards.promql import Selectors
from dashboards.settings import Settings
from dashboards.terms import Terms

if TYPE_CHECKING:
    from collections.abc import Mapping

TAG = "rungwatch"
"""The tag by which the dashboards find one another."""
FIXED = ('job=~"$job"', 'instance=~"$instance"')
"""The matchers of every query of every panel."""
_VARIABLES: "Mapping[str, tuple[str, str]]" = {
    "job": ("Job", "ladder_build_info"),
    "instance": ("Instance", "ladder_build_info"),
    "rung": ("Rung", "ladder_rung_state"),
    "seat": ("Seat", "ladder_seat_state"),
    "level": ("Level", "ladder_questions_total"),
}
"""The variables in order: how each is labelled and the metric that names its values; each narrows the next."""
_HEAD, _EVERY = 1, "30s"


def selectors(*variables: str) -> Selectors:
    """What a page's panels select by."""
    return Selectors(FIXED, variables)


def frame(page: Page, settings: Settings) -> str:
    """The dashboard as JSON, equal for equal pages."""
    made = dashboard.Dashboard(page.title)
    made.uid(page.board.value).description(page.question).tags([TAG]).readonly().timezone("browser")
    made.tooltip(parts.DashboardCursorSync.CROSSHAIR).time(f"now-{settings.scale.span(page.range_s)}", "now")
    made.refresh(_EVERY).variables([_source(), *_variables(page)])
    made.annotations(list(_annotations(settings)))
    made.link(
        dashboard.DashboardLink("rungwatch")
        .type(parts.DashboardLinkType.DASHBOARDS)
        .tags([TAG])
        .as_dropdown(False)
        .include_vars(True)
        .keep_time(True)
    )
    made.link(dashboard.DashboardLink("Runbook").type(parts.DashboardLinkType.LINK).url(settings.runbook_url))
    _place(made, page, settings)
    found = json.loads(JSONEncoder(sort_keys=True).encode(made.build()), object_hook=_in_sight)
    return json.dumps(found, indent=2, ensure_ascii=False) + "\n"


def _in_sight(found: dict[str, Any]) -> dict[str, Any]:
    """Without the SDK's fixed wish to hide links and annotations in a menu."""
    return {key: value for key, value in found.items() if (key, value) != ("placement", "inControlsMenu")}


def _place(made: Builder, page: Page, settings: Settings) -> None:
    """Put the panels into the grid, row below row."""
    top, number = 0, 0
    for row in page.rows:
        if row.title:
            number += 1
            made.with_panel(dashboard.Row(row.title).id(number).grid_pos(parts.GridPos(x=0, y=top, w=24, h=_HEAD)))
            top += _HEAD
        left = 0
        for panel in row.panels:
            number += 1
            at = parts.GridPos(x=left, y=top, w=panel.width, h=panel.height)
            made.with_panel(drawn(panel, number, settings).grid_pos(at))
            left += panel.width
        top += row.panels[0].height


def _source() -> Builder:
    return dashboard.DatasourceVariable("datasource").label("Data source").type("prometheus")


def _variables(page: Page) -> Iterator[Builder]:
    narrowed: list[str] = []
    for name, (label, metric) in _VARIABLES.items():
        if name not in ("job", "instance", *page.variables):
            continue
        matchers = FIXED[: len(narrowed)]  # of these two, those that the reader chose before this one
        yield _variable(name, label, f"label_values({Selectors(matchers, tuple(narrowed))(metric)}, {name})")
        narrowed.append(name)


def _variable(name: str, label: str, values: str) -> Builder:
    return (
        dashboard.QueryVariable(name)
        .label(label)
        .datasource(SOURCE)
        .query({"query": values, "refId": f"variable-{name}"})
        .definition(values)
        .multi(True)
        .include_all(True)
        .all_value(".+")
        .current(parts.VariableOption(selected=True, text=["All"], value=["$__all"]))
        .refresh(parts.VariableRefresh.ON_TIME_RANGE_CHANGED)
        .sort(parts.VariableSort.ALPHABETICAL_ASC)
    )


def _annotations(settings: Settings) -> Iterator[Builder]:
    """When the ladder changed its state, when a configuration was refused, and when another version came."""
    select, terms = Selectors(FIXED), Terms(settings)
    state, reload = select("ladder_state"), select("ladder_config_reload_success")
    version, before = select("ladder_build_info"), terms.span(300)
    rows = (
        ("Ladder changes", f"{state} == 1 unless {state} offset {before} == 1", "orange", "the ladder is {{state}}"),
        (
            "Reloads refused",
            f"{reload} == 0 unless {reload} offset {before} == 0",
            "red",
            "the configuration of {{instance}} was refused",
        ),
        ("Versions", f"{version} unless {version} offset {before}", "blue", "{{version}} runs on {{instance}}"),
    )
    for name, expr, colour, title in rows:
        target = query.Dataquery().expr(expr).ref_id("A").datasource(SOURCE)
        yield (
            dashboard.AnnotationQuery()
            .name(name)
            .datasource(SOURCE)
            .enable(True)
            .icon_color(colour)
            .expr(expr)
            .step(before)
            .title_format(title)
            .target(target)
        )
