"""Link keys: one file that only its owner reads, made once whoever comes first, and turned without breaking links."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from canary.link_keys import keys, rotate
from decide.handoff.click import Click
from decide.handoff.link import KeysError, read, sign

NOW = datetime(2026, 10, 15, 12, 0, tzinfo=UTC)
CLICK = Click("c1", "t", "ada", "deploy", "deploy", "write", "a1", NOW, NOW + timedelta(minutes=10))


def test_keys_are_made_once_and_only_their_owner_reads_them(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "keys.json"
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: keys(path), range(32)))
    assert len({one.newest.kid for one in made}) == 1
    assert path.stat().st_mode & 0o777 == 0o600
    assert [one.name for one in path.parent.iterdir()] == ["keys.json"]


def test_a_link_outlives_the_turning_of_its_key(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    before = keys(path)
    token = sign(CLICK, before)
    after = rotate(path, NOW)
    assert after.newest.kid != before.newest.kid
    assert keys(path) == after
    assert read(token, keys(path), NOW).click_id == "c1"
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("content", [b"", b"{}", b"\xff", b'{"schema": "rungwatch.link-keys/1", "keys": []}'])
def test_a_file_that_holds_no_keys_is_told_and_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "keys.json"
    path.write_bytes(content)
    with pytest.raises(KeysError, match="keys"):
        keys(path)
    assert path.read_bytes() == content


def test_a_place_that_cannot_hold_them_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(KeysError, match="cannot be"):
        keys(tmp_path / "file" / "keys.json")
