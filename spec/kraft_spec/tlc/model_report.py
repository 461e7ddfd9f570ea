"""What a model check found: plain values, without a trace of how TLC says it."""

from dataclasses import dataclass
from enum import Enum
from pathlib import Path


class Outcome(Enum):
    """How a model check ended."""

    OK = "ok"
    """The whole state space (or the number of behaviours asked for) was searched: no violation."""

    VIOLATION = "violation"
    """An invariant or a property is violated: `violated` names it, `trace` shows how."""

    DEADLOCK = "deadlock"
    """A state without successor was reached: `trace` leads to it."""

    ERROR = "error"
    """The specification cannot be parsed or evaluated, or TLC failed: `message` says why."""

    INTERRUPTED = "interrupted"
    """TLC's process ended before it finished: stopped from outside, or by the system for want of memory."""

    TIME_LIMIT = "time limit"
    """The time limit came first: no violation in the part that was searched."""


@dataclass(frozen=True, slots=True)
class TraceState:
    """One state of an error trace.

    Attributes:
        number: Position in the trace, from 1.
        action: Name of the action that led here; "Initial predicate" for the first state.
        location: Where the action stands, in TLC's words; empty for the first state.
        text: The whole state as TLC prints it.
        variables: Name and value text of each variable, in TLC's order.
    """

    number: int
    action: str
    location: str
    text: str
    variables: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class ActionCount:
    """How often an action fired.

    Attributes:
        name: Name of the action.
        module: Module that defines it.
        line: Line of its definition, from 1.
        states_distinct: New states that it was the first to reach.
        states_generated: States that it led to; 0 for an action that never fired.
    """

    name: str
    module: str
    line: int
    states_distinct: int
    states_generated: int


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a model check has come.

    Attributes:
        states_generated: States computed, with repetitions.
        states_distinct: States found; 0 in simulation, which does not tell them apart.
        queue_left: States whose successors are still to be computed; 0 in simulation.
        depth: Length of the longest shortest path so far; 0 in simulation.
    """

    states_generated: int = 0
    states_distinct: int = 0
    queue_left: int = 0
    depth: int = 0


@dataclass(frozen=True, slots=True)
class ModelCheckReport:
    """What a model check found.

    Attributes:
        outcome: How it ended.
        violated: Name of the violated invariant or property; names joined by "or" where TLC does not say
            which of several temporal properties it was; empty if none is.
        message: TLC's words about a violation or an error; empty if there is neither.
        trace: The behaviour that shows a violation or a deadlock, or leads to an error.
        loop: How an infinite behaviour goes on after its last state: "Stuttering" or "Back to state N"; or empty.
        progress: States, queue and depth when it ended, or when TLC last said so.
        seconds: Duration, start of Java included.
        actions: How often each action fired; empty unless coverage was asked for.
        warnings: TLC's warnings.
        checkpoint: Where to resume from; None if there is none.
        states_recovered: States taken over from a checkpoint; 0 for a fresh start.
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
