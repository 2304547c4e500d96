"""Secret: a secret that the configuration names, in a variable or a file, and never holds itself."""

from collections.abc import Mapping
from pathlib import Path

from pydantic import SecretStr

from canary.files import FileFault, read_bytes
from decide.question import UsageError

LIMIT = 64 * 1024
"""The largest file of a secret that is read, in bytes."""


def secret(where: str, variable: str | None, file: Path | None, environ: Mapping[str, str]) -> SecretStr:
    """The secret that a variable or a file holds; raises UsageError naming `where`, the configuration's key."""
    if variable is not None:
        found = environ.get(variable, "").strip()
        if not found:
            raise UsageError(f"{where}: the environment variable {variable!r} is not set")
        return SecretStr(found)
    if file is None:
        raise UsageError(f"{where}: no variable and no file is named")
    content = read_bytes(file, limit=LIMIT)
    if isinstance(content, FileFault):
        raise UsageError(f"{where}: {content.text}")
    text = content[0].decode(errors="replace").strip()
    if not text:
        raise UsageError(f"{where}: {file} is empty")
    return SecretStr(text)
