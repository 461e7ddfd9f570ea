"""Mapping between model and reference: every field is mapped, and every value survives the round trip."""

from collections.abc import Callable, Iterable
from dataclasses import fields, replace
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.spec.own_process import in_own_process
from tests.traces.strategies import built, changes, counts, int32, int64, keys, replica_ids, reports, targets

from kraft_reference import effects, events, messages
from kraft_reference.changes import Report
from kraft_reference.configuration import Configuration, ReplicaConfiguration, Timeouts
from kraft_reference.identity import ReplicaKey, VoterDetails
from kraft_reference.log import Log, Snapshot, VersionEntry, VotersEntry
from kraft_reference.profile import PROFILES, Latitude, Profile
from kraft_reference.records import Record, RecordKind
from kraft_reference.state import ReplicaState
from kraft_spec import mapping, mapping_forms
from kraft_spec.mapping import NOT_IN_THE_MODEL, Field
from kraft_spec.models import model_directory

CLUSTER_ID = "a cluster"
GIVEN: dict[str, st.SearchStrategy[object]] = {
    **dict.fromkeys(("leader_endpoint", "moved_to"), st.none() | st.sampled_from(("E1", "E2"))),
    "cluster_id": st.just(CLUSTER_ID),
    "timeout_ms": st.just(30_000),
    "voters": st.frozensets(keys, min_size=1, max_size=4),
}
"""Fields restricted to the model's values; the other fields are as in a trace."""

logs = built(
    Log,
    voters=st.lists(built(VotersEntry, target=targets), min_size=1, max_size=2).map(tuple),
    versions=st.lists(built(VersionEntry), min_size=1, max_size=2).map(tuple),
)
states = built(
    ReplicaState,
    **GIVEN,
    log=logs,
    fetch_offsets=st.dictionaries(keys, int64, max_size=3),
    awaiting=st.dictionaries(replica_ids, int64, max_size=3),
    pending_change=st.none() | changes,
    reports=reports.map(lambda some: tuple(sorted(some, key=lambda report: report.key.id))),
    awaited_targets=st.dictionaries(int64, int64, max_size=3),
    wanted_snapshot=st.none() | st.tuples(counts, int32),
)
replicas = st.dictionaries(replica_ids, built(ReplicaConfiguration), min_size=1)
bootstrap_servers = st.frozensets(replica_ids).map(lambda chosen: tuple(sorted(chosen)))
configurations = built(
    Configuration,
    replicas=replicas,
    bootstrap_servers=bootstrap_servers,
    profile=st.sampled_from(tuple(PROFILES.values())),
    cluster_id=st.just("kraft-spec"),
    timeouts=st.just(Timeouts()),
)
all_messages = st.one_of(*(built(kind, **GIVEN) for kind in mapping.MESSAGES))
all_events = st.one_of(*(built(kind, **GIVEN) for kind in mapping.EVENTS)) | st.builds(events.Receive, all_messages)


@given(states)
def test_a_state_comes_back(state: ReplicaState) -> None:
    assert mapping.state_from_model(mapping.state_to_model(state)) == state


@given(all_messages)
def test_a_message_comes_back(message: messages.Message) -> None:
    assert mapping.message_from_model(mapping.message_to_model(message), CLUSTER_ID) == message


@given(all_events)
def test_an_event_comes_back(event: events.Event) -> None:
    record = mapping.event_to_model(event, 3, CLUSTER_ID)
    assert record["replica"] == 3
    assert mapping.event_from_model(record, CLUSTER_ID) == event


@given(st.sampled_from((None, CLUSTER_ID, "another", "")))
def test_a_request_names_this_cluster_or_another(named: str | None) -> None:
    event = events.RemoveVoter(7, ReplicaKey(2, "B"), named)
    record = mapping.event_to_model(event, 3, CLUSTER_ID)
    assert record["same_cluster"] == (named in (None, CLUSTER_ID))
    back = mapping.event_from_model(record, CLUSTER_ID)
    assert isinstance(back, events.RemoveVoter)
    assert (back.cluster_id == CLUSTER_ID) == record["same_cluster"]


