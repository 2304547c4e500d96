"""Connections beneath httpx: large bodies arrive whole, every end of one is told, and nothing is paid for twice."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from decide.reason import Reason
from decide.rungs.http import Http, Request
from tests.canary.fakes import NOW

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
ANSWER = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"


@asynccontextmanager
async def far(serve: Serve) -> AsyncIterator[tuple[Http, str]]:
    """A client, and the address of a far side that treats each connection in its own way."""

    async def served(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await serve(reader, writer)
        finally:
            writer.close()

    server = await asyncio.start_server(served, "127.0.0.1", 0)
    http = Http(lambda: NOW, timeout_s=5, version="test", purpose="tries itself")
    try:
        yield http, f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
    finally:
        await http.aclose()
        server.close()
        await server.wait_closed()


async def turns(many: int) -> None:
    """Let the loop turn so often, with nothing done here."""
    for _ in range(many):
        await asyncio.sleep(0)


@pytest.mark.parametrize("size", [65_537, 1_000_000])
async def test_a_body_of_any_size_arrives_whole_at_a_far_side_that_is_slow_to_read(size: int) -> None:
    body = (bytes(range(251)) * (size // 251 + 1))[:size]
    came = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        await turns(100)  # while nobody reads, the system's buffers fill
        came.append(await reader.readexactly(size))
        writer.write(ANSWER)
        await writer.drain()
        await reader.read()  # until the connection is closed from there

    async with far(serve) as (http, url):
        reply = await http.fetch(Request(url, body=body))
    assert (reply.status, came) == (200, [body])


async def test_a_far_side_that_ends_an_idle_connection_is_connected_to_again() -> None:
    many = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal many
        many += 1
        await reader.readuntil(b"\r\n\r\n")
        writer.write(ANSWER)
        await writer.drain()

    async with far(serve) as (http, url):
        first = await http.fetch(Request(url))
        await turns(10)
        second = await http.fetch(Request(url))
    assert (first.status, second.status, many) == (200, 200, 2)


async def test_one_connection_serves_several_requests() -> None:
    heads = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while not reader.at_eof():
            heads.append(await reader.readuntil(b"\r\n\r\n"))
            writer.write(ANSWER)
            await writer.drain()
            if len(heads) == 3:
                return

    async with far(serve) as (http, url):
        assert [(await http.fetch(Request(url))).body for _ in range(3)] == [b"ok"] * 3
    assert len(heads) == 3


async def test_a_post_that_may_have_been_heard_is_never_sent_again() -> None:
    """On a connection that served before, where a GET would be."""
    heads: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while not reader.at_eof():
            heads.append(await reader.readuntil(b"\r\n\r\n"))
            if len(heads) == 2:
                return
            writer.write(ANSWER)
            await writer.drain()

    async with far(serve) as (http, url):
        first = await http.fetch(Request(url))
        second = await http.fetch(Request(url, body=b"{}"))
        assert (first.status, second.failure, second.sent) == (200, Reason.NETWORK, True)
    assert [head[:4] for head in heads] == [b"GET ", b"POST"]


@pytest.mark.parametrize("said", [b"", b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nshort"])
async def test_a_far_side_that_ends_too_soon_is_a_network_failure_that_was_sent(said: bytes) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(said)

    async with far(serve) as (http, url):
        reply = await http.fetch(Request(url))
    assert (reply.status, reply.failure, reply.sent) == (0, Reason.NETWORK, True)


async def test_a_far_side_that_speaks_no_tls_is_never_sent_anything() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(b"no TLS here\r\n")
        await writer.drain()

    async with far(serve) as (http, url):
        reply = await http.fetch(Request(url.replace("http:", "https:")))
    assert (reply.failure, reply.detail, reply.sent) == (Reason.NETWORK, "ClientConnectorSSLError", False)


async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """A far side that takes everything and never answers."""
    await reader.read()


@pytest.mark.parametrize(("scheme", "sent"), [("http:", True), ("https:", False)])
async def test_every_step_is_bounded_in_time(scheme: str, sent: bool) -> None:
    async with far(silent) as (_, url):
        http = Http(lambda: NOW, timeout_s=0.05, version="test", purpose="tries itself")
        reply = await http.fetch(Request(url.replace("http:", scheme)))
        await http.aclose()
    assert (reply.failure, reply.sent) == (Reason.TIMEOUT, sent)


async def test_a_cancelled_request_leaves_no_connection() -> None:
    ended = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        asking.cancel()
        assert await reader.read() == b""
        ended.set()

    async with far(serve) as (http, url):
        asking = asyncio.ensure_future(http.fetch(Request(url)))
        with pytest.raises(asyncio.CancelledError):
            await asking
        await asyncio.wait_for(ended.wait(), 10)
