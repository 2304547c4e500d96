"""The real clients, installed from npm into a folder of this checkout and nowhere else."""

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parents[2] / ".tools" / "clients"
PINS = {"@anthropic-ai/claude-code": "2.1.197", "@openai/codex": "0.171.0"}
"""The versions that clients.md was written from."""


@dataclass(frozen=True)
class Clients:
    """The two programs, and what they call themselves."""

    claude: Path
    codex: Path
    versions: tuple[str, ...]


def installed(folder: Path = FOLDER) -> Clients:
    """Both clients at their pinned versions, installed if they are not there yet; exits with what is missing."""
    programs = folder / "node_modules" / ".bin"
    wanted = folder / "pins.txt"
    pins = [f"{name}@{version}" for name, version in PINS.items()]
    if not wanted.exists() or wanted.read_text().split() != pins:
        if shutil.which("npm") is None:
            sys.exit("npm is missing: install Node.js 20 or newer, which brings it")
        folder.mkdir(parents=True, exist_ok=True)
        npm = ["npm", "install", "--prefix", str(folder), "--no-fund", "--no-audit", *pins]
        if subprocess.run(npm).returncode != 0:
            sys.exit(f"npm could not install {' and '.join(pins)} into {folder}")
        wanted.write_text("\n".join(pins) + "\n")
    claude, codex = programs / "claude", programs / "codex"
    return Clients(claude, codex, (_version(claude), _version(codex)))


def _version(program: Path) -> str:
    found = subprocess.run([str(program), "--version"], capture_output=True, text=True, timeout=60)
    if found.returncode != 0:
        sys.exit(f"{program} does not start: exit {found.returncode}")
    return found.stdout.strip()
