"""Replay of the model's complete state graph and of constructed states on the reference.

Mutants of the reference must fail it.
"""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest
from tests.spec.own_process import in_own_process

from kraft_dev.edges import (
    NETWORK_ACTIONS,
    NOT_ALLOWED,
    Edge,
    EdgeGraph,
    load_edges,
    replay,
    save_edges,
    stored_graph,
)
from kraft_reference import elections, responses, transitions
from kraft_reference.effects import Effect
from kraft_reference.messages import Error, Message
from kraft_reference.outcome import Refusal
from kraft_reference.roles import TRANSITION, Cause, Role
from kraft_spec import mapping
from kraft_spec.edits import edited_packages
from kraft_spec.models import next_actions

pytestmark = pytest.mark.slow

CHANGING_MIN = 20_000
CONSTRUCTED_MIN = 30_000
CHANGING_NOTHING = ("HandleApiVersionsRequest", "ReplaceSoftware")
"""Any replica responds without a change; a stopped replica gets the software that it has."""
CHANGING_IN_CONSTRUCTED = ("HandleFetchSnapshotRequest",)
"""In the graph only an observer fetches a snapshot, which does not affect the leader's state."""


STORED = Path(__file__).resolve().parents[2] / "build" / "model-edges"
"""File of the model's edges that `make killed` writes, or these tests if they run first."""


def enumerated() -> EdgeGraph:
    from kraft_dev.edges.enumeration import enumerate_edges

    return enumerate_edges()


@pytest.fixture(scope="module")
def graph() -> EdgeGraph:
    """The model's edges, enumerated from the current sources; each test replays the reference anew."""
    stored = stored_graph(STORED)
    if stored is None:
        stored = in_own_process(enumerated)
        STORED.parent.mkdir(exist_ok=True)
        save_edges(STORED, stored)
    return stored


def enumerated_by_tlc() -> EdgeGraph:
    from kraft_dev.edges.enumeration import enumerate_edges

    return enumerate_edges(interpreted=True)


@pytest.mark.nightly
def test_tlc_interprets_the_model_to_the_same_edges(graph: EdgeGraph) -> None:
    interpreted = in_own_process(enumerated_by_tlc)
    assert (interpreted.actions, interpreted.constructed) == (graph.actions, graph.constructed)
    assert replay(interpreted.edges).agrees


def test_the_graph_is_large_enough_and_has_every_action(graph: EdgeGraph) -> None:
    assert graph.changing >= CHANGING_MIN
    assert set(graph.actions) == set(next_actions().values())
    for action, counted in graph.actions.items():
        if action in NETWORK_ACTIONS:
            assert counted.network > 0, action
        elif action in CHANGING_NOTHING + CHANGING_IN_CONSTRUCTED:
            assert counted.changing == 0 < counted.unchanging, action
        else:
            assert counted.changing > 0, action
            assert counted.network == 0, action
    assert sum(counted.crashes for counted in graph.actions.values()) > 0


def test_no_edge_is_there_twice(graph: EdgeGraph) -> None:
    """Equal values are one object, also those that hold sets, of which TLC writes several texts."""
    identities = set()
    for edge in graph.edges:
        shared = map(id, (edge.configuration, edge.event, edge.before, edge.after, edge.effects))
        identities.add((*shared, edge.refusal, edge.completed, edge.kept, edge.in_graph, edge.constructed))
    assert len(identities) == len(graph.edges)


def test_the_graph_has_three_voters_two_epochs_and_both_versions(graph: EdgeGraph) -> None:
    assert {len(edge.configuration["voters"]) for edge in graph.edges} == {1, 2, 3}
    assert {edge.configuration["kraft_version"] for edge in graph.edges} == {0, 1}
    assert {0, 1, 2} <= {edge.before["epoch"] for edge in graph.edges}


def test_the_model_refuses_what_the_reference_may_refuse(graph: EdgeGraph) -> None:
    refused = {edge.refusal for edge in graph.edges if not edge.in_graph and not edge.constructed}
    assert refused == set(NOT_ALLOWED)
    assert refused < {edge.refusal for edge in graph.edges} <= {"", *Refusal}


def test_every_refusal_error_effect_and_message_comes_about(graph: EdgeGraph) -> None:
    """Outcomes that no edge exercises would not be compared with the model."""
    # The model keeps check-quorum.resign; only a replica without the rule has the other reason.
    assert set(Refusal) - {edge.refusal for edge in graph.edges} == {Refusal.CHECK_QUORUM_OFF}
    effects = [effect for edge in graph.edges for effect in edge.effects]
    assert {effect["error"] for effect in effects if "error" in effect} == set(Error)
    of_disk = {kind.__name__ for kind in get_args(Effect)} - {"Send", "Answer", "StartTimer"}
    messages = {message.__name__ for message in get_args(Message)}
    assert {effect["type"] for effect in effects} == {*of_disk, *messages, "Reply"}


