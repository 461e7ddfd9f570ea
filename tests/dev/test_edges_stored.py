"""File of the model's edges: used only if the current model enumerated it."""

import subprocess
import sys
from pathlib import Path

import pytest

from kraft_dev.edges import (
    ActionEdges,
    Edge,
    EdgeFileError,
    EdgeGraph,
    load_edges,
    save_edges,
    stored_graph,
    storing,
)
from kraft_spec.edits import Edit, edited_packages, installed_file
from kraft_spec.tlc.jar import JAR_VARIABLE, find_jar


def graph_of(number: int) -> EdgeGraph:
    shared = {"epoch": number}
    edges = tuple([Edge({}, {"name": "Poll", "replica": at}, shared, shared, "", ()) for at in range(number)])
    return EdgeGraph(
        edges,
        {"Poll": ActionEdges(changing=number)},
        states=number,
        seconds=1.5,
        constructed={"Poll": ActionEdges(refused=2)},
    )


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "edges"
    save_edges(path, graph_of(3))
    return path


def test_stored_edges_are_read(file: Path) -> None:
    assert stored_graph(file) == graph_of(3)
    assert load_edges(file) == graph_of(3).edges


def test_edges_share_the_values_that_they_shared(file: Path) -> None:
    first, second, _ = load_edges(file)
    assert first.before is first.after is second.before


def test_a_file_that_is_not_there_is_not_used(tmp_path: Path) -> None:
    assert stored_graph(tmp_path / "edges") is None


def test_edges_of_another_model_are_not_used(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storing, "enumeration_key", lambda: "another-key")
    assert stored_graph(file) is None
    assert load_edges(file) == graph_of(3).edges, "a replay beside a broken reference does not ask for the key"


def test_a_torn_file_is_refused(file: Path) -> None:
    whole = file.read_bytes()
    for length in (whole.index(b"\n") + 1, len(whole) // 2, len(whole) - 1):
        file.write_bytes(whole[:length])
        for read in (stored_graph, load_edges):
            with pytest.raises(EdgeFileError, match="holds no edges"):
                read(file)


@pytest.mark.parametrize("content", [b"", b"no edges", b"{}\n"])
def test_a_file_of_something_else_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "other"
    path.write_bytes(content)
    for read in (stored_graph, load_edges):
        with pytest.raises(EdgeFileError, match="holds no edges"):
            read(path)


_ASK = "from kraft_dev.edges.storing import enumeration_key; print(enumeration_key())"


def key_with(*edits: Edit, **variables: str) -> str:
    with edited_packages(edits) as environment:
        command = [sys.executable, "-P", "-c", _ASK]
        done = subprocess.run(command, env={**environment, **variables}, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.mark.parametrize(
    "file",
    [
        "kraft_spec/tla/Elections.tla",
        "kraft_spec/tla/Edges.cfg",
        "kraft_dev/edges/constructed.py",
        "kraft_spec/mapping_tables.py",
        "kraft_reference/records.py",
    ],
)
def test_the_key_is_another_after_any_change(file: str) -> None:
    text = installed_file(file).read_text(encoding="utf-8")
    assert key_with(Edit(file, text, f"{text}\n")) != storing.enumeration_key()


def test_the_key_is_the_same_in_another_process_and_depends_on_the_jar(tmp_path: Path) -> None:
    assert key_with() == storing.enumeration_key()
    jar = tmp_path / "tla2tools.jar"
    jar.write_bytes(find_jar().path.read_bytes() + b" ")
    assert key_with(**{JAR_VARIABLE: str(jar)}) != storing.enumeration_key()
