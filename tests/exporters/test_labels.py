"""Labels: every name can be encoded, and no two seats of a rung share one."""

from dataclasses import replace

from decide.ladder import RungStatus
from exporters.labels import label, seat_labels
from tests.exporters.scenes import FABLE, open_seat, rung


def test_seats_of_one_name_or_none_stay_apart() -> None:
    twins = RungStatus("fable", FABLE.role, rung(FABLE, open_seat("x")).state)
    seats = tuple(rung(FABLE, open_seat(name)).seats[0] for name in ("b", "", "b", "", "seat_1"))
    labels = [subject for subject, _ in seat_labels(replace(twins, seats=seats))]
    assert labels == ["b", "seat_1", "b_2", "seat_2", "seat_1_2"]


def test_a_label_can_always_be_encoded() -> None:
    assert label("plain 座") == "plain 座"
    assert label("\udc80").encode() == b"\\udc80"
