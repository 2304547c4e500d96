"""Environment: what a client is given of ours, by an allow-list, and the folder that it works in."""

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

PASSED = frozenset(
    {"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TMPDIR", "DBUS_SESSION_BUS_ADDRESS"}
    | {"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "CODEX_CA_CERTIFICATE"}
    | {name for upper in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY") for name in (upper, upper.lower())}
)
"""Search path, home, language, certificates, proxies and the way to the key ring: never a variable that replaces a
seat, of which every ANTHROPIC_, OPENAI_, CODEX_ and CLAUDE_ name may be one (clients 2.5, 3.5)."""
PASSED_FAMILIES = ("LC_", "XDG_")


def passed(environ: Mapping[str, str]) -> dict[str, str]:
    """The part of our environment that a client is given."""
    return {name: value for name, value in environ.items() if name in PASSED or name.startswith(PASSED_FAMILIES)}


@contextmanager
def scratch(environ: Mapping[str, str]) -> Iterator[Path]:
    """An empty folder that nobody else can read, gone afterwards with all that is in it."""
    # Codex opens no file behind a symbolic link, which macOS has on the way to every temporary folder.
    folder = Path(tempfile.mkdtemp(prefix="rungwatch-", dir=environ.get("TMPDIR") or None)).resolve()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
