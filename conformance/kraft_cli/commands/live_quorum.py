"""`kraft-spec live quorum`: nodes and Kafka's controllers as one quorum, with faults, and the verdict on it."""

import asyncio
import shutil
import tempfile
from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import typer
from msgspec import MsgspecError, to_builtins

from kraft_cli.commands.options import Json, known_mutants
from kraft_cli.commands.signals import ended_by_signals
from kraft_cli.verdicts import show_rejection
from kraft_conformance.console import print_json, progress, say, stderr, stdout
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import CommandError, usage_error
from kraft_kafka.agent.unread_voters import UNREAD_VOTERS
from kraft_kafka.live.faults import FaultKind, plan_of
from kraft_kafka.live.judging import TRACE, Judged, judge
from kraft_kafka.live.quorum import PLAN, Plan, Quorum
from kraft_kafka.releases import profile_of
from kraft_reference.profile import PROFILES
from kraft_traces.check import VerdictKind
from kraft_traces.errors import TraceError
from kraft_traces.process_trace import MergeError

Nodes = Annotated[int, typer.Option("--nodes", min=1, max=5, help="How many voters are nodes of `kraft-spec node`.")]
Kafka = Annotated[
    list[str] | None,
    typer.Option("--kafka", metavar="VERSION|DIR[:COUNT]", help="Voters that are Kafka's controllers; repeatable."),
]
Seconds = Annotated[float, typer.Option("--seconds", min=0.1, help="How long faults are made.")]
Seed = Annotated[int, typer.Option("--seed", help="Of the plan: which fault when.")]
Faults = Annotated[str, typer.Option("--faults", help=f"Some of {', '.join(FaultKind)}, with commas; '' for none.")]
ProfileName = Annotated[
    str | None, typer.Option("--profile", help="Answers to the open points; default: that of the first Kafka, or kip.")
]
Mutants = Annotated[
    list[str] | None,
    typer.Option("--mutant", metavar="ID=NAME", help="Break a rule on purpose at a node; repeatable."),
]
Output = Annotated[
    Path | None,
    typer.Option(
        "-o", "--output", help="Keep the run in this new folder; default: quorum-SEED, if it is not accepted."
    ),
]
Again = Annotated[Path | None, typer.Option("--again", metavar="FOLDER", help="Run nothing: judge a kept run again.")]

_ALL = ",".join(FaultKind)


def quorum(
    nodes: Nodes = 3,
    kafka: Kafka = None,
    seconds: Seconds = 30.0,
    seed: Seed = 1,
    faults: Faults = _ALL,
    profile: ProfileName = None,
    mutant: Mutants = None,
    output: Output = None,
    again: Again = None,
    as_json: Json = False,
) -> int:
    """Run nodes and Kafka's controllers as one quorum, make faults, and check one trace of all of them.

    The nodes write their own traces, and an agent inside Kafka writes those of its controllers.
    Exit code 1: the trace is rejected; 2: the run shows Kafka's finding unread-voters, lines are missing, or there is
    no leader at the end. The run is then kept.
    """
    if again is not None:
        return _report(_judge_folder(again), again, as_json)
    plan = _make_plan(nodes, kafka or [], seconds, seed, faults, profile, mutant or [])
    folder = _new_folder(output)
    is_kept = output is not None
    try:
        judged = judged_run(plan, folder)
        if not is_kept and exit_code(judged) is not ExitCode.CONFORMANT:
            folder, is_kept = _keep(folder, seed), True
        return _report(judged, folder if is_kept else None, as_json)
    except Exception:
        # Keep everything of a run that had begun, whatever the error.
        if (folder / PLAN).exists():
            folder, is_kept = folder if is_kept else _keep(folder, seed), True
            say(f"all there is of the run: {folder}", console=stderr)
        raise
    finally:
        if not is_kept:
            shutil.rmtree(folder, ignore_errors=True)


def judged_run(plan: Plan, folder: Path) -> Judged:
    """Run a plan in an empty folder, with progress on standard error, and judge it.

    Raises:
        LaunchError: a process does not start.
        KafkaUnavailableError: Kafka is not available.
    """
    run = Quorum(plan, folder, lambda text: say(text, console=stderr))
    with ended_by_signals():
        asyncio.run(run.run())
    return _judge_folder(folder)


def exit_code(judged: Judged) -> ExitCode:
    """Return the exit code of a run."""
    if judged.is_accepted:
        return ExitCode.CONFORMANT
    is_rejected = judged.verdict.kind is VerdictKind.REJECTED and not judged.has_unread_voters
    return ExitCode.VIOLATION if is_rejected else ExitCode.INCONCLUSIVE


