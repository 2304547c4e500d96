"""Ending: how a run closes, in each of its outcomes, with the rows, the receipt and what its slots are charged."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from decide import snapshot
from decide.consulting import Asking
from decide.day import rolls_at
from decide.gate import Fired
from decide.ledger import Row, RowKind
from decide.money import dollars
from decide.passes import Pass, refusal, settlement
from decide.ports import CapSpent, Ending, KeptPass, Settlement, StoreError, StoreFault
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
        why = f"policy row {first.id} ({rows[0].where}): {first.means}; {first.remedy}"
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
            with suppress(StoreError):  # the question is free again as soon as the store can be written
                await self.setup.store.release(self.facts.id)
        self._take_back()
        lost = "; the calls that were made stay charged" if self.asking and self.asking.passes else ""
        why = f"{error.fault}: {error}; {LEDGER_REMEDY[error.fault]}{lost}"
        return Receipt(document(self.facts, self._close(Outcome.HELD, why, by_ledger=True)), stored=False)

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
            )
        )
        return Receipt(done)

    def _rows(self, close: Close, gates: Sequence[Held]) -> list[Row]:
        """The rows of an end: attempts that were refused, consultations, policy rows that held, the decision."""
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
        duration = max(timedelta(), at - self.facts.began)
        micros = duration // timedelta(microseconds=1)
        decision = replace(blank, kind=RowKind.DECISION, result=close.outcome.value, duration_us=micros)
        return [*rows, decision]
