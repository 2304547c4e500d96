"""Who comes in: by host name, by address, by password, by a proxy's word, by a signed link."""

from base64 import b64encode
from ipaddress import ip_network

import pytest

from exporters.console.access import Access, Read
from tests.exporters.console.world import PAGES, application, connected, desk, form
from tests.exporters.html import words

GUARDED = [path for path in PAGES if path != "/" and not path.startswith("/confirm")]
USERS = {"bo": lambda: "correct horse", "ana": lambda: "battery"}
AWAY = ("192.0.2.7", 50_000)
DEEDS = {
    "/queue/r-policy/answer": {"option": "wait"},
    "/clicks/c-1/press": {},
    "/ask": {"text": "?", "text1": "a", "text2": "b"},
}


def login(name: str, password: str) -> dict[str, str]:
    """The header of a login."""
    return {"authorization": "Basic " + b64encode(f"{name}:{password}".encode()).decode()}


BO = login("bo", "correct horse")


@pytest.mark.parametrize("path", GUARDED)
async def test_by_default_another_machine_reads_nothing(path: str) -> None:
    async with connected(application(await desk()), client=AWAY) as client:
        answer = await client.get(path)
    assert answer.status_code == 403
    assert "www-authenticate" not in answer.headers
    assert "cache library" not in answer.text


@pytest.mark.parametrize("path", DEEDS)
async def test_by_default_another_machine_writes_nothing(path: str) -> None:
    made = await desk()
    async with connected(application(made), client=AWAY) as client:
        for person in ("", "ana"):
            assert (await client.post(path, data=form(person, **DEEDS[path]))).status_code == 403
    async with connected(application(made), headers={"x-forwarded-for": "127.0.0.1"}) as client:
        assert (await client.post(path, data=form(**DEEDS[path]))).status_code == 403
    assert made.runs == []


@pytest.mark.parametrize(
    "header", ["x-forwarded-for", "forwarded", "via", "x-real-ip", "x-forwarded-host", "x-forwarded-proto"]
)
async def test_what_came_through_a_proxy_on_this_machine_is_not_local(header: str) -> None:
    async with connected(application(await desk()), headers={header: "127.0.0.1"}) as client:
        assert (await client.get("/queue")).status_code == 403


@pytest.mark.parametrize("path", [*GUARDED, "/confirm/good", "/api/receipts/r-agreed"])
async def test_a_name_that_was_bound_to_this_machine_reads_nothing(path: str) -> None:
    async with connected(application(await desk()), base="http://rebound.example") as client:
        answer = await client.get(path)
    assert answer.status_code == 421
    assert "cache library" not in answer.text


@pytest.mark.parametrize("path", [*DEEDS, "/confirm/good"])
async def test_a_name_that_was_bound_to_this_machine_writes_nothing(path: str) -> None:
    made = await desk()
    async with connected(application(made), base="http://rebound.example") as client:
        assert (await client.post(path, data=form(**DEEDS.get(path, {})))).status_code == 421
    assert made.runs == []


async def test_the_ladder_is_open_but_tells_its_questions_to_readers_alone() -> None:
    made = await desk()
    for client in (
        connected(application(made), client=AWAY),
        connected(application(made), base="http://rebound.example"),
        connected(application(made), headers={"x-forwarded-for": "192.0.2.7"}),
    ):
        async with client:
            answer = await client.get("/")
        assert answer.status_code == 200
        assert "1 wake 1 soon 1 routine" in words(answer.text)
        assert "search pods" not in answer.text
        assert "you are" not in answer.text


@pytest.mark.parametrize(
    "path", ["/metrics", "/api/status", "/-/healthy", "/-/ready", "/icon.svg", "/static/refresh.js"]
)
async def test_what_machines_read_stays_open(path: str) -> None:
    async with connected(application(await desk()), client=AWAY, base="http://any.example") as client:
        assert (await client.get(path)).status_code == 200


KNOWN = Access(Read.KNOWN, "ana", USERS, hosts=("rungs.example",))


