"""Files of a failing run: its trace, and a vector that fails in the same way.

Up to the first difference all replicas act as the reference does.
So a run of the reference with the same moves has the same history, and its next step is the vector's expectation.
"""

from dataclasses import replace
from pathlib import Path

from kraft_conformance.random_runs.model import trace_of
from kraft_conformance.random_runs.notes import FirstDifference
from kraft_conformance.random_runs.running import Recorded, RunSpec
from kraft_conformance.random_runs.table import Table
from kraft_conformance.runner.outcome import Outcome, Status
from kraft_conformance.runner.running import run_vector
from kraft_reference.events import Draw, Event, event_name
from kraft_simulation.occurrence import Occurrence
from kraft_simulation.schedule import replay
from kraft_simulation.world import World
from kraft_spec.rules import load_registry
from kraft_traces.streams import atomic_file
from kraft_vectors.acceptance import Accepts, NotAcceptedError
from kraft_vectors.catalogue import Catalogue
from kraft_vectors.files import file_name, files_of, transcript_name
from kraft_vectors.format import Vector
from kraft_vectors.manifest import MANIFEST
from kraft_vectors.recording import Run, Subject, VectorProofError, vector_of
from kraft_vectors.requirements import at_replica


class NoVectorError(Exception):
    """No vector can be made of a failure; the message has the reason."""


def write_trace(path: Path, table: Table, spec: RunSpec, recorded: Recorded) -> None:
    """Write the trace of a run.

    Raises:
        OSError: it cannot be written.
    """
    with atomic_file(path) as stream:
        for line in trace_of(table, spec, recorded):
            stream.write(line)


def vector_for(
    table: Table, spec: RunSpec, recorded: Recorded, first: FirstDifference, rules: tuple[str, ...], accepts: Accepts
) -> tuple[Vector, Outcome]:
    """Return a vector of the step that differs, and its outcome on the adapter.

    It begins as late as possible before the step, such that the adapter fails.

    Raises:
        NoVectorError: no vector can be made.
        AdapterFault: the adapter violates the protocol.
    """
    occurrences, draws = _of_the_reference(spec, recorded, first)
    own = at_replica(occurrences, first.replica_id)
    name = f"{spec.preset.name}-{spec.seed}"
    source = f"kraft-spec conformance random, workload {spec.preset.name}, seed {spec.seed}"
    title = f"{first.event} at replica {first.replica_id} in a random run"
    registry = load_registry()
    named = tuple([rule for rule in rules if registry[rule].is_active])
    if not named:
        raise NoVectorError(f"no rule is about {first.event}")
    subject = Subject(f"random.{name}", title, named, first.replica_id, first.level)
    steps = 1
    while True:
        start = own[-min(steps, len(own))].sequence
        run = Run(source, spec.configuration, occurrences, draws, start, ())
        try:
            vector = vector_of(replace(run, profiles=accepts(run)), subject)
        except (NotAcceptedError, VectorProofError) as error:
            raise NoVectorError(str(error)) from error
        assert vector is not None, "the replica has an event"
        outcome = run_vector(table.session(first.replica_id), vector, spec.configuration.profile.name)
        if outcome.status is Status.FAIL or steps >= len(own):
            return vector, outcome
        steps *= 2


def _of_the_reference(
    spec: RunSpec, recorded: Recorded, first: FirstDifference
) -> tuple[tuple[Occurrence, ...], dict[int, Draw]]:
    """Return the reference's run with the same moves, up to the step that differs."""
    occurrences: list[Occurrence] = []
    draws: dict[int, Draw] = {}
    moves = [move for move in recorded.schedule if move.sequence <= _last_move(recorded, first)]
    for move, occurrence in replay(World(spec.configuration), moves):
        occurrences.append(occurrence)
        draws[occurrence.sequence] = Draw(occurrence.sequence, move.election_timeout_ms, move.election_backoff_ms)
    if not occurrences or occurrences[-1].replica_id != first.replica_id:
        raise NoVectorError("the reference does not reach the step that differs")
    event = occurrences[-1].event
    if not isinstance(event, Event) or event_name(event) != first.event:
        raise NoVectorError("the reference does not reach the step that differs")
    return tuple(occurrences), draws


def _last_move(recorded: Recorded, first: FirstDifference) -> int:
    """Return the sequence number of the move that made the first difference."""
    if len(recorded.schedule) < first.sequence:
        raise NoVectorError("the schedule of the run is incomplete")
    return recorded.schedule[first.sequence - 1].sequence


def write_vector(folder: Path, vector: Vector) -> None:
    """Add a vector to a folder of vectors, or replace the one with its id.

    Raises:
        VectorFileError: the folder's manifest, or one of its vectors, cannot be read.
        OSError: a file cannot be written.
    """
    vectors: list[Vector] = []
    if (folder / MANIFEST).exists():
        catalogue = Catalogue(folder)
        vectors = [replica for replica in catalogue.of_replicas() if replica.id != vector.id]
    files = files_of((*vectors, vector))
    for name in (file_name(vector.id), transcript_name(vector.id), MANIFEST):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_file(path) as stream:
            stream.write(files[name])
