"""The rules of a failure: those behind what differs, and not all that the vector is about."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from msgspec import UNSET, UnsetType

from kraft_conformance.protocol.messages import HelloReply, RestartReply, StepReply
from kraft_conformance.runner.comparison import EffectComparison, compared_refusal, compared_state
from kraft_mutants.attribution import Attribution, Given, attributed
from kraft_mutants.attribution.given import played
from kraft_reference import replica
from kraft_reference.events import Draw, Event
from kraft_reference.outcome import Refusal
from kraft_reference.replica import Replica, Step
from kraft_spec.difference import Difference
from kraft_traces.checkpoints import replica_state_of
from kraft_traces.effects import TracedEffect, traced_effect
from kraft_traces.latitude.ordering import happens_before
from kraft_traces.latitude.writes import LOG_ENDS, SYNC_RULE, Disk
from kraft_traces.lines import EventLine
from kraft_traces.restore import event_of
from kraft_traces.state_types import TracedState
from kraft_traces.states import traced_state
from kraft_vectors.cluster import Cluster, configuration_from
from kraft_vectors.format import Expected, Vector, VectorEvent

_KNOWN_IN_MEMORY = ("epoch", "leader_id", "voted_key")


class Seen(NamedTuple):
    """What an implementation showed in a step."""

    effects: tuple[TracedEffect, ...] | None
    """None for a crash between steps."""
    refusal: Refusal | UnsetType | None
    state: TracedState | None
    """After it; None if it is not observed."""
    disk: Disk
    """What was on its disk before."""


class StepComparison:
    """What the implementation showed in a step against any step of the reference."""

    def __init__(self, seen: Seen, hello: HelloReply) -> None:
        self._seen = seen
        self._hello = hello

    def differences(self, step: Step) -> tuple[Difference, ...]:
        """Where they differ, with no latitude."""
        seen = self._seen
        found: tuple[Difference, ...] = ()
        if seen.effects is not None:
            outputs = tuple([traced_effect(1, effect) for effect in step.effects])
            # Only the effects are compared here.
            expected = Expected(
                outputs=outputs, before=happens_before(outputs), refusal=step.refusal, state=TracedState()
            )
            hello, end = self._hello, step.state.log.end_offset
            comparison = EffectComparison(expected, seen.effects, hello.observability, hello.unobserved)
            found = comparison.compared(seen.disk, end).differences
        if seen.state is not None:
            refused = () if seen.effects is None else compared_refusal(step.refusal, seen.refusal)
            found = (*found, *refused, *compared_state("state", traced_state(step.state), seen.state).differences)
        return found


def attributed_step(
    vector: Vector, cluster: Cluster, number: int, seen: Seen, hello: HelloReply, left_out: frozenset[str] = frozenset()
) -> Attribution:
    """The rules behind what differs in a step of a vector; `number` counts from 1."""
    *_, given = islice(steps_of(vector, cluster), number)
    return attributed(given, StepComparison(seen, hello).differences, vector.rules, left_out)


def rules_of_order(differences: Sequence[Difference]) -> tuple[str, ...]:
    """The rules behind effects in the wrong order, which no other outcome of an expression explains."""
    found: list[str] = []
    for one in differences:
        first, _, second = one.field.partition(" and ")
        if one.expected.endswith(LOG_ENDS):
            found.append(SYNC_RULE)
        elif first == "PersistQuorumState" and "VoteResponse" in second:
            found.append("vote.persist-before-reply")
        elif first == "FlushLog" and "FetchRequest" in second:
            found.append("durable.flush-before-fetch")
        elif second:
            found.append("durable.write-before-act")
    return tuple(dict.fromkeys(found))


def rules_of_writes(event: str | None, differences: Sequence[Difference]) -> tuple[str, ...]:
    """The rules behind a quorum state that the file alone does not have: a replica acts on what it has not written."""
    unwritten = [
        one
        for one in differences
        if one.field.removeprefix("PersistQuorumState.") in _KNOWN_IN_MEMORY
        or (one.field == "PersistQuorumState" and one.actual == "nothing")
    ]
    if not unwritten or len(unwritten) < len(differences):
        return ()
    return ("vote.persist-before-reply",) * (event == "HandleVoteRequest") + ("durable.write-before-act",)


def steps_of(vector: Vector, cluster: Cluster) -> Iterator[Given]:
    """What each step of a vector gives to the reference."""
    configuration = configuration_from(cluster)
    state = replica_state_of("$.before", vector.before)
    for one in vector.steps:
        given = given_of(Replica(state, configuration), one)
        yield given
        state = played(replica, given).state


def given_of(standing: Replica, event: VectorEvent) -> Given:
    """What an event gives to the reference where it stands."""
    crash = None if event.crash is UNSET else (event.crash.completed, event.crash.log_end_offset)
    return Given(standing.state, standing.configuration, _event(event), _draw(event), crash)


def _event(event: VectorEvent) -> Event:
    found = event_of(EventLine(sequence=1, event=event.event, message=event.message, input=event.input))
    assert isinstance(found, Event), "a vector has events at a replica"
    return found


def _draw(event: VectorEvent) -> Draw:
    return Draw(event.draw.correlation_id, event.draw.election_timeout_ms, event.draw.election_backoff_ms)


def seen_of(reply: StepReply | RestartReply | None, state: TracedState | None, disk: Disk) -> Seen:
    """What a reply to a step shows; None for the reply of a crash, which shows nothing."""
    if reply is None:
        return Seen(None, UNSET, state, disk)
    return Seen(reply.effects, reply.refusal, state, disk)
