"""`python -m kraft_dev edges`: output and exit codes, on a graph of one edge."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from kraft_conformance.exit_codes import ExitCode
from kraft_dev.cli import main
from kraft_dev.commands import edges
from kraft_dev.edges import (
    ActionEdges,
    Edge,
    EdgeGraph,
    load_edges,
    save_edges,
    stored_graph,
)
from kraft_dev.edges.replay import DRAW
from kraft_reference.configuration import Configuration, ReplicaConfiguration
from kraft_reference.events import ElectionTimeout
from kraft_reference.identity import ReplicaKey
from kraft_reference.replica import handle
from kraft_reference.roles import Role
from kraft_reference.state import new_replica
from kraft_spec import mapping
from kraft_spec.mapping_forms import NO_KEY, ModelKey


def one_edge(*, voted: ModelKey) -> EdgeGraph:
    """An edge for the election timeout of an Unattached voter with this vote afterwards; it really votes for nobody."""
    keys = {i: ReplicaKey(i, f"U{i}") for i in (1, 2, 3)}
    cluster = Configuration(
        {i: ReplicaConfiguration(key, f"E{i}") for i, key in keys.items()}, frozenset(keys.values())
    )
    before = new_replica(keys[1], cluster.checkpoint(1))._replace(role=Role.UNATTACHED)
    after = handle(before, cluster, ElectionTimeout(), DRAW).state
    edge = Edge(
        configuration=mapping.configuration_to_model(cluster),
        event=mapping.event_to_model(ElectionTimeout(), 1, cluster.cluster_id),
        before=mapping.state_to_model(before),
        after={**mapping.state_to_model(after), "voted_key": voted},
        refusal="",
        effects=(),
    )
    return EdgeGraph((edge,), {"ElectionTimeout": ActionEdges(changing=3, distinct=1)}, states=4, depth=1)


@pytest.fixture
def graph(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> EdgeGraph:
    graph = one_edge(voted=request.param)
    monkeypatch.setattr(edges, "enumerate_edges", lambda on_progress, explaining: graph)
    return graph


@pytest.mark.parametrize("graph", [NO_KEY], indirect=True)
def test_edges_that_agree(graph: EdgeGraph, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["edges", "--edges", str(tmp_path / "edges.bin")]) == ExitCode.CONFORMANT
    out = capsys.readouterr().out
    assert "4 states, depth 1; 3 edges change a replica" in out
    assert "ok: the reference agrees with the model on every edge" in out
    assert load_edges(tmp_path / "edges.bin") == graph.edges


@pytest.mark.parametrize("graph", [NO_KEY], indirect=True)
def test_a_stored_enumeration_is_used_on_request_and_reported(
    graph: EdgeGraph, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "edges"
    assert main(["edges", "--edges", str(file)]) == ExitCode.CONFORMANT
    assert "not enumerated anew" not in capsys.readouterr().out
    assert stored_graph(file) == graph
    never_asked(monkeypatch)
    assert main(["edges", "--edges", str(file)]) == ExitCode.CONFORMANT
    assert f"the model's side is the one in {file}, not enumerated anew" in capsys.readouterr().out


def never_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    def asked(_: object, explaining: object) -> EdgeGraph:
        raise AssertionError("enumerated again")

    monkeypatch.setattr(edges, "enumerate_edges", asked)


def test_a_changed_edge_in_the_file_is_a_difference_and_named(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    never_asked(monkeypatch)
    file = tmp_path / "edges"
    save_edges(file, one_edge(voted=ModelKey(2, "U2")))
    assert main(["edges", "--edges", str(file)]) == ExitCode.VIOLATION
    out = capsys.readouterr().out
    assert "FAIL: the reference differs from the model on 1 edges" in out
    assert "ElectionTimeout at replica 1" in out
    assert "state.voted_key: the model gives ModelKey(id=2, directory_id='U2'), the reference" in out


def test_a_file_of_something_else_is_not_written_over(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "trace.jsonl"
    file.write_text('{"kind": "header"}\n')
    assert main(["edges", "--edges", str(file)]) == ExitCode.BAD_INPUT
    assert "trace.jsonl holds no edges" in capsys.readouterr().err
    assert file.read_text() == '{"kind": "header"}\n'


def test_a_folder_that_is_not_there_is_named_before_anything_is_enumerated(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    never_asked(monkeypatch)
    assert main(["edges", "--edges", str(tmp_path / "none" / "edges")]) == ExitCode.CANNOT_WRITE
    assert f"there is no folder {tmp_path / 'none'}" in capsys.readouterr().err


@pytest.mark.parametrize("graph", [ModelKey(2, "U2")], indirect=True)
def test_an_edge_from_a_constructed_state_is_counted_apart(
    graph: EdgeGraph, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (edge,) = graph.edges
    constructed = replace(
        graph,
        edges=(edge, replace(edge, in_graph=False, constructed=True)),
        constructed={"ElectionTimeout": ActionEdges(changing=1)},
        constructed_states=1,
    )
    monkeypatch.setattr(edges, "enumerate_edges", lambda on_progress, explaining: constructed)
    assert main(["edges"]) == ExitCode.VIOLATION
    out = capsys.readouterr().out
    assert "from 1 constructed states: 1 edges" in out
    assert "the reference differs from the model on 2 edges" in out
    # Edges of the graph (last column: one of three differs), and edges from constructed states (one of one).
    rows = [re.findall(r"\d+", line) for line in out.splitlines() if "ElectionTimeout " in line and "│" in line]
    assert rows == [["3", "1", "1"], ["1", "1"]]
