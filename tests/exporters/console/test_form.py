"""A form is taken from a page of ours alone, whole, and within bounds."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporters.console.form import FIELDS, LIMIT, TYPE, check_token, form_token, from_us
from exporters.console.problem import ProblemError
from tests.exporters.console.fakes import FakeDesk
from tests.exporters.console.world import KEY, application, connected, desk, form

HOST = "localhost:9477"
SENT: list[tuple[str | None, str | None, bool]] = [
    ("same-origin", None, True),
    ("same-origin", "null", True),  # what a browser sends with our referrer policy
    ("none", None, True),
    ("same-site", f"http://{HOST}", False),
    ("cross-site", None, False),
    ("cross-site", f"http://{HOST}", False),
    ("", None, False),
    (None, f"http://{HOST}", True),
    (None, f"https://{HOST.upper()}", True),
    (None, "http://localhost:9478", False),
    (None, "http://evil.example", False),
    (None, "http://evil.example/localhost:9477", False),
    (None, "", False),
    (None, "null", True),  # the token decides
    (None, None, True),  # a program: the token decides
]


@pytest.mark.parametrize(("site", "origin", "ours"), SENT)
def test_who_may_have_sent_it(site: str | None, origin: str | None, ours: bool) -> None:
    assert from_us(site, origin, HOST) is ours


@given(st.text(max_size=20), st.text(max_size=20), st.text(max_size=70))
def test_a_token_is_good_for_one_person_and_one_key(person: str, other: str, guess: str) -> None:
    token = form_token(KEY, person)
    check_token({"form": token}, KEY, person)
    for wrong, key, name in ((guess, KEY, person), (token, b"another key", person), (token, KEY, other + "x")):
        if name != person or key != KEY or wrong != token:
            with pytest.raises(ProblemError):
                check_token({"form": wrong}, key, name)


ANSWER = "/queue/r-policy/answer"


async def untouched(made: FakeDesk) -> bool:
    """Whether the entry still waits."""
    return (await made.handoff.entry("r-policy")).answer is None


BODIES: dict[str, tuple[bytes | str, str, int]] = {
    "another type": ('{"option": "wait"}', "application/json", 415),
    "several parts": ("--x--", "multipart/form-data; boundary=x", 415),
    "no type": ("option=wait", "", 415),
    "too large": ("text=" + "x" * LIMIT, TYPE, 413),
    "too many fields": ("&".join(f"a{n}=1" for n in range(FIELDS + 1)), TYPE, 400),
    "no UTF-8": (b"option=\xff", TYPE, 400),
    "escapes that are no UTF-8": ("option=%ff", TYPE, 400),
    "a field twice": ("option=wait&option=restart", TYPE, 400),
    "a NUL": ("text=a%00b", TYPE, 422),
    "no token": ("option=wait", TYPE, 403),
    "the token of another": (f"option=wait&form={form_token(KEY, 'bo')}", TYPE, 403),
    "a token of before a restart": (f"option=wait&form={form_token(b'old', 'ana')}", TYPE, 403),
}


@pytest.mark.parametrize("fault", BODIES)
async def test_what_is_no_form_of_ours_changes_nothing(fault: str) -> None:
    body, kind, status = BODIES[fault]
    made = await desk()
    async with connected(application(made), headers={"accept": "application/json"}) as client:
        answer = await client.post(ANSWER, content=body, headers={"content-type": kind} if kind else {})
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["status"] == status
    assert await untouched(made)


async def test_a_body_without_end_is_cut_off_while_it_is_read() -> None:
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        while sent < 100 * LIMIT:
            sent += 1024
            yield b"x" * 1024

    made = await desk()
    async with connected(application(made)) as client:
        answer = await client.post(ANSWER, content=endless(), headers={"content-type": TYPE})
    assert answer.status_code == 413
    assert await untouched(made)


@pytest.mark.parametrize(
    "headers",
    [
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"origin": "http://evil.example"},
        {"origin": "http://[evil"},
    ],
)
async def test_another_site_is_turned_away_even_with_a_token(headers: dict[str, str]) -> None:
    made = await desk()
    async with connected(application(made)) as client:
        answer = await client.post(ANSWER, data=form(option="wait"), headers=headers)
    assert answer.status_code == 403
    assert await untouched(made)


@pytest.mark.parametrize(
    "headers", [{}, {"sec-fetch-site": "same-origin", "origin": "null"}, {"origin": "http://localhost"}]
)
async def test_a_form_of_ours_is_taken(headers: dict[str, str]) -> None:
    made = await desk()
    async with connected(application(made)) as client:
        answer = await client.post(ANSWER, data=form(option="wait"), headers=headers)
    assert (answer.status_code, answer.headers["location"]) == (303, "/queue/r-policy")
    assert not await untouched(made)


async def test_a_body_that_breaks_off_changes_nothing() -> None:
    made, told = await desk(), []
    messages = iter(
        [{"type": "http.request", "body": b"option=wait", "more_body": True}, {"type": "http.disconnect"}]
    )

    async def receive() -> Any:
        return next(messages)

    async def send(message: Any) -> None:
        told.append(message)

    headers = [(b"host", b"localhost"), (b"content-type", TYPE.encode())]
    scope = {"type": "http", "method": "POST", "path": ANSWER, "raw_path": ANSWER.encode(), "query_string": b""}
    scope |= {"headers": headers, "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 80), "scheme": "http"}
    await application(made)(scope, receive, send)
    assert told[0]["status"] == 400
    assert await untouched(made)
