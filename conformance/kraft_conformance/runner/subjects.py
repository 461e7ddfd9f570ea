"""The subjects of vectors: the parts of the runner that know the events and the states of each."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kraft_conformance.protocol.messages import HelloReply
from kraft_conformance.runner.attribution import shown_of, steps_of
from kraft_conformance.runner.partition_attribution import shown_of_controllers, steps_of_controllers
from kraft_conformance.runner.partition_running import PartitionRun
from kraft_conformance.runner.replica_running import ReplicaRun
from kraft_conformance.runner.vector_run import VectorRun
from kraft_conformance.runner.without_pre_vote import as_asked
from kraft_mutants.attribution import AnyGiven
from kraft_vectors.features import Level, Subject


@dataclass(frozen=True, slots=True)
class SubjectRunner:
    """The functions of the runner for one subject; each takes a vector of that subject."""

    as_asked: Callable[[Any, HelloReply], Any]
    """The vector for an adapter that lacks a KIP."""
    run: type[VectorRun[Any]]
    steps: Callable[[Any], Sequence[AnyGiven]]
    """Inputs of the reference in each step; none where the vector allows several outcomes."""
    shown: Callable[[Any, Level], object]
    """The part of a reference step that an adapter which passes shows at this level."""


RUNNERS: Mapping[Subject, SubjectRunner] = {
    "replica": SubjectRunner(
        as_asked,
        ReplicaRun,
        lambda vector: () if vector.courses else tuple(steps_of(vector, vector.cluster)),
        shown_of,
    ),
    "partitions": SubjectRunner(
        lambda vector, _: vector,
        PartitionRun,
        lambda vector: steps_of_controllers(vector, vector.cluster),
        shown_of_controllers,
    ),
}
