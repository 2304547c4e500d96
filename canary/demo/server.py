"""How a reply goes out, and a loopback server that takes no signal handlers and stops at once."""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import uvicorn
from starlette.types import ASGIApp, Receive, Send

from canary.demo.reply import Ending, Reply


async def deliver(reply: Reply, date: bytes, receive: Receive, send: Send) -> None:
    """The reply on the wire; a dropped one promises its whole length, sends half and stops."""
    if reply.ending is Ending.HANGING:
        while (await receive())["type"] != "http.disconnect":
            pass
        return
    headers = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in reply.headers]
    headers.append((b"date", date))
    if len(reply.parts) == 1:
        headers.append((b"content-length", str(len(reply.parts[0])).encode()))
    await send({"type": "http.response.start", "status": reply.status, "headers": headers})
    *first, last = reply.parts
    if reply.ending is Ending.DROPPED:
        await send({"type": "http.response.body", "body": last[: len(last) // 2], "more_body": True})
        return
    for part in first:
        await send({"type": "http.response.body", "body": part, "more_body": True})
    await send({"type": "http.response.body", "body": last})


@asynccontextmanager
async def serve(
    app: ASGIApp, host: str = "127.0.0.1", port: int = 0, tls: ssl.SSLContext | None = None
) -> AsyncIterator[str]:
    """The application answers on the yielded base URL, in this event loop, until the block ends; over TLS if given.

    uvicorn's own `serve` is not used: it would take the process's signal handlers.
    """
    # The protocol is named because asyncio turns Nagle's algorithm off (40 ms a reply) only where it is.
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.bind((host, port))
    config = uvicorn.Config(
        app,
        lifespan="off",
        ws="none",
        log_config=None,
        log_level="critical",
        access_log=False,
        date_header=False,
        server_header=False,
        timeout_graceful_shutdown=0,
    )
    config.load()
    config.ssl = tls
    server = uvicorn.Server(config)
    server.lifespan = config.lifespan_class(config)
    await server.startup(sockets=[listening])
    try:
        yield f"{'https' if tls else 'http'}://{host}:{listening.getsockname()[1]}"
    finally:
        running = set(server.server_state.tasks)
        await server.shutdown(sockets=[listening])
        await asyncio.gather(*running, return_exceptions=True)
