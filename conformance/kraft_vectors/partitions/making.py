"""Vectors of the subject `partitions`, from scenarios with every rule in force and from scripts."""

from collections.abc import Iterator

from kraft_partitions.decisions import PROFILES
from kraft_partitions.scenarios import PARTITION_SCENARIOS, PartitionVariant
from kraft_traces.partitions.checker import unpromised_properties
from kraft_traces.partitions.process import PartitionProcess
from kraft_vectors.partitions.deciding import deciding_rules
from kraft_vectors.partitions.format import PartitionVector
from kraft_vectors.partitions.recording import PartitionSubject, partition_vector_of
from kraft_vectors.partitions.scripts import PARTITION_TARGETS
from kraft_vectors.partitions.staging import accepting, partition_run
from kraft_vectors.target import source_of


def partition_vectors() -> Iterator[PartitionVector]:
    """Yield all vectors.

    Raises:
        NotAcceptedError: the model rejects a run.
        VectorProofError: a vector does not say what its run shows.
    """
    with PartitionProcess() as process:
        accepts = accepting(process)
        for scenario in PARTITION_SCENARIOS:
            for variant in filter(_is_conformant, scenario.variants):
                name = f"{scenario.name}/{variant.name}"
                run = partition_run(f"scenario {name}", variant.configuration, variant.script, accepts)
                rules = deciding_rules(run, scenario.rules)
                if rules:
                    vector_id = f"scenario.{scenario.name}.{variant.name}.controller"
                    title = f"{scenario.title}: the controller ({variant.name})"
                    yield partition_vector_of(run, PartitionSubject(vector_id, title, rules))
        for subject, script, configuration in PARTITION_TARGETS:
            yield partition_vector_of(partition_run(source_of(script), configuration, script, accepts), subject)


def _is_conformant(variant: PartitionVariant) -> bool:
    """True if all rules are in force under a named profile, and the properties of the profile hold."""
    configuration = variant.configuration
    named = PROFILES.get(configuration.profile.name) is configuration.profile
    return named and not variant.mutants and unpromised_properties(configuration.profile).issuperset(variant.violates)
