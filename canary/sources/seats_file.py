"""seats.json: the neutral document by which any program can report seats, and what each of its seats says."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from canary.label import alias, usable_name
from canary.login import Login, Renewal
from canary.sources.wire import kind_of_duration, malformed, meter, reset_time
from decide.quota import Measure, Reading, Window, WindowKind
from decide.reason import Reason
from decide.seat import Auth, Quota

NAME = "seats-file"


def _text(value: Any) -> Any:
    if not isinstance(value, str | None):
        raise ValueError("must be ISO 8601 with a zone")  # noqa: TRY004 - pydantic takes no TypeError
    return value


def _in_utc(at: datetime) -> datetime:
    try:
        return at.astimezone(UTC)
    except OverflowError as error:
        raise ValueError("lies beyond the calendar") from error


Time = Annotated[AwareDatetime, Field(strict=False), BeforeValidator(_text), AfterValidator(_in_utc)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True, defer_build=True)


class WindowEntry(_Part):
    """One quota meter. Give `kind`, or `duration_s` from which it follows."""

    kind: Annotated[WindowKind, Field(strict=False)] | None = None
    duration_s: Annotated[float, Field(gt=0, description="length of the window in seconds")] | None = None
    scope: Annotated[str, Field(description="model display name of a per-model window")] | None = None
    used_percent: Annotated[float, Field(description="0-100, above 100 as read; null: not reported")] | None = None
    resets_at: Annotated[str | float, Field(description="ISO 8601 with a zone, or epoch seconds")] | None = None
    unlimited: bool = False


class TokenEntry(_Part):
    """The login, without its secret. `needs_login`: the writer knows that it is dead."""

    kind: Literal["oauth", "api_key", "none"]
    expires_at: Time | None = None
    refreshable: bool = False
    needs_login: bool = False


class SeatEntry(_Part):
    """One seat. `name` is its label, made up by its owner; `account` and `organization` say whose it is."""

    name: str | None = None
    account: str | None = None
    organization: str | None = None
    provider: str | None = None
    token: TokenEntry
    quota: Annotated[Quota, Field(strict=False)] = Quota.METERED
    fetched_at: Time | None = None
    windows: list[Any] = Field(default_factory=list)
    refused: bool = False
    permits_overage: bool = False
    last_error: str | None = None
    last_error_at: Time | None = None


class SeatsFile(_Part):
    """What a program that knows seats writes for rungwatch to read."""

    schema_version: Literal[1]
    fetched_at: Time | None = None
    seats: list[Any]


def json_schema() -> dict[str, Any]:
    """The published JSON Schema of seats.json; entries are validated one by one, so that one never costs another."""
    file, seat, window = (part.model_json_schema() for part in (SeatsFile, SeatEntry, WindowEntry))
    file["properties"]["seats"]["items"] = {"$ref": "#/$defs/SeatEntry"}
    seat["properties"]["windows"]["items"] = {"$ref": "#/$defs/WindowEntry"}
    parts = {name: part for whole in (seat, window) for name, part in whole.pop("$defs", {}).items()}
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema"} | file
    return schema | {"$defs": parts | {"SeatEntry": seat, "WindowEntry": window}}


@dataclass(frozen=True, slots=True)
class ListedSeat:
    """A seat of the document: its label, its login (no secret), and a reading or why there is none."""

    name: str
    login: Login
    quota: Quota
    reading: Reading | None = None
    failure: Reason | None = None
    note: str = ""


def parse(document: dict[str, Any], *, modified_at: datetime, now: datetime, salt: bytes) -> list[ListedSeat] | None:
    """Every seat of a document, none dropped; None when it is not a seats document. Never raises.

    A seat without a usable name gets an alias keyed by `salt` and its identity, the same on every tick.
    """
    try:
        file = SeatsFile.model_validate(document)
    except ValidationError:
        return None
    entries = [_entry(raw) for raw in file.seats]
    names = labels([_name(raw) for raw in file.seats], entries, salt)
    stated = file.fetched_at
    return [
        ListedSeat(name, Login(fault=Reason.MALFORMED), Quota.METERED, failure=Reason.MALFORMED)
        if entry is None
        else _listed(name, entry, stated, modified_at, now)
        for name, entry in zip(names, entries, strict=True)
    ]


def _entry(raw: Any) -> SeatEntry | None:
    try:
        return SeatEntry.model_validate(raw)
    except ValidationError:
        return None


def _listed(name: str, entry: SeatEntry, stated: datetime | None, modified_at: datetime, now: datetime) -> ListedSeat:
    fetched_at = entry.fetched_at or stated
    note = "" if fetched_at else "no fetched_at: the file's modification time stands in"
    at = fetched_at or modified_at
    login = _login(entry.token, entry)
    failing = entry.last_error is not None and (entry.last_error_at is None or entry.last_error_at > at)
    reading = Reading(NAME, at, tuple(_windows(entry, at)), entry.permits_overage)
    return ListedSeat(name, login, entry.quota, reading, Reason.SOURCE_FAILED if failing else None, note)


def _login(token: TokenEntry, entry: SeatEntry) -> Login:
    return Login(
        auth=Auth(token.kind),
        expires_at=token.expires_at,
        renewal=Renewal.YES if token.refreshable else Renewal.NO,
        absent=Reason.MISSING if token.needs_login else None,
        fault=Reason.NO_EXPIRY if token.kind == "oauth" and token.expires_at is None else None,
        account=entry.account or "",
        organization=entry.organization or "",
    )


def _windows(entry: SeatEntry, at: datetime) -> Iterator[Window]:
    if entry.refused:
        yield Window(WindowKind.OTHER, scope="refusal", measure=Measure.REFUSED)
    for raw in entry.windows:
        try:
            window = WindowEntry.model_validate(raw)
        except ValidationError:
            yield malformed(WindowKind.OTHER, "windows")
            continue
        found = _window(window, at)
        if found is not None:
            yield found


def _window(entry: WindowEntry, at: datetime) -> Window | None:
    kind = entry.kind or (kind_of_duration(entry.duration_s) if entry.duration_s else None)
    if kind is None:
        return malformed(WindowKind.OTHER, "windows")
    scope = (entry.scope or "").strip()
    if entry.unlimited:
        return Window(kind, resets_at=reset_time(entry.resets_at, at).at, scope=scope, measure=Measure.UNLIMITED)
    return meter(kind, entry.used_percent, entry.resets_at, at, scope=scope)


def _name(raw: Any) -> str | None:
    """The name of an entry, also of one that is otherwise malformed."""
    name = raw.get("name") if isinstance(raw, dict) else None
    return name if isinstance(name, str) and usable_name(name) else None


def labels(names: Sequence[str | None], entries: Sequence[SeatEntry | None], salt: bytes) -> list[str]:
    """A label for each entry, no two the same: its own name, or an alias by identity, or by place at last."""
    found: list[str] = []
    taken: set[str] = set()
    for place, (name, entry) in enumerate(zip(names, entries, strict=True)):
        label = name
        if label is None and entry is not None and (entry.account or entry.organization or entry.name):
            label = alias(salt, entry.account or "", entry.organization or "", entry.name or "")
        if label is None or label in taken:
            label = alias(salt, "place", str(place), label or "")
        found.append(label)
        taken.add(label)
    return found
