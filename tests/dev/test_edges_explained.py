"""Explanation of the model's edges as steps of the inductive proof; unexplained edges are reported."""

from collections.abc import Iterator

import pytest

from kraft_dev.edges.edge import Edge
from kraft_dev.edges.explaining import Explaining
from kraft_dev.edges.replay import DRAW
from kraft_reference.configuration import Configuration, ReplicaConfiguration
from kraft_reference.events import ElectionTimeout, Event, Poll, Restart
from kraft_reference.identity import ReplicaKey
from kraft_reference.replica import Replica
from kraft_reference.state import ReplicaState, new_replica
from kraft_spec import mapping
from kraft_spec.mapping_forms import ModelKey

KEY, OTHER = ReplicaKey(1, "U1"), ReplicaKey(2, "U2")
ALONE = Configuration({1: ReplicaConfiguration(KEY, "E1"), 2: ReplicaConfiguration(OTHER, "E2")}, frozenset({KEY}))
FRESH = new_replica(KEY, ALONE.checkpoint(1))
OBSERVER = mapping.state_to_model(new_replica(OTHER, ALONE.checkpoint(2)))


def edges(*events: Event) -> Iterator[tuple[ReplicaState, Edge]]:
    """Yield states of the only voter and its edge at each event."""
    state = FRESH
    for event in events:
        step = Replica(state, ALONE).step(event, DRAW)
        state, before = step.state, state
        yield (
            state,
            Edge(
                configuration=mapping.configuration_to_model(ALONE),
                event=mapping.event_to_model(event, 1, ALONE.cluster_id),
                before=mapping.state_to_model(before),
                after=mapping.state_to_model(state),
                refusal="",
                effects=(),
            ),
        )


def started() -> tuple[Explaining, list[Edge]]:
    return Explaining(), [edge for _, edge in edges(Restart("E1"), ElectionTimeout(), Poll())]


def test_edges_are_steps_of_the_proof() -> None:
    explaining, taken = started()
    followed = explaining.begin(taken[0].configuration, [taken[0].before, OBSERVER])
    for edge in taken:
        followed = explaining.follow(followed, edge)
        explaining.visit(followed)
    assert explaining.agrees, explaining.verdict
    assert (explaining.edges, explaining.states) == (3, 3)
    assert {"stand", "become-leader", "append"} <= {name for name, number in explaining.steps.items() if number}


def test_a_cluster_that_begins_with_a_leader_has_elected_it() -> None:
    explaining, taken = started()
    followed = explaining.begin(taken[-1].configuration, [taken[-1].before, OBSERVER])
    assert explaining.agrees
    assert [(epoch, replica) for epoch, replica, _ in followed.world.values["elected"]] == [(1, 1)]


@pytest.mark.parametrize("name", ["epoch", "voted_key"])
def test_an_unexplained_edge_is_reported(name: str) -> None:
    explaining, taken = started()
    wrong = {"epoch": 7, "voted_key": ModelKey(2, "U2")}[name]
    first = taken[0]
    followed = explaining.begin(first.configuration, [first.before, OBSERVER])
    altered = Edge(first.configuration, first.event, first.before, {**first.after, name: wrong}, "", ())
    assert explaining.follow(followed, altered) is followed
    assert not explaining.agrees
    assert "FAIL: 1 edges are not steps of the proof; the first:" in explaining.verdict
    assert "Restart at replica 1 is no step of the proof" in explaining.verdict


def test_a_broken_invariant_is_counted() -> None:
    explaining, taken = started()
    followed = explaining.begin(taken[-1].configuration, [taken[-1].before, OBSERVER])
    values = dict(followed.world.values)
    values["elected"] = values["elected"] | {(1, 2, followed.world.bootstrap)}
    followed.world = followed.world._replace(values=values)
    explaining.visit(followed)
    assert explaining.broken["election-safety"] == 1
    assert "election-safety in 1 states" in explaining.verdict
