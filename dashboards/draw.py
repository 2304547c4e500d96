"""Draw: panels as grafana-foundation-sdk builds them."""

from collections.abc import Callable, Mapping
from string import ascii_uppercase
from types import MappingProxyType
from typing import Any, TypeAlias

from grafana_foundation_sdk.builders import bargauge, common, dashboard, prometheus, stat, statetimeline, table
from grafana_foundation_sdk.builders import timeseries as lines
from grafana_foundation_sdk.models import common as kinds
from grafana_foundation_sdk.models import dashboard as parts
from grafana_foundation_sdk.models.prometheus import PromQueryFormat

from dashboards.panel import Colour, Column, Look, Panel, Query, Steps, Word
from dashboards.rule import runbook
from dashboards.settings import Settings

Builder: TypeAlias = Any  # the SDK's builders share their methods, but no type
SPAN = "dtdurations"
"""The unit of spans of time: the two largest parts of it in words."""
SOURCE = kinds.DataSourceRef(type_val="prometheus", uid="${datasource}")
"""The data source that a dashboard's own variable names."""


def drawn(panel: Panel, number: int, settings: Settings) -> Builder:
    """A panel's builder with everything but its place."""
    made: Builder = _LOOKS[panel.look](panel)
    made.id(number).title(panel.title).description(panel.description).datasource(SOURCE)
    made.unit(panel.unit).no_value(panel.nothing or "no data")
    made.thresholds(_thresholds(panel.base, panel.steps))
    if panel.words:
        made.mappings([mapping(panel.words)])
    if panel.decimals is not None or panel.unit == SPAN:
        made.decimals(panel.decimals or int(panel.unit == SPAN and panel.look is not Look.STAT))
    if panel.step_s:
        made.interval(settings.scale.span(panel.step_s))
    if panel.top is not None:
        made.min(0).max(panel.top)
    for letter, query in zip(ascii_uppercase, panel.queries, strict=False):
        made.with_target(_target(query, letter, as_table=panel.look is Look.TABLE))
    for name, colour in (panel.colours or {}).items():
        made.override_by_name(name, [_property("color", {"mode": "fixed", "fixedColor": colour.value})])
    made.links([_section(alert, settings) for alert in panel.alerts])
    return made


def mapping(words: Mapping[int, Word]) -> parts.ValueMap:
    """Values as words and colours."""
    return parts.ValueMap(
        options={
            str(value): parts.ValueMappingResult(text=word.text, color=word.colour.value, index=place)
            for place, (value, word) in enumerate(words.items())
        }
    )


def _section(alert: str, settings: Settings) -> Builder:
    return (
        dashboard.DashboardLink(f"Runbook: {alert}").type(parts.DashboardLinkType.LINK).url(runbook(settings, alert))
    )


def _target(query: Query, letter: str, *, as_table: bool) -> Builder:
    made = prometheus.Dataquery().expr(query.expr).legend_format(query.legend or "__auto").ref_id(letter)
    made = made.instant() if query.instant else made.range()
    made.exemplar(query.exemplars).datasource(SOURCE)
    return made.format(PromQueryFormat.TABLE if as_table else PromQueryFormat.TIME_SERIES)


def _thresholds(base: Colour, steps: Steps) -> Builder:
    every = [parts.Threshold(None, base.value), *(parts.Threshold(value, colour.value) for value, colour in steps)]
    return dashboard.ThresholdsConfig().mode(parts.ThresholdsMode.ABSOLUTE).steps(every)


def _property(name: str, value: object) -> parts.DynamicConfigValue:
    return parts.DynamicConfigValue(id_val=name, value=value)


def _last() -> Builder:
    return common.ReduceDataOptions().calcs(["lastNotNull"]).values(False).fields("")


def _stat(panel: Panel) -> Builder:
    mode = kinds.BigValueTextMode.VALUE_AND_NAME if panel.named else kinds.BigValueTextMode.VALUE
    coloured = bool(panel.words or panel.steps or panel.base is not Colour.PLAIN)
    return (
        stat.Panel()
        .reduce_options(_last())
        .text_mode(mode)
        .graph_mode(kinds.BigValueGraphMode.NONE)
        .color_mode(kinds.BigValueColorMode.BACKGROUND if coloured else kinds.BigValueColorMode.VALUE)
        .justify_mode(kinds.BigValueJustifyMode.CENTER)
        .color_scheme(dashboard.FieldColor().mode(parts.FieldColorModeId.THRESHOLDS))
        .orientation(kinds.VizOrientation.VERTICAL)
        .wide_layout(False)
    )


def _legend() -> Builder:
    return (
        common.VizLegendOptions()
        .show_legend(True)
        .display_mode(kinds.LegendDisplayMode.LIST)
        .placement(kinds.LegendPlacement.BOTTOM)
        .calcs([])
    )


