"""A real browser drives the console: with a mouse, with keys alone, without JavaScript, in both themes, on a phone."""

import asyncio
import re
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, ViewportSize, expect

from decide.fault import StoreError, StoreFault
from decide.handoff.act import ActState
from exporters.console.access import Access, Read
from tests.exporters.console.browsing import OUTPUT, THEMES, WAIT_MS, chromium, faults, page_of, served
from tests.exporters.console.receipts import RESTART, minutes
from tests.exporters.console.world import Told, application, desk

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.browser]

expect.set_options(timeout=WAIT_MS)
USERS = {"ana": lambda: "battery", "bo": lambda: "correct horse"}
WIDE, PHONE = ViewportSize(width=1280, height=900), ViewportSize(width=360, height=740)
WIDEST = ViewportSize(width=1920, height=1080)
PICTURES = (
    *("/", "/history", "/decisions", "/queue", "/clicks", "/ask", "/ticks"),
    *(f"/decisions/r-{name}" for name in ("agreed", "alone", "reconsidered", "flip", "policy", "lacking", "error")),
    *("/queue/r-policy", "/queue/r-lacking", "/queue/r-error", "/ask?cites=r-lacking", "/inbox/i-1"),
    *("/clicks/c-1", "/clicks/c-2", "/clicks/c-failed", "/clicks/c-lost", "/confirm/good", "/confirm/late"),
    *("/queue/none", "/confirm/forged"),
)
"""Each kind of page."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    """One Chromium for all tests of this file."""
    async with chromium() as found:
        yield found


async def answer_by(page: Page, option: str) -> None:
    """Answer the entry that is shown."""
    await page.get_by_role("radio", name=option).check()
    await page.get_by_label("In your own words").fill("The morning is soon enough.")
    await page.get_by_role("button", name="Answer as ana").click()


@pytest.mark.parametrize("javascript", [True, False])
async def test_an_item_is_answered_from_the_ladders_page(browser: Browser, javascript: bool) -> None:
    made = await desk()
    async with served(application(made)) as base, page_of(browser, base, java_script_enabled=javascript) as page:
        await page.goto("/")
        await page.get_by_role("link", name="The search pods answer slowly").click()
        await answer_by(page, "wait")
        await expect(page.get_by_role("heading", name="Answered by ana")).to_be_visible()
        assert page.url == f"{base}/queue/r-policy"
        await page.reload()  # a redirect was followed, so nothing is sent again
        await expect(page.get_by_text("The morning is soon enough.")).to_be_visible()
    answer = made.handoff.open["r-policy"].answer
    assert answer is not None
    assert (answer.person, answer.option) == ("ana", "wait")


async def test_a_question_is_asked_and_another_that_lacked_evidence_is_cited(browser: Browser) -> None:
    made = await desk()
    async with served(application(made)) as base, page_of(browser, base) as page:
        await page.goto("/queue/r-lacking")
        await page.get_by_role("link", name="answer with a new question that cites this one").click()
        text = page.get_by_label("What is to be decided?")
        await text.fill(await text.input_value() + " The plan: a scan of 3 million rows.")
        await page.get_by_role("button", name="More options").click()
        await expect(page.get_by_label("What it means")).to_have_count(8)
        await page.get_by_label("Needed by").fill("2026-07-01T18:00")
        await page.get_by_role("button", name="Ask as ana").click()
        await expect(page.get_by_text("This question waits for its turn.")).to_be_visible()
    question = made.handoff.items["item1"].question
    assert (question.cites, question.deadline) == ("r-lacking", minutes(360))
    assert question.text.endswith("3 million rows.")


@pytest.mark.parametrize("path", ["/clicks", "/confirm/good"])
@pytest.mark.parametrize("javascript", [True, False])
async def test_a_click_is_pressed_and_its_button_is_replaced(browser: Browser, path: str, javascript: bool) -> None:
    made = await desk()
    async with served(application(made)) as base, page_of(browser, base, java_script_enabled=javascript) as page:
        await page.goto(path)
        button = page.get_by_role("button")
        assert (await button.inner_text()).split() == ["RUN", *RESTART.split()]
        await button.click()
        await expect(page.get_by_role("heading", name="In progress")).to_be_visible()
        await expect(page.get_by_role("button")).to_have_count(0)
        made.ends.set()
        await asyncio.gather(*made.running)
        await page.reload()
        await expect(page.get_by_role("heading", name="Done")).to_be_visible()
        await expect(page.get_by_text("3 pods restarted")).to_be_visible()
    assert made.runs == [RESTART]


async def test_pressed_twice_it_runs_once_and_tells_the_first_outcome(browser: Browser) -> None:
    made = await desk()
    async with served(application(made)) as base, page_of(browser, base) as page:
        await page.goto("/clicks/c-1")
        async with page_of(browser, base) as other:
            await other.goto("/clicks/c-1")
            await page.get_by_role("button").click()
            await expect(page.get_by_role("heading", name="In progress")).to_be_visible()
            await other.get_by_role("button").click()
            await expect(
                other.get_by_text("This click was pressed at 12:00:00 UTC; its command is running.")
            ).to_be_visible()
            await expect(other.get_by_role("button")).to_have_count(0)
    assert made.runs == [RESTART]


async def test_another_user_sees_whose_click_it_is_and_cannot_press(browser: Browser) -> None:
    made, access = await desk(), Access(Read.ANYONE, "", USERS)
    login = {"username": "bo", "password": "correct horse"}
    async with (
        served(application(made, access)) as base,
        page_of(browser, base, http_credentials=login) as page,
    ):
        await page.goto("/clicks/c-1")
        await expect(page.get_by_text("nobody knows who you are")).to_be_visible()
        await page.get_by_role("link", name="Log in").click()
        await expect(page.get_by_text("you are bo")).to_be_visible()
        await page.goto("/clicks/c-1")
        await expect(page.get_by_text("Only ana can press this.")).to_be_visible()
        await expect(page.get_by_role("button")).to_have_count(0)
        answer = await page.goto("/confirm/good")
        assert answer is not None
        assert answer.status == 403
        await expect(page.get_by_text("This click is ana's to press, not bo's; it stays as it is.")).to_be_visible()
    assert made.runs == []


@pytest.mark.parametrize("path", ["/clicks/c-1", "/confirm/good"])
async def test_after_expiry_a_page_that_was_left_open_runs_nothing(browser: Browser, path: str) -> None:
    clock = Told()
    made = await desk(clock)
    async with served(application(made)) as base, page_of(browser, base) as page:
        await page.goto(path)
        clock.now = minutes(8)
        await page.get_by_role("button").click()
        await expect(page.get_by_text("This click expired at 12:07:00 UTC; nothing was run.")).to_be_visible()
        await expect(page.get_by_role("button")).to_have_count(0)
    assert made.runs == []


async def test_with_the_store_down_every_page_says_so_and_an_answer_can_be_sent_again(browser: Browser) -> None:
    made = await desk()
    async with served(application(made)) as base, page_of(browser, base) as page:
        await page.goto("/queue/r-policy")
        made.handoff.fault = StoreError(StoreFault.UNWRITABLE, "the disk is full; free some space")
        await answer_by(page, "wait")
        await expect(page.get_by_role("heading", name="The store is down")).to_be_visible()
        await expect(page.get_by_text("free some space")).to_be_visible()
        await page.goto("/")
        await expect(page.get_by_role("alert")).to_contain_text("nobody knows what waits")
        made.handoff.fault = None
        await page.goto("/queue/r-policy")
        await answer_by(page, "wait")
        await expect(page.get_by_role("heading", name="Answered by ana")).to_be_visible()


async def _tab_to(page: Page, words: str) -> None:
    """Press Tab until what has these words is focused, and see that its focus can be seen."""
    for _ in range(60):
        await page.keyboard.press("Tab")
        told = await page.evaluate(
            "(e => [e.closest('label')?.innerText ?? e.innerText ?? '', getComputedStyle(e).outlineStyle])"
            "(document.activeElement)"
        )
        if words in told[0]:
            assert told[1] != "none"
            return
    raise AssertionError(f"Tab never reaches {words!r}")


async def test_keys_alone_are_enough(browser: Browser) -> None:
    made = await desk()
    async with served(application(made)) as base, page_of(browser, base) as page:
        await page.goto("/")
        await page.keyboard.press("Tab")
        await expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
        await page.keyboard.press("Enter")
        await _tab_to(page, "The search pods answer slowly")
        await page.keyboard.press("Enter")
        await page.wait_for_url("**/queue/r-policy")
        await _tab_to(page, "Restart them now")
        await page.keyboard.press("ArrowDown")
        await _tab_to(page, "Answer as ana")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("heading", name="Answered by ana")).to_be_visible()
        await page.goto("/clicks")
        await _tab_to(page, RESTART)
        await page.keyboard.press("Space")
        await expect(page.get_by_role("heading", name="In progress")).to_be_visible()
    answer = made.handoff.open["r-policy"].answer
    assert answer is not None
    assert answer.option == "wait"
    assert made.runs == [RESTART]


async def _renewed(page: Page) -> None:
    """Let the page's own clock run until it has shown itself anew."""
    async with page.expect_response(lambda answer: answer.request.resource_type == "fetch"):
        await page.clock.run_for(16_000)


