"""Possible steps of a line of a foreign trace, from every candidate state.

A line with missing fields may leave several candidate states; all of them are followed, up to a bound.
Each replica may choose another setting of an open decision than the header, and another one each time.  So the line is
tried with every setting, and the state after it has the header's configuration again.
A property counts as violated only on a candidate that survives, so each candidate carries its first violation along.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Self

from msgspec import UNSET

from kraft_reference.configuration import Configuration
from kraft_spec.difference import Difference
from kraft_spec.mapping_forms import ModelKey
from kraft_spec.tlc.jvm import JavaObject
from kraft_spec.tlc.values import Function, TlaValue
from kraft_traces.alternatives.decisions import OpenAnswer, open_answers, other_configurations
from kraft_traces.check.attempts import Attempts, Surroundings, addressed, attempts
from kraft_traces.check.binding import base
from kraft_traces.check.comparison import Comparison
from kraft_traces.check.diagnosis import Diagnosis, Where, state_before
from kraft_traces.check.differences import message_differences
from kraft_traces.check.fetch_answers import chosen_answers
from kraft_traces.check.model import TraceModel
from kraft_traces.check.observation import canonical_message
from kraft_traces.check.requests import Replica
from kraft_traces.check.steps import Steps
from kraft_traces.check.verdict import Rejection
from kraft_traces.check.writes import (
    StoredBefore,
    SyncedAhead,
    ends_between_portions,
    log_end,
    log_start,
    normal_forms,
    with_implied_vote,
)
from kraft_traces.lines import EventLine
from kraft_traces.vocabulary import HANDLE

BESIDES_MAX, BESIDES_PER_LINE = 2_000, 16
"""Maximum sum over all lines of the candidate states beyond the first: a constant, and an allowance for each line.

A line costs as many steps as there are candidates, so this keeps the cost of a trace proportional to its length.
"""


@dataclass(frozen=True, slots=True)
class Branch:
    """Candidate state that agrees with all lines so far, with the first violation of a property on the way."""

    state: JavaObject
    violation: Rejection | None = None
    taken: frozenset[OpenAnswer] = frozenset()
    """Settings of open decisions on the way that differ from the header's."""

    def is_better_than(self, other: Self) -> bool:
        """True if this way to a state has no violation and the other has, or if it needs fewer other settings."""
        return (self.violation is not None, other_answers(self.taken)) < (
            other.violation is not None,
            other_answers(other.taken),
        )


def other_answers(taken: frozenset[OpenAnswer]) -> tuple[int, tuple[OpenAnswer, ...]]:
    """Return the sort key of a set of settings: their number, then the settings in order."""
    return len(taken), tuple(sorted(taken))


class InconclusiveError(Exception):
    """The line omits fields that the checker needs; the message names them."""


Possible = tuple[Where, JavaObject, frozenset[OpenAnswer]]
"""A step: the line with the state before it, the state after it, and the settings of open decisions that it needs."""


