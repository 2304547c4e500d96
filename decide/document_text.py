"""Document text: JSON or YAML read into plain values, so that nothing is taken for something else unseen."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import yaml

from decide.question import QuestionError

LIMIT = 1 << 20
"""The most bytes that a document may have."""
Place = tuple[str | int, ...]
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TAG = "tag:yaml.org,2002:"
_TEXTS = frozenset(_TAG + kind for kind in ("str", "timestamp", "value", "merge"))
_OTHERS: Mapping[str, str] = MappingProxyType(
    {_TAG + "bool": "true or false", _TAG + "int": "a number", _TAG + "float": "a number"}
)
_DEEP = "is nested too deeply"


@dataclass(frozen=True, slots=True)
class Unquoted:
    """A word that YAML takes for something else than text, such as `no` or `1`."""

    raw: str
    taken_for: str


@dataclass(frozen=True, slots=True)
class Read:
    """A document's value, and the line of each of its members where that is known."""

    value: Any
    lines: Mapping[Place, int] = field(default_factory=lambda: MappingProxyType({}))


def read(data: bytes, name: str) -> Read:
    """The value in a document of that name: JSON when its name says so or it begins with a brace, else YAML.

    Raises QuestionError, which says where and what is allowed.
    """
    if len(data) > LIMIT:
        raise QuestionError(f"{name}: must be at most {LIMIT} bytes")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise QuestionError(f"{name}: must be UTF-8; byte {error.start + 1} is not") from error
    if not text.strip():
        raise QuestionError(f"{name}: is empty; it must hold a question as JSON or YAML")
    braced = text.lstrip().startswith("{") and not name.endswith((".yaml", ".yml"))
    try:
        return Read(_json(text, name)) if braced or name.endswith(".json") else _yaml(text, name)
    except RecursionError:
        raise QuestionError(f"{name}: {_DEEP}") from None


def _json(text: str, name: str) -> Any:
    def pairs(found: list[tuple[str, Any]]) -> dict[str, Any]:
        whole: dict[str, Any] = {}
        for key, value in found:
            if key in whole:
                raise QuestionError(f"{name}: the key {key[:40]!r} is there twice")
            whole[key] = value
        return whole

    try:
        return json.loads(text, object_pairs_hook=pairs)
    except json.JSONDecodeError as error:
        raise QuestionError(f"{name}:{error.lineno}: not valid JSON: {error.msg} (column {error.colno})") from None
    except QuestionError:
        raise
    except ValueError as error:  # a number of thousands of digits
        raise QuestionError(f"{name}: not valid JSON: {error}") from None


def _yaml(text: str, name: str) -> Read:
    try:
        node = yaml.compose(text, Loader=_LOADER)
    except yaml.MarkedYAMLError as error:
        raise QuestionError(_yaml_fault(error, name)) from None
    except yaml.YAMLError as error:
        raise QuestionError(f"{name}: not valid YAML: {str(error).splitlines()[0]}") from None
    walk = _Walk(name)
    return Read(None if node is None else walk.value(node, ()), MappingProxyType(walk.lines))


def _yaml_fault(error: yaml.MarkedYAMLError, name: str) -> str:
    mark = error.problem_mark or error.context_mark
    where = f"{name}:{mark.line + 1}" if mark else name
    hint = "; a text that holds `: ` stands in quotes" if "mapping values" in str(error.problem) else ""
    return f"{where}: not valid YAML: {error.problem or error.context}{hint}"


class _Walk:
    """One way through a YAML document, which keeps the line of each member."""

    def __init__(self, name: str) -> None:
        self.lines: dict[Place, int] = {}
        self._name = name
        self._seen: set[int] = set()

    def value(self, node: yaml.Node, path: Place) -> Any:
        """The value of a node; words that YAML takes for no text come as `Unquoted`."""
        self.lines[path] = node.start_mark.line + 1
        if id(node) in self._seen:
            # a few aliases can stand for gigabytes
            raise self._fault(node, "anchors and aliases are not read; write it out")
        self._seen.add(id(node))
        if isinstance(node, yaml.MappingNode) and node.tag == _TAG + "map":
            return self._mapping(node, path)
        if isinstance(node, yaml.SequenceNode) and node.tag == _TAG + "seq":
            return [self.value(each, (*path, place)) for place, each in enumerate(node.value)]
        if isinstance(node, yaml.ScalarNode) and node.tag == _TAG + "null":
            return None
        if isinstance(node, yaml.ScalarNode) and node.tag in _TEXTS:
            return node.value
        if isinstance(node, yaml.ScalarNode) and node.tag in _OTHERS:
            return Unquoted(node.value, _OTHERS[node.tag])
        raise self._fault(node, f"the tag {node.tag[:40]!r} is not read; write plain text")

    def _mapping(self, node: yaml.MappingNode, path: Place) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise self._fault(key, "a key must be one word")
            if key.value in found:
                raise self._fault(key, f"the key {key.value[:40]!r} is there twice")
            found[key.value] = self.value(value, (*path, key.value))
            self.lines[*path, key.value] = key.start_mark.line + 1
        return found

    def _fault(self, node: yaml.Node, text: str) -> QuestionError:
        return QuestionError(f"{self._name}:{node.start_mark.line + 1}: {text}")
