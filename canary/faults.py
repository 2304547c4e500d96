"""Faults of ours, told without the exception's own words, which may quote what was read."""

import traceback
from pathlib import Path


def where(error: BaseException) -> str:
    """An exception as its type and the lines it passed through: no text of its own, no value of any frame."""
    frames = traceback.extract_tb(error.__traceback__)
    path = " > ".join(f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in frames)
    return f"{type(error).__name__} at {path}"