def test_every_row_of_the_transition_table_is_taken(graph: EdgeGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    taken = set()

    class Recording(dict[Any, Any]):
        def get(self, key: Any, default: Any = None) -> Any:
            taken.add(key)
            return super().get(key, default)

    monkeypatch.setattr(transitions, "TRANSITION", Recording(TRANSITION))
    assert replay([edge for edge in graph.edges if edge.before is not edge.after]).agrees
    # No profile restarts this way: an open decision allows it for other software.
    no_profile = (Role.STOPPED, Cause.RESTART, Role.PROSPECTIVE)
    # A constructed state receives every tenth message, and no such message to a Resigned names a leader out of reach.
    not_drawn = (Role.RESIGNED, Cause.LARGER_EPOCH_WITH_LEADER, Role.UNATTACHED)
    assert set(TRANSITION) - taken == {no_profile, not_drawn}


def test_every_event_is_tried_in_constructed_states(graph: EdgeGraph) -> None:
    assert sum(edge.constructed for edge in graph.edges) >= CONSTRUCTED_MIN
    assert set(graph.constructed) == set(graph.actions) - set(NETWORK_ACTIONS)
    for action, counted in graph.constructed.items():
        assert (counted.changing > 0) is (action not in CHANGING_NOTHING), action
        assert counted.refused > 0, action
    assert sum(counted.crashes for counted in graph.constructed.values()) > 0
    roles = {edge.before["role"] for edge in graph.edges if edge.constructed and not edge.refusal}
    assert roles == set(Role)


def test_constructed_edges_are_not_in_the_graph(graph: EdgeGraph) -> None:
    def what_happens(edge: Edge) -> tuple[int, ...]:
        # Equal values are one object.
        return (id(edge.configuration), id(edge.event), id(edge.before), edge.completed, edge.kept)

    of_the_graph = {what_happens(edge) for edge in graph.edges if edge.in_graph}
    constructed = [what_happens(edge) for edge in graph.edges if edge.constructed]
    assert not of_the_graph & set(constructed)
    assert len(constructed) == len(set(constructed))


def test_constructed_states_have_outcomes_that_the_graph_lacks(graph: EdgeGraph) -> None:
    in_graph = {edge.refusal for edge in graph.edges if not edge.constructed}
    constructed = {edge.refusal for edge in graph.edges if edge.constructed}
    assert {"NO_PRE_VOTE_ROUND", "ELECTION_IS_OVER", "SECOND_LEADER_IN_EPOCH"} <= constructed - in_graph


def test_a_second_leader_that_counts_is_seen_in_constructed_states_only(
    graph: EdgeGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(responses, "names_second_leader", lambda *_: False)
    # Only the handling of responses asks for it.
    report = replay([edge for edge in graph.edges if edge.action.endswith("Response")])
    assert report.differing_constructed == report.differing
    assert {"HandleVoteResponse", "HandleFetchResponse", "HandleBeginQuorumEpochResponse"} <= set(report.differing)


def test_an_exception_is_a_difference_too(graph: EdgeGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise AssertionError("broken on purpose")

    monkeypatch.setattr(elections, "grants_pre_vote", broken)
    report = replay(graph.edges, stop_at_first=True)
    (first,) = report.shown
    (difference,) = first.differences
    assert (first.edge.action, difference.field) == ("HandleVoteRequest", "raises")
    assert "broken on purpose" in str(first)


@pytest.mark.parametrize("name", [field.model for field in mapping.STATE])
def test_every_field_of_a_state_is_compared(graph: EdgeGraph, name: str) -> None:
    edge = next(edge for edge in graph.edges if edge.action == "HandleFetchResponse" and not edge.refusal)
    altered = replace(edge, after={**edge.after, name: "something else"})
    (differing,) = replay((altered,)).shown
    assert [difference.field for difference in differing.differences] == [f"state.{name}"]


@pytest.mark.nightly
def test_the_edges_are_replayed_from_a_file_without_java(graph: EdgeGraph, tmp_path: Path) -> None:
    file = tmp_path / "edges.bin"
    size = save_edges(file, graph)
    assert size == file.stat().st_size < 25_000_000
    assert load_edges(file) == graph.edges
    program = (
        "import pathlib, sys; from kraft_dev.mutants.inside import run_tool; from kraft_dev.mutants.tool import Tally;"
        " print(run_tool('edges', Tally(pathlib.Path(sys.argv[1])))); sys.exit('jpype' in sys.modules)"
    )
    with edited_packages((), "kraft_reference") as environment:
        words = [sys.executable, "-c", program, str(file)]
        done = subprocess.run(words, capture_output=True, text=True, timeout=120, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"amount={len(graph.edges)}" in done.stdout
    assert "detects=False" in done.stdout


def test_an_edge_has_a_description() -> None:
    edge = Edge({}, {"name": "PollFetch", "replica": 2, "destination": 1}, {}, {}, "", (), completed=1, kept=0)
    assert str(edge) == "PollFetch at replica 2, destination 1, crash after 1 effects, 0 records kept"
