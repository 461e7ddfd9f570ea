"""What a named scenario is, and how one is run."""

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
"""One way to run a scenario of a quorum."""


class Variants(AnyVariants[Configuration, Director]):
    """Those of a scenario of a quorum."""


@dataclass(frozen=True, slots=True)
class Scenario(AnyScenario[int, Variant]):
    """A schedule of events from the KIPs, or from a gap between them."""


@dataclass(frozen=True, slots=True)
class ScenarioRun:
    """What happened in one variant of a scenario."""

    scenario: Scenario
    variant: Variant
    configuration: Configuration
    occurrences: tuple[Occurrence, ...]
    """Everything that happened, from the start of all replicas on empty disks."""
    states: Mapping[int, ReplicaState]
    """The last state of each replica."""
    violated: Mapping[str, int | None]
    """Violated properties; the sequence of the first violating occurrence for safety, None for liveness."""

    def summary(self) -> str:
        """The last role of each replica, `N1 L(4) N2 F(4,1)`."""
        return " ".join(f"N{n} {notation(state, with_vote=False)}" for n, state in sorted(self.states.items()))


def run(scenario: Scenario, variant: Variant, make_replica: MakeReplica = Replica) -> ScenarioRun:
    """Run one variant with such replicas; every assertion of its script held if this returns.

    Raises:
        ScenarioFailure: the reference does something else than the scenario says.
        ValueError: the variant is one without rules, and the replicas of the reference have them.
    """
    if variant.mutants and make_replica is Replica:
        raise ValueError(f"the reference keeps {', '.join(variant.mutants)}, expected other replicas")
    director = Director(f"{scenario.name}/{variant.name}", variant.configuration, make_replica)
    variant.script(director)
    violated: dict[str, int | None] = {**director.watch.violated, **dict.fromkeys(director.shown)}
    if variant.mutants:
        # What a replica without a rule has to remember may contradict what each state has with it.
        violated.pop("TypeOk", None)
    director.step("the end")
    director.check("the violated properties", tuple(sorted(violated)), variant.violates)
    states = {replica_id: director.world.state(replica_id) for replica_id in variant.configuration.replicas}
    return ScenarioRun(scenario, variant, variant.configuration, tuple(director.occurrences), states, violated)


# ---------------------------------------------------------------------------------------------------------
# Clusters for scenarios.
# ---------------------------------------------------------------------------------------------------------


def key(replica_id: int) -> ReplicaKey:
    """The key of a replica with its first disk: replica 3 is (3, U3)."""
    return ReplicaKey(replica_id, f"U{replica_id}")


def voter_set(*replica_ids: int) -> VoterSet:
    """A voters set of replicas with their first disks."""
    return frozenset(key(replica_id) for replica_id in replica_ids)


def without_list(*replica_ids: int) -> dict[int, VoterSet]:
    """What these replicas are formatted with if it is no voters set: they begin as observers."""
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
    """A cluster of the replicas 1 to `size`.

    Args:
        size: how many replicas there are.
        voters: ids of the voters, all replicas by default.
        pre_vote: whether the replicas support Pre-Vote.
        old: replicas that do not although the others do.
        static: static voters at kraft.version 0, which have no directory ids.
        profile: the answers to the open points.
        fetch_max_records: most records in one Fetch response, 0 for no limit.
        disks: directory ids of replicas that start on another disk than the one the voters set names.
        formatted: what replicas were formatted with, where it is not the voters set; empty for no list at all.
        joining: replicas that join the voters of their own accord.
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
