"""Act: a command that an answer stands for, from the table's word on it to its outcome (design 4.8)."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from decide.handoff.execution import Fate, Surface


class ActState(StrEnum):
    """Where an act stands.

    `due` was decided and not begun, `clicked` waits for its click or had one that expired, `running` was recorded
    before it started; `unknown` is one whose process was gone before it recorded an end: it is never run again.
    """

    DUE = "due"
    CLICKED = "clicked"
    REFUSED = "refused"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    UNKNOWN = "unknown"


class Runner(StrEnum):
    """Who carries an act out: the command that asked, or the daemon."""

    ASK = "ask"
    DAEMON = "daemon"


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a question comes from: the surface, the person who may press a click that comes of it, and who carries
    out a command that its answer stands for.
    """

    surface: Surface = Surface.TYPED
    requester: str = ""
    runner: Runner = Runner.ASK


@dataclass(frozen=True, slots=True)
class NewAct:
    """An act to record; `id` is the receipt's, or for a person's answer the entry's with "answer-" before it.

    `thread` is what at most one click may be pending in: a console conversation, or the question's key.
    """

    id: str
    question_key: str
    thread: str
    requester: str
    surface: Surface
    line: str
    runner: Runner


@dataclass(frozen=True, slots=True)
class ActEnd:
    """How a run command ended: `code` is its exit status, None where there is none; `output` the end of what it said,
    without secrets; `why` is empty or says what went wrong.
    """

    done: bool
    code: int | None
    output: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True)
class Act:
    """An act as the store has it; `reason` is the table's word, or how a refusal reads."""

    id: str
    question_key: str
    thread: str
    requester: str
    surface: Surface
    line: str
    runner: Runner
    state: ActState
    at: datetime
    fate: Fate | None = None
    reason: str = ""
    command: str = ""
    kind: str = ""
    words: tuple[str, ...] = ()
    click_id: str = ""
    started_at: datetime | None = None
    ended_at: datetime | None = None
    end: ActEnd | None = None
