"""Described: the JSON Schema of a file that people write, each key with the text that stands below it in the code."""

import ast
import inspect
from collections.abc import Iterator
from itertools import pairwise
from textwrap import dedent
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue


class Described(GenerateJsonSchema):
    """Describes every key of a section.

    Pydantic can read the texts below keys too, but does so whenever the models are made, at every start.
    """

    def model_schema(self, schema: Any) -> JsonSchemaValue:
        """The schema of one section."""
        made = super().model_schema(schema)
        texts = dict(described(schema["cls"]))
        keys = made.get("properties", {})
        made["properties"] = {key: _with(value, texts.get(key)) for key, value in keys.items()}
        return made


def _with(value: JsonSchemaValue, text: str | None) -> JsonSchemaValue:
    return value if text is None else {**value, "description": text}


def described(section: type[BaseModel]) -> Iterator[tuple[str, str]]:
    """Each key of a section, as it stands in the file, and the text below it."""
    (tree,) = ast.parse(dedent(inspect.getsource(section))).body
    for key, text in pairwise(tree.body if isinstance(tree, ast.ClassDef) else ()):
        match key, text:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(told))):
                yield section.model_fields[name].alias or name, inspect.cleandoc(told)
            case _:
                pass
