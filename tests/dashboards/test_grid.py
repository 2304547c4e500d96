"""Every dashboard's panels lie in the grid without overlap, and keep their ids, uids, links and first row."""

import itertools

import pytest

from dashboards.board import Board
from dashboards.settings import Settings
from tests.dashboards.promtool import RULES
from tests.dashboards.shown import BOARDS, Json, annotations, panels

each_board = pytest.mark.parametrize("uid", BOARDS)


def _cells(panel: Json) -> set[tuple[int, int]]:
    at = panel["gridPos"]
    return set(itertools.product(range(at["x"], at["x"] + at["w"]), range(at["y"], at["y"] + at["h"])))


def test_the_uids_are_those_that_links_and_bookmarks_have() -> None:
    assert [document["uid"] for document in BOARDS.values()] == [board.value for board in Board]
    assert list(BOARDS) == [
        "rungwatch-oncall",
        "rungwatch-decisions",
        "rungwatch-spend",
        "rungwatch-confirm",
        "rungwatch-canary",
    ]


@each_board
def test_panels_lie_in_24_columns_and_do_not_overlap(uid: str) -> None:
    taken: set[tuple[int, int]] = set()
    for panel in BOARDS[uid]["panels"]:
        cells = _cells(panel)
        assert cells
        assert {column for column, _ in cells} <= set(range(24))
        assert not cells & taken
        taken |= cells
    deepest = max(row for _, row in taken) + 1
    assert len(taken) == 24 * deepest, "a hole in the grid"


@each_board
def test_panel_ids_are_unique(uid: str) -> None:
    ids = [panel["id"] for panel in BOARDS[uid]["panels"]]
    assert len(ids) == len(set(ids))
    assert all(number > 0 for number in ids)


@each_board
def test_the_first_row_answers_the_question_in_single_values(uid: str) -> None:
    first = [panel for panel in panels(BOARDS[uid]) if panel["gridPos"]["y"] == 0]
    assert {panel["type"] for panel in first} == {"stat"}
    assert BOARDS[uid]["description"].endswith("?")


@each_board
def test_states_are_told_in_words(uid: str) -> None:
    for panel in panels(BOARDS[uid]):
        if panel["type"] == "state-timeline":
            (mapping,) = panel["fieldConfig"]["defaults"]["mappings"]
            assert all(word["text"] and word["color"] for word in mapping["options"].values())


@each_board
def test_links_lead_to_the_other_dashboards_and_to_sections_that_are_alerts(uid: str) -> None:
    kinds = [(link["type"], link["tags"]) for link in BOARDS[uid]["links"]]
    assert kinds == [("dashboards", ["rungwatch"]), ("link", [])]
    alerts = {rule.name.lower() for group in RULES for rule in group.rules}
    sections = [link["url"] for panel in panels(BOARDS[uid]) for link in panel["links"]]
    assert sections
    for url in sections:
        page, _, section = url.partition("#")
        assert (page, section in alerts) == (Settings().runbook_url, True)


@each_board
def test_reloads_and_transitions_are_annotated(uid: str) -> None:
    named = [one["name"] for one in annotations(BOARDS[uid])]
    assert named == ["Ladder changes", "Reloads refused", "Versions"]


@each_board
def test_the_schema_is_the_classic_one(uid: str) -> None:
    assert BOARDS[uid]["schemaVersion"] == 42
