"""One vector on one adapter, of whichever subject."""

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from kraft_conformance.runner.asking import NotAsked, applies
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
"""By the subject of the vector."""


def run_vector(
    session: Adapter,
    vector: AnyVector,
    profile: str,
    *,
    attributes: bool = False,
    left_out: frozenset[str] = frozenset(),
) -> Outcome:
    """Run a vector, of whichever subject.

    Args:
        session: the adapter.
        vector: what is asked.
        profile: under which.
        attributes: whether a failure names the rules behind what differs, which takes a moment, or those of the vector.
        left_out: mutants of the catalogue that a failure is not compared with.

    Raises:
        AdapterFault: the adapter does not answer as the protocol says; its process is to be ended.
    """
    kind = RUNS[vector.subject]
    vector = kind.as_asked(vector, session.hello)
    run = kind(session, vector, profile)
    try:
        applies(vector, session.hello, profile)
        return run.outcome()
    except NotAsked as not_asked:
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
        except Exception as error:  # no defect of attribution costs the verdict
            return replace(outcome, remark=defect_line(error))


def errored(vector_id: str, fault: AdapterFault) -> Outcome:
    """The outcome of a vector at which the adapter failed as a program."""
    return Outcome(
        vector_id, Status.ERROR, str(fault), fault.step, fault.event, None, fault.kind, fault.stderr, rules=fault.rules
    )
