"""Key ring port: the items of a service, through the `keyring` extra; read only."""

import getpass
from collections.abc import Callable, Sequence

from canary.login import Login
from decide.reason import Reason

Keychain = Callable[[str, str | None], Sequence[tuple[str, str]]]
"""(service, account or None) -> (account, secret text) of each item found; raises KeychainLockedError."""


class KeychainLockedError(Exception):
    """The key ring is there but cannot be read: locked, denied, or without a back end."""


def system_keychain(service: str, account: str | None) -> Sequence[tuple[str, str]]:
    """The items of `service` for the account, or for those that a client may have used (formats 1.1).

    Raises KeychainLockedError when the `keyring` extra is missing or its back end refuses.
    """
    try:
        import keyring
        from keyring.errors import KeyringError
    except ImportError as error:
        raise KeychainLockedError("the extra `rungwatch[keyring]` is not installed") from error
    accounts = [account] if account is not None else list(dict.fromkeys((getpass.getuser(), "unknown")))
    try:
        return [(name, text) for name in accounts if (text := keyring.get_password(service, name)) is not None]
    except KeyringError as error:
        raise KeychainLockedError(type(error).__name__) from error


def choose(items: Sequence[tuple[str, Login]], account: str | None) -> Login:
    """The login of the configured account, or the only usable one; several usable ones are ambiguous (TOK-13)."""
    if account is not None:
        items = [(name, login) for name, login in items if name == account]
    usable = [login for _, login in items if login.secret is not None]
    if len(usable) > 1:
        return Login(fault=Reason.AMBIGUOUS)
    if usable:
        return usable[0]
    return items[0][1] if items else Login(absent=Reason.MISSING)
