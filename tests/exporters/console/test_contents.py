"""What each page tells: all that its reader needs to know, the most pressing first."""

import re
from dataclasses import replace

import pytest

from decide.handoff.act import ActEnd, ActState
from decide.handoff.entry import EntryState
from tests.exporters.console.pages import page, text
from tests.exporters.console.receipts import RESTART, documents, minutes
from tests.exporters.console.world import act, application, click, connected, desk
from tests.exporters.html import Tags, words


async def test_the_ladder_tells_what_waits_and_leads_there() -> None:
    told = await text("/")
    assert "Waits for a person 1 wake 1 soon 1 routine 3 clicks to press" in told
    assert "The nearest deadline: in 35 min" in told
    assert "The search pods answer slowly since the deploy." in told
    assert "you are ana" in told


async def test_the_queue_is_ordered_by_urgency_and_counts_down() -> None:
    told = await text("/queue")
    places = [told.index(word) for word in ("search pods", "slow report", "new module", "answered", "cancelled")]
    assert places == sorted(places)
    assert "due in 35 min" in told
    assert "walled · waiting is reversible · waits 30 min · from refactor-bot" in told


async def test_a_long_queue_has_pages_and_keeps_its_closed_ones_within_reach() -> None:
    made = await desk()
    for number in range(120):
        entry = replace(made.handoff.open["r-walled"], id=f"x{number:03}", entered_at=minutes(number / 100))
        made.handoff.open[entry.id] = entry
    first, last = await page("/queue", made), await page("/queue?page=3", made)
    assert first.count('class="row waiting') == 50
    assert 'href="/queue?page=2"' in first
    assert last.count('class="row waiting') == 23
    assert await page("/queue?page=999999", made) == last
    assert "answered" in words(first)


async def test_closed_entries_have_pages() -> None:
    made = await desk()
    for number in range(45):
        entry = replace(made.handoff.open["r-older"], id=f"y{number:03}", entered_at=minutes(-1000 - number))
        made.handoff.open[entry.id] = entry
    seen: list[str] = []
    path = "/queue"
    while path:
        html = await page(path, made)
        seen += re.findall(r'<a class="row" href="/queue/([^"]+)"', html)
        found = re.search(r'href="(/queue\?before=[^"#]+)#closed"', html)
        path = found[1] if found else ""
    closed = [one.id for one in made.handoff.open.values() if one.state is not EntryState.OPEN]
    assert sorted(seen) == sorted(closed)


async def test_receipts_and_clicks_have_pages() -> None:
    made = await desk()
    for number in range(75):
        made.handoff.documents = {
            **made.handoff.documents,
            f"z{number:03}": (await documents())["r-agreed"] | {"id": f"z{number:03}"},
        }
        made.handoff.minted[f"d{number:03}"] = click(f"d{number:03}", RESTART, at=minutes(-2000 - number))
    for path, row in (("/decisions", "/decisions/"), ("/clicks", "/clicks/")):
        seen: list[str] = []
        step = path
        while step:
            html = await page(step, made)
            seen += re.findall(rf'<a class="row" href="{row}([^"]+)"', html)
            found = re.search(rf'href="({path}\?before=[^"]+)" rel="next"', html)
            step = found[1] if found else ""
        assert len(seen) == len(set(seen)) >= 75


async def test_an_entry_has_a_choice_for_each_option_and_says_why_it_waits() -> None:
    html = await page("/queue/r-policy")
    radios = [a["value"] for tag, a in Tags(html).found if tag == "input" and a.get("type") == "radio"]
    assert radios == ["restart", "wait"]
    assert "Waits because NEEDS HUMAN: policy row production_write" in words(html)
    assert RESTART in words(html)
    assert "checked" not in html


