"""Schema: the small parts that the published schemas of plans and costs are made of (draft 2020-12)."""

from collections.abc import Mapping
from typing import Any

Json = dict[str, Any]

DRAFT = "https://json-schema.org/draft/2020-12/schema"
RATIO: Json = {"type": "number", "minimum": 0, "maximum": 1}
NUMBER: Json = {"type": "number"}
COUNT: Json = {"type": "integer", "minimum": 0}
TEXT: Json = {"type": "string"}
FLAG: Json = {"type": "boolean"}
TIME: Json = {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$"}
MONEY: Json = {"type": "string", "pattern": r"^-?\d+\.\d{2,6}$"}


def object_of(properties: Mapping[str, Json], optional: Mapping[str, Json] | None = None) -> Json:
    """An object with those properties and no others."""
    return {
        "type": "object",
        "properties": {**properties, **(optional or {})},
        "required": list(properties),
        "additionalProperties": False,
    }


def list_of(items: Json, **bounds: int) -> Json:
    """A list of items that all keep to one schema."""
    return {"type": "array", "items": items, **bounds}


def maybe(schema: Json) -> Json:
    """What keeps to the schema, or null for what is not known."""
    return {"anyOf": [schema, {"type": "null"}]}


def map_of(values: Json) -> Json:
    """An object of any names whose values keep to one schema."""
    return {"type": "object", "additionalProperties": values}
