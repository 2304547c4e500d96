"""Slots: the model calls that a run has reserved, and which of its consultations may make them (design 4.4)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from decide.ports import Slot

PARTS = ("primary", "second", "reconsideration")
"""The consultations that a run can hold."""
CROSS_CHECK = "cross_check"
"""What a pass is part of that belongs to no consultation: the look for faults in an agreed answer."""
PAYS = {CROSS_CHECK: "second"}
"""The consultation whose unused calls pay for what is none."""


@dataclass(slots=True)
class Slots:
    """What is left: each consultation's own calls, and spare ones for whichever order has to be asked once more."""

    own: dict[str, list[Slot]] = field(default_factory=dict)
    spare: list[Slot] = field(default_factory=list)

    def take(self, part: str) -> Slot | None:
        """A call for a consultation, its own before a spare one; None when none is left."""
        own = self.own.get(PAYS.get(part, part))
        if own:
            return own.pop()
        return self.spare.pop() if self.spare else None

    def allow(self, part: str, count: int) -> int:
        """How many of `count` further calls there are for a part: they are then its own, whoever else needs one."""
        own = self.own.setdefault(PAYS.get(part, part), [])
        while len(own) < count and self.spare:
            own.append(self.spare.pop())
        return min(count, len(own))

    def give_back(self, part: str, slot: Slot) -> None:
        """A call that was refused unbilled is made again by the part that it was for."""
        self.own.setdefault(PAYS.get(part, part), []).append(slot)


def allot(call_ids: Sequence[str], missing: Mapping[str, int], worst: Mapping[str, int]) -> Slots:
    """The slots of a run: `missing` passes for each consultation at its rung's worst case, the rest to spare.

    `worst` are micro-dollars by consultation. A spare call may be made by either rung, so it costs the dearer one's.
    """
    ids = iter(call_ids)
    own = {part: [Slot(next(ids), worst[part]) for _ in range(missing[part])] for part in PARTS}
    return Slots(own, [Slot(call_id, max(worst.values())) for call_id in ids])


def every(slots: Slots) -> tuple[Slot, ...]:
    """All slots of a run."""
    return (*(slot for part in PARTS for slot in slots.own.get(part, ())), *slots.spare)
