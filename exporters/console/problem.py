"""Problem: what a request that cannot be served is told, as a page, a JSON document (RFC 9457) or a line of text."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import Response

from exporters.console.frame import Frame
from exporters.console.render import page
from exporters.negotiate import media_types

JSON = "application/problem+json"
_JSON = ("application/json", JSON)


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a request is not served: the status, its name for a person, and what is wrong and helps."""

    status: int
    detail: str
    title: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The title, or what HTTP calls the status."""
        return self.title or HTTPStatus(self.status).phrase


class ProblemError(Exception):
    """A request that is not served, and nothing was changed by it."""

    def __init__(self, status: int, detail: str, title: str = "", headers: Mapping[str, str] | None = None) -> None:
        super().__init__(detail)
        self.problem = Problem(status, detail, title, headers or {})


def wants_json(request: Request) -> bool:
    """Whether a request likes JSON better than a page."""
    liked = next((kind for kind in _liked(request) if kind in (*_JSON, "text/html")), "")
    return liked in _JSON


def answer(request: Request, problem: Problem, frame: Frame) -> Response:
    """The problem as the request likes it: JSON or a page where it names one of them, else a line of text."""
    if wants_json(request):
        return Response(document(problem), problem.status, headers=problem.headers, media_type=JSON)
    if "text/html" in _liked(request):
        html = page("problem.html", frame, problem=problem)
        return Response(html, problem.status, headers=problem.headers, media_type="text/html")
    text = f"{problem.name}: {problem.detail}\n" if problem.detail else f"{problem.name}\n"
    return Response(text.encode(errors="replace"), problem.status, headers=problem.headers, media_type="text/plain")


def document(problem: Problem) -> str:
    """The problem as a document of RFC 9457."""
    told = {"type": "about:blank", "title": problem.name, "status": problem.status, "detail": problem.detail}
    return json.dumps(told)


def _liked(request: Request) -> list[str]:
    return media_types(", ".join(request.headers.getlist("accept")))
