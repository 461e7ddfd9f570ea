"""Cluster directories for the tests of the command line."""

from collections.abc import Sequence
from pathlib import Path

from kraft_conformance.cli import main

THREE = "1-U1@h1:9093,2-U2@h2:9093,3-U3@h3:9093"


def properties(node_id: int, *lines: str, endpoint: str | None = None) -> str:
    """Write `<id>.properties` into the current folder: a controller at `h<id>:9093`; its name."""
    text = f"node.id={node_id}\ncontroller.listener={endpoint or f'h{node_id}:9093'}\n" + "".join(
        f"{line}\n" for line in lines
    )
    name = f"{node_id}.properties"
    Path(name).write_text(text)
    return name


def broker(node_id: int) -> str:
    """As `properties`, of a broker at `b<id>:9092`."""
    name = f"{node_id}.properties"
    Path(name).write_text(
        f"node.id={node_id}\nprocess.roles=broker\nlisteners=PLAINTEXT://b{node_id}:9092\n"
        "controller.quorum.bootstrap.servers=h1:9093\n"
    )
    return name


def formatting(name: str, *options: str) -> list[str]:
    """The words of `kraft-spec admin storage format` for cluster C."""
    return ["admin", "storage", "format", "--cluster-id", "C", "--config", name, *options]


def format_node(name: str, *options: str) -> int:
    """`kraft-spec admin storage format` for cluster C."""
    return main(formatting(name, *options))


def quorum(*words: str) -> int:
    """`kraft-spec admin quorum`."""
    return main(["admin", "quorum", *words])


def three_voters(seed: int = 1, others: Sequence[int] = ()) -> None:
    """Voters 1, 2 and 3 that have run for five seconds; `others` are formatted without voters and run too."""
    for node_id in (1, 2, 3):
        assert format_node(properties(node_id), "--initial-controllers", THREE) == 0
    for node_id in others:
        assert format_node(properties(node_id), "--no-initial-controllers", "--directory-id", f"U{node_id}") == 0
    assert quorum("start", "--seed", str(seed)) == 0
    assert quorum("run", "--for-ms", "5000", "--appends", "5") == 0


def static_voters() -> None:
    """Static voters 1, 2 and 3 at kraft.version 0 that have run for five seconds."""
    line = "controller.quorum.voters=1@h1:9093,2@h2:9093,3@h3:9093"
    for node_id in (1, 2, 3):
        assert format_node(properties(node_id, line), "--directory-id", f"U{node_id}") == 0
    assert quorum("start", "--seed", "1") == 0
    assert quorum("run", "--for-ms", "5000") == 0
