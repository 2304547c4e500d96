"""What a person does: answer, cancel, ask, press; each once, in the right name, and by a redirect to what it did."""

import asyncio
import re

import pytest

from decide.handoff.act import ActState
from decide.handoff.entry import EntryState
from decide.question import Consequence, LevelName
from tests.exporters.console.receipts import RESTART, minutes
from tests.exporters.console.world import Told, application, connected, desk, form
from tests.exporters.html import Tags, words

JSON = {"accept": "application/json"}


async def test_the_form_of_a_page_is_taken_as_it_stands() -> None:
    made = await desk()
    async with connected(application(made)) as client:
        html = (await client.get("/queue/r-policy")).text
        fields = {
            str(a["name"]): str(a["value"])
            for tag, a in Tags(html).found
            if tag == "input" and a.get("type") == "hidden"
        }
        answer = await client.post("/queue/r-policy/answer", data={**fields, "option": " WAIT ", "text": "09:00"})
        assert (answer.status_code, answer.headers["location"]) == (303, "/queue/r-policy")
        told = words((await client.get("/queue/r-policy")).text)
    entry = made.handoff.open["r-policy"]
    assert entry.answer is not None
    assert (entry.closed_by, entry.answer.option, entry.answer.text) == ("ana", "wait", "09:00")
    assert "Answered by ana" in told
    assert "Leave them and look again at 09:00" in told


async def test_an_answer_may_be_words_alone() -> None:
    made = await desk()
    async with connected(application(made)) as client:
        await client.post("/queue/r-lacking/answer", data=form(text="Drop it\r\nand measure again"))
    answer = made.handoff.open["r-lacking"].answer
    assert answer is not None
    assert (answer.option, answer.text) == ("", "Drop it\nand measure again")


async def test_an_answer_that_cannot_be_taken_keeps_what_was_typed() -> None:
    made = await desk()
    async with connected(application(made)) as client:
        answer = await client.post("/queue/r-policy/answer", data=form(option="explode", text="it burns"))
    assert answer.status_code == 422
    assert 'role="alert">option: there is no option' in answer.text
    assert "it burns</textarea>" in answer.text
    assert "refresh.js" not in answer.text


async def test_a_closed_entry_says_who_closed_it() -> None:
    made = await desk()
    async with connected(application(made)) as client:
        answer = await client.post("/queue/r-error/answer", data=form(option="no"))
    assert answer.status_code == 409
    assert "was answered by bo" in words(answer.text)


async def test_cancelling_keeps_the_note() -> None:
    made = await desk()
    async with connected(application(made)) as client:
        answer = await client.post("/queue/r-walled/cancel", data=form(note=" the module is gone "))
    entry = made.handoff.open["r-walled"]
    assert (answer.status_code, entry.state, entry.note) == (303, EntryState.CANCELLED, "the module is gone")


ASKED = {
    "text": "Which?\r\nAnd why?",
    "id1": "x",
    "text1": "this",
    "action1": RESTART,
    "id2": "",
    "text2": "that",
    "id3": "c",
    "text3": "",
    "level": "low",
    "consequence": "irreversible",
    "deadline": "2026-07-01T14:30",
    "cites": "r-lacking",
}


async def test_a_question_is_raised_in_ones_name() -> None:
    made = await desk()
    async with connected(application(made)) as client:
        answer = await client.post("/ask", data=form(**ASKED))
        assert (answer.status_code, answer.headers["location"]) == (303, "/inbox/item1")
        assert "This question waits for its turn." in words((await client.get("/inbox/item1")).text)
    item = made.handoff.items["item1"]
    asked = item.question
    assert (item.requester, item.surface, asked.raised_by, asked.cites) == ("ana", "chat", "ana", "r-lacking")
    assert [(one.id, one.text, one.action) for one in asked.options] == [("x", "this", RESTART), ("b", "that", "")]
    assert (asked.level, asked.consequence) == (LevelName.LOW, Consequence.IRREVERSIBLE)
    assert (asked.text, asked.deadline) == ("Which?\nAnd why?", minutes(150))


async def test_more_options_keep_what_was_typed_and_end_at_the_most() -> None:
    made = await desk()
    fields = form(**ASKED, rows="4", more="1")
    async with connected(application(made)) as client:
        html = (await client.post("/ask", data=fields)).text
        assert len(re.findall(r'name="text\d+"', html)) == 8
        assert 'value="this"' in html
        assert 'value="2026-07-01T14:30"' in html
        most = (await client.post("/ask", data=fields | {"rows": "99"})).text
    assert len(re.findall(r'name="text\d+"', most)) == 26
    assert 'name="more"' not in most
    assert "item1" not in made.handoff.items


@pytest.mark.parametrize(("path", "page"), [("/clicks/c-1/press", "/clicks/c-1"), ("/confirm/good", "/confirm/good")])
async def test_a_press_answers_at_once_and_its_button_is_gone(path: str, page: str) -> None:
    made = await desk()
    async with connected(application(made)) as client:
        answer = await asyncio.wait_for(client.post(path, data=form()), 20)
        assert (answer.status_code, answer.headers["location"]) == (303, page)
        shown = (await client.get(page)).text
        assert "In progress" in words(shown)
        assert 'class="press"' not in shown
        assert made.handoff.acts["act-c-1"].state is ActState.RUNNING  # its effect has not ended
        made.ends.set()
        await asyncio.gather(*made.running)
        assert "Done" in words((await client.get(page)).text)
    assert made.runs == [RESTART]


@pytest.mark.parametrize("path", ["/clicks/c-1/press", "/confirm/good"])
async def test_pressed_again_it_tells_the_first_outcome(path: str) -> None:
    made = await desk()
    async with connected(application(made)) as client:
        await client.post(path, data=form())
        again = await client.post(path, data=form())
        made.ends.set()
        await asyncio.gather(*made.running)
        late = await client.post(path, data=form())
        told = await client.post(path, data=form(), headers=JSON)
    assert (again.status_code, late.status_code, told.status_code) == (200, 200, 200)
    assert "This click was pressed at 12:00:00 UTC; its command is running." in words(again.text)
    assert "This click was pressed at 12:00:00 UTC; its command is done." in words(late.text)
    assert 'class="press"' not in again.text + late.text
    assert told.json() == {
        "click": "c-1",
        "outcome": "done",
        "detail": "this click was pressed at 12:00:00 UTC; its command is done",
    }
    assert made.runs == [RESTART]


async def test_a_page_that_answers_a_form_renews_itself_from_where_it_can_be_read() -> None:
    made = await desk()
    async with connected(application(made)) as client:
        await client.post("/clicks/c-1/press", data=form())
        again = (await client.post("/clicks/c-1/press", data=form())).text
    assert 'data-source="/clicks/c-1"' in again
    assert '<meta http-equiv="refresh" content="15; url=/clicks/c-1">' in again


async def test_after_its_time_a_click_says_when_it_expired_and_runs_nothing() -> None:
    made = await desk(Told(minutes(7)))  # the very moment at which it expires
    async with connected(application(made)) as client:
        pressed = await client.post("/clicks/c-1/press", data=form())
        linked = await client.post("/confirm/good", data=form())
    for answer in (pressed, linked):
        assert answer.status_code == 410
        assert "This click expired at 12:07:00 UTC; nothing was run." in words(answer.text)
        assert 'class="press"' not in answer.text
    assert made.runs == []
