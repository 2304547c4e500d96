"""feed: what Claude Code tells its status line of its quotas, kept for the canary (formats 2.6, point 1).

It runs on every status line, so this module imports the standard library only, and little of it. Only windows and
times are kept, with digests by which an account, a session and a report are recognised again.
"""

import hashlib
import json
import os
import re
import sys
import time
from collections.abc import Mapping, Sequence

FOLDER = "feeds"
"""The folder of feeds inside the state folder."""
VERSION = 1
INPUT_LIMIT = 4 * 1024 * 1024
"""The largest report, stored feed or client file that is read, in bytes."""
SESSIONS_KEPT = 64
WINDOWS_KEPT = 32
FIELDS = (
    *("used_percentage", "resets_at"),
    *("is_enabled", "monthly_limit", "used_credits", "utilization", "spend_limit_reached"),
)
"""What is kept of a window; everything else of the report is left where it is."""
NEUTRAL = "rungwatch"
"""The status line when there is nothing to show."""

Json = dict[str, object]
_NAME = re.compile(r"[a-z0-9_]{1,40}")
_ISO = re.compile(r"\d{4}-\d\d-\d\d[T ][0-9:.]{4,20}(Z|[+-]\d\d:?\d\d)")


def config_folder(environ: Mapping[str, str], given: str | None = None) -> str:
    """The configuration folder of the Claude Code whose status line this is: $CLAUDE_CONFIG_DIR, else ~/.claude."""
    return os.path.expanduser(given or environ.get("CLAUDE_CONFIG_DIR") or "~/.claude")


def feed_file(feeds: str | os.PathLike[str], config_dir: str | os.PathLike[str]) -> str:
    """Where the feed of a configuration folder is kept; writer and reader share this rule."""
    resolved = os.path.realpath(os.path.expanduser(config_dir))
    return os.path.join(feeds, hashlib.sha256(os.fsencode(resolved)).hexdigest()[:16] + ".json")


def state_folder(environ: Mapping[str, str], given: str | None = None) -> str:
    """The state folder, by every command's rules, but that a configuration that cannot be read counts for nothing."""
    named = given or environ.get("RUNGWATCH_STATE_DIR") or _configured(environ)
    usual = os.path.join(environ.get("XDG_STATE_HOME") or "~/.local/state", "rungwatch")
    return os.path.expanduser(named or usual)


def _configured(environ: Mapping[str, str]) -> str | None:
    usual = os.path.join(environ.get("XDG_CONFIG_HOME") or "~/.config", "rungwatch", "rungwatch.toml")
    content = read(os.path.expanduser(environ.get("RUNGWATCH_CONFIG") or usual))
    if content is None or b"state" not in content:
        return None
    import tomllib  # only here: most machines need no configuration for the feed

    try:
        section = tomllib.loads(content.decode("utf-8-sig")).get("state")
    except ValueError:
        return None
    folder = section.get("dir") if isinstance(section, dict) else None
    return folder if isinstance(folder, str) and folder else None


def read(path: str) -> bytes | None:
    """The content of a regular file of bounded size; None where it cannot be had."""
    try:
        if not os.path.isfile(path) or os.path.getsize(path) > INPUT_LIMIT:
            return None
        with open(path, "rb") as file:
            return file.read(INPUT_LIMIT)
    except (OSError, ValueError):
        return None


def account_of(config_dir: str | os.PathLike[str]) -> str:
    """A digest of the account and organisation that the client wrote beside its login; empty where it did not.

    Only that one block of the file is decoded: the file can be large, and this runs on every status line.
    """
    folder = os.path.expanduser(config_dir)
    beside = os.path.dirname(folder) if os.path.basename(folder) == ".claude" else folder
    for path in (
        os.path.join(folder, ".config.json"),
        os.path.join(folder, ".claude.json"),
        f"{beside}/.claude.json",
    ):
        content = read(path) or b""
        start = re.search(rb'"oauthAccount"\s*:\s*\{', content)
        if start is None:
            continue
        block = parse_at(content[start.end() - 1 :].decode("utf-8", "replace"))
        identity = [block.get(name) for name in ("accountUuid", "organizationUuid")]
        return digest(identity) if any(isinstance(part, str) and part for part in identity) else ""
    return ""


def parse_at(text: str) -> Json:
    """The JSON object that `text` begins with, whatever follows it; empty when it is none."""
    try:
        value = json.JSONDecoder().raw_decode(text.lstrip("\ufeff \t\r\n"))[0]
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def digest(value: object) -> str:
    """16 hexadecimal digits by which a JSON value is recognised again."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]


def merge(kept: Json, report: Json, *, at: float, account: str = "") -> Json | None:
    """The feed after a report that came at `at` (epoch seconds); None when the report says nothing new.

    A report counts once a session: a status line that is drawn again repeats the last reply, whose age it does not
    renew. A window that a report leaves out is kept. Another account's windows are not.
    """
    limits = report.get("rate_limits")
    windows = {name: window | {"at": at} for name, window in _windows(limits).items()}
    if not windows:
        return None
    same = kept.get("version") == VERSION and (not account or kept.get("account") == account)
    known, sessions = (_block(kept, "windows"), _block(kept, "sessions")) if same else ({}, {})
    session, said = digest(report.get("session_id")), digest([limits, _api_ms(report)])
    if sessions.pop(session, None) == said:
        return None
    older = {name: window for name, window in known.items() if name not in windows and _sound(window)}
    return {
        "version": VERSION,
        "account": account or (kept.get("account") if same else ""),
        "windows": dict([*older.items(), *windows.items()][-WINDOWS_KEPT:]),
        "sessions": dict([*sessions.items(), (session, said)][-SESSIONS_KEPT:]),
    }


def _api_ms(report: Json) -> object:
    """What only a reply of the model moves: the time that the session has spent in its vendor's API."""
    cost = report.get("cost")
    return cost.get("total_api_duration_ms") if isinstance(cost, dict) else None


