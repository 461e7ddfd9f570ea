"""`kraft-spec live infer`: the trace of a capture, with the events that no message shows."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from kraft_cli.commands.options import Json
from kraft_conformance.console import print_json, progress, say, show_table
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import CommandError, usage_error
from kraft_kafka.live.capture import read_capture
from kraft_kafka.live.visible import VISIBLE
from kraft_kafka.node.properties import Properties, read_properties
from kraft_reference.profile import PROFILES
from kraft_traces.streams import atomic_file

Capture = Annotated[Path, typer.Argument(help="A kraft-capture/1; .gz too.")]
TraceOutput = Annotated[Path, typer.Option("-o", "--output", help="The trace, a kraft-trace/1.")]
ProfileName = Annotated[str, typer.Option("--profile", help=f"Answers to the open points: {', '.join(PROFILES)}.")]
Most = Annotated[int, typer.Option("--nodes", min=1, help="How many nodes the search for one message goes over.")]
PropertyFiles = Annotated[
    list[str] | None,
    typer.Option(
        "--properties",
        metavar="[ID=]FILE",
        help="Configuration of a node, or of all nodes: no timer fires before the timeout there; repeatable.",
    ),
]

_ELECTION = ("controller.quorum.election.timeout.ms", 1000)
_FETCH = ("controller.quorum.fetch.timeout.ms", 2000)
_REQUEST = ("controller.quorum.request.timeout.ms", 2000)
"""Names and defaults of Kafka's properties."""
_CLOCKS = 0.95
"""Fraction of a timeout that has certainly passed on the recorder's clock."""
_FLOOR_MS = 10
"""Shortest timer of any configuration: a shorter one fires while a message is in flight."""


def infer(
    capture: Capture,
    output: TraceOutput,
    profile: ProfileName = "kafka-4",
    properties: PropertyFiles = None,
    nodes: Most = 400,
    as_json: Json = False,
) -> int:
    """Find the hidden events of the nodes of a capture by searching the model, and write the trace.

    Exit code 1: a frame of a node cannot be read or answers no request, or its files contradict its messages.
    Exit code 2: nothing within the bound explains a message; the trace ends there, with the nearest event.
    """
    # These imports take a second.
    from kraft_kafka.live.beginning import leader_without_election
    from kraft_kafka.live.captured import messages_of
    from kraft_kafka.live.disks import disk_faults
    from kraft_kafka.live.start import start_of
    from kraft_kafka.live.traced import write_inferred
    from kraft_traces.check.model import trace_model
    from kraft_traces.inference.inferring import infer as inferred_from
    from kraft_traces.inference.inferring import opaque_profile
    from kraft_traces.inference.search import Bound

    if profile not in PROFILES:
        raise usage_error(f"--profile {profile}: expected one of {', '.join(PROFILES)}")
    if output.resolve() == capture.resolve():
        raise usage_error(f"--output {output}: is the capture itself, expected another file")
    header, lines = read_capture(capture)
    opaque = frozenset([node.id for node in header.nodes])
    least = _read_least_timeouts(properties or [], opaque)
    bound = Bound(nodes=nodes)
    try:
        start = start_of(header, lines, opaque_profile(PROFILES[profile]))
    except ValueError as error:
        raise CommandError(f"{capture}: a file at the start: {error}", ExitCode.BAD_INPUT) from error
    captured = messages_of(header, lines)
    if (leader := leader_without_election(captured.seen, start)) is not None:
        began = f"node {leader[0]} leads epoch {leader[1]}, whose election is not recorded"
        detail = f"{capture}: began while the quorum ran: {began}; start the recorder before the nodes"
        raise CommandError(detail, ExitCode.INCONCLUSIVE)
    if not captured.seen:
        raise CommandError(f"{capture}: no message between its nodes, expected some", ExitCode.BAD_INPUT)
    with progress(f"inferring from {capture}", len(captured.seen)) as advance:
        inferred = inferred_from(
            trace_model(),
            start.configuration,
            captured.seen,
            opaque,
            bound,
            advance,
            start=start.checkpoint,
            spans=captured.spans,
            least=least,
            go_on=True,
        )
    with atomic_file(output) as stream:
        write_inferred(stream, start, inferred)
    faults = (*captured.faults, *disk_faults(captured.files, captured.seen, start))
    report = _as_dict(capture, output, bound, captured, inferred) | {"faults": [fault._asdict() for fault in faults]}
    if as_json:
        print_json(report)
    else:
        _show(report, bound, inferred, is_timed=bool(properties))
    if any(fault.is_violation for fault in faults):
        return ExitCode.VIOLATION
    return ExitCode.CONFORMANT if not inferred.gaps and not faults else ExitCode.INCONCLUSIVE


