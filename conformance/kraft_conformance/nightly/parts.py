"""The parts of a night.  One entry of `PARTS` is one part; its items come from the part's own table."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from kraft_conformance.mutation.load_bearing import run_evidence, with_evidence
from kraft_conformance.nightly.record import Item
from kraft_spec.models import CHECKS, find_check, run_check
from kraft_spec.mutants import load_catalogue
from kraft_spec.tlc.model_report import Outcome, Progress


@dataclass(frozen=True, slots=True)
class Means:
    """What an item may use.

    Attributes:
        checkpoints: Folder for checkpoints of model checks; they belong to one text of the model.
        resume: Go on from checkpoints.
        workers: Threads of TLC, and processes elsewhere.
        time_limit_seconds: Replaces the limit of every check that has one; None to keep them.
        say: Shows how far the item is.
    """

    checkpoints: Path
    resume: bool
    workers: int
    time_limit_seconds: float | None
    say: Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a night.

    Attributes:
        name: Name on the command line and in the record.
        what: What it checks.
        items: Names of its items, in their order.
        run: Runs one.
    """

    name: str
    what: str
    items: Callable[[], tuple[str, ...]]
    run: Callable[[str, Means], Item]


def _model_item(name: str, means: Means) -> Item:
    check = find_check(name)

    def show(reached: Progress) -> None:
        means.say(f"{reached.states_distinct} states, depth {reached.depth}, {reached.queue_left} in the queue")

    limit = means.time_limit_seconds if check.time_limit_seconds is not None else None
    report = run_check(
        check,
        show,
        workers=means.workers,
        checkpoint_directory=means.checkpoints if "nightly" in check.groups else None,
        resume=means.resume,
        time_limit_seconds=limit,
    )
    found = report.report
    finished = found.outcome is not Outcome.TIME_LIMIT or check.simulation is not None
    facts: dict[str, str | int | bool | None] = {"outcome": found.outcome.value, "violated": found.violated or None}
    if found.outcome is Outcome.VIOLATION:
        facts["states of the counterexample"] = len(found.trace)
    elif report.exhaustive:
        facts |= {"states": found.progress.states_distinct, "depth": found.progress.depth}
    if report.never_fired:
        facts["never fired"] = ", ".join(report.never_fired)
    reached = f"{found.progress.states_distinct or found.progress.states_generated} states"
    if found.progress.queue_left:
        reached += f", {found.progress.queue_left} in the queue"
    return Item("models", name, report.as_expected, finished, facts, reached, round(found.seconds, 1))


def _load_bearing_item(name: str, means: Means) -> Item:
    mutant = load_catalogue()[name]

    def show(reached: Progress) -> None:
        means.say(f"{reached.states_distinct} states, depth {reached.depth}")

    found = run_evidence(mutant, show, workers=means.workers)
    facts: dict[str, str | int | bool | None] = {
        "rule": mutant.rules[0],
        "violated": found.violated or None,
        "length": found.length,
        "where": found.where,
        "problem": found.problem or None,
    }
    reached = found.problem or (f"{found.violated} after {found.length}" if found.violated else "no counterexample")
    return Item("load-bearing", name, not found.problem, True, facts, reached, round(found.seconds, 1))


PARTS: tuple[Part, ...] = (
    Part(
        "load-bearing",
        "each safety rule taken out of the model: what TLC finds violated",
        lambda: tuple(mutant.name for mutant in with_evidence(load_catalogue())),
        _load_bearing_item,
    ),
    Part("models", "every model check, the long ones with checkpoints", lambda: _short_first(), _model_item),
)


def _short_first() -> tuple[str, ...]:
    """All model checks, those without a time limit first."""
    return tuple(check.name for check in sorted(CHECKS, key=lambda check: check.time_limit_seconds or 0.0))


def find_part(name: str) -> Part:
    """The part of that name.

    Raises:
        KeyError: There is none.
    """
    for part in PARTS:
        if part.name == name:
            return part
    raise KeyError(f"no part {name!r} of a night; there are {', '.join(part.name for part in PARTS)}")
