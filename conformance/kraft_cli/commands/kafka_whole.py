"""Playing and output of `kraft-spec kafka finding --whole`."""

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from kraft_cli.commands.signals import ended_by_signals
from kraft_conformance.console import print_json, say, stderr
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import CommandError, usage_error
from kraft_kafka.findings.finding import Finding
from kraft_kafka.jars import Kafka
from kraft_kafka.patching.patches import Patch, fixes, patched
from kraft_kafka.showing import Ending
from kraft_kafka.whole.evidence import Divergence
from kraft_kafka.whole.running import SCHEDULES, run_schedule
from kraft_kafka.whole.schedules import WholeRun
from kraft_spec.tlc.jar import JavaMissing

_SHOWN_DIVERGENCES = 6
_CODES = {
    Ending.SHOWN: ExitCode.VIOLATION,
    Ending.SAFE: ExitCode.CONFORMANT,
    Ending.DEVIATION: ExitCode.INCONCLUSIVE,
}


def show_whole(
    finding: Finding, kafka: Kafka, patch: Patch | None, has_control: bool, output: Path | None, as_json: bool
) -> int:
    """Play a finding's schedule on whole controllers, then its control, and return the exit code.

    The control is the same schedule with the fix in Kafka's classes.  It must be safe: otherwise the schedule itself
    breaks the cluster, and the run is inconclusive.  A user's fix replaces the control.
    """
    schedule = SCHEDULES.get(finding.name)
    if schedule is None:
        raise usage_error(f"--whole: {finding.name} has no schedule on whole controllers; {', '.join(SCHEDULES)} have")
    if output is not None and output.exists():
        raise CommandError(f"{output}: exists already, expected the name of a new folder", ExitCode.CANNOT_WRITE)
    home = output.resolve() if output is not None else Path(tempfile.mkdtemp(prefix="kraft-spec-whole-"))
    builds = {"run": kafka if patch is None else patched(kafka, patch)}
    if has_control and patch is None:
        builds["control"] = patched(kafka, fixes()[finding.fix])
    runs: dict[str, WholeRun] = {}
    try:
        with ended_by_signals():
            for name, build in builds.items():
                say(f"{finding.name} on whole controllers of Kafka {build.version} ...", console=stderr)
                runs[name] = run_schedule(schedule, build, home / name, lambda text: say(text, console=stderr))
                if runs[name].ending is not Ending.SHOWN:
                    break
    except OSError as error:
        raise CommandError(f"{home}: {error.strerror or error}", ExitCode.CANNOT_WRITE) from error
    except JavaMissing as error:
        raise CommandError(str(error), ExitCode.UNAVAILABLE) from error
    finally:
        if output is None:
            shutil.rmtree(home, ignore_errors=True)
    code = _exit_code(runs)
    if as_json:
        print_json({"finding": finding.name, "version": builds["run"].version, "exit_code": code, **_document(runs)})
        return code
    say(f"{finding.name} on whole controllers of Kafka {builds['run'].version}: {finding.title}", "bold")
    for line in _describe(runs["run"]):
        say(line)
    if control := runs.get("control"):
        say(f"control, the same with the fix {finding.fix}: {control.ending}, {control.reason}")
    if output is not None:
        say(f"properties, disks and logs of all controllers: {output}")
    return code


def _exit_code(runs: Mapping[str, WholeRun]) -> ExitCode:
    control = runs.get("control")
    if control is not None and control.ending is not Ending.SAFE:
        return ExitCode.INCONCLUSIVE
    return _CODES[runs["run"].ending]


def _describe(run: WholeRun) -> Iterator[str]:
    if run.ending is Ending.DEVIATION:
        yield f"inconclusive, because the schedule was not followed: {run.reason}"
        return
    if run.ending is Ending.SAFE or run.two_leaders is None:
        yield f"Kafka is safe: {run.reason}"
        return
    yield f"Kafka has the finding: {run.reason}"
    for leader, epoch in sorted(run.two_leaders.leaders.items()):
        writes = [write.config for write in run.two_leaders.writes if write.at == leader]
        yield f"  controller {leader}, leader of epoch {epoch}, acknowledged {', '.join(writes) or 'nothing'}"
    if run.lost:
        yield f"  lost in the end: {', '.join(f'{write.config} (acknowledged by {write.at})' for write in run.lost)}"
    for id_, reason in sorted(run.ended.items()):
        yield f"  the process of controller {id_} ended: {reason}"
    yield from _describe_divergences(run.divergences)


def _describe_divergences(divergences: tuple[Divergence, ...]) -> Iterator[str]:
    if divergences:
        yield f"  the logs differ at {len(divergences)} offsets:"
    for divergence in divergences[:_SHOWN_DIVERGENCES]:
        for number, (id_, text) in enumerate(divergence.records.items()):
            yield f"    {'' if number else divergence.offset:>6}  controller {id_}: {text}"


def _document(runs: Mapping[str, WholeRun]) -> dict[str, Any]:
    return {
        name: {
            "ending": run.ending,
            "reason": run.reason,
            "leaders": dict(run.two_leaders.leaders) if run.two_leaders else {},
            "acknowledged": [write._asdict() for write in run.two_leaders.writes] if run.two_leaders else [],
            "lost": [write._asdict() for write in run.lost],
            "ended": dict(run.ended),
            "divergences": [{"offset": it.offset, "records": dict(it.records)} for it in run.divergences],
        }
        for name, run in runs.items()
    }
