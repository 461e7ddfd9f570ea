"""Result of a model check as plain values, independent of TLC's output format."""

from dataclasses import dataclass
from enum import Enum
from pathlib import Path


class Outcome(Enum):
    """Outcome of a model check."""

    OK = "ok"
    """The whole state space (or the requested number of behaviours) was searched without a violation."""

    VIOLATION = "violation"
    """An invariant or a property is violated: `violated` names it, `trace` is the counterexample."""

    DEADLOCK = "deadlock"
    """A state without successor was reached: `trace` leads to it."""

    ERROR = "error"
    """The specification cannot be parsed or evaluated, or TLC failed: `message` says why."""

    INTERRUPTED = "interrupted"
    """TLC's process ended early: stopped from outside, or by the system for lack of memory."""

    TIME_LIMIT = "time limit"
    """The time limit ended the search: no violation in the searched part."""


@dataclass(frozen=True, slots=True)
class TraceState:
    """A state of an error trace.

    Attributes:
        number: Position in the trace, from 1.
        action: Name of the action that led here; "Initial predicate" for the first state.
        location: Location of the action, as printed by TLC; empty for the first state.
        text: The whole state as printed by TLC.
        variables: Name and value text of each variable, in TLC's order.
    """

    number: int
    action: str
    location: str
    text: str
    variables: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class ActionCount:
    """Statistics of an action.

    Attributes:
        name: Name of the action.
        module: Module that defines it.
        line: Line of its definition, from 1.
        states_distinct: New states that it was the first to reach.
        states_generated: States that it generated; 0 if it never fired.
    """

    name: str
    module: str
    line: int
    states_distinct: int
    states_generated: int


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of a model check.

    Attributes:
        states_generated: States computed, with repetitions.
        states_distinct: Distinct states; 0 in simulation, which does not identify them.
        queue_left: States whose successors are not yet computed; 0 in simulation.
        depth: Length of the longest shortest path so far; 0 in simulation.
        states_estimated: Estimated number of distinct states in all, by the explorer; 0 if unknown.
    """

    states_generated: int = 0
    states_distinct: int = 0
    queue_left: int = 0
    depth: int = 0
    states_estimated: int = 0


@dataclass(frozen=True, slots=True)
class ModelCheckReport:
    """Result of a model check.

    Attributes:
        outcome: Outcome of the check.
        violated: Name of the violated invariant or property; several names joined by "or" if TLC does not say which
            temporal property it is; empty if there is none.
        message: TLC's text about a violation or an error; empty if there is neither.
        trace: Behaviour that violates a property, or ends in a deadlock or an error.
        loop: Continuation of an infinite behaviour after its last state: "Stuttering" or "Back to state N"; or empty.
        progress: States, queue and depth at the end, or at TLC's last report.
        seconds: Duration, including the start of Java.
        actions: Statistics of each action; empty without coverage.
        warnings: TLC's warnings.
        checkpoint: Checkpoint to resume from; None if there is none.
        states_recovered: States restored from a checkpoint; 0 for a fresh start.
        exit_code: Exit code of TLC's process; negative for a signal.
    """

    outcome: Outcome
    violated: str
    message: str
    trace: tuple[TraceState, ...]
    loop: str
    progress: Progress
    seconds: float
    actions: tuple[ActionCount, ...]
    warnings: tuple[str, ...]
    checkpoint: Path | None
    states_recovered: int
    exit_code: int
