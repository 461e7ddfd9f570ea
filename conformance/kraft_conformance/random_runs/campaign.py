"""Campaigns of random runs with the same adapters."""

import shlex
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path

from kraft_conformance.random_runs.abilities import UnsuitableAdaptersError, restrict
from kraft_conformance.random_runs.judging import Judgement, judge
from kraft_conformance.random_runs.model import trace_of
from kraft_conformance.random_runs.outcome import RandomOutcome, Saved
from kraft_conformance.random_runs.plan import RandomPlan
from kraft_conformance.random_runs.running import Recorded, RunSpec, run
from kraft_conformance.random_runs.saving import NoVectorError, vector_for, write_trace, write_vector
from kraft_conformance.random_runs.shrinking import ShrunkRun, shrink_run
from kraft_conformance.random_runs.table import Table
from kraft_conformance.runner.faults import AdapterFault, UnknownProfile, Unsupported
from kraft_conformance.runner.outcome import FAILING, Outcome, Status
from kraft_reference.profile import PROFILES
from kraft_simulation.workload import WORKLOADS
from kraft_vectors.acceptance import accepted_by_model

__all__ = ("RandomPlan", "random_campaign", "repetition")


def random_campaign(
    plan: RandomPlan, on_run: Callable[[RandomOutcome], None] = lambda _: None
) -> tuple[RandomOutcome, ...]:
    """Make the runs, by workload and seed, and return their outcomes.

    Raises:
        AdapterFault: an adapter cannot be started, or its hello is wrong.
        ValueError: the workload, profile or cluster does not exist.
        VectorFileError, OSError: the folder for failures cannot be written.
    """
    with Table(plan.seats, plan.reply_timeout_s) as table:
        outcomes = []
        for outcome in _Campaign(plan, table).outcomes():
            on_run(outcome)
            outcomes.append(outcome)
        return tuple(outcomes)


def repetition(plan: RandomPlan, workload: str, seed: int) -> str:
    """Return the command that makes a run again."""
    words = ["kraft-spec", "conformance", "random"]
    for seat in plan.seats:
        words += ["--adapter", str(seat)]
    words += ["--seed", str(seed), "--workload", workload, "--steps", str(plan.steps)]
    words += ["--replicas", str(plan.replicas)]
    words += ["--profile", plan.profile] if plan.profile is not None else []
    return shlex.join(words + (["--differential"] if plan.differential else []))


