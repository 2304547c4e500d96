"""client: what programs have in common: their lines, how they fail to end, and their prices."""

import errno
from decimal import Decimal
from typing import Any

import pytest

from decide.reply import Failure
from decide.rungs.client import ended, events, last_line
from decide.rungs.cost import stated
from decide.rungs.process import Finished


@pytest.mark.parametrize(
    ("done", "failure", "billed"),
    [
        (Finished(None, errno=errno.ENOENT), Failure.NOT_INSTALLED, False),
        (Finished(None, errno=errno.EACCES), Failure.NOT_INSTALLED, False),
        (Finished(None, errno=errno.ENOEXEC), Failure.NOT_INSTALLED, False),
        (Finished(None, errno=errno.E2BIG), Failure.CLIENT_ERROR, False),
        (Finished(None, errno=-1), Failure.CLIENT_ERROR, False),
        (Finished(None), Failure.CLIENT_ERROR, True),
        (Finished(None, timed_out=True), Failure.TIMEOUT, True),
        (Finished(-15, timed_out=True), Failure.TIMEOUT, True),
        (Finished(-15, truncated=True), Failure.CLIENT_ERROR, True),
    ],
)
def test_a_program_that_never_came_to_its_end(done: Finished, failure: Failure, billed: bool) -> None:
    reply = ended(done)
    assert reply is not None
    assert reply.trouble is not None
    assert (reply.trouble.failure, reply.trouble.billed) == (failure, billed)
    assert reply.trouble.detail


def test_one_that_did() -> None:
    assert ended(Finished(0)) is None
    assert ended(Finished(3)) is None


def test_the_events_between_other_lines() -> None:
    output = b'\xef\xbb\xbfWarning\n{"type": "a", "n": 0.1}\n[1]\n{"type": 3}\n{"n": 1}\n{broken\n \t{"type": "b"}'
    assert list(events(output)) == [{"type": "a", "n": Decimal("0.1")}, {"type": "b"}]


def test_the_line_that_says_why() -> None:
    assert last_line(b"note\nError: why\nmore\n\n") == "Error: why"
    assert last_line(b"note\nmore\n\n") == "more"
    assert last_line(b"") == ""


@pytest.mark.parametrize(
    ("amount", "micro"),
    [
        ("0.0123456", 12346),
        (Decimal("0.0014500000000000001"), 1450),
        (Decimal("0.0000001"), 1),
        (0, 0),
        (2, 2_000_000),
        ("-1", None),
        ("NaN", None),
        (Decimal("1e30"), None),
        (True, None),
        (None, None),
        ([], None),
    ],
)
def test_a_price_is_exact_or_none(amount: Any, micro: int | None) -> None:
    assert stated(amount) == micro
