"""Labels: which names may stand in a metric, and the alias of a seat that has none."""

import hmac
import json
import re

_NAME_LENGTH = 64
_SECRET_OR_ID = re.compile(r"\b(sk-|eyJ|rt_)|[0-9a-f]{8}-[0-9a-f]{4}-|[0-9A-Fa-f]{24,}|acct[-_]")
_PATH = re.compile(r"^(~|/|\.{1,2}/|[A-Za-z]:\\)|://")


def usable_name(name: str | None) -> bool:
    """Whether a name may be a label: printable, short, and no e-mail, path, id or token (design 6)."""
    if not name or name != name.strip() or len(name) > _NAME_LENGTH or not name.isprintable():
        return False
    return "@" not in name and not _PATH.search(name) and not _SECRET_OR_ID.search(name)


def alias(salt: bytes, *identity: str) -> str:
    """A stable label for a seat that has none: keyed, so that it tells nothing of the identity."""
    return f"seat_{hmac.digest(salt, json.dumps(identity).encode(), 'sha256').hex()[:8]}"