class _Campaign:
    def __init__(self, plan: RandomPlan, table: Table) -> None:
        self._plan = plan
        self._table = table
        profiles = [hello.profile for hello in table.hellos]
        self._profile = plan.profile or (profiles[0] if profiles else "kip")
        if self._profile not in PROFILES and plan.profile is None:
            detail = f"the adapter's hello names the profile {self._profile!r}, expected one of {', '.join(PROFILES)}"
            raise UnknownProfile(f"{detail}; choose one with --profile")
        for workload in plan.workloads:
            if workload not in WORKLOADS:
                raise ValueError(f"no workload {workload!r}; there are {', '.join(WORKLOADS)}")
            # Errors of the cluster are raised before the first run.
            self._table.configuration(
                WORKLOADS[workload], 0, plan.replicas, self._profile, old_software_everywhere=False
            )

    def outcomes(self) -> Iterator[RandomOutcome]:
        stopped = False
        for workload in self._plan.workloads:
            for seed in self._plan.seeds:
                if stopped:
                    yield self._outcome(workload, seed, Status.SKIPPED, "after the first failure")
                    continue
                outcome = self._one(workload, seed)
                stopped = self._plan.stops_at_first and outcome.outcome.status in FAILING
                yield outcome

    def _outcome(self, workload: str, seed: int, status: Status, reason: str) -> RandomOutcome:
        repeat = repetition(self._plan, workload, seed)
        return RandomOutcome(workload, seed, Outcome(f"{workload}.{seed}", status, reason), repeat)

    def _one(self, workload: str, seed: int) -> RandomOutcome:
        plan, table = self._plan, self._table
        try:
            fitting = restrict(WORKLOADS[workload], table.hellos)
        except UnsuitableAdaptersError as reason:
            return self._outcome(workload, seed, Status.UNSUPPORTED, str(reason))
        table.deal(fitting.preset)
        everywhere = plan.old_software_everywhere
        configuration = table.configuration(
            fitting.preset, seed, plan.replicas, self._profile, old_software_everywhere=everywhere
        )
        spec = RunSpec(fitting.preset, configuration, seed, plan.steps, plan.differential, plan.known)
        try:
            recorded = run(table, spec)
        except AdapterFault as fault:
            # All adapters are ended, so that the next run begins with new ones.
            asking = table.asking
            table.end(politely=False)
            return self._faulty(workload, seed, fault, asking)
        judgement = judge(spec, recorded, f"{workload}.{seed}", checks_model=plan.checks_model)
        short = None
        if plan.shrinks and judgement.status in FAILING and judgement.first is not None:
            short = shrink_run(table, spec, recorded, judgement.first, plan.shrink_runs_max)
        saved = None
        if plan.save is not None and judgement.status in FAILING:
            saved = self._saved(plan.save, spec, recorded, judgement, short)
        first = judgement.first
        digest = sha256()
        for line in trace_of(table, spec, recorded):
            digest.update(line)
        return RandomOutcome(
            workload,
            seed,
            Outcome(
                f"{workload}.{seed}",
                judgement.status,
                judgement.reason,
                None if first is None else first.sequence,
                None if first is None else first.event,
                judgement.rule_level,
                rules=judgement.rules,
                differences=judgement.differences,
                left_out=tuple(sorted(recorded.notes.left_out)),
            ),
            repetition(plan, workload, seed),
            events=len(recorded.lines),
            replica=None if first is None else first.replica_id,
            adapter=None if first is None else str(table.seat(first.replica_id)),
            violation=None if recorded.violation is None else str(recorded.violation),
            model=judgement.model,
            remarks=judgement.remarks,
            restricted=fitting.left_out,
            trace_sha256=digest.hexdigest(),
            shrunk=None if short is None else short.outcome,
            known=recorded.notes.reasons,
            until_known=recorded.until_known,
            is_whole=recorded.is_whole,
            saved=saved,
        )

    def _faulty(self, workload: str, seed: int, fault: AdapterFault, asking: tuple[int, str] | None) -> RandomOutcome:
        status = Status.UNSUPPORTED if isinstance(fault, Unsupported) else Status.ERROR
        where = "" if asking is None else f"replica {asking[0]}, {asking[1]}: "
        kind = None if status is Status.UNSUPPORTED else fault.kind
        stderr = "" if status is Status.UNSUPPORTED else fault.stderr
        outcome = Outcome(f"{workload}.{seed}", status, f"{where}{fault}", fault=kind, stderr=stderr)
        replica = None if asking is None else asking[0]
        adapter = None if replica is None else str(self._table.seat(replica))
        repeat = repetition(self._plan, workload, seed)
        return RandomOutcome(workload, seed, outcome, repeat, replica=replica, adapter=adapter)

    def _saved(
        self, folder: Path, spec: RunSpec, recorded: Recorded, judgement: Judgement, short: ShrunkRun | None
    ) -> Saved:
        table, name = self._table, f"{spec.preset.name}-{spec.seed}"
        folder.mkdir(parents=True, exist_ok=True)
        trace = folder / f"{name}.jsonl"
        shrunk_trace: Path | None = None
        write_trace(trace, table, spec, recorded)
        if short is not None:
            shrunk_trace = folder / f"{name}.shrunk.jsonl"
            write_trace(shrunk_trace, table, spec, short.recorded)
        files = (str(trace), None if shrunk_trace is None else str(shrunk_trace))
        shortest = recorded if short is None else short.recorded
        first = shortest.notes.first
        if first is None or not first.sequence:
            missing = "no step of an adapter differs" if first is None else "the replica differs before its first event"
            return Saved(*files, without_vector=missing)
        try:
            vector, outcome = vector_for(table, spec, shortest, first, judgement.rules, accepted_by_model)
        except NoVectorError as error:
            return Saved(*files, without_vector=str(error))
        except AdapterFault as fault:
            table.end(politely=False)
            return Saved(*files, without_vector=f"the adapter breaks the protocol in it: {fault}")
        write_vector(folder, vector)
        words = ["kraft-spec", "conformance", "replay", vector.id, "--vectors", str(folder)]
        words += ["--adapter", str(table.seat(first.replica_id))]
        words += ["--profile", self._plan.profile] if self._plan.profile is not None else []
        return Saved(*files, vector.id, shlex.join(words), why_not_enough(outcome))


def why_not_enough(outcome: Outcome) -> str | None:
    """Return why a saved vector alone does not repeat the failure of its run; None if it does."""
    match outcome.status:
        case Status.FAIL:
            return None
        case Status.PASS:
            return "the adapter passes the vector alone; the failure needs the whole run"
        case status:
            return f"the vector alone is {status}: {outcome.reason}"
