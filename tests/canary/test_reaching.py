"""Reaching: what a daemon has under way is ended and recorded when it stops, raisers are told, secrets are looked up."""

import asyncio
import base64
import hashlib
import hmac
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from canary.app import real_world
from canary.clock import SystemClock
from canary.config import Config
from canary.console_access import access_of
from canary.ledger import Ledger
from canary.load import parse
from canary.reaching import Means, Reaching, hooks_of
from decide import snapshot
from decide.handoff.act import ActState
from decide.handoff.click import Click
from decide.handoff.effect import runner
from decide.handoff.execution import Surface
from decide.handoff.inbox import ItemState, Raised
from decide.question import Option, Question, UsageError
from decide.snapshot import Snapshot
from exporters.console.access import Peer, caller
from tests.canary.cli.ladders import Ladder, ladder, names
from tests.canary.fakes import NOW
from tests.cases.confirming import CONFIG, Scene, scene

SECRET = "whsec_" + base64.b64encode(b"a secret of these tests, planted").decode()


async def started(one: Scene) -> Click:
    """A click whose command runs and does not end by itself."""
    click = await one.offer("stop run 1", requester="ada")
    assert isinstance(click, Click)
    assert (await one.reaching.press(click.id, "ada")).consumed
    await one.effects.began.wait()
    return click


async def test_a_command_that_runs_when_the_daemon_stops_is_ended_and_recorded(tmp_path: Path) -> None:
    async with scene(tmp_path, now=NOW) as one:
        click = await started(one)
        await one.reaching.stop()
        act = await one.reaching.store.act(click.act_id)
        assert (act.state, act.end and act.end.why) == (ActState.FAILED, "stopped: this process was told to end")


async def test_a_command_is_never_run_again_once_its_daemon_is_gone(tmp_path: Path) -> None:
    async with scene(tmp_path, now=NOW) as one:
        click = await started(one)
        await one.restart()
        await one.reaching.attend()
        await one.reaching.carry_soon()
        again = await one.reaching.press(click.id, "ada")
        assert (again.consumed, len(one.effects.ran)) == (False, 1)


class Receiver:
    """A raiser's end of a webhook: fails as often as it is told, then takes what comes."""

    def __init__(self, failing: int = 0) -> None:
        self.failing = failing
        self.got: list[tuple[Mapping[str, str], bytes]] = []

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:])}
        body = await reader.readexactly(int(headers["content-length"]))
        status = "204 No Content"
        if self.failing:
            self.failing -= 1
            status = "503 Busy"
        else:
            self.got.append((headers, body))
        writer.write(f"HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".encode())
        await writer.drain()
        writer.close()


def told(made: Ladder, receiver: Receiver, *, rounds: int = 1) -> list[dict[str, Any]]:
    """What a raiser hears of a question that a daemon of this ladder asks."""

    async def play() -> None:
        server = await asyncio.start_server(receiver, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        hook = f'[[webhook]]\nraised_by = "lane-7"\nurl = "http://127.0.0.1:{port}/hook"\nsecret_env = "HOOK"\n'
        config = parse((made.folder / "rungwatch.toml").read_text() + hook, "r")
        world, http = real_world(config, SystemClock())
        means = Means(SystemClock(), {"HOOK": SECRET}, runner({}), world.fetch)
        ledger = Ledger(made.ledger)
        reaching = Reaching(config, made.state, ledger, means, lambda: True)
        question = Question("Which?", (Option("keep", "A"), Option("swap", "B")), id="q1", raised_by="lane-7")
        evidence = snapshot.dump(Snapshot(()))
        await reaching.store.raise_question(
            Raised("item-1", question, evidence, datetime.now(UTC), Surface.TYPED.value, "ada")
        )
        for _ in range(rounds):
            await reaching.pull()
        assert (await reaching.store.item("item-1")).state is ItemState.DONE
        await reaching.stop()
        await ledger.close()
        await http.aclose()
        server.close()

    asyncio.run(play())
    return [json.loads(body) for _, body in receiver.got]


def test_a_raiser_is_told_by_a_signed_message_which_model_answered_and_which_rung_never_ran(tmp_path: Path) -> None:
    made, receiver = ladder(tmp_path), Receiver()
    made.answers({"failure": "not_installed"}, names("keep"))
    (message,) = told(made, receiver, rounds=2)
    data = message["data"]
    assert (message["type"], data["option"], data["single_rung"]) == ("ruling", "keep", True)
    assert data["answered_by"]["model"] == "gpt-6-astra"
    assert data["never_ran"] == [{"rung": "fable", "reason": "not_installed"}]
    headers, body = receiver.got[0]
    content = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    key = base64.b64decode(SECRET.removeprefix("whsec_"))
    signature = base64.b64encode(hmac.new(key, content, hashlib.sha256).digest()).decode()
    assert headers["webhook-signature"] == f"v1,{signature}"


@pytest.mark.parametrize(
    ("text", "environ", "told"),
    [
        ('secret_env = "HOOK"', {}, "'HOOK' is not set"),
        ('secret_env = "HOOK"', {"HOOK": "whsec_%%"}, "must be base64"),
        ('secret_file = "/nowhere/at/all"', {}, "webhook.secret_env"),
    ],
)
def test_a_hook_without_its_secret_is_refused_and_no_secret_is_told(
    text: str, environ: dict[str, str], told: str
) -> None:
    config = parse(f'{CONFIG}[[webhook]]\nraised_by = "l"\nurl = "https://a.example/x"\n{text}\n', "r")
    with pytest.raises(UsageError) as refused:
        hooks_of(config, environ)
    assert told in str(refused.value)
    assert "%%" not in str(refused.value)


def console(text: str) -> Config:
    """The configuration with a section of its own for the console."""
    return parse(f"{CONFIG}[console]\n{text}\n", "r")


def test_the_console_knows_whom_the_configuration_names() -> None:
    config = console(
        'local_user = "ada"\nproxy_header = "X-User"\nproxies = ["10.0.0.0/24"]\nhosts = ["ops.example"]\n'
        '[[console.user]]\nname = "grace"\npassword_env = "GRACE"'
    )
    access = access_of(config, {"GRACE": "open sesame"})
    basic = "Basic " + base64.b64encode(b"grace:open sesame").decode()
    wrong = "Basic " + base64.b64encode(b"grace:sesame").decode()
    assert caller(access, Peer("127.0.0.1")).name == "ada"
    assert caller(access, Peer("10.0.0.7", names=("hal",))).name == "hal"
    assert caller(access, Peer("10.0.1.7", names=("hal",))).name == ""
    assert caller(access, Peer("10.0.1.7", credentials=(basic,))).name == "grace"
    assert caller(access, Peer("10.0.1.7", credentials=(wrong,))).wrong
    assert "sesame" not in repr(access)


def test_a_password_that_cannot_be_had_is_refused() -> None:
    config = console('[[console.user]]\nname = "grace"\npassword_env = "GRACE"')
    with pytest.raises(UsageError, match=r"console\.user\.password_env: the environment variable 'GRACE' is not set"):
        access_of(config, {})
