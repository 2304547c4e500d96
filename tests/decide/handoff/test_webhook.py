"""What a raiser is told, signed so that a receiver of the specification takes it, and how often it is tried."""

import base64
import hashlib
import hmac
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from decide.handoff.inbox import Item, ItemState, News, NewsKind
from decide.handoff.ports import Delivery
from decide.handoff.webhook import (
    ATTEMPTS,
    ROUNDS,
    Hook,
    Told,
    deliver,
    failed,
    message,
    message_id,
    never_ran,
    signed,
    signing_key,
    told,
    without_login,
)
from decide.reason import Reason
from decide.rungs.http import Request, Response
from tests.decide.fakes import NOW
from tests.decide.handoff.samples import QUESTION, Time, receipt_of, unreached
from tests.decide.rungs.far import Script, far

SECRET = "whsec_" + base64.b64encode(b"SENTINEL" * 4).decode()
HOOK = Hook("https://bot:SENTINEL@hooks.example/fleet?x=1", SECRET)
ITEM = Item("item-1", QUESTION, ItemState.DONE, NOW, NOW, "typed", "ada", "r1")
PERSON = {"name": "ada", "option": "opt_b", "text": "not today", "at": NOW.isoformat(), "surface": "chat"}


def news(receipt: Any, kind: NewsKind = NewsKind.RULING, **changes: Any) -> News:
    return News(ITEM, "mark-1", receipt, kind=kind, **changes)


def test_a_ruling_names_the_model_that_answered() -> None:
    told = message(news(receipt_of("agreed")))
    assert told == {
        "type": "ruling",
        "data": {
            "item": "item-1",
            "question": {"id": "q-1", "key": "q-1"},
            "outcome": "agreed",
            "exit_code": 0,
            "option": "opt_a",
            "answered_by": {"model": "fable-model", "from": "reported"},
            "single_rung": False,
            "banner": None,
            "never_ran": [],
            "why": "as it is",
            "person_answer": None,
            "cancelled_by": None,
            "receipt": "r1",
        },
    }


@pytest.mark.parametrize("by", [None, {"model": "", "from": "UNKNOWN"}, {"model": "UNKNOWN", "from": "UNKNOWN"}])
def test_with_no_model_known_it_says_unknown(by: Any) -> None:
    told = message(news(receipt_of("reconsidered", answered_by=by)))
    assert told["data"]["answered_by"] == {"model": "UNKNOWN", "from": "UNKNOWN"}


def single() -> Any:
    """A receipt of one rung alone."""
    receipt = receipt_of("single_rung", fallback={"from": "astra", "to": "fable", "reason": "seat_capped"})
    receipt["consultations"]["second"] = unreached("seat_capped", "seat_capped", "timeout")
    return receipt


def test_a_rung_that_never_ran_is_named_with_the_reason() -> None:
    told = message(news(single()))["data"]
    assert told["single_rung"] is True
    assert told["banner"] == "SINGLE RUNG: ASTRA never ran (seat_capped)"
    assert told["never_ran"] == [{"rung": "astra", "reason": "seat_capped, timeout"}]


@pytest.mark.parametrize(
    ("primary", "second", "expected"),
    [
        (unreached("network"), unreached("needs_login"), [("fable", "network"), ("astra", "needs_login")]),
        (unreached("network"), {"state": "declined"}, [("fable", "network")]),
        ({"state": "incomplete", "failures": ["timeout"]}, None, []),
        (None, None, []),
    ],
)
def test_each_rung_that_was_not_reached_is_told_whatever_the_outcome(
    primary: Any, second: Any, expected: list[tuple[str, str]]
) -> None:
    receipt = receipt_of("needs_human", consultations={"primary": primary, "second": second, "reconsideration": None})
    assert never_ran(receipt) == [{"rung": rung, "reason": reason} for rung, reason in expected]


def test_a_ruling_without_an_answer() -> None:
    told = message(news(receipt_of("walled", exit_code=4)))["data"]
    assert (told["option"], told["answered_by"], told["exit_code"], told["outcome"]) == (None, None, 4, "walled")


def test_a_persons_answer() -> None:
    told = message(news(receipt_of("needs_human", exit_code=3, person=PERSON), NewsKind.ANSWER, person="ada"))
    assert told["type"] == "answer"
    assert told["data"]["person_answer"] == PERSON
    assert (told["data"]["option"], told["data"]["exit_code"]) == ("opt_b", 0)
    assert (told["data"]["outcome"], told["data"]["answered_by"]) == ("needs_human", None)


def test_a_cancelled_question() -> None:
    told = message(news(receipt_of("needs_human", exit_code=3), NewsKind.CANCELLED, person="bob"))
    assert (told["type"], told["data"]["cancelled_by"], told["data"]["exit_code"]) == ("cancelled", "bob", 3)


