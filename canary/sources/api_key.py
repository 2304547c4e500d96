"""API key: a key named by an environment variable or a file; it does not expire and is never sent by the canary."""

from collections.abc import Mapping
from pathlib import Path

from pydantic import SecretStr

from canary.files import FileFault, read_bytes
from canary.login import Login
from canary.offload import Offload
from decide.reason import Reason
from decide.seat import Auth

KEY_LIMIT = 64 * 1024
"""The largest key file that is read, in bytes."""


async def read_login(
    variable: str | None, file: Path | None, *, environ: Mapping[str, str], offload: Offload
) -> Login:
    """The key from the named variable, else from the file; blank is missing."""
    if variable is not None and (key := environ.get(variable, "").strip()):
        return Login(SecretStr(key), Auth.API_KEY, steps=(f"the variable {variable} holds a key",))
    if file is None:
        return Login(absent=Reason.MISSING, steps=(f"the variable {variable} is not set",))
    found = await offload(lambda: read_bytes(file, limit=KEY_LIMIT))
    if isinstance(found, FileFault):
        if found.reason is Reason.MISSING:
            return Login(absent=Reason.MISSING, steps=(found.text,))
        return Login(fault=found.reason, steps=(found.text,))
    key = found[0].decode(errors="replace").strip()
    if not key:
        return Login(absent=Reason.MISSING, steps=(f"{file} is empty",))
    return Login(SecretStr(key), Auth.API_KEY, steps=("read the key file",))


def no_login() -> Login:
    """The login of a seat that needs none."""
    return Login(auth=Auth.NONE, steps=("no login needed",))
