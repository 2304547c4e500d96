"""No JSON that a source can be given makes a seat available that the untouched input would not, or raises."""

import json
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from canary.sources import ccswitch, claude_swap, codex_auth, codex_sessions
from canary.sources.answer import Answer
from tests.canary.fakes import NOW
from tests.canary.sources.mutations import (
    availabilities,
    gained,
    mutants,
    mutated,
    nodes,
    replaced,
    text_of,
    truncated,
)
from tests.canary.sources.samples import FRESH, SAMPLES, Read, event, of_session, registry, swapped, switched

BARE = [pytest.param(*sample, id=name) for name, sample in SAMPLES.items()]


def judged(read: Read, document: dict[str, Any]) -> list[bool]:
    return availabilities(read(text_of(document).encode()))


@pytest.mark.parametrize(("read", "document"), BARE)
def test_a_sample_is_not_available_as_it_is(read: Read, document: dict[str, Any]) -> None:
    assert not all(judged(read, document))


@pytest.mark.parametrize(("read", "document"), BARE)
def test_no_single_mutation_makes_a_seat_available(read: Read, document: dict[str, Any]) -> None:
    before = judged(read, document)
    assert [what for what, mutant in mutants(document) if gained(before, read(text_of(mutant).encode()))] == []


@pytest.mark.parametrize(("read", "document"), BARE)
def test_no_truncation_makes_a_seat_available(read: Read, document: dict[str, Any]) -> None:
    before = judged(read, document)
    assert [text for text in truncated(text_of(document)) if gained(before, read(text.encode()))] == []


@pytest.mark.parametrize(("read", "document"), BARE)
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_no_run_of_mutations_makes_a_seat_available(
    read: Read, document: dict[str, Any], data: st.DataObject
) -> None:
    mutant = data.draw(mutated(document))
    assert not gained(judged(read, document), read(text_of(mutant).encode()))


@pytest.mark.parametrize("read", list(dict.fromkeys(read for read, _ in SAMPLES.values())))
@settings(max_examples=60, deadline=None)
@given(content=st.binary(max_size=64) | st.recursive(st.none() | st.booleans() | st.floats() | st.text(max_size=5), lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["windows", "rate_limits", "version", "accounts", "rows", "x"]), inner, max_size=3)).map(lambda value: json.dumps(value).encode()))  # fmt: skip
def test_no_bytes_raise_or_make_a_seat_available(read: Read, content: bytes) -> None:
    assert not any(availabilities(read(content)))


def lines(*events: dict[str, Any]) -> Iterator[str]:
    return (text_of(told) + "\n" for told in events)


def test_no_cut_in_its_last_line_brings_an_older_event_of_a_session_back() -> None:
    first, last = lines(event(3, at=FRESH - timedelta(minutes=1)), event(100))
    assert availabilities(of_session(first.encode()))[0]
    for cut in truncated(last.rstrip("\n")):
        if cut.strip():
            assert not any(availabilities(of_session((first + cut).encode()))), cut


def test_no_mutation_of_its_last_line_brings_an_older_event_of_a_session_back() -> None:
    older, last = event(3, at=FRESH - timedelta(minutes=1)), event(100)
    (first,) = lines(older)
    for what, mutant in mutants(last):
        assert not any(availabilities(of_session((first + text_of(mutant) + "\n").encode()))), what


ANSWERS: dict[str, tuple[Callable[[dict[str, Any]], Answer], dict[str, Any]]] = {
    "claude-swap": (
        lambda document: claude_swap.parse(document, claude_swap.Identity("a@example.test", "org-1"), NOW),
        swapped(),
    ),
    "ccswitch": (lambda document: ccswitch.parse(document, "work", NOW), switched()),
    "codex-auth": (
        lambda document: codex_auth.parse(document, codex_auth.Identity("acct-a", "user-a"), NOW),
        registry(),
    ),
    "codex-sessions": (
        lambda document: codex_sessions.conclude([text_of(document).encode()], NOW, since=None),
        event(3),
    ),
}


@pytest.mark.parametrize(("read", "document"), list(ANSWERS.values()), ids=list(ANSWERS))
def test_what_is_told_of_a_read_holds_nothing_of_what_was_read(
    read: Callable[[dict[str, Any]], Answer], document: dict[str, Any]
) -> None:
    for path, _ in nodes(document):
        step = read(replaced(document, path, "eyJ-SECRET")).step
        assert step
        assert not any(word in step for word in ("SECRET", "example.test", "acct-a", "user-a", "org-1")), path
