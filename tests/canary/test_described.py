"""Described: every key of a section is described, under the name that it has in the file."""

from typing import Any

from pydantic import Field

from canary.config import Config, config_schema
from canary.config_types import Section
from canary.described import Described


class Inner(Section):
    """Not a key."""

    kind: str = Field(alias="class")
    """what it is"""
    bare: int = 1
    many: tuple[int, ...] = ()
    """one text
    over two lines"""


class Outer(Section):
    """Not a key either."""

    inner: Inner
    """what is inside"""


def test_a_key_has_the_text_below_it_and_no_other() -> None:
    schema = Outer.model_json_schema(schema_generator=Described)
    inner = schema["$defs"]["Inner"]["properties"]
    texts = {key: value.get("description") for key, value in inner.items()}
    assert texts == {"class": "what it is", "bare": None, "many": "one text\nover two lines"}
    assert schema["properties"]["inner"] == {"$ref": "#/$defs/Inner", "description": "what is inside"}


def test_every_key_of_the_configuration_is_described() -> None:
    schema = config_schema()
    sections: list[dict[str, Any]] = [schema["$defs"][name] for name in schema["$defs"] if name.endswith("Section")]
    keys = [(section["title"], key, value) for section in sections for key, value in section["properties"].items()]
    assert [(title, key) for title, key, value in keys if not value.get("description")] == []
    assert len(keys) > 60
    assert set(schema["properties"]) == set(Config.model_fields)
