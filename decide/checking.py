"""Checking: an agreed answer looked through for faults once, and what a finding sets off (design 4.3)."""

from collections.abc import Callable, Sequence

from decide.consulting import Consulting
from decide.cross_check import Finding, Skipped, read_check
from decide.ports import KeptPass
from decide.ruling import Ruling, rule_checked, rule_found
from decide.shown import fault, proposed
from decide.slots import CROSS_CHECK

Kept = Callable[[str], Sequence[KeptPass]]


async def checked(agreed: Ruling, primary: Consulting, second: Consulting, kept: Kept) -> Ruling:
    """The ruling once one pass of the second rung has looked for faults; `kept` gives what stands of each part.

    A finding sends the one reconsideration of the primary, with the finding shown. A check that an earlier attempt
    made stands, and one that cannot be made is left out and told.
    """
    asking = second.asking
    await asking.settler.flush()
    stands = [one.ballot for one in kept(CROSS_CHECK)]
    made = stands[0] if stands else await second.look((proposed(agreed.option_id),))
    rows = asking.setup.rows
    found = made if isinstance(made, Skipped) else read_check(made, agreed=agreed.option_id, rows=rows)
    if isinstance(found, Skipped):
        asking.skipped.append(found)
    if not isinstance(found, Finding):
        return rule_checked(agreed, found)
    await asking.settler.flush()
    shown = (fault(agreed.option_id, found.text),)
    return rule_found(agreed, found, await primary.consult("reconsideration", kept("reconsideration"), shown))
