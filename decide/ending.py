"""Ending: how a run closes, in each of its outcomes, with the rows, the receipt and what its slots are charged."""

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from decide import snapshot
from decide.consulting import Asking
from decide.day import rolls_at
from decide.fault import StoreError, StoreFault
from decide.gate import Fired
from decide.handoff.act import NewAct, Origin
from decide.handoff.entry import entering
from decide.handoff.execution import Sentence, sentence
from decide.handoff.inbox import after
from decide.handoff.ports import Hold, Onward
from decide.ledger import Row, RowKind
from decide.money import dollars
from decide.passes import Pass, refusal, settlement
from decide.ports import CapSpent, Ending, KeptPass, Settlement
from decide.question import dump
from decide.receipt import Close, Facts, Receipt, document, exit_of, states, word
from decide.reply import Reply
from decide.retry import backoff, retry_at
from decide.ruling import ANSWERED, Outcome, Ruling
from decide.setup import Setup
from decide.verdict import NoVerdict
from decide.why import Held, explain, held_by

CLOSING = frozenset((*ANSWERED, Outcome.NEEDS_HUMAN))
"""The outcomes after which a question is never asked again (design 4.3)."""
ATTEMPTS = frozenset((*CLOSING, Outcome.WALLED, Outcome.ERROR))
"""The outcomes that use up an attempt: not `held`, not `cancelled` (design 4.3)."""
LEDGER_REMEDY = {
    StoreFault.UNREADABLE: "nothing is asked until a person has looked: `rungwatch ledger verify`",
    StoreFault.UNWRITABLE: "nothing is asked until it can be written again",
    StoreFault.BROKEN: "nothing is asked until a person clears it: `rungwatch ledger verify`, then `ledger accept`",
}


