"""push against a loopback Grafana: made once, then left alone; never over somebody's change; each refusal in words."""

from collections.abc import Iterator

import pytest
from click.testing import CliRunner, Result

from canary.cli.main import rungwatch
from dashboards.board import Board
from tests.dashboards.grafana_far import TOKEN, Grafana, answering

UIDS = [board.value for board in Board]
SAVE, ONCALL = "POST /api/dashboards/db", "GET /api/dashboards/uid/rungwatch-oncall"
NOT_FOUND = '{"message": "Not found"}'


@pytest.fixture
def far() -> Iterator[Grafana]:
    with answering() as found:
        yield found


def push(far: Grafana, *options: str, token: str = TOKEN) -> Result:
    """The command's result."""
    arguments = ["dashboards", "push", "--url", far.base, *options]
    return CliRunner().invoke(rungwatch, arguments, env={"GRAFANA_TOKEN": token})


def words(result: Result) -> list[str]:
    """What was done with each thing, in order."""
    assert result.exit_code == 0, result.output
    return [line.split(maxsplit=2)[2] for line in result.output.splitlines()]


def test_the_first_push_makes_the_folder_and_every_dashboard(far: Grafana) -> None:
    assert words(push(far)) == ["created"] * (1 + len(UIDS))
    assert far.folders == {"rungwatch": "rungwatch"}
    assert sorted(far.boards) == sorted(UIDS)
    assert {kept["meta"]["folderUid"] for kept in far.boards.values()} == {"rungwatch"}


def test_a_second_push_changes_nothing(far: Grafana) -> None:
    push(far)
    asked = len(far.asked)
    assert words(push(far)) == ["unchanged"] * (1 + len(UIDS))
    assert {method for method, _ in far.asked[asked:]} == {"GET"}
    assert {kept["dashboard"]["version"] for kept in far.boards.values()} == {1}


def test_what_differs_there_is_updated_and_its_version_kept_up(far: Grafana) -> None:
    push(far)
    far.boards[UIDS[0]]["dashboard"] |= {"title": "another", "version": 4}
    assert words(push(far)) == ["unchanged", "updated", *["unchanged"] * (len(UIDS) - 1)]
    assert far.boards[UIDS[0]]["dashboard"]["version"] == 5
    assert far.boards[UIDS[0]]["dashboard"]["title"] == "rungwatch: on call"


def test_one_in_another_folder_is_moved(far: Grafana) -> None:
    push(far)
    far.boards[UIDS[1]]["meta"]["folderUid"] = "elsewhere"
    assert words(push(far)).count("updated") == 1


def test_a_dry_run_only_reads(far: Grafana) -> None:
    assert words(push(far, "--dry-run")) == ["would be created"] * (1 + len(UIDS))
    assert {method for method, _ in far.asked} == {"GET"}
    assert (far.folders, far.boards) == ({}, {})


def test_json_for_a_machine(far: Grafana) -> None:
    import json

    document = json.loads(push(far, "--json", "--folder", "Ladders", "--folder-uid", "ladders").output)
    assert document["pushed"][0] == {"kind": "folder", "uid": "ladders", "did": "created"}
    assert [one["uid"] for one in document["pushed"][1:]] == UIDS


REFUSED = [
    ("401, a token that is wrong", {}, "wrong", 64, ["401", "token is not accepted", "Invalid API key"]),
    (
        "403, a token without the permission",
        {SAVE: (403, "application/json", '{"message": "Access denied"}')},
        TOKEN,
        64,
        ["dashboard rungwatch-oncall", "403", "permission", "Access denied"],
    ),
    (
        "404, no such interface there",
        {"POST /api/folders": (404, "application/json", NOT_FOUND)},
        TOKEN,
        64,
        ["folder rungwatch", "404", "is the URL that of Grafana"],
    ),
    ("a web page", {ONCALL: (200, "text/html", "<html></html>")}, TOKEN, 64, ["a web page came back"]),
    ("302, a redirect", {ONCALL: (302, "application/json", "{}")}, TOKEN, 1, ["302", "redirects"]),
    ("500", {SAVE: (500, "application/json", '{"message": "oops"}')}, TOKEN, 1, ["500", "in trouble", "oops"]),
    ("an answer that is no object", {ONCALL: (200, "application/json", "[]")}, TOKEN, 64, ["none of Grafana's"]),
]


@pytest.mark.parametrize(
    ("instead", "token", "code", "told"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED]
)
def test_a_refusal_is_told_in_words(
    far: Grafana, instead: dict[str, tuple[int, str, str]], token: str, code: int, told: list[str]
) -> None:
    far.instead = instead
    result = push(far, token=token)
    assert result.exit_code == code
    for text in told:
        assert text in result.output
    assert TOKEN not in result.output


def test_409_another_folder_has_the_name(far: Grafana) -> None:
    far.folders["other"] = "rungwatch"
    result = push(far)
    assert (result.exit_code, "409" in result.output, "--folder" in result.output) == (1, True, True)


def test_412_a_change_there_meanwhile_is_not_overwritten_unless_told(far: Grafana) -> None:
    push(far)
    kept = far.boards[UIDS[0]]
    shown = kept["dashboard"] | {"title": "seen", "version": 1}
    kept["dashboard"] |= {"title": "changed since", "version": 3}
    import json

    far.instead = {ONCALL: (200, "application/json", json.dumps({"dashboard": shown, "meta": kept["meta"]}))}
    result = push(far)
    assert (result.exit_code, "412" in result.output, "--overwrite" in result.output) == (1, True, True)
    assert kept["dashboard"]["title"] == "changed since"
    assert words(push(far, "--overwrite"))[1] == "updated"
    assert far.boards[UIDS[0]]["dashboard"]["title"] == "rungwatch: on call"


def test_412_another_dashboard_has_the_name(far: Grafana) -> None:
    push(far)
    taken = far.boards.pop(UIDS[2])
    far.boards["made-by-hand"] = taken
    result = push(far)
    assert (result.exit_code, "another dashboard in the folder has its name" in result.output) == (1, True)


def test_nobody_there() -> None:
    result = CliRunner().invoke(
        rungwatch, ["dashboards", "push", "--url", "http://127.0.0.1:1"], env={"GRAFANA_TOKEN": TOKEN}
    )
    assert (result.exit_code, "was not reached" in result.output) == (1, True)


@pytest.mark.parametrize(
    ("options", "token", "told"),
    [
        (["--url", "grafana:3000"], TOKEN, "--url"),
        (["--url", "http://127.0.0.1:1"], "", "GRAFANA_TOKEN holds no token"),
        (["--url", "http://127.0.0.1:1", "--token-env", "OTHER"], TOKEN, "OTHER holds no token"),
    ],
)
def test_usage(options: list[str], token: str, told: str) -> None:
    result = CliRunner().invoke(rungwatch, ["dashboards", "push", *options], env={"GRAFANA_TOKEN": token})
    assert (result.exit_code, told in result.output) == (64, True)
