"""Contents of the constructed products, without TLC; and TLC's refusal of an ill-typed state."""

from collections.abc import Iterator, Mapping
from importlib.resources import as_file, files
from unittest.mock import patch

import pytest
from tests.spec.own_process import in_own_process

from kraft_dev.edges import constructed_changes as changes
from kraft_dev.edges import constructed_messages as told
from kraft_dev.edges.constructed import PLACES, ConstructedState, constructed_states
from kraft_dev.edges.constructed_place import EPOCH, Place
from kraft_dev.edges.constructed_states import state
from kraft_dev.edges.edge import ModelRecord
from kraft_reference.configuration import Configuration, ReplicaConfiguration
from kraft_reference.identity import ReplicaKey
from kraft_spec import mapping


def configuration(size: int = 3) -> ModelRecord:
    keys = {i: ReplicaKey(i, f"U{i}") for i in range(1, size + 1)}
    replicas = {i: ReplicaConfiguration(key, f"E{i}") for i, key in keys.items()}
    return mapping.configuration_to_model(Configuration(replicas, frozenset(list(keys.values())[:3])))


@pytest.fixture(scope="module")
def constructed() -> Mapping[str, tuple[ConstructedState, ...]]:
    return {name: tuple(constructed_states(name, configuration(4 if name == "Observing" else 3))) for name in PLACES}


@pytest.mark.parametrize("cluster", PLACES)
def test_every_message_is_delivered_in_turn(
    cluster: str, constructed: Mapping[str, tuple[ConstructedState, ...]]
) -> None:
    met = {
        message
        for constructed_state in constructed[cluster]
        if constructed_state.before["role"] != "Stopped"
        for group in constructed_state.messages
        for message in group
    }
    for replica_id, first, second, full in PLACES[cluster]:
        place = Place(configuration(4 if cluster == "Observing" else 3), replica_id, first, second, full)
        for messages in (
            told.vote_requests,
            told.vote_responses,
            told.announcements,
            told.announcement_responses,
            told.fetch_requests,
            told.fetch_responses,
            changes.change_requests,
            changes.change_responses,
            changes.versions,
            changes.snapshot_requests,
            changes.snapshot_responses,
            changes.batches,
        ):
            assert met >= set(messages(place)), messages


def test_every_role_has_epochs_below_and_above(constructed: Mapping[str, tuple[ConstructedState, ...]]) -> None:
    met: dict[str, set[int]] = {}
    for constructed_state in constructed["Changes"]:
        epochs = {message["epoch"] for group in constructed_state.messages for message in group if "epoch" in message}
        met.setdefault(constructed_state.before["role"], set()).update(epochs)
        assert constructed_state.before["epoch"] == EPOCH
    del met["Stopped"]
    assert len(met) == 6
    assert all(epochs >= {EPOCH - 1, EPOCH, EPOCH + 1} for epochs in met.values())


def test_the_same_states_come_in_the_same_order(constructed: Mapping[str, tuple[ConstructedState, ...]]) -> None:
    assert tuple(constructed_states("Changes", configuration())) == constructed["Changes"]


def test_a_field_that_no_state_has_is_refused() -> None:
    with pytest.raises(ValueError, match="term"):
        state(Place(configuration(), 1, 2, 3, full=True), "Follower", term=2)


def refused_by_the_model() -> str:
    from kraft_dev.edges import constructing
    from kraft_dev.edges.shared_values import SharedValues
    from kraft_spec.tlc.specification import Specification

    def ill_typed(_: str, model_configuration: ModelRecord) -> Iterator[ConstructedState]:
        place = Place(model_configuration, 1, 2, 3, full=True)
        yield ConstructedState(1, state(place, "Follower", leader_id=-1), (), share=1, turn=0)

    with as_file(files("kraft_spec") / "tla") as directory:
        specification = Specification(directory, "Edges")
    first = specification.initial_states()[0]
    values = SharedValues()
    start = constructing.Start(first, values.decoded(specification.lookup(first, "config")))
    try:
        with patch.object(constructing, "constructed_states", ill_typed):
            tuple(constructing.Constructing(specification, values).edges([start], ()))
    except constructing.ConstructedStateError as error:
        return str(error)
    return ""


@pytest.mark.slow
def test_a_follower_without_a_leader_is_not_well_typed() -> None:
    assert "not well-typed" in in_own_process(refused_by_the_model)
