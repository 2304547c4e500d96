"""The pure modules read no clock, file, socket, environment or random number, and import nothing that does."""

import ast
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EDGE = {
    "__init__": "imports the public names when they are first used",
    "checking": "asks a rung",
    "consulting": "asks a rung",
    "day": "a zone's rules are a file",
    "document": "reads YAML and JSON with libraries",
    "document_text": "reads YAML and JSON with libraries",
    "ending": "writes to the store",
    "evidence": "reads sources",
    "evidence_files": "reads files",
    "evidence_read": "bounds what is read",
    "evidence_url": "reads URLs",
    "policy": "reads the policy's file",
    "prices": "reads the price table and its file",
    "ports": "the values that cross to the world, paths among them",
    "run": "the run itself",
    "settler": "writes to the store",
    "tasks": "works done at once",
}
"""The modules of decide's own folder that are not pure, and what for."""
HANDOFF_EDGE = {
    "carry": "runs commands and writes to the store",
    "effect": "runs programs",
    "link": "signs and reads tokens with a library",
    "ports": "the values that cross to the store",
    "puller": "the daemon's rounds",
    "waiting": "polls the store",
    "webhook": "posts, and retries with a library",
}
"""Those of decide/handoff, likewise."""
PURE = sorted(
    [
        *(path for path in (ROOT / "decide").glob("*.py") if path.stem not in EDGE),
        *(path for path in (ROOT / "decide" / "handoff").glob("*.py") if path.stem not in HANDOFF_EDGE),
        *(ROOT / "exporters" / name for name in ("catalog.py", "view.py", "report.py", "logline.py")),
        *(
            ROOT / "canary" / name
            for name in ("budget.py", "classify.py", "duration.py", "login.py", "memory.py", "probed.py")
        ),
        *(ROOT / "canary" / "sources" / name for name in ("wire.py", "claude_usage.py", "codex_usage.py")),
    ]
)
ALLOWED = {
    "bisect", "collections", "contextlib", "dataclasses", "datetime", "decimal", "enum", "functools", "hashlib", "hmac",
    "itertools", "json", "math", "re", "shlex", "statistics", "types", "typing", "unicodedata",
}  # fmt: skip
FORBIDDEN_CALLS = {
    "open", "input", "print", "exec", "eval", "__import__", "breakpoint",
    "now", "utcnow", "today", "time", "monotonic", "perf_counter", "getenv", "read_text", "read_bytes", "write_text",
    "write_bytes", "random", "randint", "choice", "shuffle", "uuid4", "uuid1", "urandom", "token_hex", "token_bytes",
    "getrandbits", "sleep", "cwd", "home",
}  # fmt: skip
FORBIDDEN_NAMES = {"os", "sys", "time", "random", "secrets", "socket", "pathlib", "uuid", "subprocess", "asyncio"}


def faults(source: str, *, only_standard: bool) -> list[str]:
    """What a module does that a pure one may not, each as "line: what"."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name.split(".")[0] for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [(node.module or "").split(".")[0]]
        else:
            names = []
        for name in names:
            standard = name in sys.stdlib_module_names
            if (standard and name not in ALLOWED) or name in FORBIDDEN_NAMES:
                found.append(f"{node.lineno}: imports {name}")  # type: ignore[attr-defined]  # import nodes have a line
            elif only_standard and not standard and name != "decide":
                found.append(f"{node.lineno}: imports {name}")  # type: ignore[attr-defined]
        if isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called in FORBIDDEN_CALLS or (isinstance(node.func, ast.Name) and called == "compile"):
                found.append(f"{node.lineno}: calls {called}")
        if isinstance(node, ast.Name) and node.id in {"open", "__builtins__", "__loader__"}:
            found.append(f"{node.lineno}: names {node.id}")
    return found


@pytest.mark.parametrize("path", PURE, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_pure_module_touches_nothing_of_the_world(path: Path) -> None:
    in_core = path.parent.name in ("decide", "handoff")
    assert faults(path.read_text(encoding="utf-8"), only_standard=in_core) == []


@pytest.mark.parametrize(
    "source",
    [
        "import time",
        "from os import environ",
        "import random as r",
        "from datetime import datetime\ndatetime.now()",
        "open('x')",
        "f = open\nf('x')",
        "def f(read=open): return read('x')",
        "from pathlib import Path",
        "__import__('os')",
        "import httpx",
        "__builtins__['open']('x')",
    ],
)
def test_the_check_sees_each_way_out(source: str) -> None:
    assert faults(source, only_standard=True)


def imported(path: Path) -> set[str]:
    """The modules of decide that a module imports."""
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    names = [node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module]
    return {name.removeprefix("decide.") for name in names if name.startswith("decide.")}


NOT_PURE = (EDGE.keys() - {"ports"}) | {f"handoff.{name}" for name in HANDOFF_EDGE.keys() - {"ports"}}
CORE = [path for path in PURE if path.parent.name in ("decide", "handoff")]


@pytest.mark.parametrize("path", CORE, ids=lambda path: path.stem)
def test_a_rule_imports_nothing_that_is_not_pure(path: Path) -> None:
    assert not imported(path) & NOT_PURE
    if path.stem in RULES:
        assert imported(path) <= RULES


RULES = {
    *("reason", "quota", "seat", "pick", "ladder"),
    *("question", "reply", "verdict", "consultation", "ruling", "level", "money", "snapshot", "brief", "ledger"),
    *("cross_check", "shown"),
    *("gate", "gate_features", "gate_hints", "gate_text", "gate_words"),
}


def test_every_rule_of_the_core_is_looked_at() -> None:
    assert {path.stem for path in PURE if path.parent.name == "decide"} >= RULES


def test_the_tables_of_what_is_not_pure_name_modules_that_are_there() -> None:
    for folder, edge in ((ROOT / "decide", EDGE), (ROOT / "decide" / "handoff", HANDOFF_EDGE)):
        assert edge.keys() <= {path.stem for path in folder.glob("*.py")}