def _read_least_timeouts(files: Sequence[str], nodes: frozenset[int]) -> Mapping[int, Any]:
    """Return the shortest timeouts of each node; a node's own file overrides a file for all nodes.

    Raises:
        CommandError: a file cannot be read, or its node is not in the capture.
    """
    from kraft_traces.inference.timing import LeastTimeouts

    least = dict.fromkeys(nodes, LeastTimeouts(_FLOOR_MS, _FLOOR_MS, _FLOOR_MS))
    for text in sorted(files, key=lambda text: _parse_node(text) is not None):
        node = _parse_node(text)
        path = Path(text if node is None else text.partition("=")[2])
        if node is not None and node not in nodes:
            raise usage_error(f"--properties {text}: the capture has no node {node}")
        file = read_properties(path)
        timeouts = LeastTimeouts(*(_CLOCKS * _read_ms(file, *pair) for pair in (_ELECTION, _FETCH, _REQUEST)))
        least.update(dict.fromkeys(nodes if node is None else [node], timeouts))
    return least


def _parse_node(text: str) -> int | None:
    number, separator, _ = text.partition("=")
    return int(number) if separator and number.isdecimal() else None


def _read_ms(settings: Properties, name: str, default: int) -> int:
    value = settings.get(name) or str(default)
    if not value.isdecimal():
        raise settings.wrong(name, f"{value}, expected milliseconds")
    return int(value)


def _as_dict(capture: Path, output: Path, bound: Any, captured: Any, inferred: Any) -> dict[str, Any]:
    gaps = [_gap_document(gap) for gap in inferred.gaps]
    return {
        "capture": str(capture),
        "trace": str(output),
        "events": len(inferred.lines),
        "messages": inferred.messages,
        "bound": bound._asdict(),
        "model_steps": inferred.steps,
        "reordered": inferred.reordered,
        "left_out": dict(captured.left_out),
        "stretches": [
            {
                "time_ms": stretch.time_ms,
                "replica": stretch.replica,
                "message": stretch.message,
                "inferred": list(stretch.events),
            }
            for stretch in inferred.stretches
        ],
        "unexplained": gaps[0] if gaps else None,
        "unjudged": gaps,
        "properties": {name: evidence._asdict() for name, evidence in VISIBLE.items()},
    }


def _gap_document(gap: Any) -> dict[str, Any]:
    failure = gap.failure
    target = failure.target
    return {
        "message": target.type,
        "time_ms": target.time_ms,
        "source": target.source,
        "destination": target.destination,
        "tried": failure.tried,
        "nearest": [asdict(difference) for difference in failure.differences],
        "rules": list(failure.rules),
        "until_ms": None if gap.end is None else gap.end.time_ms,
        "messages": gap.messages,
    }


def _show(report: Mapping[str, Any], bound: Any, inferred: Any, *, is_timed: bool) -> None:
    say(f"{report['capture']}: {report['messages']} messages explained, {report['events']} events in the trace")
    say(
        f"bound for a message: {bound.nodes} nodes, cost {bound.cost:g}, {bound.kept} ways followed; "
        f"once more with {bound.wider().nodes} nodes and {bound.wider().kept} ways where that is not enough"
    )
    if not is_timed:
        say(f"timers: at least {_FLOOR_MS} ms; --properties says how long they are")
    columns = ("replica", "messages", "events", "steps of the model", "most at once", "by kind")
    show_table("Inferred", columns, _rows(inferred))
    for name, number in sorted(report["left_out"].items()):
        say(f"left out: {number} {name}")
    for fault in report["faults"]:
        sender = "" if fault["sender"] is None else f"node {fault['sender']}, "
        say(f"line {fault['line']}, {sender}{fault['time_ms']} ms: {fault['detail']}", "red")
    for gap in report["unjudged"]:
        say(f"nothing explains {gap['message']} from {gap['source']} to {gap['destination']}", "red")
        say(f"  at {gap['time_ms']} ms, after {gap['tried']} nodes")
        for field in gap["nearest"]:
            say(f"  nearest: {field['field']}: expected {field['expected']}, actual {field['actual']}")
        say(f"  rules: {', '.join(gap['rules'])}")
        end = "the end" if gap["until_ms"] is None else f"{gap['until_ms']} ms"
        say(f"  unjudged: {gap['messages']} messages of {gap['source']} until {end}")
    if report["unjudged"]:
        say("the trace ends at the first of these; later messages are compared with the model one by one")
    rows = [(name, evidence.seen, evidence.unseen) for name, evidence in VISIBLE.items()]
    show_table("Evidence of a verdict on this trace", ("property", "a violation that shows", "one that does not"), rows)
    say(f"trace: {report['trace']}; judge it with: kraft-spec validate {report['trace']}")


def _rows(inferred: Any) -> list[tuple[object, ...]]:
    rows: list[tuple[object, ...]] = []
    for replica in sorted({stretch.replica for stretch in inferred.stretches}):
        stretches = [part for part in inferred.stretches if part.replica == replica]
        longest = max(stretches, key=lambda stretch: len(stretch.events))
        kinds: Counter[str] = Counter(event for part in stretches for event in part.events)
        counted = ", ".join(f"{number} {event}" for event, number in sorted(kinds.items()))
        description = f"{len(longest.events)}, {longest.message} at {longest.time_ms} ms"
        rows.append((replica, len(stretches), sum(kinds.values()), inferred.steps[replica], description, counted))
    return rows
