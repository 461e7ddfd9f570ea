"""The rules of a failure: those behind what differs, and not all that the vector is about."""

from collections.abc import Iterator, Sequence
from itertools import islice

from msgspec import UNSET

from kraft_conformance.adapters.reference import event_at_replica
from kraft_conformance.protocol.messages import HelloReply
from kraft_conformance.runner.comparison import EffectComparison, compared_refusal, compared_state
from kraft_conformance.runner.shown import Shown
from kraft_mutants.attribution import Attribution, Given, attributed
from kraft_mutants.attribution.given import played
from kraft_reference import replica
from kraft_reference.replica import Replica, Step
from kraft_spec.difference import Difference
from kraft_traces.alternatives.ordering import happens_before
from kraft_traces.alternatives.writes import LOG_ENDS, SYNC_RULE
from kraft_traces.checkpoints import replica_state_of
from kraft_traces.effects import traced_effect
from kraft_traces.state_types import TracedState
from kraft_traces.states import traced_state
from kraft_vectors.cluster import Cluster, configuration_from
from kraft_vectors.draw import draw_of
from kraft_vectors.format import Expected, Vector, VectorEvent

_KNOWN_IN_MEMORY = ("epoch", "leader_id", "voted_key")


class StepComparison:
    """What the implementation showed in a step against any step of the reference."""

    def __init__(self, shown: Shown, hello: HelloReply) -> None:
        self._shown = shown
        self._hello = hello

    def differences(self, step: Step) -> tuple[Difference, ...]:
        """Where they differ, with no latitude."""
        shown = self._shown
        found: tuple[Difference, ...] = ()
        if shown.effects is not UNSET:
            outputs = tuple([traced_effect(1, effect) for effect in step.effects])
            # Only the effects are compared here.
            expected = Expected(
                outputs=outputs, before=happens_before(outputs), refusal=step.refusal, state=TracedState()
            )
            hello, end = self._hello, step.state.log.end_offset
            comparison = EffectComparison(expected, shown.effects, hello.observability, hello.unobserved)
            found = comparison.compared(shown.disk, end).differences
        if shown.state is not UNSET:
            refused = () if shown.effects is UNSET else compared_refusal(step.refusal, shown.refusal)
            found = (*found, *refused, *compared_state("state", traced_state(step.state), shown.state).differences)
        return found


def attributed_step(
    vector: Vector,
    cluster: Cluster,
    number: int,
    shown: Shown,
    hello: HelloReply,
    left_out: frozenset[str] = frozenset(),
) -> Attribution:
    """The rules behind what differs in a step of a vector; `number` counts from 1."""
    *_, given = islice(steps_of(vector, cluster), number)
    return attributed(given, StepComparison(shown, hello).differences, vector.rules, left_out)


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
    return Given(standing.state, standing.configuration, event_at_replica(event), draw_of(event.draw), crash)
