"""Labels: names as label values that every encoder can carry and that tell one seat from another."""

from decide.ladder import RungStatus
from decide.seat import SeatStatus


def label(text: str) -> str:
    """The text as a label value that every encoder can carry: half of a surrogate pair is spelled out."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def seat_labels(rung: RungStatus) -> list[tuple[str, SeatStatus]]:
    """Each seat in picking order under its label: never empty, unique in its rung, no seat left out (EXP-04)."""
    labels: dict[int, str] = {}
    taken: set[str] = set()
    for place in sorted(range(len(rung.seats)), key=lambda place: rung.seats[place].name):
        plain = label(rung.seats[place].name)
        found, number = plain or "seat_1", 1
        while found in taken:
            number += 1
            found = f"{plain or 'seat'}_{number}"
        labels[place] = found
        taken.add(found)
    return [(labels[place], status) for place, status in enumerate(rung.seats)]
