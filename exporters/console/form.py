"""Form: what a page sends back, read within bounds, and only where a page of ours can have sent it."""

import hmac
from collections.abc import Mapping
from hashlib import sha256
from urllib.parse import parse_qsl, urlsplit

from starlette.requests import ClientDisconnect, Request

from exporters.console.problem import ProblemError

LIMIT = 64 * 1024
"""The largest body that is read, in bytes."""
FIELDS = 200
"""The most fields that a form may have."""
TYPE = "application/x-www-form-urlencoded"
TOKEN = "form"  # noqa: S105 - the field's name
"""The field that holds the form's token."""

Form = Mapping[str, str]


def form_token(key: bytes, person: str) -> str:
    """What a form of ours carries for a person; nobody can make one without the key."""
    return hmac.new(key, person.encode(errors="replace"), sha256).hexdigest()


def from_us(site: str | None, origin: str | None, host: str) -> bool:
    """Whether the headers of a post allow that a page of ours sent it.

    `site` is Sec-Fetch-Site, which no page can forge; browsers leave it out over plain HTTP, and with our referrer
    policy they send "null" as the Origin. Then, and for a program that sends neither, the form's token alone decides.
    """
    if site is not None:
        return site in ("same-origin", "none")
    return origin in (None, "null") or urlsplit(origin).netloc.casefold() == host.casefold()


def check_sent(request: Request) -> None:
    """Turn away a post whose headers say that another site sent it."""
    headers = request.headers
    try:
        ours = from_us(headers.get("sec-fetch-site"), headers.get("origin"), headers.get("host", ""))
    except ValueError:  # an Origin that is no address
        ours = False
    if not ours:
        raise ProblemError(403, "This form was sent by another site, so nothing was changed.", "Not from here")


def check_token(form: Form, key: bytes, person: str) -> None:
    """Turn away a form that does not carry this person's token."""
    if not hmac.compare_digest(form.get(TOKEN, "").encode(), form_token(key, person).encode()):
        raise ProblemError(
            403,
            "This form was made for somebody else, or before rungwatch was started anew. "
            "Nothing was changed: go back, load the page again, and send it once more.",
            "This form is too old",
        )


async def read_form(request: Request) -> Form:
    """The fields of a form, each once; raises ProblemError for a body that is none, or that is too large."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != TYPE:
        raise ProblemError(415, f"Send the fields as {TYPE}.")
    body = await _body(request)
    try:
        pairs = parse_qsl(
            body.decode(), keep_blank_values=True, max_num_fields=FIELDS, encoding="utf-8", errors="strict"
        )
    except ValueError as error:
        raise ProblemError(400, f"The fields must be UTF-8 text, at most {FIELDS} of them.") from error
    form = {name: value.replace("\r\n", "\n") for name, value in pairs}
    if len(form) != len(pairs):
        raise ProblemError(400, "Each field may be there once.")
    if any("\0" in value for value in form.values()):
        raise ProblemError(422, "A field holds a NUL character, which no text may.")
    return form


async def _body(request: Request) -> bytes:
    """The body, of which no more is held than may be."""
    body = bytearray()
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > LIMIT:
                raise ProblemError(413, f"Send at most {LIMIT // 1024} KiB.")
    except ClientDisconnect as error:
        raise ProblemError(400, "The body ended before it was whole.") from error
    return bytes(body)