@given(configurations)
def test_a_configuration_comes_back(configuration: Configuration) -> None:
    back = mapping.configuration_from_model(mapping.configuration_to_model(configuration))
    assert back.profile == configuration.profile
    assert back == replace(
        configuration,
        # The voters of the cluster become None again, even if the replica named them.
        replicas={
            i: replace(replica, initial_voters=None) if replica.initial_voters == configuration.voters else replica
            for i, replica in configuration.replicas.items()
        },
    )


def test_answers_that_no_profile_gives_have_a_profile_of_their_own() -> None:
    mixed = Profile("mixed", observer_refusal="lasts")
    configuration = Configuration({1: ReplicaConfiguration(ReplicaKey(1), "E1")}, frozenset(), profile=mixed)
    back = mapping.configuration_from_model(mapping.configuration_to_model(configuration))
    assert back.profile.observer_refusal == "lasts"
    assert back.profile.name not in PROFILES


def reference_names(kind: type) -> set[str]:
    named_tuple: tuple[str, ...] | None = getattr(kind, "_fields", None)
    return set(named_tuple) if named_tuple is not None else {field.name for field in fields(kind)}


def covered(*tables: Iterable[Field]) -> set[str]:
    return {field.reference for table in tables for field in table}


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        (ReplicaState, {name for name in covered(mapping.STATE) if "." not in name} | {"log"}),
        (Log, {name.removeprefix("log.") for name in covered(mapping.STATE) if name.startswith("log.")}),
        *((kind, covered(table)) for kind, table in mapping.MESSAGES.items()),
        *((kind, covered(table)) for kind, table in mapping.EVENTS.items()),
        *((kind, covered(table)) for kind, table in mapping.EFFECTS.items()),
        (Configuration, covered(mapping.CLUSTER) | {"replicas", "profile"}),
        (ReplicaConfiguration, covered(mapping.REPLICAS)),
        (Profile, {name for name in covered(mapping.PROFILE) if "." not in name} | {"latitude"}),
        (Latitude, {name.removeprefix("latitude.") for name in covered(mapping.PROFILE) if "." in name}),
        (Record, set(mapping_forms.record_to_model(Record(1, RecordKind.VOTER_ASSIGNMENT, 0)))),
        (VotersEntry, {"offset", "voters", "details", "target"}),
        (messages.Reply, covered(mapping.REPLY)),
        (ReplicaKey, {"id", "directory_id"}),
    ],
)
def test_every_field_of_the_reference_is_mapped_or_named_as_left_out(kind: type, names: set[str]) -> None:
    left_out = set(NOT_IN_THE_MODEL.get(kind, {}))
    assert names | left_out == reference_names(kind)
    assert not names & left_out


@pytest.mark.parametrize(
    ("row", "whole"),
    [
        (mapping_forms.snapshot_to_model, Snapshot(0, 0, 1, frozenset())),
        (lambda report: next(iter(mapping_forms.reports_to_model([report]))), Report(ReplicaKey(1, "A"), "E1", 0, 1)),
        (lambda details: next(iter(mapping_forms.details_to_model([details]))), VoterDetails(1, "E1", 0, 1)),
    ],
)
def test_the_row_of_a_part_has_all_its_fields(
    row: Callable[[object], tuple[object, ...]], whole: tuple[object, ...]
) -> None:
    assert len(row(whole)) == len(whole)


def test_every_message_event_and_effect_is_mapped() -> None:
    assert set(mapping.MESSAGES) == set(get_args(messages.Message))
    assert set(mapping.EVENTS) == set(get_args(events.Event)) - {events.Receive}
    assert set(mapping.EFFECTS) == set(get_args(effects.DurableEffect))


def model_shapes() -> dict[str, frozenset[str]]:
    """Return the fields of a replica and of `config` in the model's initial states."""
    from kraft_spec.tlc.specification import Specification

    specification = Specification(model_directory(), "Edges")
    state = specification.initial_states()[0]
    replicas, config = specification.decoded(state, "replicas"), specification.decoded(state, "config")
    assert isinstance(replicas, tuple)
    return {"replica": frozenset(replicas[0]), "config": frozenset(config)}  # type: ignore[arg-type]


def test_every_field_of_the_model_is_mapped() -> None:
    shapes = in_own_process(model_shapes)
    assert shapes["replica"] == {field.model for field in mapping.STATE}
    assert shapes["config"] == {field.model for field in (*mapping.CLUSTER, *mapping.REPLICAS)} | {"profile"}
