"""Rendering: the console's templates, escaped by default, and its static files."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

from jinja2 import Environment, FileSystemLoader, StrictUndefined

_HERE = Path(__file__).parent


@cache
def _environment() -> Environment:
    return Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def render(template: str, **context: object) -> str:
    """A template of `templates/` filled in; a name that the context lacks raises."""
    return _environment().get_template(template).render(**context)


@cache
def stylesheets() -> Mapping[str, bytes]:
    """Every stylesheet by its file name."""
    return MappingProxyType({path.name: path.read_bytes() for path in (_HERE / "static").glob("*.css")})
