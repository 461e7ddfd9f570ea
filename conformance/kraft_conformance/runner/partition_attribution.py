"""Rules behind the differences of a controller step."""

from msgspec import json

from kraft_conformance.protocol.partitions import PartitionStepReply
from kraft_mutants.attribution import Attribution, GivenToControllers, attributed
from kraft_partitions.occurrence import PartitionOccurrence, happen
from kraft_spec.difference import Difference
from kraft_traces.partitions.encode import configuration_of, event_of, line_of, traced_state
from kraft_vectors.features import Level
from kraft_vectors.partitions.format import PartitionVector
from kraft_vectors.partitions.shown import ControllerView, PartitionCluster
from kraft_vectors.partitions.values import shown_effect, state_from, view_of


def attribute_controller_step(
    vector: PartitionVector,
    cluster: PartitionCluster,
    number: int,
    reply: PartitionStepReply,
    view: ControllerView,
    level: Level,
    left_out: frozenset[str] = frozenset(),
) -> Attribution:
    """Return the rules behind the differences in a step; `number` counts from 1."""
    inputs = steps_of_controllers(vector, cluster)[number - 1]
    observed = {("effect", _text(effect)) for effect in reply.effects}
    sees_state = level == "state"
    if sees_state:
        observed |= {("refusal", _text(reply.refusal)), *_of_state(view)}

    def compare(step: PartitionOccurrence) -> tuple[Difference, ...]:
        made = {("effect", _text(shown_effect(effect))) for effect in line_of(step).effects}
        if sees_state:
            made |= {("refusal", _text(step.refusal)), *_of_state(view_of(traced_state(step.state)))}
        missing = [Difference(field, text, "nothing") for field, text in made - observed]
        return (*missing, *[Difference(field, "nothing", text) for field, text in observed - made])

    return attributed(inputs, compare, vector.rules, left_out)


def steps_of_controllers(vector: PartitionVector, cluster: PartitionCluster) -> tuple[GivenToControllers, ...]:
    """Return the inputs of the reference in each step of a vector."""
    configuration = configuration_of(cluster)
    state = state_from(vector.before)
    steps = []
    for step in vector.steps:
        inputs = GivenToControllers(state, configuration, event_of(step.event))
        steps.append(inputs)
        state = happen(1, state, inputs.event, configuration).state
    return tuple(steps)


def _of_state(view: ControllerView) -> set[tuple[str, str]]:
    return {(name, _text(getattr(view, name))) for name in view.__struct_fields__}


def _text(value: object) -> str:
    return json.encode(value).decode()
