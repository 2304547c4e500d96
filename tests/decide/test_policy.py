"""The policy as a file: the defaults, a file of one's own, and each fault named with file, row and field."""

from pathlib import Path

import pytest

from decide.gate import Stage, fired, touched
from decide.policy import PolicyError, default_rows, load_rows

ROW = '[[row]]\nid = "own"\nstage = "class"\nmeans = "m"\nremedy = "r"\nfires = ["red button"]\n'
OPTIONS: tuple[tuple[str, str, tuple[str, ...]], ...] = (("a", "yes", ()), ("b", "no", ()))


def test_the_default_rows() -> None:
    assert {row.id: row.stage for row in default_rows()} == {
        "post_as_person": Stage.AUTHORITY,
        "production_write": Stage.AUTHORITY,
        "spend_money": Stage.AUTHORITY,
        "promise_to_person": Stage.AUTHORITY,
        "others_credentials": Stage.AUTHORITY,
        "money": Stage.CLASS,
        "commitment": Stage.CLASS,
    }


def test_every_default_row_says_what_to_do_and_has_acts_of_its_own() -> None:
    acts = [act for row in default_rows() for act in (row.id, *row.acts)]
    assert len(set(acts)) == len(acts)
    assert all(row.means.endswith(".") and row.remedy.endswith(".") and row.acts for row in default_rows())


def test_the_defaults_are_read_once() -> None:
    assert default_rows() is default_rows()


