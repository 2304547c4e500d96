"""Redact: one short line of a foreign text, without anything that a receipt must not hold."""

import re
from collections.abc import Iterable

LENGTH = 200
HIDDEN = "[…]"

_HIDE = re.compile(
    r"""
      \b(?:sk|pk|rk|rt|ghp|gho|github_pat|xai|gsk|hf|sess)[-_][\w*.…-]{6,}          # keys as vendors make them
    | \bAIza[\w-]{10,}
    | \beyJ[\w-]+(?:\.[\w-]*){0,4}                                                # JSON web tokens
    | (?<=\bbearer\ )\S+ | (?<=\bbasic\ )\S+
    | \b(?:org|proj|acct|user|req)[-_](?=[A-Za-z]*\d)[A-Za-z0-9]{6,}                # account and request ids
    | (?<=://)[^/\s@]+@                                                             # a URL's user and password
    | [\w.+-]+@[\w-]+\.[\w.-]+                                                     # e-mail
    | \b(?=[A-Za-z]*\d)(?=\d*[A-Za-z])[A-Za-z0-9_]{28,}                            # long and random
    | \b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b
    """,
    re.VERBOSE | re.IGNORECASE,
)


def one_line(text: str, secrets: Iterable[str | None] = ()) -> str:
    """The text on one line of at most 200 characters, without `secrets` and without what looks like one."""
    for secret in secrets:
        text = text.replace(secret, HIDDEN) if secret else text
    plain = " ".join("".join(sign if sign.isprintable() else " " for sign in text[: LENGTH * 50]).split())
    hidden = _HIDE.sub(HIDDEN, plain)
    return hidden if len(hidden) <= LENGTH else hidden[: LENGTH - 1] + "…"
