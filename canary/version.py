"""The version of the installed distribution."""

from importlib.metadata import PackageNotFoundError, version

try:
    VERSION = version("rungwatch")
except PackageNotFoundError:  # a checkout that was never installed
    VERSION = "0+unknown"
