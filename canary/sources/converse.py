"""converse: a program of its own that says lines to another and keeps its input open until the answer has come.

A Codex app-server ends as soon as its input does, whatever it was asked. This stands between it and the canary, in
the same process group: `converse.py ID PROGRAM ARGUMENT…`, the lines on standard input.
"""

import json
import subprocess
import sys
from contextlib import suppress
from typing import Any

LEAVING_S = 1.0
"""How long the program may take to end by itself once it has answered; the canary ends what is left."""


def converse(answer_id: str, words: list[str], lines: bytes) -> int:
    """Say the lines, pass on what comes back until the message with that id, and let the program end."""
    pipe = subprocess.PIPE
    program = subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL)  # noqa: S603 - no shell
    if program.stdin is None or program.stdout is None:
        return 1
    with suppress(BrokenPipeError):
        program.stdin.write(lines)
        program.stdin.flush()
    for line in program.stdout:
        sys.stdout.buffer.write(line)
        if answers(line, answer_id):
            break
    sys.stdout.buffer.flush()
    with suppress(BrokenPipeError, subprocess.TimeoutExpired):
        program.stdin.close()
        program.wait(LEAVING_S)
    return 0


def answers(line: bytes, answer_id: str) -> bool:
    """Whether a line is the JSON-RPC response with that id; a request of the program's own may bear the same one."""
    try:
        message: Any = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(message, dict) and "method" not in message and str(message.get("id")) == answer_id


if __name__ == "__main__":
    sys.exit(converse(sys.argv[1], sys.argv[2:], sys.stdin.buffer.read()))
