"""Run of a vector of either subject on an adapter."""

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from kraft_conformance.runner.asking import NotApplicable, check_applicable
from kraft_conformance.runner.faults import AdapterFault, Unsupported
from kraft_conformance.runner.outcome import Failed, Outcome, Status
from kraft_conformance.runner.partition_running import PartitionRun
from kraft_conformance.runner.replica_running import ReplicaRun
from kraft_conformance.runner.session import Adapter
from kraft_conformance.runner.vector_run import VectorRun
from kraft_mutants.attribution import defect_line
from kraft_vectors.catalogue import AnyVector
from kraft_vectors.features import Subject

RUNS: Mapping[Subject, type[VectorRun[Any]]] = {"replica": ReplicaRun, "partitions": PartitionRun}
"""Runs by subject."""


def run_vector(
    session: Adapter,
    vector: AnyVector,
    profile: str,
    *,
    attributes: bool = False,
    left_out: frozenset[str] = frozenset(),
) -> Outcome:
    """Run a vector of either subject.

    Args:
        session: the adapter.
        vector: the vector.
        profile: name of the profile.
        attributes: True if a failure names the rules behind the differences, which takes longer; else the vector's.
        left_out: mutants of the catalogue that are not compared with a failure.

    Raises:
        AdapterFault: the adapter violates the protocol; the caller must end its process.
    """
    kind = RUNS[vector.subject]
    vector = kind.as_asked(vector, session.hello)
    run = kind(session, vector, profile)
    try:
        check_applicable(vector, session.hello, profile)
        return run.outcome()
    except NotApplicable as not_asked:
        return Outcome(vector.id, not_asked.status, not_asked.reason)
    except Unsupported as fault:
        return Outcome(vector.id, Status.UNSUPPORTED, f"the adapter says: {fault}")
    except AdapterFault as fault:
        run.place(fault)
        raise
    except Failed as failed:
        where = "before the first step" if failed.step == 0 else f"step {failed.step} of {len(vector.steps)}"
        reason = f"{where}: {failed.differences[0]}"
        outcome = Outcome(
            vector.id,
            Status.FAIL,
            reason,
            failed.step,
            failed.event,
            rules=vector.rules,
            differences=failed.differences,
            effects=failed.effects,
        )
        try:
            return run.attributed(outcome, left_out) if attributes else outcome
        except Exception as error:  # a defect of attribution must not change the verdict
            return replace(outcome, remark=defect_line(error))


def error_outcome(vector_id: str, fault: AdapterFault) -> Outcome:
    """Return the outcome of a vector in which the adapter had a fault."""
    return Outcome(
        vector_id, Status.ERROR, str(fault), fault.step, fault.event, None, fault.kind, fault.stderr, rules=fault.rules
    )
