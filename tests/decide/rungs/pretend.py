"""Pretend: a program that stands for a client, writes down how it was run and prints what it is told to."""

import json
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from decide.brief import Brief
from decide.consultation import Order
from decide.ports import Access

NOW = datetime(2026, 11, 30, 15, 43, tzinfo=UTC)
SCHEMA: dict[str, Any] = {"type": "object", "properties": {"nonce": {"type": "string"}}, "required": ["nonce"]}
BRIEF = Brief("You review.", "Which one? · ’", SCHEMA, "n-123", Order.REVERSED, ("opt_b", "opt_a"), "sha256:0")
VERDICT = {"nonce": "n-123", "resolvable": True, "rec": "opt_b", "kind": "", "gap": "", "touches": [], "rationale": "cheaper to undo"}  # fmt: skip

SCRIPT = """#!{python}
import json, os, sys
{before}
asked = sys.stdin.buffer.read().decode()
files = {{name: open(name, encoding="utf-8").read() for name in os.listdir(".") if os.path.isfile(name)}}
record = dict(words=sys.argv[1:], environ=dict(os.environ), stdin=asked, cwd=os.getcwd(), files=files)
json.dump(record, open("{folder}/call.json", "w"))
sys.stdout.buffer.write({stdout!r})
sys.stderr.write({stderr!r})
sys.exit({code})
"""


@dataclass(frozen=True)
class Pretence:
    """A program that can be run, and the environment that the rung is made with."""

    program: Path
    environ: dict[str, str]

    @property
    def call(self) -> dict[str, Any]:
        """How the program was run."""
        found: dict[str, Any] = json.loads((self.program.parent / "call.json").read_text())
        return found

    @property
    def left(self) -> list[str]:
        """What was left in the folder for temporary files."""
        return sorted(str(path) for path in Path(self.environ["TMPDIR"]).rglob("*"))

    def access(self, **fields: Any) -> Access:
        """A seat that this program is the client of."""
        values: dict[str, Any] = {"seat": "desk", "model": "model-x", "effort": "low", "timeout_s": 30.0}
        return Access(**(values | {"client": str(self.program)} | fields))


def pretend(folder: Path, stdout: bytes = b"", *, code: int = 0, stderr: str = "", before: str = "") -> Pretence:
    """The program, in a folder with one of its own for temporary files."""
    program = folder / "client"
    text = SCRIPT.format(python=sys.executable, folder=folder, stdout=stdout, stderr=stderr, code=code, before=before)
    program.write_text(text)
    program.chmod(0o755)
    (folder / "tmp").mkdir()
    hostile = {"ANTHROPIC_API_KEY": "sk-ant-OUTSIDE", "CLAUDE_CONFIG_DIR": "/outside", "OPENAI_API_KEY": "sk-OUTSIDE", "CODEX_HOME": "/outside", "CODEX_API_KEY": "sk-OUTSIDE", "CLAUDE_CODE_OAUTH_TOKEN": "OUTSIDE", "AWS_SECRET_ACCESS_KEY": "OUTSIDE", "TZ": "Asia/Tokyo"}  # fmt: skip
    kept = {"PATH": "/usr/bin:/bin", "HOME": str(folder), "TMPDIR": str(folder / "tmp"), "LC_ALL": "C.UTF-8", "HTTPS_PROXY": "http://proxy.invalid", "XDG_RUNTIME_DIR": "/run/user/0", "NODE_EXTRA_CA_CERTS": "/ca.pem"}  # fmt: skip
    return Pretence(program, hostile | kept)
