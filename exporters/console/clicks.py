"""Clicks: what waits to be confirmed, the whole line on the button, and what pressing it came to."""

import asyncio
from dataclasses import dataclass
from urllib.parse import quote

from starlette.responses import JSONResponse, Response

from decide.handoff.act import Act, ActState
from decide.handoff.click import Click, ClickState, Pressed, judge
from decide.handoff.execution import Refusal
from exporters.console.desk import Link
from exporters.console.form import Form
from exporters.console.pressing import outcome, pending, status, words
from exporters.console.problem import ProblemError, wants_json
from exporters.console.site import Asked, found, optional, see

LINES = 20
"""How many clicks a page lists."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A click as a page shows it: `state` in a word or two, and where its button sends, empty where it has none."""

    click: Click
    state: str
    look: str
    act: Act | None
    button: str


_LOOKS = {
    ActState.RUNNING: "running",
    ActState.DONE: "good",
    ActState.FAILED: "bad",
    ActState.UNKNOWN: "warn",
}


async def clicks_page(asked: Asked) -> Response:
    """The pending clicks first, then those that are over, the latest first."""
    before = asked.query("before")
    clicks = await found(asked.desk.handoff.clicks(LINES + 1, before or None))
    shown = await asyncio.gather(*(_shown(asked, click, _press_path(click)) for click in clicks[:LINES]))
    return asked.show(
        "clicks.html",
        here="/clicks",
        filled=any(one.button for one in shown),
        waiting=sorted((one for one in shown if pending(one.click, asked.now)), key=lambda one: one.click.expires_at),
        over=[one for one in shown if not pending(one.click, asked.now)],
        before=before,
        older=clicks[LINES - 1].id if len(clicks) > LINES else "",
    )


async def click_page(asked: Asked) -> Response:
    """One click."""
    return await _page(asked, await found(asked.desk.handoff.click(asked.part("click"))))


async def press_click(asked: Asked, form: Form) -> Response:
    """Press a click; the answer does not wait for what it sets going."""
    name = asked.part("click")
    pressed = await asked.desk.press(name, asked.person)
    if pressed.consumed:
        return see("/clicks", name)
    return await _again(asked, pressed, "/clicks")


async def confirm_page(asked: Asked, link: Link) -> Response:
    """The click of a signed link."""
    click = await found(asked.desk.handoff.click(link.click_id))
    told = Pressed(click, judge(click, link.subject, asked.now))
    if told.refusal in (None, Refusal.ALREADY_CONSUMED):
        return await _page(asked, click, here="", button=_link_path(asked))
    return await _again(asked, told, "")


async def press_link(asked: Asked, link: Link) -> Response:
    """Press the click of a signed link."""
    pressed = await asked.desk.press(link.click_id, link.subject)
    if pressed.consumed:
        return see("/confirm", asked.part("token"))
    return await _again(asked, pressed, "")


async def _again(asked: Asked, pressed: Pressed, here: str) -> Response:
    """What a press that consumed nothing is told: the click with its outcome to its requester, else why only."""
    click, act = pressed.click, await _act(asked, pressed.click)
    told, code = words(pressed, asked.person, act, asked.clock), status(pressed)
    if click is None or click.requester != asked.person or (code >= 400 and wants_json(asked.request)):
        raise ProblemError(code if code >= 400 else 404, told, _TITLES.get(code, "Not there"))
    if wants_json(asked.request):
        return JSONResponse({"click": click.id, "outcome": outcome(act)[0], "detail": told})
    return await _page(asked, click, code=code, told=told, here=here)


_TITLES = {403: "Not yours to press", 410: "Too late"}


async def _page(
    asked: Asked, click: Click, *, code: int = 200, told: str = "", here: str = "/clicks", button: str = ""
) -> Response:
    one = await _shown(asked, click, button or _press_path(click))
    running = one.act is not None and one.act.state is ActState.RUNNING
    source = _link_path(asked) if here == "" else f"/clicks/{quote(click.id, safe='')}"
    return asked.show(
        "click.html",
        here=here,
        status=code,
        filled=bool(one.button),
        live=running or pending(click, asked.now),
        source=source,
        one=one,
        told=told,
        linked=here == "",
    )


async def _shown(asked: Asked, click: Click, path: str) -> Shown:
    """A click with its act where it was consumed; only its requester gets the button."""
    act = await _act(asked, click)
    if click.state is ClickState.CONSUMED:
        return Shown(click, outcome(act)[0], _LOOKS.get(act.state, "mute") if act else "mute", act, "")
    if not pending(click, asked.now):
        return Shown(click, "expired", "mute", None, "")
    return Shown(click, "waits", "warn", None, path if asked.person == click.requester else "")


async def _act(asked: Asked, click: Click | None) -> Act | None:
    if click is None or click.state is not ClickState.CONSUMED:
        return None
    return await optional(asked.desk.handoff.act(click.act_id))


def _press_path(click: Click) -> str:
    return f"/clicks/{quote(click.id, safe='')}/press"


def _link_path(asked: Asked) -> str:
    return f"/confirm/{quote(asked.part('token'), safe='')}"
