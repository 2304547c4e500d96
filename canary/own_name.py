"""Own name: what the user who runs this process is called."""

import getpass


def own_name() -> str:
    """The name of the user, empty where the system knows none."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return ""
