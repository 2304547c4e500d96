"""Faults: an exception is told by its type and place, never by its own words."""

import logging
import sys

from canary.faults import where, worded

PLANTED = "sk-ant-planted-secret-000"


def failed() -> tuple[BaseException, logging.LogRecord]:
    """An error that quotes a secret, and the record that another library would log of it."""
    try:
        int(PLANTED)
    except ValueError as error:
        return error, logging.LogRecord("x", logging.ERROR, "x.py", 1, "Exception in %s\n", ("app",), sys.exc_info())
    raise AssertionError("it is no number")


def test_a_fault_is_told_by_type_and_place() -> None:
    error, _ = failed()
    assert where(error).startswith("ValueError at test_faults.py:")
    assert PLANTED not in where(error)


def test_what_another_library_logs_is_worded_so_too() -> None:
    error, record = failed()
    assert worded(record)
    told = logging.Formatter("%(message)s").format(record)
    assert told == f"Exception in app: {where(error)}"


def test_a_record_without_an_exception_stays_as_it_is() -> None:
    record = logging.LogRecord("x", logging.INFO, "x.py", 1, "started %s", ("well",), None)
    assert worded(record)
    assert record.getMessage() == "started well"
