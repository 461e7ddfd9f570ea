"""`kraft_dev edges`: every edge of the model's state graph, and those from constructed states, on the reference."""

from pathlib import Path
from typing import Annotated, Any

import typer

from kraft_conformance.commands.options import Json
from kraft_conformance.console import print_json, progress, shown, stdout, table
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import CommandError
from kraft_dev.edges import DifferingEdge, EdgeFileError, EdgeGraph, EdgeReport, replay, save_edges, stored_graph
from kraft_dev.edges.enumeration import enumerate_edges

Save = Annotated[Path | None, typer.Option("--save", help="Write the edges to a file, to replay them without Java.")]
Edges = Annotated[
    Path | None,
    typer.Option(
        "--edges",
        help="Take the model's edges from this file if this very model was enumerated for it, else enumerate and keep "
        "them there; default: enumerate.",
    ),
]

_COLUMNS = ("changing", "unchanging", "network", "crashes", "leaving", "distinct")
_CONSTRUCTED_COLUMNS = ("changing", "unchanging", "crashes", "refused")


def edges(save: Save = None, file: Edges = None, as_json: Json = False) -> int:
    """Replay every edge of a small model's complete state graph on the reference (a minute or two).

    The reference must reach the same state, with the same effects in the same order, or refuse for the same reason;
    and it must refuse what the model does not allow.
    The same from constructed states, which the graph need not have.
    """
    for written in (save, file):
        if written is not None and not written.resolve().parent.is_dir():
            raise CommandError(
                f"there is no folder {written.resolve().parent} to write {written.name} to", ExitCode.CANNOT_WRITE
            )
    stored = None if file is None else _stored(file)
    graph = stored or _enumerated()
    for written in (save, file if stored is None else None):
        if written is not None:
            save_edges(written, graph)
    report = replay(graph.edges)
    if as_json:
        print_json({"stored": stored is not None, **_document(graph, report)})
    else:
        if stored is not None:
            stdout.print(f"the model's side is the one in {file}, not enumerated anew", markup=False, soft_wrap=True)
        _show(graph, report)
    return ExitCode.CONFORMANT if report.agrees else ExitCode.VIOLATION


def _stored(file: Path) -> EdgeGraph | None:
    try:
        return stored_graph(file)
    except EdgeFileError as error:
        raise CommandError(str(error), ExitCode.BAD_INPUT) from error


def _enumerated() -> EdgeGraph:
    with progress("edges of the model") as advance:
        return enumerate_edges(lambda explored, known: advance(0, f"edges of the model: {explored} of {known} states"))


def _show(graph: EdgeGraph, report: EdgeReport) -> None:
    drawn = table(
        f"{graph.states} states, depth {graph.depth}; {graph.changing} edges change a replica",
        "action",
        "changed",
        "same",
        "network",
        "crash",
        "out",
        "distinct",
        "differ",
    )
    for action, counted in graph.actions.items():
        row = [str(getattr(counted, column) or "") for column in _COLUMNS]
        number = report.differing.get(action, 0) - report.differing_constructed.get(action, 0)
        drawn.add_row(action, *row, str(number or ""))
    stdout.print(drawn)
    stdout.print(
        "changed, same: edges after which the replica is another or as it was; crash: those cut off in the middle;\n"
        "out: edges that leave the bounds; distinct: what is replayed, without the rest of the cluster",
        soft_wrap=True,
    )
    _show_constructed(graph, report)
    stdout.print(
        f"{report.replayed} different edges and refusals replayed in {report.seconds:.1f} s ({graph.refused} refusals, "
        f"in {graph.replica_states} states of a replica); enumerated in {graph.seconds:.0f} s, "
        f"{graph.seconds_constructed:.0f} s of them for constructed states",
        soft_wrap=True,
    )
    if report.agrees:
        stdout.print("ok: on every edge the reference does what the model does", style="bold green")
        return
    number = sum(report.differing.values())
    stdout.print(f"FAIL: the reference departs from the model on {number} edges; the first:", style="bold red")
    for differing in report.shown:
        stdout.print(shown(differing), soft_wrap=True)


def _show_constructed(graph: EdgeGraph, report: EdgeReport) -> None:
    number = sum(edge.constructed for edge in graph.edges)
    drawn = table(
        f"from {graph.constructed_states} constructed states: {number} edges that the graph does not have",
        "action",
        "changed",
        "same",
        "crash",
        "refused",
        "differ",
    )
    for action, counted in graph.constructed.items():
        row = [str(getattr(counted, column) or "") for column in _CONSTRUCTED_COLUMNS]
        drawn.add_row(action, *row, str(report.differing_constructed.get(action, "")))
    stdout.print(drawn)


def _document(graph: EdgeGraph, report: EdgeReport) -> dict[str, Any]:
    return {
        "agrees": report.agrees,
        "states": graph.states,
        "depth": graph.depth,
        "replica_states": graph.replica_states,
        "changing": graph.changing,
        "actions": {
            action: {column: getattr(counted, column) for column in _COLUMNS}
            for action, counted in graph.actions.items()
        },
        "replayed": report.replayed,
        "refused": graph.refused,
        "constructed_states": graph.constructed_states,
        "constructed": {
            action: {column: getattr(counted, column) for column in _CONSTRUCTED_COLUMNS}
            for action, counted in graph.constructed.items()
        },
        "differing": dict(report.differing),
        "differing_constructed": dict(report.differing_constructed),
        "differences": [_difference(differing) for differing in report.shown],
        "seconds_enumeration": round(graph.seconds, 1),
        "seconds_constructed": round(graph.seconds_constructed, 1),
        "seconds_replay": round(report.seconds, 1),
    }


def _difference(differing: DifferingEdge) -> dict[str, Any]:
    return {
        "action": differing.edge.action,
        "event": str(differing.edge),
        "fields": [
            {"field": one.field, "model": one.expected, "reference": one.actual} for one in differing.differences
        ],
    }
