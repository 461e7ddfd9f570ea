"""`python -m kraft_dev edges`: replay the edges of the model's state graph, and those from constructed states."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated

import typer

from kraft_conformance.console import progress, say
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import CommandError, usage_error
from kraft_dev.commands.options import Edges, need_folder_of
from kraft_dev.edges import ActionEdges, EdgeFileError, EdgeGraph, EdgeReport, replay, save_edges, stored_graph
from kraft_dev.edges.enumeration import enumerate_edges
from kraft_dev.edges.explaining import Explaining
from kraft_dev.edges.slices import explain_slice, slices
from kraft_dev.markdown import Section, show

_COLUMNS = ("changing", "unchanging", "network", "crashes", "leaving", "distinct")
_CONSTRUCTED_COLUMNS = ("changing", "unchanging", "crashes", "refused")


Explain = Annotated[
    bool,
    typer.Option(
        "--refinement", help="Enumerate anew, and explain each edge as steps of the inductive proof (minutes)."
    ),
]

SliceName = Annotated[
    str | None,
    typer.Option("--slice", help="Instead explain the steps and states of this model check."),
]
TimeLimit = Annotated[float | None, typer.Option(min=1, help="Time limit of a model check in seconds.")]


def edges(
    file: Edges = None,
    explain: Explain = False,
    slice_name: SliceName = None,
    time_limit: TimeLimit = None,
) -> int:
    """Replay every edge of a small model's complete state graph on the reference (a minute or two).

    The reference must reach the same state, with the same effects in the same order, or refuse for the same reason;
    and it must refuse every event that the model does not allow.
    The same holds for edges from constructed states, which need not be in the graph.
    """
    if slice_name is not None:
        return _explain_slice(slice_name, time_limit)
    need_folder_of(file)
    stored = None if file is None or explain else _stored(file)
    explaining = Explaining() if explain else None
    graph = stored or _enumerated(explaining)
    if file is not None and stored is None:
        save_edges(file, graph)
    report = replay(graph.edges)
    if stored is not None:
        say(f"the model's side is the one in {file}, not enumerated anew")
    show(_sections(graph, report))
    _show_verdict(report)
    if explaining is not None:
        _show_explained(explaining)
    agrees = report.agrees and (explaining is None or explaining.agrees)
    return ExitCode.CONFORMANT if agrees else ExitCode.VIOLATION


def _explain_slice(name: str, time_limit: float | None) -> int:
    checks = slices()
    if name not in checks:
        raise usage_error(f"no model check {name!r}; there are {', '.join(checks)}")
    explaining = Explaining()
    with progress(name) as advance:
        reached = explain_slice(
            checks[name], explaining, lambda so_far: advance(0, f"{name}: {so_far.states} states"), time_limit
        )
    end = "" if not reached.queued else f", not exhausted: {reached.queued} states are left"
    say(f"{name}: the steps of {reached.states} states{end}")
    _show_explained(explaining)
    return ExitCode.CONFORMANT if explaining.agrees else ExitCode.VIOLATION


def _stored(file: Path) -> EdgeGraph | None:
    try:
        return stored_graph(file)
    except EdgeFileError as error:
        raise CommandError(str(error), ExitCode.BAD_INPUT) from error


def _enumerated(explaining: Explaining | None) -> EdgeGraph:
    with progress("edges of the model") as advance:
        return enumerate_edges(
            lambda explored, total: advance(0, f"edges of the model: {explored} of {total} states"),
            explaining=explaining,
        )


def _show_explained(explaining: Explaining) -> None:
    steps = Section(
        "Steps of the inductive proof",
        (
            f"{explaining.edges} edges, each from every state of the cluster that has it: "
            f"in {explaining.states} states every invariant of the proof was evaluated",
        ),
        ("step", "times"),
        tuple((action, str(number)) for action, number in explaining.steps.items()),
    )
    show([steps])
    say(explaining.verdict, "bold green" if explaining.agrees else "bold red")


def _sections(graph: EdgeGraph, report: EdgeReport) -> Iterator[Section]:
    differing = {
        action: number - report.differing_constructed.get(action, 0) for action, number in report.differing.items()
    }
    yield Section(
        f"{graph.states} states, depth {graph.depth}; {graph.changing} edges change a replica",
        (
            "changing, unchanging: edges that change the replica, or do not; crashes: edges that a crash interrupts; "
            "leaving: edges to a state beyond the bounds; distinct: replayed edges, without the other replicas",
        ),
        ("action", *_COLUMNS, "differ"),
        _rows(graph.actions, _COLUMNS, differing),
    )
    number = sum(edge.constructed for edge in graph.edges)
    yield Section(
        f"from {graph.constructed_states} constructed states: {number} edges that the graph does not have",
        (
            f"{report.replayed} different edges and refusals replayed in {report.seconds:.1f} s ({graph.refused} "
            f"refusals, in {graph.replica_states} states of a replica); enumerated in {graph.seconds:.0f} s, "
            f"{graph.seconds_constructed:.0f} s of them for constructed states",
        ),
        ("action", *_CONSTRUCTED_COLUMNS, "differ"),
        _rows(graph.constructed, _CONSTRUCTED_COLUMNS, report.differing_constructed),
    )


def _rows(
    counted: Mapping[str, ActionEdges], columns: tuple[str, ...], differing: Mapping[str, int]
) -> tuple[tuple[str, ...], ...]:
    return tuple(
        (action, *(str(getattr(counts, column) or "") for column in columns), str(differing.get(action) or ""))
        for action, counts in counted.items()
    )


def _show_verdict(report: EdgeReport) -> None:
    if report.agrees:
        say("ok: the reference agrees with the model on every edge", "bold green")
        return
    number = sum(report.differing.values())
    say(f"FAIL: the reference differs from the model on {number} edges; the first:", "bold red")
    for differing in report.shown:
        say(differing)