def kept(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_of_ones_own_is_all_there_is(tmp_path: Path) -> None:
    (row,) = load_rows(kept(tmp_path / "gate.toml", ROW))
    assert (row.id, row.stage) == ("own", Stage.CLASS)
    assert [hit.text for hit in fired([row], question="Press the red button?", options=OPTIONS)] == ["red button?"]


def test_a_file_may_add_to_the_defaults(tmp_path: Path) -> None:
    rows = load_rows(kept(tmp_path / "gate.toml", 'base = "default"\n' + ROW))
    assert [row.id for row in rows] == [*(row.id for row in default_rows()), "own"]


def test_a_row_takes_the_place_of_the_default_one_with_its_id(tmp_path: Path) -> None:
    own = ROW.replace('"own"', '"money"').replace('"m"', '"ours"')
    rows = load_rows(kept(tmp_path / "gate.toml", 'base = "default"\n' + own))
    assert [row.means for row in rows if row.id == "money"] == ["ours"]
    assert len(rows) == len(default_rows())


def test_what_a_row_does_not_name_stays_as_it_is_in_the_default_one(tmp_path: Path) -> None:
    text = 'base = "default"\n[[row]]\nid = "money"\ncaution = 0.3\n[[row]]\nid = "commitment"\nhints = false\n'
    own = {row.id: row for row in load_rows(kept(tmp_path / "gate.toml", text))}
    default = {row.id: row for row in default_rows()}
    assert own["money"].caution == 0.3
    assert own["money"].rules == default["money"].rules
    assert (own["money"].hints is not None, own["commitment"].hints) == (True, None)


def test_the_hints_know_the_default_rows_and_no_others(tmp_path: Path) -> None:
    assert all(row.hints and row.id in row.hints.rows for row in default_rows())
    rows = load_rows(kept(tmp_path / "gate.toml", 'base = "default"\n' + ROW))
    assert [row.id for row in rows if row.hints is None] == ["own"]
    (money,) = load_rows(kept(tmp_path / "own.toml", ROW.replace('"own"', '"money"')))
    assert money.hints is None


def test_words_and_innocent_phrases_are_added_to_those_of_the_defaults(tmp_path: Path) -> None:
    question = "Change the live site?"
    assert "production_write" in {hit.row.id for hit in fired(default_rows(), question=question, options=OPTIONS)}
    text = 'base = "default"\ninnocent = ["live site"]\n[words]\nchanging = ["blorbo"]\nnew = ["x"]\n'
    rows = load_rows(kept(tmp_path / "gate.toml", text))
    assert "production_write" not in {hit.row.id for hit in fired(rows, question=question, options=OPTIONS)}
    assert rows[0].lexicon.read("error budget").has("innocent")
    assert rows[0].lexicon.read("blorbo").has("changing")
    assert rows[0].lexicon.read("deploy").has("changing")
    assert rows[0].lexicon.kinds["blorbo"] == ("changing",)


def test_a_row_without_rules_fires_on_acts_alone(tmp_path: Path) -> None:
    rows = load_rows(kept(tmp_path / "gate.toml", ROW.replace('fires = ["red button"]', 'acts = ["press"]')))
    assert fired(rows, question="Press the red button?", options=OPTIONS) == ()
    assert [hit.row.id for hit in touched(rows, ["Press"])] == ["own"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "row: one or more tables"),
        ("row = 3", "row: one or more tables"),
        ("nonsense", "Expected"),
        ("colour = 3\n" + ROW, "'colour' is not known; allowed are base, innocent, words, row"),
        ('base = "other"\n' + ROW, 'base: "default" or "none", not \'other\''),
        ('base = "default"\nwords = 3\n', "words: a table, not 3"),
        ('base = "default"\nrow = 3\n', "row: a list, not 3"),
        (ROW.replace('id = "own"\n', ""), "row 1: id: a text that is not empty, not None"),
        (ROW.replace('"class"', '"klass"'), "row 'own': stage: one of authority, class, not 'klass'"),
        (ROW.replace('"m"', '" "'), "row 'own': means: a text that is not empty"),
        (ROW.replace('remedy = "r"\n', ""), "row 'own': remedy: a text"),
        (ROW.replace('["red button"]', '"red"'), "row 'own': fires: a list of phrases and rules"),
        (ROW.replace('["red button"]', "[3]"), "row 'own': fires: rule 1: a phrase or a table, not 3"),
        (ROW.replace('["red button"]', "[{}]"), "row 'own': fires: rule 1: find: at least one phrase"),
        (ROW.replace('["red button"]', '[{ find = ["@no"] }]'), "row 'own': fires: rule 1: find: no list '@no'"),
        (ROW.replace('["red button"]', '[{ find = ["a .."] }]'), "row 'own': fires: rule 1: find: 'a ..' is not a"),
        (
            ROW.replace('["red button"]', '["a", { find = ["b"], within = -1 }]'),
            "row 'own': fires: rule 2: within: a number of words from 0 to 1000, not -1",
        ),
        (
            ROW.replace('["red button"]', '[{ find = ["b"], near = 3 }]'),
            "'near' is not known; allowed are find, within, unless, given, never",
        ),
        (ROW + 'acts = "buy"\n', "row 'own': acts: a list of texts"),
        (ROW + "hints = 3\n", "row 'own': hints: true or false"),
        (ROW + "hints = true\n", "true only for a default row on base default, not True"),
        (ROW + 'caution = "much"\n', "row 'own': caution: a number from -9 to 9, not 'much'"),
        (ROW + "caution = nan\n", "row 'own': caution: a number from -9 to 9, not nan"),
        (ROW + 'colour = "red"\n', "row 'own': 'colour' is not known; allowed are id, stage, means, remedy, acts"),
        (ROW + ROW, "row 'own': id: more than one row has it"),
        (ROW + ROW.replace('"own"', '"Own"'), "id: more than one row has it"),
        ("words = 3\n" + ROW, "words: a table of word lists, not 3"),
        (ROW + '[words]\na = ["x ..99 y"]\n', "words.a: '..99': a gap is 1 to 12 words"),
        (ROW + '[words]\na = ["@b"]\n', "words: list 'a' names 'b'"),
        ("innocent = 3\n" + ROW, "innocent: a list of texts"),
    ],
)
def test_a_fault_is_named_with_file_row_and_field(tmp_path: Path, text: str, told: str) -> None:
    path = kept(tmp_path / "gate.toml", text)
    with pytest.raises(PolicyError) as wrong:
        load_rows(path)
    assert str(wrong.value).startswith(f"{path}: ")
    assert told in str(wrong.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match=r"gate\.toml: No such file or directory"):
        load_rows(tmp_path / "gate.toml")


def test_a_file_that_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "gate.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(PolicyError, match=r"gate\.toml: .*utf-8"):
        load_rows(tmp_path / "gate.toml")
