"""Document: a value as the YAML of a generated file, with a head that says where it comes from."""

from typing import Any

import yaml

HEAD = "Built by `rungwatch dashboards build`; do not edit."
_WIDTH = 10_000


class Lines(str):
    """A text that is written as lines of its own, as an expression is."""

    __slots__ = ()


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        return super().increase_indent(flow, indentless=False)


def _lines(dumper: yaml.SafeDumper, text: Lines) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", str(text), style="|" if "\n" in text else None)


_Dumper.add_representer(Lines, _lines)


def document(value: Any, *told: str) -> str:
    """The value as YAML below the head and what else is `told`, in the order that it was made in."""
    head = "".join(f"# {line}\n" for line in (HEAD, *told))
    return head + yaml.dump(value, Dumper=_Dumper, sort_keys=False, width=_WIDTH, allow_unicode=True)
