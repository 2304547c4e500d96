"""Handing: what a configuration makes of answers and clicks that are typed on a command line (design 4.8)."""

import os
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial

from canary.config import Config
from canary.deciding import fresh_id
from canary.policy import rules_of
from decide.handoff.act import Act, ActState, Runner
from decide.handoff.answering import act_of, answer_to
from decide.handoff.carry import carry, effect_of
from decide.handoff.click import Click, Pressed
from decide.handoff.effect import runner
from decide.handoff.entry import Entry
from decide.handoff.execution import Surface
from decide.handoff.ports import HandoffStore
from exporters.console.frame import Clock
from exporters.console.pressing import words


async def answer_typed(
    store: HandoffStore, config: Config, entry_id: str, person: str, option: str, text: str
) -> tuple[Entry, Act | None]:
    """Close an entry with a typed answer, and carry out here what its option stands for.

    Raises ClosedError, HandoffError, LookupError and StoreError.
    """
    now = datetime.now(UTC)
    entry = await store.entry(entry_id)
    answer = answer_to(entry, person=person, option=option, text=text, at=now, surface=Surface.TYPED)
    new = act_of(entry, answer, rules_of(config), Runner.ASK)
    closed = await store.answer(entry.id, answer, new)
    return closed, None if new is None else await carry_here(store, config, new.id)


async def carry_here(store: HandoffStore, config: Config, act_id: str) -> Act | None:
    """Carry out an act in this process unless it was begun before, and say what became of it.

    None where there is none: a person answered or cancelled the question while the ladder was being asked.
    """
    try:
        act = await store.act(act_id)
    except LookupError:
        return None
    if act.state is ActState.DUE:
        await carry(
            act,
            store=store,
            rules=rules_of(config),
            run=runner(os.environ),
            clock=partial(datetime.now, UTC),
            fresh_id=lambda: fresh_id(datetime.now(UTC)),
            ttl=config.confirm.ttl,
        )
    return await store.act(act_id)


async def press_typed(
    store: HandoffStore, config: Config, click_id: str, person: str
) -> tuple[Pressed, Act | None, str]:
    """Press a click on a command line: its command runs here; with the words of a refusal, empty without one."""
    now = datetime.now(UTC)
    pressed = await store.press(click_id, person, now)
    if pressed.click is None or not pressed.consumed:
        act = None if pressed.click is None else await store.act(pressed.click.act_id)
        return pressed, None, words(pressed, person, act, Clock(now))
    await effect_here(store, config, pressed.click, partial(datetime.now, UTC))
    return pressed, await store.act(pressed.click.act_id), ""


async def effect_here(store: HandoffStore, config: Config, click: Click, clock: Callable[[], datetime]) -> None:
    """Run in this process what a press has consumed, and record how it ended."""
    await effect_of(click, store=store, rules=rules_of(config), run=runner(os.environ), clock=clock)


def address_of(config: Config) -> str:
    """The address at which browsers reach the console."""
    return (config.console.url or f"http://{config.serve.listen}").rstrip("/")
