"""Place: what names a store, and that no text of it holds a password."""

from pathlib import Path

import pytest

from decide.store.place import locate


def test_a_path_is_a_file_of_this_machine(tmp_path: Path) -> None:
    place = locate("some/store.db")
    assert place.path == Path("some/store.db").absolute()
    assert place.label == str(place.path)
    assert locate(tmp_path).path == tmp_path


@pytest.mark.parametrize(
    ("target", "label"),
    [
        ("postgresql://ada:s3cr3t@db.example:5433/rw", "postgresql://ada:***@db.example:5433/rw"),
        ("postgres://ada:s3cr3t@db.example/rw", "postgresql://ada:***@db.example/rw"),
        ("postgresql://ada@/rw?host=/run/pg", "postgresql://ada@/rw?host=%2Frun%2Fpg"),
        ("postgresql://db/rw?user=ada&password=s3cr3t", "postgresql://db/rw?password=***&user=ada"),
        ("postgresql://db/rw?sslpassword=s3cr3t", "postgresql://db/rw?sslpassword=***"),
    ],
)
def test_a_url_is_a_server_and_its_label_has_no_password(target: str, label: str) -> None:
    place = locate(target)
    assert place.path is None
    assert place.label == label
    assert "s3cr3t" not in repr(place)
    if "s3cr3t" in target:
        assert place.clean("FATAL: no entry for s3cr3t\nDETAIL: more") == "FATAL: no entry for ***"


@pytest.mark.parametrize("target", ["mysql://u:s3cr3t@h/d", "sqlite:///x.db", "postgresql://u:s3cr3t@h:port/d"])
def test_another_url_is_refused_without_its_password(target: str) -> None:
    with pytest.raises(ValueError, match="postgresql://") as caught:
        locate(target)
    assert "s3cr3t" not in str(caught.value)
