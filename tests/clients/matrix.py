"""The confusion matrix of all trials, its cells off the diagonal with their reasons, and what makes it fail."""

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from decide.ladder import RungState
from decide.reason import WORDS
from tests.clients.invoke import Outcome
from tests.clients.scenario import Blind
from tests.clients.trial import Trial

RIGHT = {
    Outcome.ANSWERS: RungState.REACHABLE,
    Outcome.FAILS: RungState.UNREACHABLE,
    Outcome.HANGS: RungState.UNREACHABLE,
}
"""The word that is right for an outcome; `unknown` is never wrong, and never right either."""
STYLES = {Outcome.ANSWERS: "green", Outcome.FAILS: "red", Outcome.HANGS: "yellow"}


def overconfident(trial: Trial) -> bool:
    """Whether the canary called a rung reachable that then did not answer."""
    return trial.told.outcome is not Outcome.ANSWERS and trial.word.state is RungState.REACHABLE


def faint_hearted(trial: Trial) -> bool:
    """Whether the canary called a rung unreachable that then answered."""
    return trial.told.outcome is Outcome.ANSWERS and trial.word.state is RungState.UNREACHABLE


def faults(trials: Sequence[Trial]) -> list[str]:
    """Everything for which the run fails."""
    found = [
        f"{_name(t)}: did not answer, but was called reachable"
        for t in trials
        if overconfident(t) and not t.scenario.blind
    ]
    found += [f"{_name(t)}: answered, but was called unreachable" for t in trials if faint_hearted(t)]
    found += [f"{_name(t)}: the canary {breach}" for t in trials for breach in t.word.breaches]
    shown = {t.scenario.blind for t in trials if overconfident(t)}
    return found + [f"no scenario shows the cause: {cause}" for cause in Blind if cause not in shown]


def _name(trial: Trial) -> str:
    return f"{trial.scenario.vendor.value}, {trial.scenario.name}"


def show(trials: Sequence[Trial], console: Console) -> None:
    """The matrix, then every trial that is not on its diagonal."""
    console.print(_matrix(trials))
    off = [trial for trial in trials if trial.word.state is not RIGHT[trial.told.outcome]]
    console.print(_listed(off))


def _matrix(trials: Iterable[Trial]) -> Table:
    table = Table(title="What the real client did, and what the canary had said of its rung")
    table.add_column("the client")
    for word in RungState:
        table.add_column(word.value, justify="right")
    counted = [(trial.told.outcome, trial.word.state) for trial in trials]
    for outcome in Outcome:
        cells = [counted.count((outcome, word)) for word in RungState]
        bold = [
            f"[bold]{n}[/]" if word is RIGHT[outcome] else str(n) for n, word in zip(cells, RungState, strict=True)
        ]
        table.add_row(f"[{STYLES[outcome]}]{outcome.value}[/]", *bold)
    return table


def _listed(trials: Iterable[Trial]) -> Table:
    table = Table(title="Off the diagonal", show_lines=False)
    for column in ("scenario", "client", "canary", "why the canary says so", "what the client said"):
        table.add_column(column, overflow="fold")
    order = {state: place for place, state in enumerate(RungState)}
    for trial in sorted(trials, key=lambda t: (t.told.outcome, order[t.word.state], _name(t))):
        wrong = (overconfident(trial) and not trial.scenario.blind) or faint_hearted(trial)
        cells = (_name(trial), trial.told.outcome.value, trial.word.state.value, _why(trial), trial.told.words[:90])
        table.add_row(*(escape(cell) for cell in cells), style="bold red" if wrong else "")
    return table


def _why(trial: Trial) -> str:
    if trial.scenario.blind and overconfident(trial):
        return f"cannot be seen: {trial.scenario.blind.value}"
    reason = trial.word.seat.reason
    return f"{reason}: {WORDS[reason].means}" if reason else "quota and token permit"
