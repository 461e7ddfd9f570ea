"""Named scenarios of the quorum, and how to run them."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from kraft_reference.configuration import Configuration, PreVoteSupport, ReplicaConfiguration
from kraft_reference.identity import ReplicaKey, VoterSet
from kraft_reference.profile import KIP, Profile
from kraft_reference.replica import Replica
from kraft_reference.state import ReplicaState
from kraft_simulation.occurrence import Occurrence
from kraft_simulation.scenarios.director import Director
from kraft_simulation.scenarios.notation import notation
from kraft_simulation.scenarios.schedule import AnyScenario, AnyVariant, AnyVariants
from kraft_simulation.world import MakeReplica

Variant: TypeAlias = AnyVariant[Configuration, Director]
"""Variant of a scenario of the quorum."""


class Variants(AnyVariants[Configuration, Director]):
    """Variants of a scenario of the quorum."""


@dataclass(frozen=True, slots=True)
class Scenario(AnyScenario[int, Variant]):
    """A schedule of events from the KIPs, or about a gap between them."""


@dataclass(frozen=True, slots=True)
class ScenarioRun:
    """Result of a variant of a scenario."""

    scenario: Scenario
    variant: Variant
    configuration: Configuration
    occurrences: tuple[Occurrence, ...]
    """All occurrences, from the start of all replicas on empty disks."""
    states: Mapping[int, ReplicaState]
    """Last state of each replica."""
    violated: Mapping[str, int | None]
    """Violated properties, with the sequence number of the first violating occurrence for safety, None for liveness."""

    def summary(self) -> str:
        """Last role of each replica, such as `N1 L(4) N2 F(4,1)`."""
        return " ".join(f"N{n} {notation(state, with_vote=False)}" for n, state in sorted(self.states.items()))


def run(scenario: Scenario, variant: Variant, make_replica: MakeReplica = Replica) -> ScenarioRun:
    """Run a variant with such replicas; all assertions of its script hold if this returns.

    Raises:
        ScenarioFailure: the reference differs from the scenario.
        ValueError: the variant has mutants, and the replicas are the reference's.
    """
    if variant.mutants and make_replica is Replica:
        raise ValueError(f"the reference keeps {', '.join(variant.mutants)}, expected other replicas")
    director = Director(f"{scenario.name}/{variant.name}", variant.configuration, make_replica)
    variant.script(director)
    violated: dict[str, int | None] = {**director.watch.violated, **dict.fromkeys(director.shown)}
    if variant.mutants:
        # The state of a mutant may violate invariants of the reference's state.
        violated.pop("TypeOk", None)
    director.step("the end")
    director.check("the violated properties", tuple(sorted(violated)), variant.violates)
    states = {replica_id: director.world.state(replica_id) for replica_id in variant.configuration.replicas}
    return ScenarioRun(scenario, variant, variant.configuration, tuple(director.occurrences), states, violated)


# ---------------------------------------------------------------------------------------------------------
# Clusters for scenarios.
# ---------------------------------------------------------------------------------------------------------


def key(replica_id: int) -> ReplicaKey:
    """Return the key of a replica with its first disk: replica 3 is (3, U3)."""
    return ReplicaKey(replica_id, f"U{replica_id}")


def voter_set(*replica_ids: int) -> VoterSet:
    """Return a voter set of replicas with their first disks."""
    return frozenset(key(replica_id) for replica_id in replica_ids)


def without_list(*replica_ids: int) -> dict[int, VoterSet]:
    """Return the formatting of replicas without a voter set, which start as observers."""
    return {replica_id: frozenset() for replica_id in replica_ids}


def cluster(
    size: int,
    voters: Collection[int] = (),
    *,
    pre_vote: bool = True,
    old: Collection[int] = (),
    static: bool = False,
    profile: Profile = KIP,
    fetch_max_records: int = 0,
    disks: Mapping[int, str] | None = None,
    formatted: Mapping[int, VoterSet] | None = None,
    joining: Collection[int] = (),
) -> Configuration:
    """Return a cluster of the replicas 1 to `size`.

    Args:
        size: number of replicas.
        voters: ids of the voters, by default all replicas.
        pre_vote: True if the replicas support Pre-Vote.
        old: replicas without Pre-Vote although the others support it.
        static: True for static voters at kraft.version 0, without directory ids.
        profile: settings of the open decisions.
        fetch_max_records: maximum number of records in a Fetch response, 0 for no limit.
        disks: directory ids of replicas that start on another disk than that of their voter set.
        formatted: voter sets of replicas that were formatted with another one; empty for no list.
        joining: replicas with auto join.
    """

    def support(replica_id: int) -> PreVoteSupport:
        return "supported" if pre_vote and replica_id not in old else "unsupported"

    ids = range(1, size + 1)
    replicas = {
        n: ReplicaConfiguration(
            ReplicaKey(n, (disks or {}).get(n, f"U{n}")),
            f"replica-{n}:9093",
            support(n),
            initial_voters=(formatted or {}).get(n),
            auto_join=n in joining,
        )
        for n in ids
    }
    members = tuple(voters) or tuple(ids)
    return Configuration(
        replicas=replicas,
        voters=frozenset(ReplicaKey(n) for n in members) if static else voter_set(*members),
        kraft_version=0 if static else 1,
        profile=profile,
        fetch_max_records=fetch_max_records,
    )
