"""The command line as a module, run by the interpreter of the tests; `--as-nobody` gives up root first."""

import codecs
import os
import sys

import exporters.endpoint
import exporters.exposition  # noqa: F401 - nobody may not be able to read the interpreter's own folders
from canary import app, daemon, schedule  # noqa: F401
from canary.cli import canary, serve  # noqa: F401
from canary.cli.main import main

NOBODY = 65534


if __name__ == "__main__":
    if sys.argv[1:2] == ["--as-nobody"]:
        del sys.argv[1]
        codecs.lookup("utf-8-sig")
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    main()