def _block(kept: Json, name: str) -> Json:
    block = kept.get(name)
    return dict(block) if isinstance(block, dict) else {}


def _sound(window: object) -> bool:
    """Whether a kept window was reported as its format says: one that was not is gone with the next good report."""
    return isinstance(window, dict) and [] not in window.values()


def _windows(limits: object) -> dict[str, Json]:
    """The windows of a report, each field a plain value; `[]` stands for what is not as its format says."""
    if limits is None:
        return {}
    if not isinstance(limits, dict):
        return {"rate_limits": {"used_percentage": []}}
    found: dict[str, Json] = {}
    for name, value in list(limits.items())[:WINDOWS_KEPT]:
        fields = value if isinstance(value, dict) else {"used_percentage": value}
        plain = {field: _plain(fields[field]) for field in FIELDS if fields.get(field) is not None}
        if not isinstance(value, dict) and value is not None:
            plain = {"used_percentage": []}
        if plain:
            found[name if _NAME.fullmatch(name) else "other"] = plain
    return found


def _plain(value: object) -> object:
    if isinstance(value, str):
        return value if _ISO.fullmatch(value) else []
    return value if isinstance(value, bool | int | float) and abs(value) < 1e15 else []


def status_line(report: Json) -> str:
    """Model and windows in a line for the person who works: `Opus 5h 24% ↻14:30 · 7d 41%`."""
    model, limits = report.get("model"), report.get("rate_limits")
    name = model.get("display_name") if isinstance(model, dict) else None
    shown = "".join(sign for sign in name if sign.isprintable())[:40].strip() if isinstance(name, str) else ""
    meters = limits if isinstance(limits, dict) else {}
    parts = [_meter("5h", meters.get("five_hour"), clock=True), _meter("7d", meters.get("seven_day"), clock=False)]
    return f"{shown} {' · '.join(part for part in parts if part)}".strip() or NEUTRAL


def _meter(label: str, window: object, *, clock: bool) -> str:
    used = window.get("used_percentage") if isinstance(window, dict) else None
    if not isinstance(window, dict) or isinstance(used, bool) or not isinstance(used, int | float):
        return ""
    reset = window.get("resets_at")
    try:
        seconds = _iso_s(reset) if isinstance(reset, str) else reset
        if not clock or isinstance(seconds, bool) or not isinstance(seconds, int | float):
            return f"{label} {used:.0f}%"
        return f"{label} {used:.0f}% ↻{time.strftime('%H:%M', time.localtime(seconds))}"
    except (ValueError, OverflowError, OSError):
        return label


def _iso_s(text: str) -> float:
    from datetime import datetime  # only here: resets are epoch seconds as a rule

    return datetime.fromisoformat(text).timestamp()


def store(path: str, document: Json) -> None:
    """Replace the feed whole; not synced, since the next reply brings it again and a crash must not cost the line."""
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    fresh = f"{path}.{os.getpid()}.new"
    handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        json.dump(document, file)
    os.replace(fresh, path)


def receive(content: bytes, *, feeds: str, config_dir: str, at: float) -> tuple[str, str]:
    """Keep what a report says: the status line, and what went wrong (empty when nothing did). Never raises."""
    report = parse_at(content.decode("utf-8", "replace"))
    if not report:
        return NEUTRAL, "standard input is not a JSON object"
    line = status_line(report)
    if report.get("rate_limits") is None:
        return line, ""
    try:
        path = feed_file(feeds, config_dir)
        kept = parse_at((read(path) or b"").decode("utf-8", "replace"))
        document = merge(kept, report, at=at, account=account_of(config_dir))
        if document is not None:
            store(path, document)
    except (OSError, ValueError, RecursionError) as error:
        return line, f"the feed could not be kept in {feeds} ({type(error).__name__})"
    return line, ""


def serve(environ: Mapping[str, str], state_dir: str | None, config_dir: str | None) -> int:
    """One status line: standard input in, a line out, always 0: a status line that fails is blank."""
    content = sys.stdin.buffer.read(INPUT_LIMIT)
    feeds = os.path.join(state_folder(environ, state_dir), FOLDER)
    line, fault = receive(content, feeds=feeds, config_dir=config_folder(environ, config_dir), at=time.time())
    sys.stdout.buffer.write(f"{line}\n".encode())
    sys.stdout.flush()
    if fault:
        sys.stderr.write(f"rungwatch feed: {fault}\n")
    return 0


def options(arguments: Sequence[str]) -> dict[str, str] | None:
    """`--state-dir` and `--config-dir` with their values; None for what only the full command line knows."""
    found: dict[str, str] = {}
    words = list(arguments)
    while words:
        name, equals, value = words.pop(0).partition("=")
        if name not in ("--state-dir", "--config-dir") or not (equals or words):
            return None
        found[name] = value if equals else words.pop(0)
    return found


def main() -> int:
    """The fast way in, `python -m canary.feed`, or `rungwatch feed` before the rest is imported."""
    words = sys.argv[2:] if sys.argv[1:2] == ["feed"] else sys.argv[1:]
    given = options(words)
    if given is None or sys.stdin is None or sys.stdin.isatty():
        from canary.cli.main import run

        return run(["feed", *words])
    return serve(os.environ, given.get("--state-dir"), given.get("--config-dir"))


if __name__ == "__main__":
    sys.exit(main())
