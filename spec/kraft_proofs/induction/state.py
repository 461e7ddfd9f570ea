"""State of the proof: an immutable set of functions of the replicas.

Part of it is state (epoch, log end, log on disk), part is history that only grows (asked, granted, elected,
acknowledged, committed, applied). A step of a replica returns a new State whose functions are terms of the old ones, so
unchanged parts need no statement.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeAlias

import z3

from kraft_proofs.induction.symbols import ENTRY, NUMBER, REPLICA, TRUTH, Expression, Sort

StateFunction: TypeAlias = Callable[..., Expression]


class Signature(NamedTuple):
    """Sorts and meaning of a function of the state."""

    arguments: tuple[Sort, ...]
    value: Sort
    sentence: str


FUNCTIONS: Mapping[str, Signature] = {
    "written": Signature((ENTRY,), TRUTH, "Some leader has appended the entry, or it is `bootstrap`."),
    "epoch": Signature((REPLICA,), NUMBER, "The replica's epoch."),
    "log_end": Signature((REPLICA,), ENTRY, "The last entry of the replica's log."),
    "flushed": Signature((REPLICA,), ENTRY, "The last entry of the replica's log that a crash cannot lose."),
    "asked": Signature((REPLICA, NUMBER, ENTRY), TRUTH, "The replica was Candidate of the epoch with this log."),
    "granted": Signature(
        (REPLICA, NUMBER, REPLICA, ENTRY), TRUTH, "The first replica voted in the epoch for the second, with its log."
    ),
    "elected": Signature((NUMBER, REPLICA, ENTRY), TRUTH, "The replica became leader of the epoch with this log."),
    "follows": Signature((REPLICA, NUMBER), TRUTH, "The replica learned who leads the epoch, and it is another."),
    "acknowledged": Signature(
        (REPLICA, ENTRY), TRUTH, "The replica had the entry on disk in the entry's own epoch, and said so."
    ),
    "committed": Signature(
        (ENTRY, ENTRY), TRUTH, "A leader whose log was the second counted the first, of its own epoch, as committed."
    ),
    "applied": Signature(
        (REPLICA, ENTRY),
        TRUTH,
        "The replica's high watermark was past the entry, which it had in its log: it may have applied it.",
    ),
}


class State(NamedTuple):
    """All functions of the state."""

    written: StateFunction
    epoch: StateFunction
    log_end: StateFunction
    flushed: StateFunction
    asked: StateFunction
    granted: StateFunction
    elected: StateFunction
    follows: StateFunction
    acknowledged: StateFunction
    committed: StateFunction
    applied: StateFunction

    def updated(self, **functions: StateFunction) -> "State":
        """Return the state with these functions replaced.

        Raises:
            ValueError: there is no such function.
        """
        return self._replace(**functions)

    def setting(self, replica: Expression, **values: Expression | int) -> "State":
        """Return the state in which these functions have other values at a replica."""

        def set_to(before: StateFunction, value: Expression | int) -> StateFunction:
            return lambda r: z3.If(r == replica, value, before(r))

        return self.updated(**{name: set_to(getattr(self, name), value) for name, value in values.items()})

    def adding(self, **tuples: tuple[Expression, ...]) -> "State":
        """Return the state in which each of these relations has one more tuple."""

        def with_tuple(before: StateFunction, added: tuple[Expression, ...]) -> StateFunction:
            def after(*arguments: Expression) -> Expression:
                same = [argument == value for argument, value in zip(arguments, added, strict=True)]
                return z3.Or(before(*arguments), same[0] if len(same) == 1 else z3.And(*same))

            return after

        return self.updated(**{name: with_tuple(getattr(self, name), added) for name, added in tuples.items()})


def any_state() -> State:
    """Return a state of uninterpreted functions."""
    return State(
        **{name: z3.Function(name, *signature.arguments, signature.value) for name, signature in FUNCTIONS.items()}
    )