async def test_a_login_is_asked_for_where_there_are_users() -> None:
    made = await desk()
    async with connected(application(made, KNOWN), client=AWAY, base="http://rungs.example") as client:
        for headers in ({}, login("bo", "wrong"), login("eve", ""), {"authorization": "Basic %"}):
            answer = await client.get("/queue", headers=headers)
            assert answer.status_code == 401
            assert answer.headers["www-authenticate"] == 'Basic realm="rungwatch", charset="UTF-8"'
        assert "you are bo" in words((await client.get("/queue", headers=BO)).text)
        deed = await client.post("/queue/r-policy/answer", data=form("bo", option="wait"), headers=BO)
    assert deed.status_code == 303
    assert made.handoff.open["r-policy"].closed_by == "bo"


async def test_where_reading_is_open_one_can_still_say_who_one_is() -> None:
    access = Access(Read.ANYONE, "", USERS)
    async with connected(application(await desk(), access)) as client:
        assert '<a href="/login">Log in</a>' in (await client.get("/queue")).text
        assert (await client.get("/login")).status_code == 401
        answer = await client.get("/login", headers=BO)
        assert (answer.status_code, answer.headers["location"]) == (303, "/")
        assert "/login" not in (await client.get("/", headers=BO)).text


async def test_reading_can_be_open_while_writing_is_not() -> None:
    made = await desk()
    access = Access(Read.ANYONE, "ana", hosts=("rungs.example",))
    async with connected(application(made, access), client=AWAY, base="http://rungs.example") as client:
        page = await client.get("/queue/r-policy")
        assert page.status_code == 200
        assert "<form" not in page.text
        assert "nobody knows who you are" in page.text
        assert (await client.post("/queue/r-policy/answer", data=form("", option="wait"))).status_code == 403
    assert made.handoff.open["r-policy"].answer is None


PROXIED = Access(
    Read.KNOWN, "ana", proxy_header="X-Remote-User", proxies=(ip_network("10.0.0.5/32"),), hosts=("rungs.example",)
)


@pytest.mark.parametrize(
    ("address", "headers", "status", "person"),
    [
        ("10.0.0.5", {"x-remote-user": "bo", "x-forwarded-for": "192.0.2.7"}, 200, "bo"),
        ("10.0.0.5", {"x-remote-user": "Zoë"}, 200, "Zoë"),
        ("10.0.0.5", {}, 403, ""),
        ("10.0.0.6", {"x-remote-user": "bo"}, 403, ""),
        ("127.0.0.1", {"x-remote-user": "bo"}, 200, "ana"),
    ],
)
async def test_a_proxys_word_is_believed_from_its_address_alone(
    address: str, headers: dict[str, str], status: int, person: str
) -> None:
    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    app = application(await desk(), PROXIED)
    async with connected(app, client=(address, 1), base="http://rungs.example") as client:
        answer = await client.get("/queue", headers=raw)
    assert answer.status_code == status
    assert f"you are {person}" in words(answer.text) or not person


LINKED = Access(Read.LOCAL, "ana", USERS, hosts=("rungs.example",))


async def test_a_link_names_its_person_wherever_it_is_opened() -> None:
    made = await desk()
    async with connected(application(made, LINKED), client=AWAY, base="http://rungs.example") as client:
        page = await client.get("/confirm/bos")
        assert (page.status_code, "you are bo" in words(page.text)) == (200, True)
        assert (await client.get("/clicks")).status_code == 403
        pressed = await client.post("/confirm/bos", data=form("bo"))
    assert (pressed.status_code, pressed.headers["location"]) == (303, "/confirm/bos")
    assert made.runs == ["git push origin release/4.2"]


@pytest.mark.parametrize("headers", [login("ana", "battery"), login("bo", "wrong")])
async def test_somebody_else_with_the_link_learns_only_whose_it_is(headers: dict[str, str]) -> None:
    made = await desk()
    app = application(made, LINKED)
    async with connected(app, client=AWAY, base="http://rungs.example", headers=headers) as client:
        for answer in (await client.get("/confirm/bos"), await client.post("/confirm/bos", data=form("bo"))):
            assert answer.status_code == 403
            assert "This click is bo's to press, not" in words(answer.text)
            assert "git push" not in answer.text
    assert made.runs == []


async def test_the_user_of_the_link_may_be_logged_in_as_the_same_person() -> None:
    made = await desk()
    async with connected(application(made, LINKED), headers=BO) as client:
        assert (await client.post("/confirm/bos", data=form("bo"))).status_code == 303
