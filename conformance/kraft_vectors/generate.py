"""Make the vectors of the package anew: `python -m kraft_vectors.generate [--check]`.

Each is accepted by the model before it is written, under each profile that it names; a transcript is written beside it.
The same sources give the same bytes; `--check` writes nothing and says what differs.
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
from kraft_vectors.acceptance import accepted_by_model
from kraft_vectors.files import files_of
from kraft_vectors.format import Vector
from kraft_vectors.manifest import vector_folder
from kraft_vectors.partitions.making import partition_vectors
from kraft_vectors.recording import Run, Subject
from kraft_vectors.scripts import TARGETS
from kraft_vectors.target import source_of
from kraft_vectors.twins import Recorded, with_twins


def generated() -> dict[str, bytes]:
    """Every file of the folder of vectors, by its name.

    Raises:
        NotAcceptedError: the model rejects a run.
        VectorProofError: a vector does not say what its run shows.
        ValueError: two vectors have one id, or a rule that a vector names does not hold.
    """
    return files_of((*scenario_vectors(), *targeted_vectors(), *partition_vectors()))


def scenario_vectors() -> Iterator[Vector]:
    """The vectors of all scenarios, by the number of the scenario.

    Raises:
        NotAcceptedError: the model rejects a run.
    """
    for scenario in SCENARIOS:
        for variant in scenario.variants:
            if _is_conformant(variant):
                yield from _vectors(scenario, variant)


def _is_conformant(variant: Variant) -> bool:
    """Are all rules in force, and does the model accept what happens?"""
    return not variant.mutants and not TRACE_PROPERTIES & set(variant.violates)


def _vectors(scenario: Scenario, variant: Variant) -> Iterator[Vector]:
    source = f"scenario {scenario.name}/{variant.name}"
    made = Recorded(source, variant.configuration, variant.script, accepted_by_model)
    for replica_id, replica in sorted(variant.configuration.replicas.items()):
        # What software without Pre-Vote does is no outcome to hold anybody to.
        if replica.pre_vote != "supported":
            continue
        decides = tuple(rule for rule in scenario.rules if rule in _stated(made.run, replica_id))
        if decides:
            name = f"scenario.{scenario.name}.{variant.name}.replica-{replica_id}"
            title = f"{scenario.title}: replica {replica_id} ({variant.name})"
            subject = Subject(name, title, decides, replica_id)
            yield from with_twins(made, subject, _has_variant(scenario, variant))


def _has_variant(scenario: Scenario, variant: Variant) -> bool:
    """Does the scenario have the same script under a profile of Apache Kafka as a variant of its own?"""
    return any(
        one is not variant and one.script == variant.script and one.configuration.profile in KAFKA_PROFILES
        for one in scenario.variants
    )


def _stated(run: Run, replica_id: int) -> frozenset[str]:
    """The rules that the model states for the events of the steps at a replica."""
    rules: set[str] = set()
    role: Role | None = None
    for one in run.occurrences:
        if one.replica_id != replica_id:
            continue
        if one.sequence >= run.start:
            rules.update(_rules(one, role))
        role = None if one.state is None else one.state.role
    return frozenset(rules)


def _rules(occurrence: Occurrence, role: Role | None) -> tuple[str, ...]:
    event = occurrence.event
    assert isinstance(event, Event), "what happens at a replica is an event of it"
    pre_vote = None
    if isinstance(event, Receive) and isinstance(event.message, VoteRequest | VoteResponse):
        message = event.message
        # The network layer's answer to a Pre-Vote that cannot be encoded has no such flag.
        unsent = isinstance(message, VoteResponse) and message.error is Error.UNSUPPORTED_VERSION
        pre_vote = None if unsent else message.pre_vote
    after = None if occurrence.state is None else str(occurrence.state.role)
    return rules_of_event(event_name(event), None if role is None else str(role), pre_vote, after)


def targeted_vectors() -> Iterator[Vector]:
    """The vectors of all scripts; a run that several of them are cut from is made once.

    Raises:
        NotAcceptedError: the model rejects a run.
        ValueError: nothing happens at the replica that a vector is about.
    """
    runs: dict[object, Recorded] = {}
    for subject, script, configuration in TARGETS:
        made_by = (script, id(configuration))
        if made_by not in runs:
            runs[made_by] = Recorded(source_of(script), configuration, script, accepted_by_model)
        vectors = tuple(with_twins(runs[made_by], subject))
        if not vectors:
            raise ValueError(f"{subject.id}: nothing happens at replica {subject.replica_id} after the first step")
        yield from vectors


def differing(made: Mapping[str, bytes], folder: Path) -> list[str]:
    """The names of the files that are missing, other ones, or too many in a folder."""
    paths = [path for suffix in ("json", "txt") for path in folder.rglob(f"*.{suffix}")]
    there = {path.relative_to(folder).as_posix(): path for path in paths}
    wrong = {name for name, raw in made.items() if name not in there or there[name].read_bytes() != raw}
    return sorted(wrong | (there.keys() - made.keys()))


def write(made: Mapping[str, bytes], folder: Path) -> None:
    """Write the files; what else is there is removed."""
    for name in differing(made, folder) if folder.exists() else made:
        path = folder / name
        if name in made:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(made[name])
        else:
            path.unlink()


def write_or_check(words: Iterable[str], made: Mapping[str, bytes], folder: Path, what: str) -> int:
    """Write the files, or with `--check` say which differ; the exit code is 1 if something does."""
    if "--check" not in words:
        folder.mkdir(parents=True, exist_ok=True)
        write(made, folder)
        print(f"{sum(name.endswith('.json') for name in made) - 1} {what} in {folder}")
        return 0
    wrong = differing(made, folder)
    for name in wrong:
        print(f"{folder / name}: not what the generator makes")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(write_or_check(sys.argv[1:], generated(), vector_folder(), "vectors"))
