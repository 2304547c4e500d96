"""Discovery finds the logins of a home by looking, and for a vendor without one the folder where it would be."""

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from canary.discover import Found, discover
from tests.canary.cli.logins import claude_login, codex_login

NOW = datetime.now(UTC)


def told(found: tuple[Found, ...], home: Path) -> list[tuple[str, str, str, bool, bool]]:
    """Each as (kind, folder, name, whether it is the usual folder, whether it holds a login)."""
    return [(each.kind, os.path.relpath(each.folder, home), each.name, each.usual, not each.absent) for each in found]


def test_an_empty_home_has_the_usual_folders_without_logins(tmp_path: Path) -> None:
    assert told(discover({}, tmp_path, NOW), tmp_path) == [
        ("claude", ".claude", "main", True, False),
        ("codex", ".codex", "main", True, False),
    ]


def test_usual_folders_and_siblings(tmp_path: Path) -> None:
    for name in (".claude", ".claude-work", ".claude-b"):
        claude_login(tmp_path / name)
    (tmp_path / ".claude-backup").mkdir()
    (tmp_path / ".claude-file").touch()
    codex_login(tmp_path / ".codex-team")
    assert told(discover({}, tmp_path, NOW), tmp_path) == [
        ("claude", ".claude", "main", True, True),
        ("claude", ".claude-b", "b", False, True),
        ("claude", ".claude-work", "work", False, True),
        ("codex", ".codex-team", "team", False, True),
    ]


def test_variables_come_first(tmp_path: Path) -> None:
    claude_login(tmp_path / "elsewhere" / ".claude")
    claude_login(tmp_path / ".claude")
    codex_login(tmp_path / "codex")
    environ = {"CLAUDE_CONFIG_DIR": str(tmp_path / "elsewhere" / ".claude"), "CODEX_HOME": "~/codex"}
    assert told(discover(environ, tmp_path, NOW), tmp_path) == [
        ("claude", "elsewhere/.claude", "main", False, True),
        ("claude", ".claude", "seat-1", True, True),
        ("codex", "codex", "codex", False, True),
    ]


def test_a_variable_that_names_no_login_is_where_it_would_be(tmp_path: Path) -> None:
    found = discover({"CODEX_HOME": str(tmp_path / "gone"), "CLAUDE_CONFIG_DIR": ""}, tmp_path, NOW)
    assert told(found, tmp_path)[1] == ("codex", "gone", "gone", False, False)
    assert found[1].absent == f"{tmp_path / 'gone' / 'auth.json'} does not exist"


def test_one_folder_under_two_names_is_one_seat(tmp_path: Path) -> None:
    claude_login(tmp_path / ".claude")
    (tmp_path / ".claude-link").symlink_to(tmp_path / ".claude")
    assert len([each for each in discover({}, tmp_path, NOW) if each.kind == "claude"]) == 1


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "does not hold a JSON object"),
        ("{", "does not hold a JSON object"),
        ("{}", "holds no login"),
        ('{"mcpOAuth": {"x": {"accessToken": "t"}}}', "holds no login"),
    ],
)
def test_a_file_without_a_login_is_none(tmp_path: Path, text: str, why: str) -> None:
    path = tmp_path / ".claude" / ".credentials.json"
    path.parent.mkdir()
    path.write_text(text, encoding="utf-8")
    assert discover({}, tmp_path, NOW)[0].absent == f"{path} {why}"


def test_names_are_fit_to_be_labels(tmp_path: Path) -> None:
    for name in (".claude-me@example.com", ".claude-you@example.com", ".claude-seat-1"):
        claude_login(tmp_path / name)
    assert [each.name for each in discover({}, tmp_path, NOW)[:3]] == ["seat-1", "seat-2", "seat-3"]
