"""The quorum's own partition in a reassignment: its replicas are the voters (KIP-642), and how far they are."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from kraft_conformance.directories.error_codes import meaning_of
from kraft_conformance.directories.metadata_directory import MetadataDirectory
from kraft_conformance.directories.partition_work import listed
from kraft_conformance.directories.quorum import Quorum
from kraft_conformance.directories.reassignment_json import QUORUM
from kraft_conformance.failure import usage_error
from kraft_reference.identity import ReplicaKey, Target, VoterSet
from kraft_reference.messages import Error
from kraft_reference.partitions.effects import Reassignment
from kraft_reference.partitions.partition import Assignment, TopicPartition
from kraft_reference.pending_changes import finalized_version
from kraft_reference.quorum_reassignment import adds_next, reassignment_sets
from kraft_reference.state import ReplicaState
from kraft_spec.proofs.changes import in_order
from kraft_spec.proofs.kip642 import kip642_plan


class QuorumNow(NamedTuple):
    """The voters and their reassignment, as the leader has them; without a leader as the newest log has them."""

    leader: int | None
    voters: VoterSet
    target: Target

    @property
    def ids(self) -> Assignment:
        """The ids of the voters, in order."""
        return tuple(sorted([voter.id for voter in self.voters]))

    @property
    def reassignment(self) -> Reassignment | None:
        """In the terms of KIP-455: `replicas` are the voters that there are, those to be added not among them.

        Rule: reassign.three-sets.
        """
        if self.target is None:
            return None
        sets = reassignment_sets(self.voters, self.target)
        return Reassignment(QUORUM, self.ids, tuple(sorted(sets.new)), tuple(sorted(sets.removing)))


class QuorumPlan(NamedTuple):
    """How the voters get to those of the target."""

    leader: int | None
    """None if nobody leads: then the plan supposes that the leader is none of those who go."""
    sets: tuple[VoterSet, ...]
    """From the set that there is to the set that there shall be; only the first if the request would be refused."""
    not_formatted: tuple[int, ...]
    """Nodes of the target that have no disk, so that they cannot catch up."""
    error: Error = Error.NONE
    """With which the leader would refuse the request."""
    said: str = ""
    """What the error means."""


def split(
    targets: Sequence[tuple[TopicPartition, Assignment]],
) -> tuple[Assignment | None, tuple[tuple[TopicPartition, Assignment], ...]]:
    """The voters that a file asks for, None if it does not, and the partitions of topics."""
    voters = next((replicas for name, replicas in targets if name == QUORUM), None)
    return voters, tuple([(name, replicas) for name, replicas in targets if name != QUORUM])


def quorum_now(quorum: Quorum) -> QuorumNow:
    """The newest voters and the target of a quorum, committed or not."""
    newest = newest_state(quorum).log.voters[-1]
    return QuorumNow(quorum.leader(), newest.voters, newest.target)


def newest_state(quorum: Quorum) -> ReplicaState:
    """The state of the leader; without one, of the replica with the highest epoch and then the longest log."""
    leader = quorum.leader()
    if leader is not None:
        return quorum.state(leader)
    states = [quorum.state(node_id) for node_id in quorum.world.replicas]
    return max(states, key=lambda state: (state.log.last_epoch, state.log.end_offset, state.epoch))


def check_controllers(nodes: Mapping[int, MetadataDirectory], voters: Assignment) -> None:
    """Refuse a target with brokers, as `quorum add-controller` does.

    Raises:
        CommandError: one of the nodes is formatted as a broker.
    """
    for node_id in voters:
        if node_id in nodes and not nodes[node_id].node.is_controller:
            raise usage_error(f"{QUORUM}: node {node_id} is a broker, which cannot vote")


def refusal_text(quorum: Quorum, error: Error, target: Assignment | None) -> str:
    """What an error means for a request with this target."""
    unknown = [node_id for node_id in target or () if node_id not in quorum.configuration.replicas]
    if error is Error.INVALID_REPLICA_ASSIGNMENT and unknown:
        there = ", ".join(map(str, sorted(quorum.configuration.replicas)))
        return f"no node {listed(unknown)}; there are {there}"
    return meaning_of(error) or "refused"


def waits_for(quorum: Quorum) -> str | None:
    """What the reassignment does next or waits for, in words; None if there is none.

    Rules: reassign.add-or-remove-choice, reassign.leader-removed-last, reassign.completion.
    """
    now = quorum_now(quorum)
    if now.target is None:
        return None
    if now.leader is None:
        return "waits for a leader"
    sets = reassignment_sets(now.voters, now.target)
    if adds_next(sets):
        away = [node_id for node_id in sorted(sets.new) if not quorum.is_running(node_id)]
        return f"waits for {_one_of(sets.new)} to catch up" + (f"; not running: {listed(away)}" if away else "")
    others = sets.removing - {now.leader}
    if others:
        return f"removes {_one_of(others)} next"
    return f"leader {now.leader} hands over next" if sets.removing else "complete in the next step"


def status_line(quorum: Quorum) -> str:
    """How far the voters are, as --verify says."""
    now = quorum_now(quorum)
    leads = "nobody leads" if now.leader is None else f"leader {now.leader}"
    if now.target is None:
        return f"{QUORUM}: at rest, voters {listed(now.ids)}, {leads}"
    return f"{QUORUM}: in progress, voters {listed(now.ids)}, target {listed(sorted(now.target))}; {waits_for(quorum)}"


def verified(quorum: Quorum, target: Assignment) -> tuple[str, str]:
    """How far the voters are on the way to a target: complete, in progress or other; and that in words.

    The order of the ids does not matter.
    """
    now, wanted = quorum_now(quorum), frozenset(target)
    if now.target is not None and now.target == wanted:
        return "in progress", f"in progress; {waits_for(quorum)}"
    if now.target is not None:
        return "other", f"another reassignment is in progress, to {listed(sorted(now.target))}"
    if frozenset(now.ids) != wanted:
        return "other", f"voters {listed(now.ids)}, expected {listed(sorted(wanted))}; nothing is in progress"
    return "complete", "complete"


def planned(quorum: Quorum, nodes: Mapping[int, MetadataDirectory], voters: Assignment) -> QuorumPlan:
    """KIP-642's steps from the voters that there are to these.

    Rules: reassign.three-sets, reassign.add-or-remove-choice, reassign.leader-removed-last.
    """
    now = quorum_now(quorum)
    error = Error.NONE
    if finalized_version(newest_state(quorum), quorum.configuration) < 1:
        error = Error.UNSUPPORTED_VERSION
    elif not quorum.configuration.replicas.keys() >= set(voters):
        error = Error.INVALID_REPLICA_ASSIGNMENT
    if error is not Error.NONE:
        return QuorumPlan(now.leader, (now.voters,), (), error, refusal_text(quorum, error, voters))
    target = [nodes[node_id].key if node_id in nodes else ReplicaKey(node_id) for node_id in voters]
    leading = next((key for key in now.voters if key.id == now.leader), None)
    missing = tuple([node_id for node_id in voters if node_id not in nodes])
    return QuorumPlan(now.leader, kip642_plan(now.voters, target, leading), missing)


def step_in_words(before: Iterable[ReplicaKey], after: Iterable[ReplicaKey]) -> str:
    """What a step adds or removes, as `add 4-U4`."""
    old, new = frozenset(before), frozenset(after)
    came = [f"add {key}" for key in in_order(new - old)]
    return ", ".join([*came, *[f"remove {key}" for key in in_order(old - new)]])


def _one_of(ids: Iterable[int]) -> str:
    given = sorted(ids)
    return listed(given) if len(given) == 1 else f"one of {listed(given)}"
