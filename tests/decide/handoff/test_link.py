"""A link says who may press which click until when; whatever is altered, foreign, old or replaced says nothing."""

import base64
import json
import string
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import jwt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from decide.handoff.execution import Refusal, refused
from decide.handoff.link import (
    AUDIENCE,
    LONGEST,
    Key,
    Keys,
    KeysError,
    Link,
    LinkError,
    dump,
    load,
    read,
    rotated,
    sign,
)
from tests.decide.fakes import NOW
from tests.decide.handoff.test_click import CLICK

SECRET = b"SENTINEL" * 4
KEYS = Keys((Key("k1", SECRET),))
SECOND = timedelta(seconds=1)
TOKEN = sign(CLICK, KEYS)
CLAIMS = jwt.decode(TOKEN, options={"verify_signature": False})


def forged(
    *, key: Any = SECRET, kid: str | None = "k1", algorithm: str = "HS256", without: str = "", **claims: Any
) -> str:
    """A token that somebody else made: like ours but for what is told."""
    said = {name: value for name, value in (CLAIMS | claims).items() if name != without}
    return jwt.encode(said, key, algorithm=algorithm, headers={} if kid is None else {"kid": kid})


def parts(*documents: Any) -> str:
    """A token of documents that nobody signed."""
    return ".".join(base64.urlsafe_b64encode(json.dumps(one).encode()).rstrip(b"=").decode() for one in documents)


def test_a_link_says_what_it_was_signed_with() -> None:
    assert read(TOKEN, KEYS, NOW) == Link("c1", "ada")
    assert jwt.get_unverified_header(TOKEN) == {"alg": "HS256", "kid": "k1", "typ": "JWT"}
    assert {"aud": AUDIENCE, "sub": "ada", "jti": "c1", "iat": int(NOW.timestamp())}.items() <= CLAIMS.items()


@pytest.mark.parametrize(
    ("token", "why"),
    [
        ("", "it is no token"),
        ("x", "it is no token"),
        ("a.b.c", "it is no token"),
        ("é" + TOKEN, "it is no token"),
        ("\ud800", "it is no token"),
        (TOKEN[:-43], "its signature does not fit what it says"),
        (TOKEN + "\n", "it is no token"),
        (TOKEN + "=", "its signature does not fit what it says"),
        (" " + TOKEN, "it is no token"),
        (TOKEN + "." + TOKEN, "it is no token"),
        ("x" * 5000, "it is no token"),
        (forged(iat="x" * 5000), "it is no token"),
        (forged(key=b"another key that is long enough.."), "its signature does not fit what it says"),
        (forged(kid="k9"), "its key is none of ours, or was replaced"),
        (forged(kid=None), "its key is none of ours, or was replaced"),
        (forged(key="", algorithm="none"), "it is not signed the way that ours are"),
        (parts({"alg": "none", "kid": "k1"}, CLAIMS) + ".", "it is not signed the way that ours are"),
        (parts({"alg": "NONE", "kid": "k1"}, CLAIMS) + ".", "it is not signed the way that ours are"),
        (parts({"kid": "k1"}, CLAIMS) + ".", "it is not signed the way that ours are"),
        (forged(key=SECRET * 2, algorithm="HS512"), "it is not signed the way that ours are"),
        (forged(aud="rungwatch-session"), "it was made for something else"),
        (forged(aud=["rungwatch-session", "x"]), "it was made for something else"),
        (forged(without="aud"), "a part of it is missing or not what it should be"),
        (forged(without="sub"), "a part of it is missing or not what it should be"),
        (forged(without="jti"), "a part of it is missing or not what it should be"),
        (forged(without="iat"), "a part of it is missing or not what it should be"),
        (forged(without="exp"), "a part of it is missing or not what it should be"),
        (forged(sub=7), "a part of it is missing or not what it should be"),
        (forged(jti=["c1"]), "a part of it is missing or not what it should be"),
        (forged(exp="tomorrow"), "a part of it is missing or not what it should be"),
        (forged(exp=True), "a part of it is missing or not what it should be"),
        (forged(exp=1e300), "a part of it is missing or not what it should be"),
        (forged(exp=0), "it has expired"),
    ],
)
def test_a_link_that_is_refused(token: str, why: str) -> None:
    with pytest.raises(LinkError) as error:
        read(token, KEYS, NOW)
    assert str(error.value) == refused(Refusal.BAD_LINK, why=why)
    assert error.value.__suppress_context__ or error.value.__context__ is None


