"""Pages of the console's world, as a person on this machine reads them."""

from tests.exporters.console.fakes import FakeDesk
from tests.exporters.console.world import application, connected, desk
from tests.exporters.html import words


async def page(path: str, made: FakeDesk | None = None, status: int = 200) -> str:
    """The page at a path."""
    async with connected(application(made or await desk())) as client:
        answer = await client.get(path)
    assert answer.status_code == status
    return answer.text


async def text(path: str, made: FakeDesk | None = None) -> str:
    """The words of the page at a path."""
    return words(await page(path, made))