def _lines(panel: Panel) -> Builder:
    made = (
        lines.Panel()
        .legend(_legend())
        .tooltip(common.VizTooltipOptions().mode(kinds.TooltipDisplayMode.MULTI).sort(kinds.SortOrder.DESCENDING))
        .line_width(2)
        .fill_opacity(0)
        .show_points(kinds.VisibilityMode.AUTO)
        .line_interpolation(kinds.LineInterpolation.STEP_AFTER)
        .axis_soft_min(0)
        .color_scheme(dashboard.FieldColor().mode(parts.FieldColorModeId.PALETTE_CLASSIC))
    )
    if panel.steps:
        made.thresholds_style(common.GraphThresholdsStyleConfig().mode(kinds.GraphThresholdsStyleMode.DASHED))
    return made


def _points(panel: Panel) -> Builder:
    """For what is rare: a line would join nothing, and a lone point of it would not be seen."""
    return (
        _lines(panel).draw_style(kinds.GraphDrawStyle.POINTS).show_points(kinds.VisibilityMode.ALWAYS).point_size(7)
    )


def _bars(panel: Panel) -> Builder:
    return (
        _lines(panel)
        .draw_style(kinds.GraphDrawStyle.BARS)
        .fill_opacity(80)
        .line_width(0)
        .stacking(common.StackingConfig().mode(kinds.StackingMode.NORMAL).group("A"))
    )


def _states(panel: Panel) -> Builder:
    return (
        statetimeline.Panel()
        .merge_values(True)
        .show_value(kinds.VisibilityMode.NEVER)
        .row_height(0.85)
        .fill_opacity(85)
        .line_width(0)
        .legend(_legend())
        .tooltip(common.VizTooltipOptions().mode(kinds.TooltipDisplayMode.SINGLE).sort(kinds.SortOrder.NONE))
        .color_scheme(dashboard.FieldColor().mode(parts.FieldColorModeId.THRESHOLDS))
    )


def _gauges(panel: Panel) -> Builder:
    return (
        bargauge.Panel()
        .reduce_options(_last())
        .orientation(kinds.VizOrientation.HORIZONTAL)
        .display_mode(kinds.BarGaugeDisplayMode.BASIC)
        .show_unfilled(True)
        .sizing(kinds.BarGaugeSizing.MANUAL)
        .min_viz_height(16)
        .max_viz_height(28)
        .name_placement(kinds.BarGaugeNamePlacement.LEFT)
        .text(common.VizTextDisplayOptions().title_size(12).value_size(14))
        .min(0)
        .color_scheme(dashboard.FieldColor().mode(parts.FieldColorModeId.THRESHOLDS))
    )


def _table(panel: Panel) -> Builder:
    made = table.Panel().show_header(True).cell_height(kinds.TableCellHeight.SM).filterable(False)
    columns = panel.columns or {}
    if len(panel.queries) > 1:
        made.with_transformation(parts.DataTransformerConfig(id_val="merge", options={}))
    shown = {name: column.title for name, column in columns.items()}
    options = {
        "excludeByName": {"Time": True}
        | ({} if any(name.startswith("Value") for name in shown) else {"Value": True}),
        "indexByName": {name: place for place, name in enumerate(shown)},
        "renameByName": shown,
    }
    made.with_transformation(parts.DataTransformerConfig(id_val="organize", options=options))
    for column in columns.values():
        made.override_by_name(column.title, _column(column))
    if panel.sort_by:
        made.sort_by([common.TableSortByFieldState().display_name(panel.sort_by).desc(True)])
    return made


def _column(column: Column) -> list[parts.DynamicConfigValue]:
    found = [_property("custom.align", "left")]
    if column.unit:
        found += [
            _property("unit", column.unit),
            _property("decimals", 1 if column.unit == SPAN else column.decimals),
        ]
    if column.nothing:
        found.append(_property("noValue", column.nothing))
    if column.width:
        found.append(_property("custom.width", column.width))
    if column.words:
        found.append(_property("mappings", [mapping(column.words)]))
    if column.words or column.steps:
        steps = [
            {"value": None, "color": Colour.GOOD.value},
            *({"value": v, "color": c.value} for v, c in column.steps),
        ]
        found.append(_property("thresholds", {"mode": "absolute", "steps": steps}))
        cell = {"type": "gauge", "mode": "basic"} if column.gauge else {"type": "color-text"}
        found.append(_property("custom.cellOptions", cell))
    if column.gauge:
        found += [_property("min", 0), _property("max", 1)]
    return found


_LOOKS: Mapping[Look, Callable[[Panel], Builder]] = MappingProxyType(
    {
        Look.STAT: _stat,
        Look.LINES: _lines,
        Look.POINTS: _points,
        Look.BARS: _bars,
        Look.STATES: _states,
        Look.GAUGES: _gauges,
        Look.TABLE: _table,
    }
)