def test_the_time_that_is_given_decides_and_no_other() -> None:
    ago, ahead = NOW - timedelta(days=9000), NOW + timedelta(days=9000)
    for now in (ago, ahead):
        click = replace(CLICK, minted_at=now, expires_at=now + timedelta(minutes=10))
        token = sign(click, KEYS)
        assert read(token, KEYS, click.expires_at - SECOND) == Link("c1", "ada")
        with pytest.raises(LinkError, match="it has expired"):
            read(token, KEYS, click.expires_at)


def test_an_expired_link_still_says_whose_it_was() -> None:
    with pytest.raises(LinkError) as expired:
        read(TOKEN, KEYS, CLICK.expires_at)
    assert expired.value.link == Link("c1", "ada")
    with pytest.raises(LinkError) as false:
        read(forged(key=b"another key that is long enough.."), KEYS, CLICK.expires_at)
    assert false.value.link is None


def test_a_link_never_ends_before_its_click() -> None:
    click = replace(CLICK, expires_at=CLICK.expires_at + timedelta(microseconds=1))
    assert read(sign(click, KEYS), KEYS, click.expires_at - timedelta(microseconds=1)) == Link("c1", "ada")


@given(st.integers(0, len(TOKEN) - 1), st.sampled_from(string.ascii_letters + string.digits + "-_.=+/ \n\x00é"))
def test_any_altered_sign_fails(place: int, sign_: str) -> None:
    altered = TOKEN[:place] + sign_ + TOKEN[place + 1 :]
    if altered == TOKEN:
        return
    with pytest.raises(LinkError) as error:
        read(altered, KEYS, NOW)
    assert altered[:20] not in str(error.value)


@given(st.integers(0, len(TOKEN)), st.integers(0, len(TOKEN)), st.text(max_size=8))
def test_any_cut_or_filled_token_fails(start: int, end: int, between: str) -> None:
    altered = TOKEN[:start] + between + TOKEN[end:]
    if altered != TOKEN:
        with pytest.raises(LinkError):
            read(altered, KEYS, NOW)


@given(st.text(max_size=200))
def test_no_text_is_a_link_by_chance(text: str) -> None:
    with pytest.raises(LinkError):
        read(text, KEYS, NOW)


def test_a_click_that_outlives_its_key_is_not_signed() -> None:
    assert sign(replace(CLICK, expires_at=NOW + LONGEST), KEYS)
    with pytest.raises(ValueError, match="at most 1 day"):
        sign(replace(CLICK, expires_at=NOW + LONGEST + SECOND), KEYS)


FRESH = [Key(f"k{number}", bytes([number]) * 32) for number in range(2, 6)]


def test_a_rotation_breaks_no_link_that_lives() -> None:
    longest = replace(CLICK, expires_at=NOW + LONGEST)
    token = sign(longest, KEYS)
    keys = rotated(KEYS, NOW, FRESH[0])
    assert jwt.get_unverified_header(sign(CLICK, keys))["kid"] == "k2"
    assert read(token, keys, NOW + LONGEST - SECOND) == Link("c1", "ada")
    again = rotated(rotated(keys, NOW + SECOND, FRESH[1]), NOW + 2 * SECOND, FRESH[2])
    assert [key.kid for key in again.keys] == ["k1", "k2", "k3", "k4"]
    assert read(token, again, NOW + LONGEST - SECOND) == Link("c1", "ada")
    later = rotated(again, NOW + LONGEST + 2 * SECOND, FRESH[3])
    assert [key.kid for key in later.keys] == ["k3", "k4", "k5"]