@dataclass(slots=True)
class Ender:
    """What a run has come to so far, and every way in which it can end."""

    setup: Setup
    facts: Facts
    first: bool = False
    kept: tuple[KeptPass, ...] = ()
    fired: tuple[Fired, ...] = ()
    asking: Asking | None = None
    origin: Origin = field(default_factory=Origin)
    _opened: bool = field(default=False)

    def opening(self, now: datetime) -> tuple[Row, ...]:
        """The row that says that a question was asked for the first time; none for a later attempt."""
        if not self.first or self._opened:
            return ()
        return (Row(RowKind.QUESTION, now, level=self.facts.level.name.value, question=self.facts.key),)

    def reserved(self) -> None:
        """Take note that the opening row is in the ledger."""
        self._opened = True

    async def ruled(self, ruling: Ruling) -> Receipt:
        """The end of a run that both rungs took part in."""
        now, attempts = self.setup.clock(), self.facts.attempts + 1
        gave_up = ruling.outcome in (Outcome.ERROR, Outcome.WALLED)
        asked = (ruling.reconsideration,) if ruling.reconsideration else (ruling.primary, ruling.second)
        retry = retry_at(asked, now=now, attempts=attempts) if gave_up else None
        if ruling.outcome is Outcome.ERROR:
            retry = retry or now + backoff(attempts)
        why = explain(ruling, self.setup.primary.name, self.setup.second.name)
        gates = held_by(ruling, self.fired, self.setup.rows)
        return await self._end(ruling.outcome, why, ruling=ruling, gates=gates, retry=retry)

    async def by_authority(self, rows: Sequence[Fired]) -> Receipt:
        """The end of a run that an authority row stopped before anything was spent."""
        first = rows[0].row
        why = f"policy row {first.id} ({rows[0].where}): {first.means.rstrip('.')}; {first.remedy}"
        held = dict.fromkeys(Held(one.row, one.where) for one in rows)
        gates = tuple({gate.row.id: gate for gate in reversed(held)}.values())[::-1]
        return await self._end(Outcome.NEEDS_HUMAN, why, gates=gates)

    async def by_cap(self, spent: CapSpent) -> Receipt:
        """The end of a run for which a cap has no room; it may be asked again when the day rolls."""
        usd = spent.cap == "usd"
        used, limit = (dollars(n) if usd else str(n) for n in (spent.used, spent.limit))
        unit = "USD" if usd else "passes"
        retry = rolls_at(self.setup.clock(), self.setup.caps.zone)
        why = f"the cap {spent.cap}_per_day has no room for a run's worst case: {used} of {limit} {unit} are taken"
        if not spent.used:
            why = f"the cap {spent.cap}_per_day is too low for one run's worst case: {limit} {unit}; raise it"
        return await self._end(Outcome.HELD, why, retry=retry)

    async def by_ledger(self, error: StoreError) -> Receipt:
        """The end of a run whose ledger cannot be used: a receipt that no store holds."""
        if not self._opened:
            # free again as soon as the store can be written, unless only the answer to a reservation was lost
            with suppress(StoreError, ValueError):
                await self.setup.store.release(self.facts.id)
        self._take_back()
        lost = "; the calls that were made stay charged" if self.asking and self.asking.passes else ""
        why = f"{error.fault}: {error}; {LEDGER_REMEDY[error.fault]}{lost}"
        close = self._close(Outcome.HELD, why, by_ledger=True)
        done = document(self.facts, close)
        return Receipt(done, stored=await self._queued(Hold(self.facts.id, done, self.facts.question, close.at)))

    async def _queued(self, hold: Hold) -> bool:
        """Whether the store, broken as it is, still took the question for a person to see (design 4.5)."""
        try:
            await self.setup.store.hold(hold)
        except StoreError:
            return False
        return True

    async def cancelled(self) -> Receipt:
        """The end of a run that was told to stop: calls that were out are charged at their worst case."""
        try:
            now, asking = self.setup.clock(), self.asking
            for one in self._take_back():
                if asking is not None:
                    asking.settler.add(self._settlement(one, now))
            return await self._end(Outcome.CANCELLED, "the run was told to stop")
        except StoreError as error:
            return await self.by_ledger(error)

    def _take_back(self) -> list[Pass]:
        """The calls that were still out, told as passes that nobody waits for any more."""
        if self.asking is None:
            return []
        now, asking = self.setup.clock(), self.asking
        stopped = [
            Pass(call, max(0.0, (now - call.began).total_seconds()), Reply(), None) for call in asking.out.values()
        ]
        asking.out.clear()
        asking.passes += stopped
        return stopped

    def _settlement(self, made: Pass, now: datetime) -> Settlement:
        level, key = self.facts.level.name.value, self.facts.key
        return settlement(made, at=now, level=level, question=key, receipt=self.facts.id)

    def _close(
        self,
        outcome: Outcome,
        why: str,
        *,
        ruling: Ruling | None = None,
        gates: Sequence[Held] = (),
        retry: datetime | None = None,
        by_ledger: bool = False,
    ) -> Close:
        asking = self.asking
        told = [
            {
                "row": g.row.id,
                "stage": g.row.stage.value,
                "where": g.where,
                "means": g.row.means,
                "remedy": g.row.remedy,
            }
            for g in gates
        ]
        return Close(
            outcome,
            self.setup.clock(),
            why,
            exit_of(outcome, by_ledger=by_ledger),
            ruling=ruling,
            gate=tuple(told),
            retry_at=retry,
            passes=tuple(asking.passes) if asking else (),
            refused=tuple(asking.refused) if asking else (),
            kept=self.kept,
            skipped=tuple(asking.skipped) if asking else (),
        )

    async def _end(
        self,
        outcome: Outcome,
        why: str,
        *,
        ruling: Ruling | None = None,
        gates: Sequence[Held] = (),
        retry: datetime | None = None,
    ) -> Receipt:
        counts = outcome in ATTEMPTS
        self.facts = replace(self.facts, attempts=self.facts.attempts + counts)
        close = self._close(outcome, why, ruling=ruling, gates=gates, retry=retry)
        close = replace(close, execution=self._sentence(ruling))
        done = document(self.facts, close)
        rest = await self.asking.settler.rest() if self.asking else ()
        await self.setup.store.end(
            Ending(
                run_id=self.facts.id,
                question_key=self.facts.key,
                question=dump(self.facts.question),
                snapshot=snapshot.dump(self.facts.frozen),
                at=close.at,
                rows=(*self.opening(close.at), *self._rows(close, gates)),
                receipt_id=self.facts.id,
                receipt=done,
                closed=outcome in CLOSING,
                counts_as_attempt=counts,
                settlements=rest,
                onward=self._onward(close),
            )
        )
        return Receipt(done)

    def _sentence(self, ruling: Ruling | None) -> Sentence | None:
        """What becomes of the command that the answer stands for; None for none, and where no command is listed."""
        line = "" if ruling is None or not ruling.option_id else self._action(ruling.option_id)
        if not line or not self.setup.rules.commands:
            return None
        return sentence(line, self.origin.surface, self.setup.rules)

    def _action(self, option_id: str) -> str:
        return next(one.action for one in self.facts.question.options if one.id == option_id)

    def _onward(self, close: Close) -> Onward:
        """What becomes of the question beyond its run: queue, inbox and execution table (design 4.5, 4.8)."""
        facts, setup = self.facts, self.setup
        why = entering(
            close.outcome,
            attempts=facts.attempts,
            retry_at=close.retry_at,
            deadline=facts.question.deadline,
            lead=setup.lead,
            max_attempts=setup.max_attempts,
        )
        act = None
        if close.execution is not None and close.ruling is not None:
            origin, line = self.origin, self._action(close.ruling.option_id)
            act = NewAct(facts.id, facts.key, facts.key, origin.requester, origin.surface, line, origin.runner)
        return Onward(
            question=facts.question,
            item=after(close.outcome, why=why, retry_at=close.retry_at, now=close.at),
            answered=close.outcome in ANSWERED,
            why=why,
            retry_at=close.retry_at,
            act=act,
        )

    def _rows(self, close: Close, gates: Sequence[Held]) -> list[Row]:
        """The rows of an end: attempts that were refused, consultations, policy rows, skipped checks, decision."""
        level, key, at = self.facts.level.name.value, self.facts.key, close.at
        spoilt = [one for one in close.passes if isinstance(one.result, NoVerdict) and one.result.failure.durable]
        rows = [refusal(one, at=at, level=level, question=key, receipt=self.facts.id) for one in close.refused]
        rows += [refusal(one, at=at, level=level, question=key, receipt=self.facts.id) for one in spoilt]
        names = (self.setup.primary.name, self.setup.second.name, self.setup.primary.name)
        blank = Row(RowKind.CONSULTATION, at, level=level, question=key, receipt=self.facts.id)
        rows += [
            replace(blank, rung=name, result=word(state))
            for name, state in zip(names, states(close.ruling), strict=False)
        ]
        rows += [replace(blank, kind=RowKind.GATE, gate_row=g.row.id, stage=g.row.stage.value) for g in gates]
        rows += [
            replace(blank, kind=RowKind.SKIPPED, result=s.check.value, body=json.dumps({"why": s.why}))
            for s in close.skipped
        ]
        duration = max(timedelta(), at - self.facts.began)
        micros = duration // timedelta(microseconds=1)
        decision = replace(blank, kind=RowKind.DECISION, result=close.outcome.value, duration_us=micros)
        return [*rows, decision]
