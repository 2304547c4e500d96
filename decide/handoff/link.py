"""Link: a click's address as a signed token that names it and its requester, and the keys that sign (design 4.8)."""

import base64
import binascii
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any

import jwt
from jwt.types import Options

from decide.handoff.click import Click
from decide.handoff.entry import HandoffError
from decide.handoff.execution import Refusal, refused

AUDIENCE = "rungwatch-confirm"
"""What a link is good for: nothing else takes it, and it takes no other token of ours."""
LONGEST = timedelta(days=1)
"""The longest that a click, and so a link, can live; an old key is kept for as long after its last link."""
SECRET_BYTES = 32
"""The shortest key, in bytes: as long as what HS256 makes of it."""
SCHEMA = "rungwatch.link-keys/1"
_ALGORITHM = "HS256"
_CLAIMS = ("aud", "sub", "jti", "iat", "exp")
_UNCHECKED: Options = {
    "verify_exp": False,
    "verify_iat": False,
    "verify_nbf": False,
    "verify_sub": False,
    "verify_jti": False,
}
"""What PyJWT does not look at: times, which it would judge by its own clock, and what is looked at here."""
_TOKEN_LIMIT = 4096
_NO_TOKEN = "it is no token"  # noqa: S105 - words, not a secret
_OTHER_KEY = "its key is none of ours, or was replaced"
_MALFORMED = "a part of it is missing or not what it should be"

_WHY: Mapping[type[jwt.InvalidTokenError], str] = MappingProxyType(
    {
        jwt.InvalidAlgorithmError: "it is not signed the way that ours are",
        jwt.InvalidSignatureError: "its signature does not fit what it says",
        jwt.InvalidAudienceError: "it was made for something else",
        jwt.MissingRequiredClaimError: _MALFORMED,
    }
)
"""What is wrong with a token, by what PyJWT finds; whatever else it finds, it is no token."""


@dataclass(frozen=True, slots=True)
class Link:
    """What a sound link says: the click, and the only person who may press it."""

    click_id: str
    subject: str


class LinkError(HandoffError):
    """A link that is refused; `link` is what one says that is sound and has expired, None for every other."""

    def __init__(self, why: str, link: Link | None = None) -> None:
        super().__init__(refused(Refusal.BAD_LINK, why=why))
        self.link = link


class KeysError(ValueError):
    """Keys that cannot be used; no text of it holds any of them."""


@dataclass(frozen=True, slots=True)
class Key:
    """A signing key; `until` is None for the one that signs, else when the last link that it signed has expired.

    Raises KeysError for a key that is too short to sign with, and for one without a name.
    """

    kid: str
    secret: bytes = field(repr=False)
    until: datetime | None = None

    def __post_init__(self) -> None:
        """Refuse what is no key."""
        if not self.kid or not self.kid.isascii() or not self.kid.isprintable():
            raise KeysError("a key has a name of printable ASCII characters")
        if len(self.secret) < SECRET_BYTES:
            raise KeysError(f"key {self.kid!r}: at least {SECRET_BYTES} bytes, not {len(self.secret)}")
        if self.until is not None and self.until.tzinfo is None:
            raise KeysError(f"key {self.kid!r}: `until` must name its zone")


@dataclass(frozen=True, slots=True)
class Keys:
    """Every key that may have signed a link that still lives, the newest last: it signs, and all verify.

    Raises KeysError unless the last one, and no other, signs, and for a name that is there twice.
    """

    keys: tuple[Key, ...]

    def __post_init__(self) -> None:
        """Refuse keys among which it is not plain which one signs, or which one is meant."""
        if not self.keys or [key.until is None for key in self.keys] != [False] * (len(self.keys) - 1) + [True]:
            raise KeysError("the newest key signs, and no other does")
        if len({key.kid for key in self.keys}) < len(self.keys):
            raise KeysError("every key has a name of its own")

    @property
    def newest(self) -> Key:
        """The key that signs."""
        return self.keys[-1]

    def of(self, kid: object) -> Key | None:
        """The key of that name, None where there is none."""
        return next((key for key in self.keys if key.kid == kid), None)


