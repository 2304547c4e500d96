"""The server of the large page: publishes a view with the share that `POST /change` names, and says when it began."""

import sys
import time

import uvicorn
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from canary.listening import listen
from exporters.endpoint import endpoint
from exporters.exposition import Exposition
from exporters.view import Health
from tests.bench.pages import large
from tests.exporters.scenes import NOW


def main() -> None:
    """Serve on a free port until killed."""
    first = large(0.1)
    exposition = Exposition(first, lambda: NOW)

    async def change(request: Request) -> Response:
        view = large(float(request.query_params["used"]))
        began = time.monotonic()
        exposition.publish(view)
        return PlainTextResponse(repr(began))

    def health() -> Health:
        return Health(alive=True, ready=True)

    routes = [Route("/change", change, methods=["POST"])]
    app = endpoint(lambda: first, exposition, health, lambda _: (), lambda: NOW, routes)
    with listen("127.0.0.1:0") as bound:
        sys.stdout.write(f"listening on 127.0.0.1:{bound.getsockname()[1]}\n")
        sys.stdout.flush()
        uvicorn.Server(uvicorn.Config(app, log_config=None, access_log=False, lifespan="off")).run(sockets=[bound])


if __name__ == "__main__":
    main()
