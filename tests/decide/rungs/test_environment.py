"""environment: the allow-list lets nothing through that could replace a seat, and the folder does not stay."""

from pathlib import Path

import pytest

from decide.rungs.environment import passed, scratch


@pytest.mark.parametrize(
    "family", ["ANTHROPIC_", "OPENAI_", "CLAUDE_", "CLAUDE_CODE_", "AWS_", "GOOGLE_", "NODE_OPTIONS"]
)
def test_a_variable_that_could_replace_a_seat_stays_out(family: str) -> None:
    assert passed({f"{family}API_KEY": "x", family: "x", "PATH": "/bin"}) == {"PATH": "/bin"}


def test_of_codex_the_certificate_alone_gets_through() -> None:
    names = ("CODEX_HOME", "CODEX_API_KEY", "CODEX_ACCESS_TOKEN", "CODEX_CA_CERTIFICATE")
    assert set(passed(dict.fromkeys(names, "x"))) == {"CODEX_CA_CERTIFICATE"}


def test_the_folder_is_private_and_goes_with_all_in_it(tmp_path: Path) -> None:
    def used() -> None:
        with scratch({"TMPDIR": str(tmp_path)}) as folder:
            assert [(one, one.stat().st_mode & 0o777) for one in tmp_path.iterdir()] == [(folder, 0o700)]
            (folder / "inner").mkdir()
            raise RuntimeError

    with pytest.raises(RuntimeError):
        used()
    assert list(tmp_path.iterdir()) == []


def test_the_folder_is_named_without_a_link_on_the_way(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    with scratch({"TMPDIR": str(tmp_path / "link")}) as folder:
        assert folder.parent == (tmp_path / "real").resolve()
    assert list((tmp_path / "real").iterdir()) == []