async def test_lacking_evidence_leads_to_a_question_that_cites_it() -> None:
    html = await page("/queue/r-lacking")
    assert 'href="/ask?cites=r-lacking"' in html
    assert "Missing the query plan of the report" in words(html)
    assert "cites" not in await page("/queue/r-policy")
    form = await page("/ask?cites=r-lacking")
    values = {a.get("name"): a.get("value") for tag, a in Tags(form).found if tag == "input"}
    assert (values["cites"], values["id1"], values["text2"]) == ("r-lacking", "keep", "Drop it")
    assert "Does the index help the slow report?</textarea>" in form
    assert "Missing the last time: the query plan of the report" in words(form)


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("agreed", ["RESOLVED via FABLE (fable-model) and ASTRA (astra-model): opt_a", "decided"]),
        ("alone", ["RESOLVED via ASTRA (astra-model)", "SINGLE RUNG: FABLE never ran (seat_capped)", "never ran"]),
        (
            "unknown",
            ["RESOLVED via UNKNOWN: opt_a", "SINGLE RUNG: the model that answered as FABLE and as ASTRA is UNKNOWN"],
        ),
        ("reconsidered", ["RESOLVED via FABLE (fable-model): opt_b", "asked once more"]),
        (
            "flip",
            [
                "NEEDS HUMAN: fable changed its answer",
                "FLIP fable names opt_a in forward order and opt_b in reversed",
            ],
        ),
        ("policy", ["Held by policy production_write", "no pass was sent"]),
        ("lacking", ["missing: the query plan of the report", "Waits for a person. Answer it in the queue"]),
        ("walled", ["WALLED: ", "Turned away unbilled", "the weekly window is full"]),
        ("error", ["ERROR: ", "Retry in", "timeout"]),
    ],
)
async def test_a_receipt_is_readable(name: str, parts: list[str]) -> None:
    told = await text(f"/decisions/r-{name}")
    assert [part for part in parts if part not in told] == []
    for part in ("The question", "Both rungs", "Evidence", "Provenance", "as JSON"):
        assert part in told


async def test_a_receipt_tells_each_pass_and_where_it_comes_from() -> None:
    told = await text("/decisions/r-agreed")
    assert told.count("fable-seat vote") == 2
    assert "1 100" in told
    assert "0.0011 USD by subscription, notional, price table" in told
    assert "sha256:" in told
    assert "fable-model (reported)" in told


async def test_a_receipt_tells_what_a_look_for_faults_came_to() -> None:
    made = await desk()
    check = {"result": "finding", "option": "opt_b", "kind": None, "row": None, "says": "the first is no longer kept"}
    made.handoff.documents = {
        **made.handoff.documents,
        "r-agreed": {**made.handoff.documents["r-agreed"], "cross_check": check},
    }
    assert "Cross-check found a fault: the first is no longer kept" in await text("/decisions/r-agreed", made)
    assert "Cross-check" not in await text("/decisions/r-flip", made)


async def test_the_raw_receipt_is_what_is_kept() -> None:
    made = await desk()
    async with connected(application(made)) as client:
        answer = await client.get("/api/receipts/r-agreed")
    assert answer.headers["content-type"] == "application/json"
    assert answer.json() == made.handoff.documents["r-agreed"]


async def test_a_persons_answer_is_on_the_receipt_with_what_became_of_its_command() -> None:
    made = await desk()
    person = {"name": "bo", "option": "restart", "text": "Go.", "at": minutes(-3).isoformat(), "surface": "chat"}
    execution = {
        "line": RESTART,
        "command": "restart",
        "class": "write",
        "fate": "click",
        "reason": "class write takes a click",
    }
    receipt = {**made.handoff.documents["r-policy"], "person": person, "execution": execution}
    made.handoff.documents = {**made.handoff.documents, "r-policy": receipt}
    made.handoff.acts["r-policy"] = replace(
        act("x", RESTART, ActState.DONE, end=ActEnd(True, 0, "ok!")), id="r-policy"
    )
    told = await text("/decisions/r-policy", made)
    assert "Answered by bo restart Go." in told
    assert f"The command {RESTART} Ruled class write takes a click Now done Output ok!" in told


async def test_a_receipt_tells_what_a_check_came_to_and_which_was_skipped() -> None:
    made = await desk()
    receipt = made.handoff.documents["r-agreed"]
    votes = [one for one in receipt["passes"] if one["consultation"] == "second"]
    check = votes[0] | {"consultation": "cross_check", "role": "cross_check"}
    found = {"result": "finding", "option": "opt_b", "kind": None, "row": None, "says": "<b>the log</b>"}
    skipped = [{"check": "split_reread", "why": "no pass is left"}]
    told = {"cross_check": found, "skipped_checks": skipped, "passes": [*receipt["passes"], check]}
    level = {**receipt["level"], "models": {"fable": "fable-pro"}}
    made.handoff.documents = {**made.handoff.documents, "r-agreed": {**receipt, **told, "level": level}}
    shown = await text("/decisions/r-agreed", made)
    assert "Cross-check found a fault: <b>the log</b>" in shown
    assert "Skipped split_reread: no pass is left" in shown
    assert "forward order, looking for faults" in shown
    assert "models fable-pro for fable" in shown
    old = {name: value for name, value in receipt.items() if name != "cross_check"}
    made.handoff.documents = {**made.handoff.documents, "r-agreed": old}
    assert "Cross-check" not in await text("/decisions/r-agreed", made)


