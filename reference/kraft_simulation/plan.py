"""Plan of a run: all of its inputs, and the command line that repeats it."""

import shlex
from dataclasses import dataclass, replace

from kraft_reference.configuration import Configuration, PreVoteSupport, ReplicaConfiguration, Timeouts
from kraft_reference.identity import ReplicaKey
from kraft_reference.profile import PROFILES
from kraft_reference.replica import Replica
from kraft_simulation.event_queue import Chance
from kraft_simulation.simulation import Simulation
from kraft_simulation.workload import WORKLOADS, Preset
from kraft_simulation.world import MakeReplica

_OLD_SOFTWARE: tuple[PreVoteSupport, ...] = ("unsupported", "supported", "ignored", "supported", "supported")
_TIMEOUTS = Timeouts(fetch_interval_ms=400)
"""Wait of a Fetch without new records; a long one leaves more events of a run to faults."""


def configuration_of(
    preset: Preset,
    seed: int,
    voters: int,
    profile: str = "kip",
) -> Configuration:
    """Return the cluster of a preset: voters 1 to `voters`, then the preset's observers.

    Raises:
        ValueError: there is no voter, or the profile does not exist.
    """
    if voters < 1:
        raise ValueError(f"a cluster needs a voter, not {voters}")
    if profile not in PROFILES:
        raise ValueError(f"no profile {profile!r}; there are {', '.join(sorted(PROFILES))}")
    # A separate generator, so that the cluster and its run do not share random numbers.
    first = Chance(seed).between(0, len(_OLD_SOFTWARE) - 1) if preset.old_software else 0

    finds_by_leader = preset.faults.replace_disk_chance > 0 or preset.observers_without_list

    def replica(replica_id: int) -> ReplicaConfiguration:
        support: PreVoteSupport = "unsupported" if preset.workload.software_interval_ms else "supported"
        if preset.old_software:
            support = _OLD_SOFTWARE[(first + replica_id) % len(_OLD_SOFTWARE)]
        lacks_endpoints = preset.old_software and support == "unsupported"
        is_older = lacks_endpoints and preset.static_voters
        return ReplicaConfiguration(
            key=ReplicaKey(replica_id, None if is_older else f"A{replica_id}"),
            endpoint=f"replica-{replica_id}:9093",
            pre_vote=support,
            # On an empty disk, or without a list, it knows no voter's endpoint: a leader that names its own is found.
            sends_leader_endpoint=not lacks_endpoints or finds_by_leader,
            initial_voters=frozenset() if preset.observers_without_list and replica_id > voters else None,
            auto_join=preset.auto_join,
            max_version=0 if is_older else 1,
        )

    replicas = {replica_id: replica(replica_id) for replica_id in range(1, voters + preset.observers + 1)}
    keys = [replicas[replica_id].key for replica_id in range(1, voters + 1)]
    # Where voters change, the first ones may be those that have to find the others.
    servers = tuple(replicas) if preset.workload.changes_voters else tuple(key.id for key in keys)
    return Configuration(
        replicas=replicas,
        voters=frozenset(ReplicaKey(key.id) for key in keys) if preset.static_voters else frozenset(keys),
        kraft_version=0 if preset.static_voters else 1,
        bootstrap_servers=servers[:1] if preset.one_bootstrap_server else servers,
        fetch_max_records=preset.fetch_max_records,
        profile=PROFILES[profile],
        timeouts=replace(_TIMEOUTS, voter_change_timeout_ms=preset.voter_change_timeout_ms),
    )


@dataclass(frozen=True, slots=True)
class RunPlan:
    """Arguments of `kraft-spec simulate`; the same plan gives the same run, byte for byte."""

    seed: int
    replicas: int = 3
    """Number of voters."""
    steps: int = 1000
    """Number of events of the safety phase."""
    workload: str = "chaos"
    """A name in `WORKLOADS`."""
    profile: str = "kip"
    mutants: tuple[str, ...] = ()
    """Mutants of the replicas, by the rules that they omit: `kraft_mutants` makes them."""

    def preset(self) -> Preset:
        """The preset.

        Raises:
            ValueError: no preset has this name.
        """
        if self.workload not in WORKLOADS:
            raise ValueError(f"no workload {self.workload!r}; there are {', '.join(WORKLOADS)}")
        return WORKLOADS[self.workload]

    def configuration(self) -> Configuration:
        """The cluster of this run."""
        return configuration_of(self.preset(), self.seed, self.replicas, self.profile)

    def simulation(
        self,
        keeps_schedule: bool = False,
        seed: int | None = None,
        configuration: Configuration | None = None,
        make_replica: MakeReplica = Replica,
    ) -> Simulation:
        """Return the run, ready to start; another `seed` gives the same cluster other random values.

        Another `configuration` may have other settings of decisions.  See `Simulation` for `keeps_schedule` and
        `make_replica`.

        Raises:
            ValueError: the plan names mutants, and `make_replica` is the reference.
        """
        if self.mutants and make_replica is Replica:
            raise ValueError(f"the reference keeps {', '.join(self.mutants)}, expected mutated replicas")
        preset = self.preset()
        return Simulation(
            configuration or self.configuration(),
            self.seed if seed is None else seed,
            preset.workload,
            preset.faults,
            steps=self.steps,
            keeps_schedule=keeps_schedule,
            make_replica=make_replica,
        )

    def command_line(self) -> str:
        """Return the command that repeats the run."""
        words = ["kraft-spec", "simulate", "--seed", str(self.seed), "--replicas", str(self.replicas)]
        words += ["--steps", str(self.steps), "--workload", self.workload]
        if self.profile != "kip":
            words += ["--profile", self.profile]
        for rule in sorted(self.mutants):
            words += ["--mutant", rule]
        return shlex.join(words)
