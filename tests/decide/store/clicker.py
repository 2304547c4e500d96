"""Clicker: a process of its own that presses a click again and again, or presses one and never comes to its end.

`python -m tests.decide.store.clicker press|stick TARGET CLICK PRESSES EFFECTS`: it says "ready", waits for a line, and
begins; each effect is a line that is appended to the file EFFECTS.
"""

import asyncio
import json
import sys
from pathlib import Path

from decide.handoff.act import ActEnd
from tests.decide.store.handed import later
from tests.decide.store.racer import begin, say
from tests.decide.store.work import opened


async def press(target: str, click_id: str, presses: int, effects: Path) -> None:
    """Press so many times, do what each consumed press sets going, and print the refusals."""
    async with await opened(target) as store:
        begin()
        refusals = []
        for _ in range(presses):
            pressed = await store.handoff.press(click_id, "ada", later(1))
            refusals.append(pressed.refusal)
            if pressed.consumed and pressed.click is not None:
                take_effect(effects, click_id)
                await store.handoff.finish(pressed.click.act_id, ActEnd(True, 0), later(2))
    say(json.dumps(refusals))


async def stick(target: str, click_id: str, _: int, effects: Path) -> None:
    """Press, and hang between what the press recorded and the end of the effect."""
    async with await opened(target) as store:
        begin()
        pressed = await store.handoff.press(click_id, "ada", later(1))
        take_effect(effects, click_id)
        say(json.dumps([pressed.refusal]))
        await asyncio.Event().wait()


def take_effect(effects: Path, click_id: str) -> None:
    """What a click sets going: a line more in a file."""
    with effects.open("a", encoding="utf-8") as file:
        file.write(f"{click_id}\n")


if __name__ == "__main__":
    act = {"press": press, "stick": stick}[sys.argv[1]]
    asyncio.run(act(sys.argv[2], sys.argv[3], int(sys.argv[4]), Path(sys.argv[5])))
