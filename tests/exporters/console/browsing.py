"""Browsing: a real server on loopback, and a real Chromium that looks at it."""

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import uvicorn
from playwright.async_api import Browser, BrowserContext, Page, async_playwright
from starlette.applications import Starlette

from tests.exporters.services import need

OUTPUT = Path(__file__).parents[3] / "test-output" / "console"
"""Where the pictures of every page go."""
WAIT_MS = 30_000.0
"""How long anything on a page is waited for, at most: this machine may be busy."""
THEMES = ("light", "dark")


class _Server(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave Ctrl-C to the test runner."""
        yield


@asynccontextmanager
async def served(app: Starlette) -> AsyncIterator[str]:
    """The address of the application while it is served on loopback, as the daemon serves it."""
    bound = socket.create_server(("127.0.0.1", 0))
    settings = uvicorn.Config(app, log_config=None, access_log=False, lifespan="off", proxy_headers=False)
    server = _Server(settings)
    task = asyncio.create_task(server.serve(sockets=[bound]))
    try:
        yield f"http://localhost:{bound.getsockname()[1]}"
    finally:
        server.should_exit = True
        await task
        bound.close()


@asynccontextmanager
async def chromium() -> AsyncIterator[Browser]:
    """The system's Chromium, without its sandbox: root may not have it, few containers do, and the pages are ours."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=need("chromium"), args=["--no-sandbox"])
        try:
            yield browser
        finally:
            await browser.close()


@asynccontextmanager
async def page_of(browser: Browser, base: str, **settings: Any) -> AsyncIterator[Page]:
    """A page of a context of its own; anything that the browser complains of fails the test at its end."""
    context: BrowserContext = await browser.new_context(base_url=base, **settings)
    context.set_default_timeout(WAIT_MS)
    page = await context.new_page()
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda line: complaints.append(line.text) if "Content Security Policy" in line.text else None)
    try:
        yield page
    finally:
        await context.close()
    assert complaints == []


@cache
def axe() -> str:
    """The source of axe-core, as the package on PyPI bundles it."""
    return (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")


async def faults(page: Page) -> list[str]:
    """What axe finds on a page that is serious or critical, each with the elements that it is about."""
    await page.evaluate(axe())
    found = await page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{one['id']}: {[node['html'][:120] for node in one['nodes'][:3]]}"
        for one in found["violations"]
        if one["impact"] in ("serious", "critical")
    ]
