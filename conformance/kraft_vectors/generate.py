"""Generation of the package's vectors: `python -m kraft_vectors.generate [--check]`.

The model must accept each vector's run under each of its profiles before the vector and its transcript are written.
The same sources give the same bytes; `--check` writes nothing and lists the differing files.
"""

import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from kraft_reference.events import Event, Receive, event_name
from kraft_reference.messages import Error, VoteRequest, VoteResponse
from kraft_reference.profile import KAFKA_PROFILES
from kraft_reference.roles import Role
from kraft_simulation.occurrence import Occurrence
from kraft_simulation.scenarios import SCENARIOS, Scenario, Variant
from kraft_spec.action_rules import rules_of_event
from kraft_traces.check import TRACE_PROPERTIES
from kraft_vectors.acceptance import accepted_by_model, accepted_under_own_profile
from kraft_vectors.files import files_of
from kraft_vectors.format import Vector
from kraft_vectors.manifest import vector_folder
from kraft_vectors.partitions.making import partition_vectors
from kraft_vectors.recording import Run, Subject
from kraft_vectors.scripts import TARGETS
from kraft_vectors.target import source_of
from kraft_vectors.twins import Recorded, with_twins


def generate_files() -> dict[str, bytes]:
    """Return every file of the folder of vectors, by name.

    Raises:
        NotAcceptedError: the model rejects a run.
        VectorProofError: a vector differs from its run.
        ValueError: two vectors have the same id, or a vector names an inactive rule.
    """
    return files_of((*scenario_vectors(), *targeted_vectors(), *partition_vectors()))


def scenario_vectors() -> Iterator[Vector]:
    """Yield the vectors of all scenarios, by the number of the scenario.

    Raises:
        NotAcceptedError: the model rejects a run.
    """
    for scenario in SCENARIOS:
        for variant in scenario.variants:
            if _is_conformant(variant):
                yield from _vectors(scenario, variant)


def _is_conformant(variant: Variant) -> bool:
    """True if all rules are in force and the model accepts the run."""
    return not variant.mutants and not TRACE_PROPERTIES & set(variant.violates)


def _vectors(scenario: Scenario, variant: Variant) -> Iterator[Vector]:
    source = f"scenario {scenario.name}/{variant.name}"
    made = Recorded(source, variant.configuration, variant.script, accepted_by_model, accepted_under_own_profile)
    for replica_id, replica in sorted(variant.configuration.replicas.items()):
        # The behaviour of software without Pre-Vote is not a requirement.
        if replica.pre_vote != "supported":
            continue
        decides = tuple(rule for rule in scenario.rules if rule in _stated(made.run, replica_id))
        if decides:
            name = f"scenario.{scenario.name}.{variant.name}.replica-{replica_id}"
            title = f"{scenario.title}: replica {replica_id} ({variant.name})"
            subject = Subject(name, title, decides, replica_id)
            yield from with_twins(made, subject, _has_variant(scenario, variant))


def _has_variant(scenario: Scenario, variant: Variant) -> bool:
    """True if the scenario has a variant with the same script under a profile of Apache Kafka."""
    return any(
        other is not variant and other.script == variant.script and other.configuration.profile in KAFKA_PROFILES
        for other in scenario.variants
    )


def _stated(run: Run, replica_id: int) -> frozenset[str]:
    """Return the rules that the model cites for the events of the steps at a replica."""
    rules: set[str] = set()
    role: Role | None = None
    for occurrence in run.occurrences:
        if occurrence.replica_id != replica_id:
            continue
        if occurrence.sequence >= run.start:
            rules.update(_rules(occurrence, role))
        role = None if occurrence.state is None else occurrence.state.role
    return frozenset(rules)


def _rules(occurrence: Occurrence, role: Role | None) -> tuple[str, ...]:
    event = occurrence.event
    assert isinstance(event, Event), "what happens at a replica is an event of it"
    pre_vote = None
    if isinstance(event, Receive) and isinstance(event.message, VoteRequest | VoteResponse):
        message = event.message
        # The network layer's response to a Pre-Vote that cannot be encoded has no such flag.
        unsent = isinstance(message, VoteResponse) and message.error is Error.UNSUPPORTED_VERSION
        pre_vote = None if unsent else message.pre_vote
    after = None if occurrence.state is None else str(occurrence.state.role)
    return rules_of_event(event_name(event), None if role is None else str(role), pre_vote, after)


def targeted_vectors() -> Iterator[Vector]:
    """Yield the vectors of all scripts; a run is made once for all of its vectors.

    Raises:
        NotAcceptedError: the model rejects a run.
        ValueError: a vector's replica has no event after the first step.
    """
    runs: dict[object, Recorded] = {}
    for subject, script, configuration in TARGETS:
        made_by = (script, id(configuration))
        if made_by not in runs:
            source = source_of(script)
            runs[made_by] = Recorded(source, configuration, script, accepted_by_model, accepted_under_own_profile)
        vectors = tuple(with_twins(runs[made_by], subject))
        if not vectors:
            raise ValueError(f"{subject.id}: nothing happens at replica {subject.replica_id} after the first step")
        yield from vectors


def differing_files(made: Mapping[str, bytes], folder: Path) -> list[str]:
    """Return the names of the files in a folder that are missing, different or unexpected."""
    paths = [path for suffix in ("json", "txt") for path in folder.rglob(f"*.{suffix}")]
    there = {path.relative_to(folder).as_posix(): path for path in paths}
    wrong = {name for name, raw in made.items() if name not in there or there[name].read_bytes() != raw}
    return sorted(wrong | (there.keys() - made.keys()))


def write(made: Mapping[str, bytes], folder: Path) -> None:
    """Write the files, and remove all others."""
    for name in differing_files(made, folder) if folder.exists() else made:
        path = folder / name
        if name in made:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(made[name])
        else:
            path.unlink()


def write_or_check(words: Iterable[str], made: Mapping[str, bytes], folder: Path, what: str) -> int:
    """Write the files, or with `--check` print the differing ones and return 1 if there are any."""
    if "--check" not in words:
        folder.mkdir(parents=True, exist_ok=True)
        write(made, folder)
        print(f"{sum(name.endswith('.json') for name in made) - 1} {what} in {folder}")
        return 0
    wrong = differing_files(made, folder)
    for name in wrong:
        print(f"{folder / name}: not what the generator makes")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(write_or_check(sys.argv[1:], generate_files(), vector_folder(), "vectors"))
