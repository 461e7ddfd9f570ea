"""The parts of a night that TLC runs."""

from kraft_dev.mutation.load_bearing import not_as_recorded, run_evidence
from kraft_dev.nightly.means import Means
from kraft_dev.nightly.record import Fact, Item
from kraft_spec.models import CHECKS, find_check, run_check
from kraft_spec.mutants import load_catalogue
from kraft_spec.tlc.model_report import Outcome, Progress


def short_checks_first() -> tuple[str, ...]:
    """All model checks, those without a time limit first."""
    return tuple(check.name for check in sorted(CHECKS, key=lambda check: check.time_limit_seconds or 0.0))


def model_item(name: str, means: Means) -> Item:
    """One model check."""
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
        coverage=True,
    )
    found = report.report
    finished = found.outcome is not Outcome.TIME_LIMIT or check.simulation is not None
    facts: dict[str, Fact] = {"outcome": found.outcome.value, "violated": found.violated or None}
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


def load_bearing_item(name: str, means: Means) -> Item:
    """The evidence of one mutant, and that the counterexample is the recorded one."""
    mutant = load_catalogue()[name]

    def show(reached: Progress) -> None:
        means.say(f"{reached.states_distinct} states, depth {reached.depth}")

    found = run_evidence(mutant, show, workers=means.workers)
    problem = found.problem or not_as_recorded(mutant, found)
    facts: dict[str, Fact] = {
        "rule": mutant.rules[0],
        "violated": found.violated or None,
        "length": found.length,
        "where": found.where,
        "problem": problem or None,
    }
    reached = problem or (f"{found.violated} after {found.length}" if found.violated else "no counterexample")
    return Item("load-bearing", name, not problem, True, facts, reached, round(found.seconds, 1))