async def test_a_page_shows_itself_anew_and_keeps_focus_and_scroll(browser: Browser) -> None:
    made = await desk()
    async with served(application(made)) as base, page_of(browser, base, viewport=PHONE) as page:
        await page.clock.install()
        await page.goto("/queue")
        await page.get_by_role("link", name="Does the index help the slow report?").first.focus()
        await page.evaluate("scrollTo(0, 200)")
        del made.handoff.open["r-policy"]
        await _renewed(page)
        await expect(page.get_by_text("The search pods answer slowly")).to_have_count(0)
        await expect(page.get_by_role("link", name="Does the index help the slow report?").first).to_be_focused()
        assert await page.evaluate("scrollY") == 200
        assert await page.title() == "Queue (2) · rungwatch"


async def test_a_form_that_is_being_filled_in_stays_as_it_is(browser: Browser) -> None:
    made = await desk()
    async with served(application(made)) as base, page_of(browser, base) as page:
        await page.clock.install()
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url) if request.resource_type == "fetch" else None)
        await page.goto("/queue/r-policy")
        await _renewed(page)  # nothing was typed yet
        await page.get_by_label("In your own words").fill("half a sent")
        await page.get_by_role("heading", name="Decide").click()  # the focus is elsewhere
        before = len(asked)
        await page.clock.run_for(60_000)
        assert len(asked) == before
        await expect(page.get_by_label("In your own words")).to_have_value("half a sent")