def test_an_old_key_signs_nothing_new() -> None:
    keys = rotated(KEYS, NOW, FRESH[0])
    until = keys.keys[0].until
    assert until is not None
    beyond = forged(exp=int((until + timedelta(days=365)).timestamp()))
    for now in (NOW, until - SECOND, until):
        with pytest.raises(LinkError, match="its key is none of ours, or was replaced"):
            read(beyond, keys, now)


@given(st.lists(st.timedeltas(timedelta(), timedelta(hours=30)), max_size=12), st.timedeltas(timedelta(0), LONGEST))
def test_however_keys_rotate_every_link_lives_as_long_as_its_click(gaps: list[timedelta], ttl: timedelta) -> None:
    keys, now = KEYS, NOW
    click = replace(CLICK, expires_at=NOW + max(ttl, SECOND))
    token = sign(click, keys)
    for number, gap in enumerate(gaps):
        now += gap
        keys = rotated(keys, now, Key(f"n{number}", bytes([number]) * 40))
        if now < click.expires_at:
            assert read(token, keys, now) == Link("c1", "ada")
        assert all(key.until is None or key.until > now for key in keys.keys)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: Key("k1", b"SENTINEL"), "at least 32 bytes, not 8"),
        (lambda: Key("", SECRET), "has a name"),
        (lambda: Key("ключ", SECRET), "printable ASCII"),
        (lambda: Key("k1", SECRET, datetime(2026, 1, 1)), "name its zone"),  # noqa: DTZ001
        (lambda: Keys(()), "the newest key signs"),
        (lambda: Keys((Key("k1", SECRET, NOW),)), "the newest key signs"),
        (lambda: Keys((Key("k1", SECRET), Key("k2", SECRET))), "the newest key signs"),
        (lambda: Keys((Key("k1", SECRET, NOW), Key("k1", SECRET))), "a name of its own"),
        (lambda: rotated(KEYS, NOW, Key("k1", SECRET)), "a name of its own"),
    ],
)
def test_keys_that_cannot_be_used(make: Any, text: str) -> None:
    with pytest.raises(KeysError, match=text) as error:
        make()
    assert "SENTINEL" not in str(error.value)


def test_keys_come_back_as_they_were_kept() -> None:
    keys = rotated(rotated(KEYS, NOW, FRESH[0]), NOW + SECOND, FRESH[1])
    assert load(dump(keys)) == keys


def edited(**changes: Any) -> str:
    """The kept keys with the first row changed."""
    document = json.loads(dump(KEYS))
    document["keys"][0] |= changes
    return json.dumps(document)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "[]",
        "7",
        "{",
        dump(KEYS)[:-10],
        dump(KEYS).replace("link-keys/1", "link-keys/2"),
        json.dumps({"schema": "rungwatch.link-keys/1"}),
        json.dumps({"schema": ["x"], "keys": []}),
        json.dumps({"schema": "rungwatch.link-keys/1", "keys": [SECRET.decode()]}),
        json.dumps({"schema": "rungwatch.link-keys/1", "keys": 7}),
        edited(key="SENTINEL SENTINEL"),
        edited(key="U0VOVElORUw="),
        edited(key=7),
        edited(kid=""),
        edited(until="tomorrow"),
        edited(until="2026-10-15T12:00:00"),
        edited(until=7),
        "[" * 100_000,
    ],
)
def test_a_file_of_keys_that_cannot_be_used_shows_none_of_them(text: str) -> None:
    with pytest.raises(KeysError) as error:
        load(text)
    told = str(error.value) + repr(error.value.__cause__)
    assert "SENTINEL" not in told
    assert base64.b64encode(SECRET).decode()[:12] not in told
    assert error.value.__suppress_context__ or error.value.__context__ is None


def test_no_key_shows() -> None:
    assert "SENTINEL" not in repr(KEYS)
