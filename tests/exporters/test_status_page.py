"""The status page: what a person on call can read in it, and what can never get in."""

import re
from dataclasses import replace
from datetime import datetime

import pytest
from jinja2 import UndefinedError

from decide.ladder import LadderWord
from decide.reason import Reason
from exporters.console.frame import Frame
from exporters.console.render import render, statics
from exporters.console.status import icon
from exporters.console.status import status_page as page_bytes
from exporters.view import CanaryFacts, RungName, View
from tests.exporters.html import Tags, words
from tests.exporters.scenes import (
    ASTRA,
    FABLE,
    NOW,
    SCENES,
    SECRET,
    degraded_view,
    failed_seat,
    foreseen_view,
    minutes,
    mixed_seat,
    ok_view,
    open_seat,
    rung,
    view,
)

EVIL = '<script>alert("x")</script>'


def status_page(view_: View, now: datetime) -> str:
    """The page as text."""
    return page_bytes(view_, now).decode()


def shown(view_: View, after: float = 2) -> str:
    """The words of a view's page that many minutes after the tick."""
    return words(status_page(view_, NOW + minutes(after)))


@pytest.mark.parametrize("name", SCENES)
@pytest.mark.parametrize("after", [0, 40])
def test_every_page_is_well_formed_and_runs_and_fetches_nothing_from_elsewhere(name: str, after: float) -> None:
    html = status_page(SCENES[name](), NOW + minutes(after))
    assert html.startswith("<!doctype html>")
    for tag, attributes in Tags(html).found:
        assert tag not in ("iframe", "object", "img", "form", "style")
        assert not [name for name in attributes if name.startswith("on") or name == "style"]
        for link in (attributes.get("href"), attributes.get("src")):
            assert link is None or re.match(r"[/#](?!/)", link), link


def test_the_word_is_told_with_since_when() -> None:
    text = shown(degraded_view())
    assert "ladder DEGRADED fable can be asked; astra cannot be asked." in text
    assert "degraded for 2 min, since 12:00:00 UTC" in text
    assert "last ok 1 h 2 min ago, 11:00:00 UTC" in text
    assert "<title>ladder DEGRADED · rungwatch</title>" in status_page(degraded_view(), NOW)


def test_a_rung_tells_pick_trouble_remedy_and_clear_time() -> None:
    text = shown(degraded_view())
    assert "Next pick desk" in text
    assert "Next pick no seat can be picked" in text
    assert "Wrong the weekly window is full" in text
    assert "To do wait for the reset, or add a seat" in text
    assert "Clears in 2 h 28 min , 14:30:00 UTC" in text


def test_a_seat_tells_state_token_windows_and_resets() -> None:
    text = shown(degraded_view())
    assert "Session 25 % resets in 1 h 28 min (13:30:00 UTC)".lower() in text.lower()
    assert "weekly 103 %" in text
    assert "token live, lapses in 5 h 58 min (18:00:00 UTC)" in text
    assert "token needs login, lapsed 22 min ago (11:40:00 UTC)" in text
    assert "No meter: the token alone decides." in text


def test_a_window_of_a_seat_that_is_unknown_is_told_with_its_age() -> None:
    html = status_page(view(rung(FABLE, failed_seat("s1")), rung(ASTRA, open_seat("x"))), NOW)
    assert "12 % as of 7 min ago" in words(html)
    assert '<li class="unknown' in html
    assert "session 12 % resets" not in words(html)


def test_windows_without_a_share_are_named() -> None:
    text = shown(view(rung(FABLE, mixed_seat("m")), rung(ASTRA, open_seat("x"))))
    for part in ("monthly no limit", "spend refused", "weekly model Other 100 %", "does not bind this rung"):
        assert part in text


@pytest.mark.parametrize(("used", "figure"), [(0.999, "99 %"), (0.29, "29 %"), (1.0, "100 %"), (0.0, "0 %")])
def test_a_share_is_never_rounded_up(used: float, figure: str) -> None:
    text = shown(view(rung(FABLE, open_seat("s", used)), rung(ASTRA, open_seat("x"))))
    assert f"session {figure} resets" in text


def test_before_the_first_tick_it_says_so() -> None:
    text = shown(view())
    assert "ladder BLIND No tick has ended yet" in text
    assert "Last tick none yet" in text
    assert "Seats appear with the first tick." in text


def test_a_stale_tick_is_told_and_no_figure_looks_fresh() -> None:
    text = shown(ok_view(), 40)
    assert "ladder BLIND The last tick is too old to trust" in text
    assert "overdue by 35 min" in text
    assert "Next pick not known" in text
    assert 'role="note"' not in status_page(ok_view(), NOW + minutes(40))  # the sentence has told it
    assert "25 % as of 41 min ago" in text
    assert "session 25 % resets" not in text
    assert "the last tick is too old to trust" in text


