"""Child: a process of ours that says one line when it is ready, and is ended by its own handle."""

import queue
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

READY_WITHIN_S = 30.0


@contextmanager
def child(module: str, *arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The process of a module run with this interpreter, and the last word of its first line."""
    command: Sequence[str] = (sys.executable, "-m", module, *arguments)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process, _first_line(process).split()[-1]
        finally:
            process.kill()


def _first_line(process: subprocess.Popen[str]) -> str:
    told: queue.Queue[str] = queue.Queue()
    stream = process.stdout
    if stream is None:
        raise ValueError("the process has no standard output")
    threading.Thread(target=lambda: told.put(stream.readline()), daemon=True).start()
    try:
        line = told.get(timeout=READY_WITHIN_S)
    except queue.Empty:
        line = ""
    if not line.strip():
        raise RuntimeError(f"the process did not get ready within {READY_WITHIN_S:g} s: {process.args!r}")
    return line
