"""Playing and output of `kraft-spec kafka finding`."""

from pathlib import Path

from kraft_cli.commands.conformance_report import suite_errors
from kraft_cli.commands.signals import ended_by_signals
from kraft_conformance.console import progress, say
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import CommandError, usage_error
from kraft_conformance.random_runs.seats import Command
from kraft_conformance.random_runs.table import Table
from kraft_kafka.findings.finding import Finding, FindingError, find_finding
from kraft_kafka.reports.writing import UNIT_TESTS, tracker_text, write_unit_tests
from kraft_kafka.showing import Ending, ShownOnKafka, show_on_kafka
from kraft_traces.streams import atomic_file

_CODES = {
    Ending.SHOWN: ExitCode.VIOLATION,
    Ending.SAFE: ExitCode.CONFORMANT,
    Ending.DEVIATION: ExitCode.INCONCLUSIVE,
}


def known_finding(name: str) -> Finding:
    """Return the finding of that name, if its schedule needs no mutant, or if Kafka breaks the mutant's rule.

    Raises:
        CommandError: there is none, or its schedule needs a mutant of a rule that Kafka keeps.
    """
    try:
        finding = find_finding(name)
    except FindingError as error:
        raise usage_error(str(error)) from error
    if not finding.is_for_kafka:
        names = finding.variant()[1].mutants
        detail = f"the schedule of {name} is one of software without {', '.join(names)}: Kafka is not asked"
        raise CommandError(detail, ExitCode.NOTHING_JUDGED)
    return finding


def show_finding(finding: Finding, command: str, timeout_s: float, output: Path | None) -> int:
    """Play the finding's schedule, show the result, and return the exit code."""
    with (
        ended_by_signals(),
        suite_errors(),
        progress(f"{finding.name} on Kafka"),
        Table((Command(command),), timeout_s) as table,
    ):
        software = table.hellos[0].implementation
        result = show_on_kafka(finding, table)
    if output is not None:
        try:
            with atomic_file(output) as stream:
                stream.writelines(result.trace)
        except OSError as error:
            raise CommandError(f"{output}: cannot be written: {error.strerror}", ExitCode.CANNOT_WRITE) from error
    say(f"{finding.name} on {software.name} {software.version}: {finding.title}", "bold")
    for line in _describe(result):
        say(line)
    return _CODES[result.ending]


def report_finding(finding: Finding, junit: Path | None) -> int:
    """Write the unit tests of a finding, or else print the text for Kafka's tracker."""
    if finding.name not in UNIT_TESTS:
        raise usage_error(f"{finding.name} has no unit tests and no text; {', '.join(UNIT_TESTS)} have")
    if junit is None:
        print(tracker_text(finding.name), end="")
        return ExitCode.CONFORMANT
    try:
        path = write_unit_tests(finding.name, junit)
    except OSError as error:
        raise CommandError(f"{junit}: cannot be written: {error.strerror}", ExitCode.CANNOT_WRITE) from error
    say(f"{path}: fails without the fix {finding.fix}; its place is raft/src/test/java")
    return ExitCode.CONFORMANT


def _describe(play: ShownOnKafka) -> list[str]:
    lines = [f"  {step.last:4}  {step.text}\n        {step.roles}" for step in play.steps]
    lines += [f"replicas {' and '.join(map(str, ids))} have led epoch {epoch}" for epoch, ids in play.leaders.items()]
    if play.lost:
        offsets = ", ".join(map(str, play.lost))
        lines.append(f"lost: what a leader committed at offset {offsets} is not in the log of the newest leader")
    if play.verdict is not None:
        rejection = play.verdict.rejection
        outcome = f"{play.verdict.events} lines accepted" if rejection is None else rejection.headline()
        lines.append(f"TLC: {outcome}")
    if play.violated:
        lines.append(f"TLC, of the state in the end: it violates {', '.join(play.violated)}")
    match play.ending:
        case Ending.SHOWN:
            lines.append(f"Kafka does all {play.events} events of {play.finding.schedule}: it has the finding")
        case Ending.SAFE:
            lines.append(f"Kafka is safe: {play.events} events, no two leaders of an epoch, nothing committed is lost")
        case Ending.DEVIATION:
            lines.append(f"inconclusive, because Kafka deviates from the schedule: {play.deviation}")
    return lines
