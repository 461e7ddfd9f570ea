"""`python -m kraft_dev.edges record PATH` and `python -m kraft_dev.edges replay PATH`.

`record` enumerates the graph (a minute or two, with Java) and writes its edges to a file.
`replay` runs them on the reference that this process imports, which may be a broken copy, and exits with 1 at the
first difference.
"""

import sys
from pathlib import Path

from kraft_dev.edges.replay import replay
from kraft_dev.edges.storing import enumeration_key, load_edges, save_edges


def _record(path: Path) -> int:
    # Java is needed here only.
    from kraft_dev.edges.enumeration import enumerate_edges

    enumeration_key()  # of the sources before the minutes that this takes
    graph = enumerate_edges(lambda explored, known: print(f"{explored} of {known} states", file=sys.stderr))
    size = save_edges(path, graph)
    constructed = sum(edge.constructed for edge in graph.edges)
    print(f"{len(graph.edges)} edges of {graph.states} states, {size} bytes, {graph.seconds:.0f} s")
    print(f"{constructed} of them from {graph.constructed_states} constructed states")
    return 0


def _replay(path: Path) -> int:
    report = replay(load_edges(path), stop_at_first=True)
    for differing in report.shown:
        print(differing)
    print(f"{report.replayed} edges replayed, {report.seconds:.1f} s")
    return 0 if report.agrees else 1


def main(arguments: list[str]) -> int:
    """Run one of the two commands; return 0, 1 for a difference, or 64 for wrong use."""
    commands = {"record": _record, "replay": _replay}
    if len(arguments) != 2 or arguments[0] not in commands:
        print(__doc__, file=sys.stderr)
        return 64
    return commands[arguments[0]](Path(arguments[1]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