def _make_plan(
    nodes: int, kafka: list[str], seconds: float, seed: int, faults: str, profile: str | None, mutants: list[str]
) -> Plan:
    releases: list[str] = []
    for text in kafka:
        name, _, count = text.rpartition(":")
        releases += [name] * int(count) if name and count.isdecimal() else [text]
    voters = tuple(range(1, nodes + len(releases) + 1))
    if len(voters) > 5:
        raise usage_error(f"{len(voters)} voters, expected at most 5")
    unknown = [kind for kind in faults.split(",") if kind and kind not in list(FaultKind)]
    if unknown:
        raise usage_error(f"--faults {unknown[0]}: expected some of {', '.join(FaultKind)}")
    kinds = [FaultKind(kind) for kind in faults.split(",") if kind]
    profile = profile or (profile_of(releases[0]) if releases else "kip")
    if profile not in PROFILES:
        raise usage_error(f"--profile {profile}: expected one of {', '.join(PROFILES)}")
    of_nodes: dict[int, list[str]] = {}
    for text in mutants:
        number, _, name = text.partition("=")
        if not number.isdecimal() or int(number) not in voters[:nodes]:
            raise usage_error(f"--mutant {text}: expected ID=NAME with the id of a node, 1 to {nodes}")
        of_nodes.setdefault(int(number), []).extend(known_mutants([name]))
    return Plan(
        voters=voters,
        others=(len(voters) + 1,) if FaultKind.VOTERS in kinds else (),
        kafka=dict(zip(voters[nodes:], releases, strict=True)),
        profile=profile,
        faults=plan_of(seed, seconds, kinds, voters),
        seconds=seconds,
        seed=seed,
        mutants=of_nodes,
    )


def _new_folder(output: Path | None) -> Path:
    if output is None:
        return Path(tempfile.mkdtemp(prefix="kraft-spec-quorum-"))
    try:
        output.mkdir()
    except OSError as error:
        raise CommandError(f"{output}: {error.strerror}, expected a new folder", ExitCode.CANNOT_WRITE) from error
    return output.absolute()


def _keep(folder: Path, seed: int) -> Path:
    kept = next(
        path for number in range(10**6) if not (path := Path(f"quorum-{seed}{f'-{number}' * (number > 0)}")).exists()
    )
    shutil.move(folder, kept)
    return kept


def _judge_folder(folder: Path) -> Judged:
    try:
        with progress("merging the traces"):
            return judge(folder)
    except (TraceError, MergeError, MsgspecError) as error:
        raise CommandError(f"{folder}: {error}", ExitCode.BAD_INPUT) from error
    except OSError as error:
        raise CommandError(f"{error.filename}: {error.strerror}", ExitCode.NO_INPUT) from error


def _report(judged: Judged, folder: Path | None, as_json: bool) -> int:
    rejection = judged.verdict.rejection
    code = exit_code(judged)
    if as_json:
        print_json(
            {
                "plan": to_builtins(judged.plan, str_keys=True),
                **to_builtins(judged.ran),
                **summary(judged),
                "verdict": judged.verdict.as_dict(),
                "unread_voters": judged.has_unread_voters,
                "folder": None if folder is None else str(folder),
            }
        )
        return code
    for line in lines(judged):
        say(line)
    if judged.has_unread_voters:
        say(UNREAD_VOTERS)
    if not judged.ran.has_leader:
        say("nobody leads at the end", "red")
    if rejection is not None:
        show_rejection(stdout, rejection)
    if folder is not None:
        say(f"all of the run: {folder}; its trace: {folder / TRACE}")
        say(f"judge it again: kraft-spec live quorum --again {folder}")
    return code


def summary(judged: Judged) -> dict[str, Any]:
    """Return the figures of a run."""
    return {
        "leaders": [{"epoch": epoch, "leader": leader} for epoch, leader in judged.leaders],
        "events": len(judged.lines),
        "of_kafka": sum(line.replica in judged.plan.kafka for line in judged.lines),
    }


def lines(judged: Judged) -> list[str]:
    """Return a run in lines of at most 80 columns."""
    plan, sums = judged.plan, summary(judged)
    names = {id_: f"{id_} (Kafka {plan.kafka[id_]})" if id_ in plan.kafka else str(id_) for id_ in plan.replicas}
    counted = Counter(fault.kind.value for fault in plan.faults)
    text = [
        f"voters {', '.join(names[id_] for id_ in plan.voters)}"
        + (f"; observer {', '.join(names[id_] for id_ in plan.others)}" if plan.others else "")
    ]
    text.append(f"  faults    {', '.join(f'{number} {kind}' for kind, number in sorted(counted.items())) or 'none'}")
    leaders = [f"{epoch}: {leader}" for epoch, leader in judged.leaders]
    text += [f"  {'leaders' if not i else '':<8}  {', '.join(leaders[i : i + 8])}" for i in range(0, len(leaders), 8)]
    of_kafka = f", {sums['of_kafka']} of them recorded in Kafka" if plan.kafka else ""
    text.append(f"  events    {sums['events']}{of_kafka}")
    text.append(f"  verdict   {judged.verdict.kind}")
    return text
