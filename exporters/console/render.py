"""Rendering: the console's templates, escaped by default, and its static files."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from exporters.console.frame import NAV, Frame

_HERE = Path(__file__).parent
_TYPES: Mapping[str, str] = MappingProxyType({".css": "text/css", ".js": "text/javascript"})


class _Documents(Environment):
    """Looks into a document first: a key of its own comes before any method of a dictionary, and is found sooner."""

    def getattr(self, obj: Any, attribute: str) -> Any:
        """What a template means by `document.key`."""
        if type(obj) is dict and attribute in obj:
            return obj[attribute]
        return super().getattr(obj, attribute)


@cache
def _environment() -> Environment:
    return _Documents(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def render(template: str, frame: Frame, **context: object) -> str:
    """A template of `templates/` filled in, within its frame; a name that the context lacks raises."""
    return _environment().get_template(template).render(frame=frame, nav=NAV, clock=frame.clock, **context)


def page(template: str, frame: Frame, **context: object) -> bytes:
    """The same as the bytes of an answer; half of a surrogate pair, which a stored text may hold, becomes "?"."""
    return render(template, frame, **context).encode(errors="replace")


@cache
def statics() -> Mapping[str, tuple[bytes, str]]:
    """Every static file by its name, with its media type."""
    files = (path for path in (_HERE / "static").iterdir() if path.suffix in _TYPES)
    return MappingProxyType({path.name: (path.read_bytes(), _TYPES[path.suffix]) for path in files})
