"""feed: what is kept of a status line's input, for how long, and how fast."""

import hashlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canary import feed

LIMITS = {
    "five_hour": {"used_percentage": 23.5, "resets_at": 1792069200},
    "seven_day": {"used_percentage": 41.2, "resets_at": 1792500000},
}


CLOCK = time.strftime("%H:%M", time.localtime(1792069200))


def report(limits: Any = LIMITS, session: str = "a", api_ms: int = 1, **changes: Any) -> dict[str, Any]:
    return {
        "session_id": session,
        "cwd": "/home/jo/SECRET-project",
        "transcript_path": "/home/jo/.claude/projects/SECRET.jsonl",
        "email": "jo@example.test",
        "version": "2.1.90",
        "model": {"id": "claude-opus-4-8", "display_name": "Opus 4.8"},
        "cost": {"total_cost_usd": 1.0, "total_duration_ms": 5, "total_api_duration_ms": api_ms},
        "rate_limits": limits,
        **changes,
    }


def kept(*reports: tuple[float, dict[str, Any]], account: str = "") -> dict[str, Any]:
    """The feed after reports at their times."""
    document: dict[str, Any] = {}
    for at, told in reports:
        document = feed.merge(document, told, at=at, account=account) or document
    return document


def windows(document: feed.Json) -> dict[str, Any]:
    block = document["windows"]
    assert isinstance(block, dict)
    return block


def test_windows_and_the_time_of_their_receipt_are_kept() -> None:
    assert kept((100.0, report()))["windows"] == {name: window | {"at": 100.0} for name, window in LIMITS.items()}


@pytest.mark.parametrize("limits", [None, {}, {"five_hour": None}])
def test_a_report_without_windows_keeps_nothing_and_erases_nothing(limits: Any) -> None:
    assert feed.merge(kept((1.0, report())), report(limits, api_ms=2), at=2.0) is None


def test_a_window_that_is_left_out_is_kept_with_its_own_time() -> None:
    document = kept((1.0, report()), (2.0, report({"five_hour": {"used_percentage": 30}}, api_ms=2)))
    assert {name: window["at"] for name, window in document["windows"].items()} == {
        "seven_day": 1.0,
        "five_hour": 2.0,
    }


def test_a_line_that_is_drawn_again_does_not_renew_an_old_reply() -> None:
    """claude-swap#376: an old share was shown as current."""
    document = kept((1.0, report()))
    assert feed.merge(document, report(), at=5000.0) is None
    renewed = feed.merge(document, report(api_ms=2), at=5000.0)
    assert renewed is not None
    assert windows(renewed)["five_hour"] == {**LIMITS["five_hour"], "at": 5000.0}


def test_an_idle_session_does_not_bring_its_old_windows_back() -> None:
    old = {"five_hour": {"used_percentage": 1, "resets_at": 1792069200}}
    document = kept((1.0, report(old, "idle")), (2.0, report(session="busy")), (3.0, report(old, "idle")))
    assert document["windows"]["five_hour"]["used_percentage"] == 23.5


def test_sessions_and_windows_are_bounded() -> None:
    document = kept(*((float(place), report(session=str(place))) for place in range(200)))
    assert len(document["sessions"]) == feed.SESSIONS_KEPT
    many = {f"window_{place}": {"used_percentage": 1} for place in range(200)}
    assert len(kept((1.0, report(many)))["windows"]) == feed.WINDOWS_KEPT


def test_a_malformed_window_is_kept_as_one_until_a_good_report() -> None:
    document = kept((1.0, report({"five_hour": {"used_percentage": "eyJ-SECRET"}, "zz": [1]})))
    assert document["windows"] == {
        "five_hour": {"used_percentage": [], "at": 1.0},
        "zz": {"used_percentage": [], "at": 1.0},
    }
    after = feed.merge(document, report(api_ms=2), at=2.0)
    assert after is not None
    assert set(windows(after)) == {"five_hour", "seven_day"}


def test_another_accounts_windows_are_forgotten() -> None:
    only = report({"five_hour": {"used_percentage": 2}}, api_ms=2)
    document = feed.merge(kept((1.0, report()), account="one"), only, at=2.0, account="two")
    assert document is not None
    assert (document["account"], list(windows(document))) == ("two", ["five_hour"])


json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
documents = st.dictionaries(
    st.sampled_from(["version", "windows", "sessions", "account", "rate_limits", "model", "cost", "session_id"]),
    json_values,
)


@given(documents, documents)
def test_no_document_raises(before: dict[str, Any], told: dict[str, Any]) -> None:
    json.dumps(feed.merge(before, told, at=1.0))
    feed.status_line(told).encode()


@given(st.binary(max_size=80))
def test_no_bytes_raise(content: bytes) -> None:
    feed.receive(content, feeds="/dev/null/feeds", config_dir="/nowhere", at=1.0)


@pytest.mark.parametrize(
    ("told", "line"),
    [
        (report(), f"Opus 4.8 5h 24% ↻{CLOCK} · 7d 41%"),
        (report({"seven_day": {"used_percentage": 41.2}}), "Opus 4.8 7d 41%"),
        (
            report({"five_hour": {"used_percentage": 0.4, "resets_at": "2026-10-15T13:00:00Z"}}),
            f"Opus 4.8 5h 0% ↻{CLOCK}",
        ),
        (report({"five_hour": {"used_percentage": 5, "resets_at": "soon"}}), "Opus 4.8 5h"),
        (report(None), "Opus 4.8"),
        (report([], model="x"), "rungwatch"),
        (report(None, model={"display_name": "\x1b[31mred\x07\n"}), "[31mred"),
        (report({"five_hour": {"used_percentage": 10**400}}), "Opus 4.8 5h"),
        ({}, "rungwatch"),
    ],
)
def test_the_line(told: dict[str, Any], line: str) -> None:
    assert feed.status_line(told) == line


