"""Routes: the console's paths, each with its page or its deed."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from exporters.console import ask, clicks, decisions, history, queue, ticks
from exporters.console.site import Handler, Site


def routes(site: Site) -> list[BaseRoute]:
    """Every path of the console but the status page's."""
    read, write, link = site.reading, site.writing, site.linked
    return [
        Route("/history", read(history.history_page)),
        Route("/decisions", read(decisions.decisions_page)),
        Route("/decisions/{receipt}", read(decisions.receipt_page)),
        Route("/api/receipts/{receipt}", read(decisions.receipt_document)),
        Route("/queue", read(queue.queue_page)),
        Route("/queue/{entry}", read(queue.entry_page)),
        Route("/queue/{entry}/answer", write(queue.answer_entry), methods=["POST"]),
        Route("/queue/{entry}/cancel", write(queue.cancel_entry), methods=["POST"]),
        Route("/clicks", read(clicks.clicks_page)),
        Route("/clicks/{click}", read(clicks.click_page)),
        Route("/clicks/{click}/press", write(clicks.press_click), methods=["POST"]),
        _both("/confirm/{token}", link(clicks.confirm_page), link(clicks.press_link, sent=True)),
        _both("/ask", read(ask.ask_page), write(ask.raise_question)),
        Route("/inbox/{item}", read(ask.item_page)),
        Route("/ticks", read(ticks.ticks_page)),
        Route("/login", site.named()),
    ]


def _both(path: str, page: Handler, deed: Handler) -> Route:
    """A path that shows its form and takes it, so that a third method is told of both."""

    async def handle(request: Request) -> Response:
        return await (deed if request.method == "POST" else page)(request)

    return Route(path, handle, methods=["GET", "POST"])