async def test_a_page_says_when_rungwatch_does_not_answer(browser: Browser) -> None:
    made = await desk()
    async with served(application(made)) as base, page_of(browser, base) as page:
        await page.clock.install()
        await page.goto("/")
        await page.route("**/*", lambda route: route.abort())
        await page.clock.run_for(16_000)
        await expect(page.locator("#lost")).to_have_text("rungwatch does not answer: this page shows 12:00:00 UTC.")
        await page.unroute("**/*")
        await _renewed(page)
        await expect(page.locator("#lost")).to_have_text("")


async def test_a_running_command_tells_by_itself_how_it_ends(browser: Browser) -> None:
    made = await desk()
    async with served(application(made)) as base, page_of(browser, base) as page:
        await page.clock.install()
        await page.goto("/clicks/c-1")
        await page.get_by_role("button").click()
        await expect(page.get_by_role("heading", name="In progress")).to_be_visible()
        made.ends.set()
        await asyncio.gather(*made.running)
        assert made.handoff.acts["act-c-1"].state is ActState.DONE
        await _renewed(page)
        await expect(page.get_by_role("heading", name="Done")).to_be_visible()


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("path", PICTURES)
async def test_every_page_is_pictured_fits_and_has_nothing_serious(browser: Browser, path: str, theme: str) -> None:
    OUTPUT.mkdir(parents=True, exist_ok=True)
    name = "-".join(part for part in re.split(r"[/?=]", path) if part) or "ladder"
    async with (
        served(application(await desk())) as base,
        page_of(browser, base, color_scheme=theme, viewport=WIDE) as page,
    ):
        await page.goto(path)
        for size in (WIDEST, WIDE, PHONE):
            await page.set_viewport_size(size)
            over = await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
            assert over == 0, f"{over} px beyond {size['width']}"
            if size == WIDE or (size == PHONE and theme == "light"):
                assert await faults(page) == []
            if size != WIDEST:
                await page.screenshot(path=OUTPUT / f"{name}-{theme}-{size['width']}.png", full_page=True)
