"""What cannot be served is told as its reader likes it, and the state stays as it was."""

import json
from collections.abc import Mapping
from copy import deepcopy
from typing import Any

import pytest

from decide.fault import StoreError, StoreFault
from exporters.console.problem import JSON
from tests.exporters.console.fakes import FakeDesk
from tests.exporters.console.world import application, connected, desk, form

DOWN = StoreError(StoreFault.UNREADABLE, "the ledger cannot be read; free some space")


def state(made: FakeDesk) -> Any:
    """Everything that a request could have changed."""
    kept = made.handoff
    return deepcopy((kept.open, kept.items, kept.acts, kept.minted, made.runs))


ANA, BO = form(), form("bo")
ASKED = {"text": "Which?", "text1": "this", "text2": "that"}
CASES: list[tuple[str, str, Mapping[str, str] | None, int]] = [
    ("unknown entry", "/queue/none", None, 404),
    ("unknown receipt", "/decisions/none", None, 404),
    ("unknown receipt as JSON", "/api/receipts/none", None, 404),
    ("unknown click", "/clicks/none", None, 404),
    ("unknown item", "/inbox/none", None, 404),
    ("a receipt that is no item", "/inbox/r-agreed", None, 404),
    ("unknown citation", "/ask?cites=none", None, 404),
    ("unknown page of receipts", "/decisions?before=none", None, 404),
    ("unknown page of entries", "/queue?before=none", None, 404),
    ("unknown page of clicks", "/clicks?before=none", None, 404),
    ("a page that is no number", "/queue?page=two", None, 404),
    ("a forged link", "/confirm/forged", None, 403),
    ("an expired link", "/confirm/old", None, 410),
    ("a link whose click is another's", "/confirm/wrong", None, 403),
    ("a link without a click", "/confirm/stray", None, 404),
    ("answer to a closed entry", "/queue/r-error/answer", {**ANA, "option": "yes"}, 409),
    ("answer to an unknown entry", "/queue/none/answer", {**ANA, "option": "yes"}, 404),
    ("an option that is not there", "/queue/r-policy/answer", {**ANA, "option": "explode"}, 422),
    ("an answer that says nothing", "/queue/r-policy/answer", {**ANA, "text": "  "}, 422),
    ("cancelling a closed entry", "/queue/r-old/cancel", {**ANA, "note": "no"}, 409),
    ("pressing an unknown click", "/clicks/none/press", ANA, 404),
    ("pressing another's click", "/clicks/c-2/press", ANA, 403),
    ("pressing a late click", "/clicks/c-late/press", ANA, 410),
    ("pressing by a forged link", "/confirm/forged", ANA, 403),
    ("pressing by an expired link", "/confirm/old", ANA, 410),
    ("pressing by a late link", "/confirm/late", ANA, 410),
    ("pressing by another's link", "/confirm/wrong", ANA, 403),
    ("pressing by a link with the token of another", "/confirm/good", BO, 403),
    ("a question without a text", "/ask", {**ANA, **ASKED, "text": " "}, 422),
    ("a question with one option", "/ask", {**ANA, "text": "Which?", "text1": "this"}, 422),
    ("a question with a name twice", "/ask", {**ANA, **ASKED, "id1": "x", "id2": "X"}, 422),
    ("a level that is none", "/ask", {**ANA, **ASKED, "level": "utmost"}, 422),
    ("a consequence that is none", "/ask", {**ANA, **ASKED, "consequence": "dire"}, 422),
    ("a deadline that is none", "/ask", {**ANA, **ASKED, "deadline": "tomorrow"}, 422),
]


@pytest.mark.parametrize(("path", "fields", "status"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
async def test_each_is_told_with_its_status_and_changes_nothing(
    path: str, fields: Mapping[str, str] | None, status: int
) -> None:
    made = await desk()
    before = state(made)
    async with connected(application(made)) as client:
        pages = []
        for accept in ("text/html", "application/json"):
            headers = {"accept": accept}
            sent = (
                client.get(path, headers=headers)
                if fields is None
                else client.post(path, data=fields, headers=headers)
            )
            pages.append(await sent)
    page, document = pages
    assert (page.status_code, document.status_code) == (status, status)
    assert page.headers["content-type"].startswith("text/html")
    assert document.headers["content-type"] == JSON
    told = document.json()
    assert set(told) == {"type", "title", "status", "detail"}
    assert told["status"] == status
    assert told["detail"]
    assert state(made) == before


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        *(
            (path, None)
            for path in ("/decisions", "/queue", "/queue/r-policy", "/clicks", "/clicks/c-1", "/confirm/good")
        ),
        *((path, None) for path in ("/decisions/r-agreed", "/api/receipts/r-agreed", "/inbox/i-1")),
        ("/queue/r-policy/answer", {**ANA, "option": "wait"}),
        ("/queue/r-policy/cancel", ANA),
        ("/clicks/c-1/press", ANA),
        ("/confirm/good", ANA),
        ("/ask", {**ANA, **ASKED}),
    ],
)
async def test_a_store_that_is_down_is_503(path: str, fields: Mapping[str, str] | None) -> None:
    made = await desk()
    before, made.handoff.fault = state(made), DOWN
    async with connected(application(made), headers={"accept": "application/problem+json"}) as client:
        answer = await (client.get(path) if fields is None else client.post(path, data=fields))
    assert answer.status_code == 503
    assert "free some space" in answer.json()["detail"]
    assert state(made) == before


@pytest.mark.parametrize("path", ["/", "/history", "/ticks", "/ask"])
async def test_pages_that_need_no_store_stay(path: str) -> None:
    made = await desk()
    made.handoff.fault = DOWN
    async with connected(application(made)) as client:
        assert (await client.get(path)).status_code == 200


@pytest.mark.parametrize(
    ("accept", "kind"),
    [
        ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "text/html"),
        ("application/json", JSON),
        ("application/problem+json, text/html;q=0.5", JSON),
        ("application/json;q=0.2, text/html", "text/html"),
        ("*/*", "text/plain"),
        ("", "text/plain"),
        ("application/json;q=0", "text/plain"),
    ],
)
@pytest.mark.parametrize("path", ["/nowhere", "/queue/none"])
async def test_each_reader_gets_what_it_likes(accept: str, kind: str, path: str) -> None:
    async with connected(application(await desk()), headers={"accept": accept}) as client:
        answer = await client.get(path)
    assert (answer.status_code, answer.headers["content-type"].partition(";")[0]) == (404, kind)


async def test_a_method_that_there_is_not_names_those_that_there_are() -> None:
    async with connected(application(await desk()), headers={"accept": "application/json"}) as client:
        answer = await client.delete("/ask")
    assert (answer.status_code, json.loads(answer.text)["title"]) == (405, "Method Not Allowed")
    assert set(answer.headers["allow"].split(", ")) == {"GET", "HEAD", "POST"}
