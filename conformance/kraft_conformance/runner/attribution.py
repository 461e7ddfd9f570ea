"""Rules of a failure: those behind the differences, not all rules of the vector."""

from collections.abc import Iterator, Sequence
from itertools import islice

from msgspec import UNSET

from kraft_conformance.adapters.reference import event_at_replica
from kraft_conformance.protocol.messages import HelloReply
from kraft_conformance.runner.comparison import EffectComparison, compare_refusals, compare_states
from kraft_conformance.runner.shown import Observation
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
    """Comparison of an observed step with any step of the reference."""

    def __init__(self, observation: Observation, hello: HelloReply) -> None:
        self._shown = observation
        self._hello = hello

    def differences(self, step: Step) -> tuple[Difference, ...]:
        """Return the differences, without any allowed alternative."""
        observation = self._shown
        differences: tuple[Difference, ...] = ()
        if observation.effects is not UNSET:
            outputs = tuple([traced_effect(1, effect) for effect in step.effects])
            # Only the effects are compared here.
            expected = Expected(
                outputs=outputs, before=happens_before(outputs), refusal=step.refusal, state=TracedState()
            )
            hello, end = self._hello, step.state.log.end_offset
            comparison = EffectComparison(expected, observation.effects, hello.observability, hello.unobserved)
            differences = comparison.compared(observation.disk, end).differences
        if observation.state is not UNSET:
            refused = () if observation.effects is UNSET else compare_refusals(step.refusal, observation.refusal)
            differences = (
                *differences,
                *refused,
                *compare_states("state", traced_state(step.state), observation.state).differences,
            )
        return differences


def attribute_step(
    vector: Vector,
    cluster: Cluster,
    number: int,
    observation: Observation,
    hello: HelloReply,
    left_out: frozenset[str] = frozenset(),
) -> Attribution:
    """Return the rules behind the differences in a step of a vector; `number` counts from 1."""
    *_, inputs = islice(steps_of(vector, cluster), number)
    return attributed(inputs, StepComparison(observation, hello).differences, vector.rules, left_out)


def rules_of_order(differences: Sequence[Difference]) -> tuple[str, ...]:
    """Return the rules behind effects in the wrong order, which no other outcome of an expression explains."""
    rules: list[str] = []
    for difference in differences:
        first, _, second = difference.field.partition(" and ")
        if difference.expected.endswith(LOG_ENDS):
            rules.append(SYNC_RULE)
        elif first == "PersistQuorumState" and "VoteResponse" in second:
            rules.append("vote.persist-before-reply")
        elif first == "FlushLog" and "FetchRequest" in second:
            rules.append("durable.flush-before-fetch")
        elif second:
            rules.append("durable.write-before-act")
    return tuple(dict.fromkeys(rules))


def rules_of_writes(event: str | None, differences: Sequence[Difference]) -> tuple[str, ...]:
    """Return the rules behind a quorum state that only the file lacks: the replica acts before it writes."""
    unwritten = [
        difference
        for difference in differences
        if difference.field.removeprefix("PersistQuorumState.") in _KNOWN_IN_MEMORY
        or (difference.field == "PersistQuorumState" and difference.actual == "nothing")
    ]
    if not unwritten or len(unwritten) < len(differences):
        return ()
    return ("vote.persist-before-reply",) * (event == "HandleVoteRequest") + ("durable.write-before-act",)


def steps_of(vector: Vector, cluster: Cluster) -> Iterator[Given]:
    """Yield the inputs of the reference in each step of a vector."""
    configuration = configuration_from(cluster)
    state = replica_state_of("$.before", vector.before)
    for step in vector.steps:
        inputs = given_of(Replica(state, configuration), step)
        yield inputs
        state = played(replica, inputs).state


def given_of(standing: Replica, event: VectorEvent) -> Given:
    """Return the inputs of the reference for an event in its current state."""
    crash = None if event.crash is UNSET else (event.crash.completed, event.crash.log_end_offset)
    return Given(standing.state, standing.configuration, event_at_replica(event), draw_of(event.draw), crash)
