"""The far side of decide_overhead: chat completions that answer a brief after a delay, or anything else at once."""

import asyncio
import json
import re
import sys

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from canary.listening import listen

NONCE = re.compile(r"`nonce` repeats this text exactly: (\S+?)\\n")


async def answer(request: Request) -> Response:
    """A verdict for the first option, whatever the question."""
    body = (await request.body()).decode()
    await asyncio.sleep(float(request.headers.get("authorization", "Bearer 0").removeprefix("Bearer ms-")) / 1000)
    nonce, model = NONCE.search(body), re.search(r'"model": ?"([^"]+)"', body)
    verdict: dict[str, object] = {
        "nonce": nonce[1] if nonce else "",
        "resolvable": True,
        "rec": "a",
        "touches": [],
        "rationale": "bench",
    }
    content = json.dumps(
        {
            "model": model[1] if model else "",
            "choices": [{"message": {"role": "assistant", "content": json.dumps(verdict)}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 900, "completion_tokens": 60, "total_tokens": 960},
        }
    )
    return Response(content, media_type="application/json")


def main() -> None:
    """Serve on a free port until killed."""
    app = Starlette(routes=[Route("/v1/chat/completions", answer, methods=["POST"])])
    with listen("127.0.0.1:0") as bound:
        sys.stdout.write(f"{bound.getsockname()[1]}\n")
        sys.stdout.flush()
        config = uvicorn.Config(app, log_config=None, access_log=False, lifespan="off")
        asyncio.run(uvicorn.Server(config).serve(sockets=[bound]))


if __name__ == "__main__":
    main()
