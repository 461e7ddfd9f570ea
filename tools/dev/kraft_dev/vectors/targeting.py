"""Vectors out of the short scripts."""

from collections.abc import Iterator

from kraft_conformance.vectors.acceptance import Accepts
from kraft_conformance.vectors.format import Vector
from kraft_conformance.vectors.recording import Subject
from kraft_dev.vectors.targeted import TARGETS
from kraft_dev.vectors.twins import Recorded, with_twin


def targeted_vectors(accepts: Accepts) -> Iterator[Vector]:
    """The vectors of all scripts; a run that several of them are cut from is made once.

    Raises:
        NotAcceptedError: the model rejects a run.
        ValueError: nothing happens at the replica that a vector is about.
    """
    runs: dict[object, Recorded] = {}
    for target in TARGETS:
        made_by = (target.script, id(target.configuration))
        if made_by not in runs:
            name = f"script {target.script.__module__.rpartition('.')[2]}.{target.script.__name__.lstrip('_')}"
            runs[made_by] = Recorded(name, target.configuration, target.script, accepts)
        subject = Subject(target.id, target.title, target.rules, target.replica_id, target.level)
        vectors = tuple(with_twin(runs[made_by], subject))
        if not vectors:
            raise ValueError(f"{target.id}: nothing happens at replica {target.replica_id} after the first step")
        yield from vectors
