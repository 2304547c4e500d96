"""Whatever is sent, no answer is a fault of ours, every answer is sealed, and nothing runs without a token."""

import asyncio
from collections.abc import Mapping
from ipaddress import ip_network
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from exporters.console.access import Access, Read
from exporters.console.form import TYPE, form_token
from exporters.endpoint import HEADERS
from tests.exporters.console.world import KEY, PAGES, application, desk

ACCESS = Access(
    Read.KNOWN,
    "ana",
    {"bo": lambda: "correct horse"},
    "X-Remote-User",
    (ip_network("10.0.0.0/8"),),
    ("rungs.example",),
)
TOKEN = form_token(KEY, "ana")
BYTES = st.binary(max_size=30).map(lambda found: found.replace(b"\r", b"").replace(b"\n", b""))
PATHS = st.sampled_from(
    [*PAGES, "/queue/r-policy/answer", "/queue/r-policy/cancel", "/clicks/c-1/press", "/confirm/x"]
)
WILD = st.builds(lambda base, tail: base.encode() + b"/" + tail, PATHS, BYTES) | BYTES.map(lambda tail: b"/" + tail)
HOSTS = st.sampled_from([b"localhost", b"127.0.0.1:9477", b"rungs.example", b"[::1", b"evil"]) | BYTES
KNOWN_HEADERS = {
    b"host": HOSTS,
    b"accept": st.sampled_from([b"text/html", b"application/json", b"*/*;q=x"]) | BYTES,
    b"authorization": st.sampled_from([b"Basic Ym86Y29ycmVjdCBob3JzZQ==", b"Basic", b"Basic \xff"]) | BYTES,
    b"content-type": st.sampled_from([TYPE.encode(), b"application/json"]) | BYTES,
    b"origin": st.sampled_from([b"http://localhost", b"null", b"http://[", b"//"]) | BYTES,
    b"sec-fetch-site": st.sampled_from([b"same-origin", b"cross-site"]) | BYTES,
    b"x-remote-user": BYTES,
    b"x-forwarded-for": BYTES,
    b"cookie": BYTES,
    b"accept-encoding": BYTES,
}
PAIRS = st.one_of(*(st.tuples(st.just(name), values) for name, values in KNOWN_HEADERS.items()))
NAMES = st.sampled_from(
    ["form", "option", "text", "note", "rows", "more", "text1", "text2", "id1", "deadline", "level"]
)
FIELDS = st.lists(st.tuples(NAMES, st.text(max_size=12) | st.just(TOKEN)), max_size=8)
BODIES = BYTES | st.builds(
    lambda fields, token: "&".join(f"{n}={v}" for n, v in [*fields, *token]).encode(errors="surrogatepass"),
    FIELDS,
    st.sampled_from([[], [("form", TOKEN)]]),
)


async def sent(scope: Mapping[str, Any], body: bytes) -> tuple[int, dict[str, str]]:
    """The status and the headers of the answer, with the world as it was at first."""
    app, told = application(await desk(), ACCESS), []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Any) -> None:
        told.append(message)

    await app(dict(scope), receive, send)
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in told[0]["headers"]}
    return told[0]["status"], headers


@settings(max_examples=400)
@given(
    method=st.sampled_from(["GET", "POST", "HEAD", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "BREW"]),
    path=PATHS.map(lambda path: path.encode()) | WILD,
    query=st.sampled_from([b"page=2", b"page=-1", b"before=r-agreed", b"before=", b"cites=r-flip", b"rung=fable"])
    | BYTES,
    headers=st.lists(PAIRS, max_size=8),
    body=BODIES,
    address=st.sampled_from(["127.0.0.1", "10.0.0.1", "192.0.2.7", "", "::1"]),
)
def test_no_request_is_a_fault_of_ours(
    method: str, path: bytes, query: bytes, headers: list[tuple[bytes, bytes]], body: bytes, address: str
) -> None:
    bare, _, more = path.partition(b"?")
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": bare.decode(errors="replace"),
        "raw_path": bare,
        "query_string": more or query,
        "root_path": "",
        "headers": headers,
        "client": (address, 1) if address else None,
        "server": ("127.0.0.1", 9477),
    }
    status, told = asyncio.run(sent(scope, body))
    assert status < 500
    assert told["content-security-policy"] == HEADERS["content-security-policy"]
    assert told["referrer-policy"] == "no-referrer"