def rotated(keys: Keys, now: datetime, fresh: Key) -> Keys:
    """The keys with `fresh` signing from now on; an old one stays until the longest link it signed has expired."""
    old = replace(keys.newest, until=now + LONGEST + timedelta(seconds=1))
    kept = [key for key in keys.keys if key.until is not None and key.until > now]
    return Keys((*kept, old, fresh))


def sign(click: Click, keys: Keys) -> str:
    """The token of a click's link; raises ValueError for a click that outlives its key."""
    if click.expires_at - click.minted_at > LONGEST:
        raise ValueError(f"a click lives for at most {LONGEST}, not {click.expires_at - click.minted_at}")
    claims = {
        "aud": AUDIENCE,
        "sub": click.requester,
        "jti": click.id,
        "iat": int(click.minted_at.timestamp()),
        # whole seconds, rounded up: the click itself says to the microsecond when it is over
        "exp": math.ceil(click.expires_at.timestamp()),
    }
    return jwt.encode(claims, keys.newest.secret, algorithm=_ALGORITHM, headers={"kid": keys.newest.kid})


def read(token: str, keys: Keys, now: datetime) -> Link:
    """What a link says; raises LinkError, which never repeats the token, for one that is not ours and alive."""
    try:
        claims, key = _verified(token, keys)
    except jwt.InvalidTokenError as error:
        raise LinkError(next((why for kind, why in _WHY.items() if isinstance(error, kind)), _NO_TOKEN)) from None
    click_id, subject, expires = claims["jti"], claims["sub"], claims["exp"]
    if not (isinstance(click_id, str) and isinstance(subject, str) and type(expires) is int):
        raise LinkError(_MALFORMED)
    if key.until is not None and expires > key.until.timestamp():
        raise LinkError(_OTHER_KEY)
    link = Link(click_id, subject)
    if now.timestamp() >= expires:
        raise LinkError("it has expired", link)
    return link


def _verified(token: str, keys: Keys) -> tuple[dict[str, Any], Key]:
    """A token's claims, signed by the key; when it expires is not looked at, for PyJWT asks its own clock."""
    if len(token) > _TOKEN_LIMIT or not token.isascii():
        raise LinkError(_NO_TOKEN)
    key = keys.of(jwt.get_unverified_header(token).get("kid"))
    if key is None:
        raise LinkError(_OTHER_KEY)
    whole = jwt.decode_complete(
        token,
        key.secret,
        algorithms=[_ALGORITHM],
        audience=AUDIENCE,
        options={"require": list(_CLAIMS), **_UNCHECKED},
    )
    # base64 has several spellings of the same bytes, and only one of them is what we signed
    spelt = base64.urlsafe_b64encode(whole["signature"]).rstrip(b"=").decode()
    if token.rpartition(".")[2] != spelt:
        raise jwt.InvalidSignatureError
    return whole["payload"], key


def dump(keys: Keys) -> str:
    """The keys as JSON text for a file that nobody else may read."""
    rows = [
        {
            "kid": key.kid,
            "key": base64.b64encode(key.secret).decode(),
            "until": None if key.until is None else key.until.isoformat(),
        }
        for key in keys.keys
    ]
    return json.dumps({"schema": SCHEMA, "keys": rows}, indent=2) + "\n"


def load(text: str) -> Keys:
    """The keys that `dump` wrote; raises KeysError, which holds nothing of the text, for any other text."""
    try:
        document = json.loads(text)
        rows = {SCHEMA: document["keys"]}[document["schema"]]
        return Keys(tuple(map(_key, rows)))
    except KeysError:
        raise
    except (ValueError, TypeError, LookupError, RecursionError):
        # such an error carries the text, keys and all
        raise KeysError("the keys of links: not what this program wrote; restore the file or remove it") from None


def _key(row: Mapping[str, str]) -> Key:
    try:
        secret = base64.b64decode(row["key"], validate=True)
    except binascii.Error:
        raise KeysError("the keys of links: a key is not in base64") from None
    return Key(str(row["kid"]), secret, None if row["until"] is None else datetime.fromisoformat(row["until"]))