async def test_a_receipt_tells_what_was_taken_of_windows_and_an_older_one_does_not() -> None:
    made = await desk()
    receipt = made.handoff.documents["r-agreed"]
    taken = {"rung": "fable", "seat": "desk", "role": "vote", "window": "weekly_model", "scope": "Fable"}
    quota = [taken | {"points": 0.25, "shared": True}, taken | {"scope": None, "points": 3.0, "shared": False}]
    made.handoff.documents = {**made.handoff.documents, "r-agreed": {**receipt, "quota": quota}}
    shown = await text("/decisions/r-agreed", made)
    assert "fable desk vote weekly model Fable 0.25 shared: others ran meanwhile, split by tokens" in shown
    assert "fable desk vote weekly model 3 Evidence" in shown
    old = {name: value for name, value in receipt.items() if name != "quota"}
    made.handoff.documents = {**made.handoff.documents, "r-agreed": old}
    assert "Points" not in await text("/decisions/r-agreed", made)


async def test_an_answered_entry_tells_by_whom_and_what_its_command_waits_for() -> None:
    assert "Answered by bo When 10:30:00 UTC Option yes : Yes In words The table is going to be split" in await text(
        "/queue/r-error"
    )
    assert "Cancelled by ana" in await text("/queue/r-older")
    assert "Resolved by the ladder itself" in await text("/queue/r-old")


async def test_decisions_tell_rates_and_costs_apart() -> None:
    told = await text("/decisions")
    assert "208 answered of 233 runs in 14 days 12 % single rung, 26 of 208 answered 18 left to a person" in told
    assert "subscription, USD each answered metered, USD each answered" in told
    assert "never added up" in told


async def test_history_tells_shares_and_changes() -> None:
    told = await text("/history")
    assert "ladder degraded now ok 83 %, blind 12 %, degraded 4 %" in told
    assert "astra reachable unreachable the weekly window is full" in told
    html = await page("/history")
    assert html.count('role="img"') == 6
    assert "<title>blind for 3 h, from Tue 30 Jun, 22:00 UTC to 01:00:00 UTC</title>" in html


async def test_ticks_tell_rounds_counters_and_reads() -> None:
    told = await text("/ticks")
    assert "1 ok 0 timeout 0 error 0 missed" in told
    assert "11:40:00 UTC 2.2 s timeout degraded 6 1" in told
    assert "claude-usage 3 0" in told


async def test_clicks_show_the_whole_line_on_the_button_of_its_requester_alone() -> None:
    html = await page("/clicks")
    (button,) = re.findall(r'<button type="submit" class="press">(.*?)</button>', html, re.DOTALL)
    assert words(button) == f"Run {RESTART}"
    told = words(html)
    assert (
        "restart · class write · for bo expires in 9 min git push origin release/4.2 Only bo can press this." in told
    )
    for outcome in ("done", "failed", "outcome unknown", "expired"):
        assert outcome in told
    assert told.index(RESTART) < told.index("git push")


async def test_a_click_that_is_over_has_no_button_and_tells_its_outcome() -> None:
    for name, part in (
        ("done", "verified 1204 rows"),
        ("failed", "deployment not found"),
        ("lost", "never run again"),
    ):
        html = await page(f"/clicks/c-{name}")
        assert "<form" not in html
        assert part in words(html)


async def test_an_item_tells_where_it_stands() -> None:
    assert "This question waits for a person." in await text("/inbox/i-1")
    assert "This question waits for its turn. Which cache library" in await text("/inbox/i-2")
    told = await text("/inbox/i-3")
    assert "Ruling RESOLVED via ASTRA (astra-model)" in told
    assert "SINGLE RUNG: FABLE never ran (seat_capped)" in told