def test_writer_and_reader_share_the_files_name(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.mkdir()
    link.symlink_to(real)
    name = hashlib.sha256(str(real.resolve()).encode()).hexdigest()[:16] + ".json"
    assert feed.feed_file(tmp_path, real) == feed.feed_file(str(tmp_path), str(link)) == str(tmp_path / name)


def test_the_configuration_folder() -> None:
    assert feed.config_folder({"CLAUDE_CONFIG_DIR": "/x"}) == "/x"
    assert feed.config_folder({"CLAUDE_CONFIG_DIR": ""}) == os.path.expanduser("~/.claude")
    assert feed.config_folder({"CLAUDE_CONFIG_DIR": "/x"}, "~/y") == os.path.expanduser("~/y")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('[state]\ndir = "~/kept"\n', "kept"),
        ("[state]\n", ".local/state/rungwatch"),
        ("[state", ".local/state/rungwatch"),
        ("[state]\ndir = 5\n", ".local/state/rungwatch"),
        ("[ladder]\n", ".local/state/rungwatch"),
    ],
)
def test_the_state_folder_is_that_of_the_configuration(home: Path, text: str, expected: str) -> None:
    path = home / ".config" / "rungwatch" / "rungwatch.toml"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    assert feed.state_folder({}) == str(home / expected)
    assert feed.state_folder({"RUNGWATCH_STATE_DIR": "/y"}) == "/y"
    assert feed.state_folder({"RUNGWATCH_STATE_DIR": "/y"}, "/z") == "/z"
    assert feed.state_folder({"XDG_STATE_HOME": "/x", "XDG_CONFIG_HOME": "/none"}) == "/x/rungwatch"


@pytest.mark.parametrize(
    ("content", "known"),
    [
        ('{"projects": {}, "oauthAccount": {"accountUuid": "a", "organizationUuid": "o"}, "zz": 1}', True),
        ('{"oauthAccount": {"accountUuid": "a", "organizationUuid": "o"}', True),
        ('{"oauthAccount": {"emailAddress": "jo@example.test"}}', False),
        ('{"oauthAccount": {"accountUuid": "a"', False),
        ('{"note": "\\"oauthAccount\\": {"}', False),
        ("", False),
    ],
)
def test_the_account_is_told_by_its_ids_and_kept_as_a_digest(tmp_path: Path, content: str, known: bool) -> None:
    (tmp_path / ".claude.json").write_text(content)
    found = feed.account_of(tmp_path)
    assert (found == feed.digest(["a", "o"])) is known
    assert bool(found) is known


def test_the_account_of_the_usual_folder_stands_beside_it(tmp_path: Path) -> None:
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude.json").write_text('{"oauthAccount": {"accountUuid": "a", "organizationUuid": "o"}}')
    assert feed.account_of(tmp_path / ".claude") == feed.digest(["a", "o"])


def test_nothing_but_windows_and_times_is_stored_and_only_for_its_user(tmp_path: Path) -> None:
    feeds = tmp_path / "state" / "feeds"
    content = json.dumps(report(LIMITS | {"jo@example.test": {"used_percentage": 1, "note": "SECRET"}})).encode()
    assert feed.receive(content, feeds=str(feeds), config_dir=str(tmp_path), at=1.0)[1] == ""
    (path,) = feeds.iterdir()
    text = path.read_text()
    assert not any(word in text for word in ("SECRET", "jo", "example", "home", "cwd", "Opus", '"a"'))
    assert (path.stat().st_mode & 0o777, feeds.stat().st_mode & 0o777) == (0o600, 0o700)


def test_a_broken_stored_feed_is_replaced(tmp_path: Path) -> None:
    path = Path(feed.feed_file(tmp_path, tmp_path))
    path.write_text('{"version": 1, "windows"')
    assert feed.receive(json.dumps(report()).encode(), feeds=str(tmp_path), config_dir=str(tmp_path), at=1.0)[1] == ""
    assert set(json.loads(path.read_text())["windows"]) == {"five_hour", "seven_day"}


def test_a_folder_that_cannot_be_written_costs_a_line_and_not_the_status_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    told = feed.receive(json.dumps(report()).encode(), feeds=str(tmp_path / "file"), config_dir=str(tmp_path), at=1.0)
    assert told[0].startswith("Opus 4.8 5h")
    assert "could not be kept" in told[1]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], {}),
        (["--state-dir", "x", "--config-dir=y"], {"--state-dir": "x", "--config-dir": "y"}),
        (["--help"], None),
        (["--state-dir"], None),
        (["x"], None),
    ],
)
def test_options_of_the_fast_way_in(words: list[str], expected: dict[str, str] | None) -> None:
    assert feed.options(words) == expected


def test_the_fast_way_in_imports_the_standard_library_only(tmp_path: Path) -> None:
    code = (
        "import sys; before = set(sys.modules); import canary.feed as feed; code = feed.main();"
        "new = {name.partition('.')[0] for name in set(sys.modules) - before} - {'canary'};"
        "sys.exit(code or sorted(new - sys.stdlib_module_names) or sorted(new & {'pathlib', 'typing', 'asyncio'}) or 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "feed", "--state-dir", str(tmp_path)],
        input=json.dumps(report()).encode(),
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr, done.stdout[:13]) == (0, b"", b"Opus 4.8 5h 2")
