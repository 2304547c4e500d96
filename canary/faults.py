"""Faults of ours, told without the exception's own words, which may quote what was read."""

import logging
import traceback
from pathlib import Path


def where(error: BaseException) -> str:
    """An exception as its type and the lines it passed through: no text of its own, no value of any frame."""
    frames = traceback.extract_tb(error.__traceback__)
    path = " > ".join(f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in frames)
    return f"{type(error).__name__} at {path}"


def worded(record: logging.LogRecord) -> bool:
    """A filter for other people's loggers: an exception is told as `where` tells it, and every record passes."""
    error = record.exc_info[1] if record.exc_info else None
    if error is not None:
        record.msg, record.args = f"{record.getMessage().strip()}: {where(error)}", ()
        record.exc_info = record.exc_text = None
    return True