# signing


def independent(body: bytes, headers: dict[str, str], key: bytes) -> str:
    """The signature as the specification words it."""
    content = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    return "v1," + base64.b64encode(hmac.new(key, content, hashlib.sha256).digest()).decode()


@pytest.mark.parametrize("secret", [SECRET, "any other text, as it is, ümlaut"])
def test_a_receiver_of_the_specification_takes_it(secret: str) -> None:
    body = json.dumps(message(news(receipt_of("agreed")))).encode()
    key = signing_key(secret)
    headers = signed(body, name=message_id(news(receipt_of())), at=datetime.now(UTC), key=key)
    receiver = Webhook(secret if secret.startswith("whsec_") else key)
    assert receiver.verify(body, headers) == json.loads(body)
    assert headers["webhook-signature"] == independent(body, headers, key)
    for changed in (
        headers | {"webhook-id": "msg_other"},
        headers | {"webhook-timestamp": str(int(headers["webhook-timestamp"]) + 1)},
    ):
        with pytest.raises(WebhookVerificationError):
            receiver.verify(body, changed)
    with pytest.raises(WebhookVerificationError):
        receiver.verify(body + b" ", headers)


@pytest.mark.parametrize("secret", ["", "whsec_", "whsec_SENTINEL!", "whsec_SENTINE"])
def test_a_secret_that_cannot_sign(secret: str) -> None:
    with pytest.raises(ValueError, match="a webhook's secret") as error:
        Hook("https://hooks.example", secret)
    assert "SENTINEL" not in str(error.value)
    assert error.value.__suppress_context__ or error.value.__context__ is None


def test_a_message_has_one_id_however_often_it_comes() -> None:
    first = news(receipt_of())
    assert message_id(replace(first, tries=3)) == message_id(first)
    assert message_id(replace(first, mark="mark-2")) != message_id(first)
    assert message_id(first).removeprefix("msg_").isalnum()


# delivery


class Receiver:
    """A far side that answers in turn, the last answer again and again."""

    def __init__(self, *answers: Response) -> None:
        self.answers = list(answers)
        self.asked: list[Request] = []

    async def __call__(self, request: Request) -> Response:
        self.asked.append(request)
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


def status(code: int, **headers: str) -> Response:
    return Response(NOW, code, {name.replace("_", "-"): value for name, value in headers.items()})


NO_NETWORK = Response(NOW, failure=Reason.NETWORK, detail="ConnectError", sent=False)
TOO_LATE = Response(NOW, failure=Reason.TIMEOUT, detail="ReadTimeout")


async def delivered(*answers: Response, tries: int = 0) -> tuple[Told, Receiver, Time]:
    receiver, time = Receiver(*answers), Time()
    told = await deliver(news(receipt_of(), tries=tries), HOOK, receiver, clock=time.clock, sleep=time.sleep)
    return told, receiver, time


@pytest.mark.parametrize(
    ("answers", "result", "attempts", "slept"),
    [
        ([status(200)], Delivery.DELIVERED, 1, []),
        ([status(204)], Delivery.DELIVERED, 1, []),
        ([NO_NETWORK, status(200)], Delivery.DELIVERED, 2, [1.0]),
        ([TOO_LATE, status(503), status(202)], Delivery.DELIVERED, 3, [1.0, 2.0]),
        ([NO_NETWORK], Delivery.FAILED, 3, [1.0, 2.0]),
        ([status(408)], Delivery.FAILED, 3, [1.0, 2.0]),
        ([status(429)], Delivery.FAILED, 3, [1.0, 2.0]),
        ([status(500)], Delivery.FAILED, 3, [1.0, 2.0]),
        ([status(599)], Delivery.FAILED, 3, [1.0, 2.0]),
        ([status(429, retry_after="7"), status(200)], Delivery.DELIVERED, 2, [7.0]),
        ([status(503, retry_after="30"), status(200)], Delivery.DELIVERED, 2, [30.0]),
        ([status(429, retry_after="31")], Delivery.FAILED, 1, []),
        ([status(503, retry_after="0"), status(200)], Delivery.DELIVERED, 2, [1.0]),
        ([status(302, location="https://elsewhere.example")], Delivery.FAILED, 1, []),
        ([status(400)], Delivery.GIVEN_UP, 1, []),
        ([status(401)], Delivery.GIVEN_UP, 1, []),
        ([status(404)], Delivery.GIVEN_UP, 1, []),
        ([status(410)], Delivery.GIVEN_UP, 1, []),
        ([status(500), status(410)], Delivery.GIVEN_UP, 2, [1.0]),
    ],
)
async def test_one_round(answers: list[Response], result: Delivery, attempts: int, slept: list[float]) -> None:
    told, receiver, time = await delivered(*answers)
    assert (told.result, len(receiver.asked), time.slept) == (result, attempts, slept)
    assert (told.again_at is not None) == (result is Delivery.FAILED)
    assert attempts <= ATTEMPTS


