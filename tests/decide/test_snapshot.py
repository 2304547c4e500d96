"""Snapshot: one digest of exactly the evidence that was read, and cuts that stay within their budget."""

import hashlib
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decide.snapshot import Cut, Evidence, Snapshot, SourceKind, cut, dump, load

LOG = Evidence(SourceKind.FILE, "app.log", "error at 14:26", "cut at 1 MB")
NOTE = Evidence(SourceKind.TEXT, "note", "the seat is capped")
BOTH = Snapshot((LOG, NOTE))


def test_the_canonical_form_of_a_snapshot_stays_as_it_is() -> None:
    """Changing this changes every digest."""

    def sha(text: str) -> str:
        return "sha256:" + hashlib.sha256(text.encode()).hexdigest()

    assert LOG.digest == sha("error at 14:26")
    canonical = f'[["file","app.log","cut at 1 MB","{sha("error at 14:26")}"],["text","note","","{sha("the seat is capped")}"]]'
    assert BOTH.digest == sha(canonical)
    assert Snapshot().digest == sha("[]") == "sha256:4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945"


OTHER = [
    Snapshot((NOTE, LOG)),
    Snapshot((LOG,)),
    Snapshot((LOG, NOTE, NOTE)),
    *(
        Snapshot((replace(LOG, **change), NOTE))
        for change in (
            {"text": "error at 14:26 "},
            {"text": ""},
            {"name": "app.log "},
            {"note": ""},
            {"kind": SourceKind.URL},
            {"name": "app.log\x00", "note": ""},
            {"text": "\\ud800"},
            {"text": "\ud800"},
            {"text": "\udcff"},
        )
    ),
]


def test_any_other_evidence_has_another_digest() -> None:
    digests = [BOTH.digest, *(other.digest for other in OTHER)]
    assert len(set(digests)) == len(digests)


kinds = st.sampled_from(SourceKind)
items = st.lists(
    st.builds(Evidence, kinds, st.text(max_size=9), st.text(max_size=40), st.text(max_size=9)), max_size=5
)
snapshots = items.map(tuple).map(Snapshot)


@given(snapshots)
def test_what_was_dumped_loads_as_it_was(snapshot: Snapshot) -> None:
    again = load(dump(snapshot))
    assert again == snapshot
    assert again.digest == snapshot.digest
    assert dump(snapshot).isascii()


@pytest.mark.parametrize(
    "text",
    ["", "no json", "5", "[1]", '{"a": 1}', '[{"kind": "text"}]', '[{"kind":"none","name":"","text":"","note":""}]', "null"],
)  # fmt: skip
def test_another_text_is_no_snapshot(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        load(text)


def lengths(*sizes: int) -> Snapshot:
    return Snapshot(tuple(Evidence(SourceKind.TEXT, f"e{n}", "x" * size) for n, size in enumerate(sizes)))


CUTS: list[tuple[tuple[int, ...], int | None, tuple[int, ...]]] = [
    # lengths, budget, what is kept
    ((), 0, ()),
    ((5, 5), None, (5, 5)),
    ((5, 5), 10, (5, 5)),
    ((5, 5), 9, (4, 5)),
    ((10, 10), 10, (5, 5)),
    ((1, 100), 10, (1, 9)),
    ((100, 1), 10, (9, 1)),
    ((100, 3, 100), 13, (5, 3, 5)),
    ((2, 4, 100), 12, (2, 4, 6)),
    ((100,), 7, (7,)),
    ((5, 0, 5), 4, (2, 0, 2)),
    ((5, 5), 0, (0, 0)),
]


@pytest.mark.parametrize(("sizes", "budget", "kept"), CUTS)
def test_a_budget_is_shared_evenly_and_what_short_pieces_leave_goes_to_the_others(
    sizes: tuple[int, ...], budget: int | None, kept: tuple[int, ...]
) -> None:
    snapshot = lengths(*sizes)
    items, cuts = cut(snapshot, budget)
    assert tuple(len(item.text) for item in items) == kept
    assert cuts == tuple(
        Cut(f"e{n}", keeps, size) for n, (size, keeps) in enumerate(zip(sizes, kept, strict=True)) if keeps < size
    )


@given(snapshots, st.none() | st.integers(0, 120))
def test_a_cut_keeps_beginnings_within_the_budget_and_records_every_loss(
    snapshot: Snapshot, budget: int | None
) -> None:
    kept, cuts = cut(snapshot, budget)
    total = sum(len(item.text) for item in snapshot.items)
    pairs = list(zip(snapshot.items, kept, strict=True))
    assert sum(len(item.text) for item in kept) == (total if budget is None else min(total, budget))
    assert all(whole.text.startswith(part.text) for whole, part in pairs)
    assert all(replace(part, text=whole.text) == whole for whole, part in pairs)
    lost = [Cut(whole.name, len(part.text), len(whole.text)) for whole, part in pairs if whole != part]
    assert list(cuts) == lost
