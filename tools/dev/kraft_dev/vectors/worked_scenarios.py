"""Vectors out of the worked scenarios with every rule in force: each as every replica sees it that it is about."""

from collections.abc import Iterator

from kraft_conformance.vectors.acceptance import Accepts
from kraft_conformance.vectors.format import Vector
from kraft_conformance.vectors.recording import Run, Subject
from kraft_dev.vectors.twins import Recorded, with_twins
from kraft_reference.cluster.occurrence import Occurrence
from kraft_reference.events import Event, Receive, event_name
from kraft_reference.messages import Error, VoteRequest, VoteResponse
from kraft_reference.profile import KAFKA_PROFILES
from kraft_reference.roles import Role
from kraft_reference.scenarios import SCENARIOS, Scenario, Variant
from kraft_spec.action_rules import rules_of_event
from kraft_traces.check import TRACE_PROPERTIES


def scenario_vectors(accepts: Accepts) -> Iterator[Vector]:
    """The vectors of all scenarios, by the number of the scenario.

    Raises:
        NotAcceptedError: the model rejects a run.
    """
    for scenario in SCENARIOS:
        for variant in scenario.variants:
            if _is_conformant(variant):
                yield from _vectors(scenario, variant, accepts)


def _is_conformant(variant: Variant) -> bool:
    """Are all rules in force, and does the model accept what happens?"""
    return not variant.without and not TRACE_PROPERTIES & set(variant.violates)


def _vectors(scenario: Scenario, variant: Variant, accepts: Accepts) -> Iterator[Vector]:
    made = Recorded(f"scenario {scenario.name}/{variant.name}", variant.configuration, variant.script, accepts)
    for replica_id, replica in sorted(variant.configuration.replicas.items()):
        # What software without Pre-Vote does is no outcome to hold anybody to.
        if replica.pre_vote != "supported":
            continue
        decides = tuple(rule for rule in scenario.rules if rule in _stated(made.run, replica_id))
        if decides:
            name = f"scenario.{scenario.name}.{variant.name}.replica-{replica_id}"
            title = f"{scenario.title}: replica {replica_id} ({variant.name})"
            subject = Subject(name, title, decides, replica_id)
            yield from with_twins(made, subject, _has_variant(scenario, variant))


def _has_variant(scenario: Scenario, variant: Variant) -> bool:
    """Does the scenario have the same script under a profile of Apache Kafka as a variant of its own?"""
    return any(
        one is not variant and one.script == variant.script and one.configuration.profile in KAFKA_PROFILES
        for one in scenario.variants
    )


def _stated(run: Run, replica_id: int) -> frozenset[str]:
    """The rules that the model states for the events of the steps at a replica."""
    rules: set[str] = set()
    role: Role | None = None
    for one in run.occurrences:
        if one.replica_id != replica_id:
            continue
        if one.sequence >= run.start:
            rules.update(_rules(one, role))
        role = None if one.state is None else one.state.role
    return frozenset(rules)


def _rules(occurrence: Occurrence, role: Role | None) -> tuple[str, ...]:
    event = occurrence.event
    assert isinstance(event, Event), "what happens at a replica is an event of it"
    pre_vote = None
    if isinstance(event, Receive) and isinstance(event.message, VoteRequest | VoteResponse):
        message = event.message
        # The network layer's answer to a Pre-Vote that cannot be encoded has no such flag.
        unsent = isinstance(message, VoteResponse) and message.error is Error.UNSUPPORTED_VERSION
        pre_vote = None if unsent else message.pre_vote
    after = None if occurrence.state is None else str(occurrence.state.role)
    return rules_of_event(event_name(event), None if role is None else str(role), pre_vote, after)