def test_the_canarys_own_troubles_are_told() -> None:
    facts = CanaryFacts(missed_ticks=3, last_tick_at=NOW, skew_s=-310.0, reload_ok=False)
    state = ok_view().state
    assert state is not None
    text = shown(replace(ok_view(), canary=facts, state=replace(state, notes=(Reason.CLOCK,))))
    assert "Missed ticks 3" in text
    assert "Clock 310.0 s behind the hosts it reads" in text
    assert "the last reload was refused" in text
    assert "clock This machine's clock cannot be trusted: set the clock (NTP)." in text


def test_the_demo_cannot_be_taken_for_the_real_thing() -> None:
    text = shown(replace(ok_view(), caption="Seats of clay"))
    assert "Demo Every seat, number and time here is made up. Seats of clay" in text
    assert "made up" not in shown(ok_view())
    state = ok_view().state
    assert state is not None
    assert "made up" in shown(replace(ok_view(), state=replace(state, demo=True)))


def test_it_links_to_the_probe_of_each_rung() -> None:
    odd = replace(view(), rungs=(RungName("a b&c", FABLE.role), ASTRA))
    links = [attributes.get("href") for tag, attributes in Tags(status_page(odd, NOW)).found if tag == "a"]
    assert "/probe?rung=a%20b%26c&debug=true" in links
    assert {"/metrics", "/api/status", "/probe?rung=astra&debug=true"} <= set(links)


def test_it_reloads_itself() -> None:
    metas = [attributes for tag, attributes in Tags(status_page(view(), NOW)).found if tag == "meta"]
    assert {"http-equiv": "refresh", "content": "15"} in metas


def test_names_cannot_become_markup() -> None:
    seat = open_seat(EVIL)
    (reading,) = seat.readings
    windows = tuple(replace(window, scope=EVIL) for window in reading.windows)
    seats = replace(seat, readings=(replace(reading, windows=windows),))
    evil = replace(view(rung(RungName(EVIL, FABLE.role), seats), rung(ASTRA, open_seat("x"))), caption=EVIL)
    html = status_page(replace(evil, rungs=(RungName(EVIL, FABLE.role), ASTRA), version=EVIL), NOW)
    assert html.count("<script") == html.count('<script src="/static/refresh.js"') == 1
    assert html.count("&lt;script&gt;") >= 5


def test_a_secret_has_no_way_in_by_a_source() -> None:
    seat = mixed_seat("m")
    planted = replace(seat, readings=tuple(replace(reading, source=SECRET) for reading in seat.readings))
    assert SECRET not in status_page(view(rung(FABLE, planted), rung(ASTRA, open_seat("x"))), NOW)


def test_every_colour_of_the_icon_differs() -> None:
    assert len({icon(word) for word in LadderWord}) == len(LadderWord)


def _luminance(colour: str) -> float:
    digits = colour * 2 if len(colour) == 3 else colour
    channels = [int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(first: str, second: str) -> float:
    lighter, darker = sorted((_luminance(first), _luminance(second)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


PAIRS = [
    *((ink, ground) for ink in ("ink", "soft", "link") for ground in ("page", "card", "inset")),
    *((kind, f"{kind}-soft") for kind in ("good", "warn", "bad", "mute", "info")),
    *(("ink", "field"), ("soft", "field"), ("on-accent", "accent")),
]

DRAWN = [
    *((f"mark-{kind}", ground) for kind in ("good", "warn", "bad", "info") for ground in ("card", "inset")),
    *(("edge", ground) for ground in ("field", "card")),
    *(("fill-unknown", "inset"), ("ring", "page"), ("ring", "card"), ("accent", "card")),
]


@pytest.mark.parametrize("scheme", [0, 1])
def test_every_text_has_the_contrast_of_wcag_aa(scheme: int) -> None:
    sheet = statics()["console.css"][0].decode()
    blocks = re.findall(r":root \{(.*?)\}", sheet, re.DOTALL)
    assert len(blocks) == 2
    colours = dict(re.findall(r"--([a-z-]+): #([0-9a-f]{3,6})", blocks[scheme]))
    weak = {pair: _contrast(colours[pair[0]], colours[pair[1]]) for pair in PAIRS}
    weak |= {("white", word): _contrast("fff", colours[f"hero-{word}"]) for word in LadderWord}
    assert {pair: found for pair, found in weak.items() if found < 4.5} == {}
    drawn = {pair: _contrast(colours[pair[0]], colours[pair[1]]) for pair in DRAWN}
    assert {pair: found for pair, found in drawn.items() if found < 3} == {}


def test_a_template_that_lacks_a_name_fails() -> None:
    with pytest.raises(UndefinedError, match="'problem' is undefined"):
        render("problem.html", Frame(NOW))


def test_what_lies_ahead_of_a_rung_is_told_in_a_line_and_of_a_seat_where_it_differs() -> None:
    text = shown(foreseen_view())
    assert "Ahead Expected to be spent about 14:20 UTC (13:50 to 15:30)" in text
    assert "Ahead Expected to be spent about Thu 2 Jul, 13:00 UTC (23:40 at the earliest)" in text
    assert text.count("xpected to be spent") == 3, "both rungs, and of the seats only the one that is spent sooner"
    assert "Expected to be spent about 14:10 UTC (13:35 to 18:40)." in text
    assert "Ahead" not in shown(ok_view())
