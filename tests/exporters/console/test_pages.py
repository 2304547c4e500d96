"""Every page: sound, sealed against the outside, and free of what must not be on it."""

import re
from dataclasses import replace

import pytest

from decide.handoff.act import ActState
from decide.handoff.entry import Entry, EntryState, Why
from decide.question import Option, Question
from exporters.console.frame import NAV
from exporters.endpoint import HEADERS
from exporters.view import View
from tests.exporters.console.fakes import FakeDesk
from tests.exporters.console.pages import page
from tests.exporters.console.receipts import minutes
from tests.exporters.console.world import PAGES, PROBLEMS, act, application, click, connected, desk, shown
from tests.exporters.html import Tags, words
from tests.exporters.scenes import SECRET, ok_view, view

EVIL = '"><script>alert(1)</script>\ud800'


@pytest.mark.parametrize("path", [*PAGES, *PROBLEMS])
async def test_every_page_is_well_formed_and_loads_nothing_from_elsewhere(path: str) -> None:
    html = await page(path, status=PROBLEMS.get(path, 200))
    assert html.startswith("<!doctype html>")
    tags = Tags(html).found
    for tag, attributes in tags:
        assert tag not in ("iframe", "object", "embed", "img", "style", "base")
        assert not [name for name in attributes if name.startswith("on") or name == "style"]
        for name in ("href", "src", "action"):
            link = attributes.get(name)
            assert link is None or re.match(r"[/#](?!/)", link), link
    scripts = [attributes.get("src") for tag, attributes in tags if tag == "script"]
    assert scripts in ([], ["/static/refresh.js"])
    ids = [attributes["id"] for _, attributes in tags if "id" in attributes]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("path", [*PAGES, *PROBLEMS, "/api/receipts/r-agreed", "/static/refresh.js"])
async def test_every_answer_is_sealed(path: str) -> None:
    async with connected(application(await desk())) as client:
        answer = await client.get(path)
    sealed = HEADERS if "static" not in path else {**HEADERS, "cache-control": "max-age=300"}
    assert {name: answer.headers.get(name) for name in HEADERS} == sealed
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("path", PAGES)
async def test_a_page_with_a_form_is_never_loaded_again_by_itself(path: str) -> None:
    html = await page(path)
    reloads = '<meta http-equiv="refresh"' in html
    assert not (reloads and "<form" in html)
    assert reloads == ('src="/static/refresh.js"' in html and "<form" not in html)
    assert "<noscript><meta" in html or not reloads


@pytest.mark.parametrize(("path", "name"), NAV)
async def test_the_navigation_marks_where_one_is(path: str, name: str) -> None:
    html = await page(path)
    assert re.findall(r'<a href="([^"]*)" aria-current="page">([^<]*)</a>', html) == [(path, name)]
    assert all(f'<a href="{other}"' in html for other, _ in NAV)


async def test_every_link_of_every_page_leads_somewhere() -> None:
    made = await desk()
    async with connected(application(made)) as client:
        found = {
            attributes["href"] or ""
            for path in PAGES
            for tag, attributes in Tags((await client.get(path)).text).found
            if tag == "a" and attributes.get("href", "#")[:1] == "/"  # type: ignore[index]
        }
        codes = {link: (await client.get(link)).status_code for link in found}
    assert {link for link, code in codes.items() if code != 200} == set()
    assert len(found) > 20


async def test_before_anything_happened_every_page_says_so() -> None:
    def empty() -> View:
        return view()

    made = FakeDesk(lambda: minutes(0))
    told = {}
    async with connected(application(made, view=empty)) as client:
        for path in ("/", "/history", "/decisions", "/queue", "/clicks", "/ticks"):
            answer = await client.get(path)
            assert answer.status_code == 200
            told[path] = words(answer.text)
    assert "No question waits." in told["/"]
    assert "Nothing has changed." in told["/history"]
    assert "No question has been asked yet." in told["/decisions"]
    assert "– single rung, 0 of 0 answered" in told["/decisions"]
    assert "Not known here" in told["/decisions"]
    assert "Nothing waits for anybody." in told["/queue"]
    assert "No command waits for a click." in told["/clicks"]
    assert "No round has ended yet." in told["/ticks"]


async def test_the_demo_is_named_on_every_page() -> None:
    def demo() -> View:
        return replace(shown(), caption="Seats of clay")

    async with connected(application(await desk(), view=demo)) as client:
        for path in PAGES:
            answer = await client.get(path)
            assert "Every seat, number and time here is made up. Seats of clay" in words(answer.text), path


async def test_texts_cannot_become_markup_whatever_they_hold() -> None:
    made = await desk()
    question = Question("Is this " + EVIL[:-1] + "?", (Option("a", EVIL[:-1], EVIL[:-1]), Option("b", "no")))
    made.handoff.open["e"] = Entry("e", question, Why.ERROR, EntryState.OPEN, minutes(-1))
    receipt = {
        **made.handoff.documents["r-agreed"],
        "why": EVIL,
        "question": {**made.handoff.documents["r-agreed"]["question"], "text": EVIL},
    }
    made.handoff.documents = {**made.handoff.documents, "r-agreed": receipt}
    made.handoff.minted["k"] = click("k", EVIL[:-1], at=minutes(-1))
    made.handoff.acts["act-k"] = act("k", EVIL[:-1], ActState.CLICKED)
    made.moved.append(replace(made.moved[-1], reasons=(EVIL,), at=minutes(-1)))
    async with connected(application(made)) as client:
        for path in (*PAGES, "/queue/e", "/clicks/k"):
            answer = await client.get(path)
            assert answer.status_code == 200, path
            assert answer.text.count("<script") == answer.text.count('<script src="/static/refresh.js"'), path
        raw = await client.get("/api/receipts/r-agreed")
    assert raw.json()["why"] == EVIL


async def test_nothing_that_a_refusal_could_say_is_worded_by_a_page() -> None:
    """Every refusal comes from the one table; a page that words its own would part from it."""
    for path in (*PAGES, *PROBLEMS):
        told = (await page(path, status=PROBLEMS.get(path, 200))).lower()
        assert "refus" not in told.replace("refused</span>", "").replace('"figure">refused', ""), path


async def test_a_planted_secret_is_on_no_page() -> None:
    made = await desk()
    made.clock.now = minutes(0)
    app = application(made, view=ok_view, key=SECRET.encode())
    planted = {"authorization": f"Bearer {SECRET}", "cookie": SECRET, "x-api-key": SECRET}
    async with connected(app, headers=planted) as client:
        for path in (*PAGES, *PROBLEMS, "/api/receipts/r-agreed", f"/confirm/{SECRET}"):
            answer = await client.get(path)
            assert SECRET not in answer.text.replace("/confirm/" + SECRET, ""), path
            assert SECRET not in str(answer.headers)
