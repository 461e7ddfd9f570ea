"""The quorum's own partition in a reassignment: its replicas are the voters (KIP-642).

Beside `planned`, nothing of it is simulated yet: `check_simulated` is where it joins.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from kraft_conformance.directories.cluster_directory import ClusterDirectory
from kraft_conformance.directories.errors import refused
from kraft_conformance.directories.quorum import open_quorum
from kraft_conformance.directories.reassignment_json import QUORUM
from kraft_reference.identity import ReplicaKey, VoterSet
from kraft_reference.partitions.partition import Assignment, TopicPartition
from kraft_spec.proofs.changes import in_order
from kraft_spec.proofs.kip642 import kip642_plan


class QuorumPlan(NamedTuple):
    """How the voters get to those of the target."""

    leader: int | None
    """None if nobody leads: then the plan supposes that the leader is none of those who go."""
    sets: tuple[VoterSet, ...]
    """From the set that there is to the set that there shall be."""
    not_formatted: tuple[int, ...]
    """Nodes of the target that have no disk, so that they cannot catch up."""


def split(
    targets: Sequence[tuple[TopicPartition, Assignment]],
) -> tuple[Assignment | None, tuple[tuple[TopicPartition, Assignment], ...]]:
    """The voters that a file asks for, None if it does not, and the partitions of topics."""
    voters = next((replicas for name, replicas in targets if name == QUORUM), None)
    return voters, tuple([(name, replicas) for name, replicas in targets if name != QUORUM])


def check_simulated(voters: Assignment | None) -> None:
    """Refuse a request that names the quorum.

    Raises:
        CommandError: it does; nothing of the request was carried out.
    """
    if voters is not None:
        raise refused(
            f"{QUORUM}: the voters of the quorum are not reassigned here, nothing was asked for; "
            "`kraft-spec reassign plan` shows the steps, `kraft-spec quorum add-controller` and `remove-controller` "
            "take them"
        )


def planned(cluster: ClusterDirectory, voters: Assignment) -> QuorumPlan:
    """KIP-642's steps from the voters that there are to these.

    Raises:
        CommandError: there is no quorum in the directory.

    Rules: reassign.three-sets, reassign.add-or-remove-choice, reassign.leader-removed-last.
    """
    with open_quorum(cluster, changes=False) as (quorum, nodes):
        leader = quorum.leader()
        newest = max((quorum.state(node_id) for node_id in quorum.world.replicas), key=lambda state: state.epoch)
        state = newest if leader is None else quorum.state(leader)
        current = state.log.voters[-1].voters
    target = [nodes[node_id].key if node_id in nodes else ReplicaKey(node_id) for node_id in voters]
    leading = next((key for key in current if key.id == leader), None)
    missing = tuple([node_id for node_id in voters if node_id not in nodes])
    return QuorumPlan(leader, kip642_plan(current, target, leading), missing)


def step_in_words(before: Iterable[ReplicaKey], after: Iterable[ReplicaKey]) -> str:
    """What a step adds or removes, as `add 4-U4`."""
    old, new = frozenset(before), frozenset(after)
    came = [f"add {key}" for key in in_order(new - old)]
    return ", ".join([*came, *[f"remove {key}" for key in in_order(old - new)]])
