"""Redact: one short line of a foreign text, without anything that a receipt must not hold."""

import re
from collections.abc import Iterable

LENGTH = 200
HIDDEN = "[…]"

_SHAPES = r"""
      \b(?:sk|pk|rk|rt|ghp|gho|github_pat|xai|gsk|hf|sess)[-_][\w*.…-]{6,}          # keys as vendors make them
    | \bAIza[\w-]{10,}
    | \beyJ[\w-]+(?:\.[\w-]*){0,4}                                                # JSON web tokens
    | (?<=\bbearer\ )\S+ | (?<=\bbasic\ )\S+
    | (?<=://)[^/\s@]+@                                                             # a URL's user and password
"""
_FLAGS = re.VERBOSE | re.IGNORECASE
_SECRETS = re.compile(_SHAPES, _FLAGS)
_HIDE = re.compile(
    _SHAPES
    + r"""
    | \b(?:org|proj|acct|user|req)[-_](?=[A-Za-z]*\d)[A-Za-z0-9]{6,}                # account and request ids
    | [\w.+-]+@[\w-]+\.[\w.-]+                                                     # e-mail
    | \b(?=[A-Za-z]*\d)(?=\d*[A-Za-z])[A-Za-z0-9_]{28,}                            # long and random
    | \b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b
    """,
    _FLAGS,
)


def one_line(text: str, secrets: Iterable[str | None] = ()) -> str:
    """The text on one line of at most 200 characters, without `secrets` and without what looks like one."""
    for secret in secrets:
        text = text.replace(secret, HIDDEN) if secret else text
    plain = " ".join("".join(sign if sign.isprintable() else " " for sign in text[: LENGTH * 50]).split())
    hidden = _HIDE.sub(HIDDEN, plain)
    return hidden if len(hidden) <= LENGTH else hidden[: LENGTH - 1] + "…"


def holds_secret(text: str) -> bool:
    """Whether a text holds what looks like a key, a token or a password; names and ids are none."""
    return _SECRETS.search(text) is not None


def without_secrets(text: str, secrets: Iterable[str | None] = ()) -> str:
    """The text, its lines as they are, without `secrets` and without what looks like one."""
    for secret in secrets:
        text = text.replace(secret, HIDDEN) if secret else text
    return _SECRETS.sub(HIDDEN, text)