async def test_every_attempt_is_the_same_message_signed_anew() -> None:
    _, receiver, _ = await delivered(status(500))
    first, *_, last = receiver.asked
    assert {request.body for request in receiver.asked} == {first.body}
    assert {request.headers["webhook-id"] for request in receiver.asked} == {message_id(news(receipt_of()))}
    assert int(last.headers["webhook-timestamp"]) == int(first.headers["webhook-timestamp"]) + 3
    for request in receiver.asked:
        assert request.body is not None
        expected = independent(request.body, dict(request.headers), b"SENTINEL" * 4)
        assert request.headers["webhook-signature"] == expected


MINUTES = [1, 2, 4, 8, 16, 32, 60, 60, 60, 60, 60]


@pytest.mark.parametrize(("tries", "minutes"), list(enumerate(MINUTES)))
async def test_each_round_that_fails_waits_longer(tries: int, minutes: int) -> None:
    told, _, time = await delivered(status(500), tries=tries)
    assert told.result is Delivery.FAILED
    assert told.again_at == time.now + timedelta(minutes=minutes)


async def test_after_twelve_rounds_it_is_given_up() -> None:
    assert len(MINUTES) + 1 == ROUNDS
    told, _, _ = await delivered(status(500), tries=ROUNDS - 1)
    assert (told.result, told.again_at) == (Delivery.GIVEN_UP, None)
    assert failed("x", 5000, NOW).result is Delivery.GIVEN_UP


@pytest.mark.parametrize(
    ("retry_after", "wait"),
    [("45", timedelta(minutes=1)), ("600", timedelta(minutes=10)), ("999999999", timedelta(hours=1))],
)
def test_a_host_that_asks_for_longer_is_left_alone_within_bounds(retry_after: str, wait: timedelta) -> None:
    assert told(status(429, retry_after=retry_after), 0, NOW).again_at == NOW + wait


async def test_no_secret_and_no_login_show(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(0)
    told, receiver, _ = await delivered(NO_NETWORK)
    assert "SENTINEL" not in repr(told) + repr(HOOK) + repr(receiver.asked) + caplog.text


@pytest.mark.parametrize(
    ("url", "bare", "login"),
    [
        ("https://hooks.example/a?b=c", "https://hooks.example/a?b=c", None),
        ("https://u:p@hooks.example:8443/a", "https://hooks.example:8443/a", b"u:p"),
        ("https://u%40x:p%3A%2F@hooks.example", "https://hooks.example", b"u@x:p:/"),
        ("https://u@[::1]:80/", "https://[::1]:80/", b"u"),
    ],
)
def test_a_login_travels_in_a_header(url: str, bare: str, login: bytes | None) -> None:
    headers = {} if login is None else {"authorization": "Basic " + base64.b64encode(login).decode()}
    assert without_login(url) == (bare, headers)


async def test_over_the_real_client_it_is_posted_once_and_no_redirect_is_followed() -> None:
    now = datetime.now(UTC)
    async with far(Script(307, headers={"location": "/elsewhere"}), Script(200, b"x" * 100_000)) as one:
        time = Time(now)
        hook = Hook(one.base_url.replace("://", "://bot:pass@") + "/hook", SECRET)
        first = await deliver(news(single()), hook, one.http.fetch, clock=time.clock, sleep=time.sleep)
        second = await deliver(news(single()), hook, one.http.fetch, clock=time.clock, sleep=time.sleep)
    assert (first.result, first.detail, second.result) == (Delivery.FAILED, "HTTP 307", Delivery.DELIVERED)
    assert [(asked.method, asked.path) for asked in one.asked] == [("POST", "/hook"), ("POST", "/hook")]
    got = one.asked[0]
    assert got.headers["authorization"] == "Basic Ym90OnBhc3M="
    assert got.headers["content-type"] == "application/json"
    body = json.dumps(got.body, separators=(",", ":"))
    assert Webhook(SECRET).verify(body, dict(got.headers)) == message(news(single()))


async def test_a_host_that_is_not_there_is_tried_again_later() -> None:
    async with far(Script(200)) as one:
        gone = Hook("http://127.0.0.1:9", SECRET)
        time = Time()
        told = await deliver(news(receipt_of()), gone, one.http.fetch, clock=time.clock, sleep=time.sleep)
    assert (told.result, told.detail) == (Delivery.FAILED, "network: ClientConnectorError")
    assert time.slept == [1.0, 2.0]