class Candidates:
    """Follower of the candidate states of one trace."""

    def __init__(
        self,
        model: TraceModel,
        steps: Steps,
        comparison: Comparison,
        diagnosis: Diagnosis,
        configuration: Configuration,
        candidates_max: int,
    ) -> None:
        self._model = model
        self._steps = steps
        self._comparison = comparison
        self._diagnosis = diagnosis
        self._configuration = configuration
        self._candidates_max = candidates_max

    def advance(
        self, number: int, line: EventLine, branches: Sequence[Branch], ahead: SyncedAhead | None = None
    ) -> list[Branch] | Rejection:
        """Return the candidates after a line, in a fixed order, or the rejection if there is none.

        With `ahead`, the line is put into normal form, which accounts for syncs earlier than the model's.

        Raises:
            InconclusiveError: there are too many, or a missing field cannot be inferred.
            UnrepresentableError: the line has a number that the model cannot represent.
        """
        survivors: dict[int, Branch] = {}
        closest: tuple[Where, tuple[Difference, ...]] | None = None
        stored: StoredBefore | None = None
        for branch in branches:
            if ahead is not None:
                stored = ahead.stored(line, self._before(line, branch.state))
            for where, after, taken in self._possible_forms(number, line, branch, stored):
                differing = self._comparison.differences(where.line, after, stored)
                if differing:
                    if not taken and (closest is None or len(differing) < len(closest[1])):
                        closest = where, differing
                    continue
                violation = branch.violation or self._steps.violation(where, after)
                followed = self._model.under(after, self._configuration) if taken else after
                fingerprint = self._model.fingerprint(followed)
                reached = Branch(followed, violation, branch.taken | taken)
                survivor = survivors.get(fingerprint)
                if survivor is None or reached.is_better_than(survivor):
                    survivors[fingerprint] = reached
                if len(survivors) > self._candidates_max:
                    raise InconclusiveError(
                        f"the trace omits too many fields: more than {self._candidates_max} candidate states"
                    )
        if survivors:
            if ahead is not None and stored is not None:
                ahead.follow(line, stored.disk)
            return [survivors[fingerprint] for fingerprint in sorted(survivors)]
        if closest is not None:
            if ends_between_portions(closest[0].line, closest[1]):
                raise InconclusiveError(
                    "the replica dies between two writes of its quorum state, which the model writes at once"
                )
            return self._diagnosis.deferred(*closest)
        return self._impossible(number, line, branches[0])

    def in_order(self, branches: Iterable[Branch]) -> list[Branch]:
        """Return the branches in a fixed order."""
        return sorted(branches, key=lambda branch: self._model.fingerprint(branch.state))

    def _possible_forms(
        self, number: int, line: EventLine, branch: Branch, stored: StoredBefore | None
    ) -> Iterator[Possible]:
        if stored is None:
            yield from self._possible_steps(number, line, branch)
            return
        completed = with_implied_vote(line, self._before(line, branch.state))
        for form in normal_forms(completed, stored.disk):
            yield from self._possible_steps(number, form, branch)

    def _possible_steps(self, number: int, line: EventLine, branch: Branch) -> Iterator[Possible]:
        tried = self._attempts(line, branch)
        answers = chosen_answers(line)
        for event in tried.events:
            before = self._model.bound(branch.state.copy(), {**event, **answers})
            possible = self._steps.successors(line, before)
            if possible.enabled and tried.unknown is not None:
                raise InconclusiveError(f"{tried.unknown} is missing, and cannot be inferred")
            for after in possible.states:
                yield Where(number, line, before), after, frozenset()
            if not possible.enabled:
                # An event is enabled under every setting of an open decision, or under none.
                continue
            for other in other_configurations(self._configuration, line.event, line.message, line.state, line.effects):
                otherwise = self._model.under(before, other)
                taken = open_answers(self._configuration.profile, other.profile)
                for after in self._steps.successors(line, otherwise).states:
                    yield Where(number, line, otherwise), after, taken

    def _attempts(self, line: EventLine, branch: Branch) -> Attempts:
        return attempts(
            line,
            Surroundings(
                tuple(self._configuration.replicas),
                self._configuration.cluster_id,
                partial(self._model.in_flight, branch.state),
                lambda: self._log_ends(line, branch.state),
                lambda: self._snapshot_ends(line, branch.state),
                lambda: self._replicas(branch.state),
                lambda: self._voters(line, branch.state),
            ),
        )

    def _before(self, line: EventLine, state: JavaObject) -> Function:
        assert line.replica is not UNSET, "the event happens at a replica"
        return state_before(self._model, state, line.replica)

    def _log_ends(self, line: EventLine, state: JavaObject) -> range:
        replica = self._before(line, state)
        return range(_number(replica["flushed"]), log_end(replica) + 1)

    def _snapshot_ends(self, line: EventLine, state: JavaObject) -> range:
        replica = self._before(line, state)
        return range(log_start(replica) + 1, _number(replica["high_watermark"]) + 1)

    def _replicas(self, state: JavaObject) -> tuple[Replica, ...]:
        """Return every replica with its present key and endpoint."""
        replicas: list[Replica] = []
        for replica_id, configured in sorted(self._configuration.replicas.items()):
            replica = state_before(self._model, state, replica_id)
            moved = replica["moved_to"]
            replicas.append(Replica(_key(replica["replica_key"]), str(moved) if moved else configured.endpoint))
        return tuple(replicas)

    def _voters(self, line: EventLine, state: JavaObject) -> frozenset[ModelKey]:
        """Return the newest voter set at the line's replica."""
        entries = self._before(line, state)["voters"]
        assert isinstance(entries, tuple), "the voter sets are in their order"
        newest = entries[-1]
        assert isinstance(newest, Function), "each with its offset"
        keys = newest["voters"]
        assert isinstance(keys, frozenset), "a voter set is a set"
        return frozenset(map(_key, keys))

    def _impossible(self, number: int, line: EventLine, branch: Branch) -> Rejection:
        """Return the rejection of a line without candidates: the closest in-flight message or the false conjunct."""
        event = {**_NO_CHOICE, **base(line)}
        if line.event.startswith(HANDLE):
            in_flight = addressed(line, partial(self._model.in_flight, branch.state))
            if line.message is not UNSET and in_flight:
                delivered = canonical_message(line.message)
                differing = [
                    tuple(message_differences("message.", it.message, delivered, complete=False)) for it in in_flight
                ]
                closest = min(range(len(in_flight)), key=lambda index: len(differing[index]))
                if differing[closest]:
                    before = self._model.bound(branch.state.copy(), {**event, "sent": in_flight[closest].sent})
                    return self._diagnosis.mismatch(Where(number, line, before), differing[closest], explain=False)
            if in_flight:
                event["sent"] = in_flight[0].sent
        else:
            tried = self._attempts(line, branch).events
            event = tried[0] if tried else event
        event = {**event, **chosen_answers(line)}
        return self._diagnosis.not_enabled(Where(number, line, self._model.bound(branch.state.copy(), event)))


def _number(value: TlaValue) -> int:
    assert isinstance(value, int), "an offset is a number"
    return value


def _key(value: TlaValue) -> ModelKey:
    assert isinstance(value, ModelKey), "a replica key"
    return value


_NO_CHOICE = {"sent": -1, "change": False, "destination": -1, "source": -1, "log_end_offset": -1}
"""Event to bind if there is nothing to try, so that the model can name the false conjunct."""
