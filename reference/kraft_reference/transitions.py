"""How a replica enters a role.

`enter` is the only place that changes a role, and the table in `kraft_reference.roles` is the only list of the
changes there are: a change that it does not list raises `IllegalTransitionError` and nothing happens.
The functions after it are the ways the protocol uses, each a state before to a state after, as in Roles.tla.
"""

from kraft_reference.configuration import Configuration
from kraft_reference.identity import ReplicaKey, VoterDetails, VoterSet, names
from kraft_reference.log import append, flush
from kraft_reference.records import Record, RecordKind
from kraft_reference.roles import TRANSITION, Cause, EpochChange, IllegalTransitionError, LeaderChange, Role, VoteChange
from kraft_reference.state import UNKNOWN_HIGH_WATERMARK, ReplicaState, details_of, is_majority, is_voter, other_voters
from kraft_reference.watermark import reached_by, with_high_watermark


def cleared(state: ReplicaState) -> ReplicaState:
    """The state without what belongs to one stay in a role, outstanding requests included.

    Rules: prevote.response.correlate, fetch.fetched-flag.
    """
    return ReplicaState(
        state.key,
        state.role,
        state.epoch,
        state.leader_id,
        state.leader_endpoint,
        state.voted_key,
        state.log,
        state.high_watermark,
        state.quorum_state_version,
        state.moved_to,
    )


def enter(
    state: ReplicaState,
    role: Role,
    cause: Cause,
    *,
    epoch: int | None = None,
    leader_id: int | None = None,
    leader_endpoint: str | None = None,
    requester: ReplicaKey | None = None,
) -> ReplicaState:
    """The state after a transition of the table.

    `epoch`, `leader_id` and `requester` fill the columns "adopt", "the named leader" and "the requester";
    `leader_endpoint` is kept as given.

    Raises:
        IllegalTransitionError: the table has no row for this source, cause and target.

    Rules: state.roles, state.epoch-monotonic, state.same-epoch-preserves, durable.soft-transitions.
    """
    row = TRANSITION.get((state.role, cause, role))
    if row is None:
        raise IllegalTransitionError(f"{state.role} does not become {role} on {cause}")
    # Rule: state.epoch-monotonic.
    if row.epoch is EpochChange.KEEP:
        new_epoch = state.epoch
    elif row.epoch is EpochChange.RAISE:
        new_epoch = state.epoch + 1
    else:
        assert epoch is not None, "an adopted epoch comes from a message or the log"
        assert epoch >= state.epoch, "an adopted epoch is never smaller"
        new_epoch = epoch
    # Rule: state.same-epoch-preserves.
    if row.leader is LeaderChange.KEEP:
        new_leader = state.leader_id
    elif row.leader is LeaderChange.OWN:
        new_leader = state.key.id
    else:
        new_leader = leader_id if row.leader is LeaderChange.NAMED else None
    # Rules: state.same-epoch-preserves, vote.once-per-epoch.
    if row.vote is VoteChange.KEEP:
        new_vote = state.voted_key
    elif row.vote is VoteChange.OWN:
        new_vote = state.key
    else:
        new_vote = requester if row.vote is VoteChange.CAST else None
    return ReplicaState(
        state.key,
        role,
        new_epoch,
        new_leader,
        leader_endpoint,
        new_vote,
        state.log,
        state.high_watermark,
        state.quorum_state_version,
        state.moved_to,
    )


# ---------------------------------------------------------------------------------------------------------
# Unattached and Follower: what a message teaches about epoch and leader.
# ---------------------------------------------------------------------------------------------------------


def endpoint_of(
    state: ReplicaState, configuration: Configuration, leader_id: int, leader_endpoint: str | None
) -> str | None:
    """The leader's endpoint from the message, else from the own voters set.

    Rules: discovery.endpoint-lookup, begin-quorum.endpoint,
    voters.endpoints-are-part-of-the-set, voters.network-client-follows-set.
    """
    if leader_endpoint is not None:
        return leader_endpoint
    details = details_of(state, leader_id)
    if details is not None:
        return details.endpoint
    if any(voter.id == leader_id for voter in state.voters):
        return configuration.replicas[leader_id].endpoint
    return None


def own_endpoint(state: ReplicaState, configuration: Configuration) -> str:
    """Where this replica listens."""
    return configuration.replicas[state.key.id].endpoint if state.moved_to is None else state.moved_to


def own_details(state: ReplicaState, configuration: Configuration) -> VoterDetails:
    """What this replica would tell of itself.  Rules: update-voter.when-sent, update-voter.leader-self-update."""
    replica = configuration.replicas[state.key.id]
    return VoterDetails(state.key.id, own_endpoint(state, configuration), replica.min_version, replica.max_version)


def follow(
    state: ReplicaState,
    configuration: Configuration,
    cause: Cause,
    epoch: int,
    leader_id: int,
    leader_endpoint: str | None,
) -> ReplicaState:
    """Follower of the named leader, or Unattached that remembers its id while no endpoint is known.

    Rules: state.learn-higher-epoch.leader, state.unattached.leader, discovery.endpoint-lookup,
    state.candidate.leader-equal-epoch.
    """
    endpoint = endpoint_of(state, configuration, leader_id, leader_endpoint)
    role = Role.UNATTACHED if endpoint is None else Role.FOLLOWER
    return enter(state, role, cause, epoch=epoch, leader_id=leader_id, leader_endpoint=endpoint)


def names_second_leader(state: ReplicaState, epoch: int, leader_id: int | None) -> bool:
    """Does a message name another leader of the own epoch than the one that is known?

    It is evidence that ElectionSafety is broken: nothing is learned from it, and the refusal says so.
    Rule: state.follower.larger-epoch-leader.
    """
    return epoch == state.epoch and leader_id is not None and state.leader_id not in (None, leader_id)


def learn(
    state: ReplicaState,
    configuration: Configuration,
    epoch: int,
    leader_id: int | None,
    leader_endpoint: str | None,
) -> ReplicaState:
    """What any message teaches: a larger epoch, or the leader of the own one.

    Gives the very same object when there is nothing to learn.
    Rules: state.leader.higher-epoch, state.resigned.higher-epoch, state.follower.larger-epoch-leader.
    """
    named = leader_id is not None and leader_id != state.key.id
    # Rules: state.learn-higher-epoch.leader, state.learn-higher-epoch.no-leader.
    if epoch > state.epoch:
        if named:
            assert leader_id is not None
            return follow(state, configuration, Cause.LARGER_EPOCH_WITH_LEADER, epoch, leader_id, leader_endpoint)
        return enter(state, Role.UNATTACHED, Cause.LARGER_EPOCH, epoch=epoch)
    # Rules: state.unattached.leader, state.prospective.discovers-leader, state.candidate.leader-equal-epoch.
    if epoch == state.epoch and named:
        assert leader_id is not None
        endpoint_is_new = state.leader_id == leader_id and state.role is Role.UNATTACHED and leader_endpoint is not None
        if state.leader_id is None or endpoint_is_new:
            return follow(state, configuration, Cause.LEADER_OF_EPOCH, epoch, leader_id, leader_endpoint)
    return state


# ---------------------------------------------------------------------------------------------------------
# Prospective, Candidate, Leader.
# ---------------------------------------------------------------------------------------------------------


def to_prospective(state: ReplicaState, configuration: Configuration, cause: Cause) -> ReplicaState:
    """A new Pre-Vote round with the own grant; nothing is written to disk.

    A sole voter passes on at once, and so does software without Pre-Vote, for which Prospective is only the
    name of the moment in which its timer fires.
    Rules: state.prospective.entry, state.sole-voter, state.candidate-only-from-prospective,
    prevote.not-gated-by-kraft-version, observer.never-nominates, bootstrap.single-voter-elects-itself.
    """
    assert is_voter(state), "only voters nominate themselves"
    prospective = new_round(enter(state, Role.PROSPECTIVE, cause, leader_endpoint=state.leader_endpoint))
    if is_majority(1, state.voters):
        return to_candidate(prospective, configuration, Cause.PRE_VOTE_WON)
    if lacks_pre_vote(state, configuration):
        return to_candidate(prospective, configuration, Cause.PRE_VOTE_UNSUPPORTED)
    return prospective


def lacks_pre_vote(state: ReplicaState, configuration: Configuration) -> bool:
    """Is the replica's software without KIP-996?  Rule: prevote.unsupported-version."""
    return configuration.replicas[state.key.id].pre_vote == "unsupported"


def new_round(state: ReplicaState) -> ReplicaState:
    """Prospective or Candidate with its own grant and no other answer."""
    return cleared(state)._replace(granted=frozenset((state.key.id,)))


def lose_pre_vote(state: ReplicaState) -> ReplicaState:
    """Back to Follower of the known leader, or to Unattached to look for one.

    Rules: state.prospective.lost.known-leader, state.prospective.lost.no-leader.
    """
    if state.leader_id is not None and state.leader_endpoint is not None:
        return enter(state, Role.FOLLOWER, Cause.PRE_VOTE_LOST, leader_endpoint=state.leader_endpoint)
    return enter(state, Role.UNATTACHED, Cause.PRE_VOTE_LOST)


def to_candidate(state: ReplicaState, configuration: Configuration, cause: Cause) -> ReplicaState:
    """The next epoch with a vote for itself and a log that no crash shortens; Leader at once if that is a majority.

    The log is synced, because a vote once granted is granted again without another look at the log: a candidate that
    lost in a crash what it was granted votes for would lead without it (docs/decisions.md).
    Rules: state.candidate.entry, state.sole-voter, prevote.response.ignored-when-candidate.
    """
    synced = state._replace(log=flush(state.log))
    return leader_if_majority(new_round(enter(synced, Role.CANDIDATE, cause)), configuration)


def leader_if_majority(state: ReplicaState, configuration: Configuration) -> ReplicaState:
    """Leader when the votes granted in this epoch are a majority of the own voters set.

    Rule: state.candidate.to-leader.
    """
    return to_leader(state, configuration) if is_majority(len(state.granted), state.voters) else state


def to_leader(state: ReplicaState, configuration: Configuration) -> ReplicaState:
    """Leader with the start of its epoch in the log, in one batch.

    Rules: state.candidate.to-leader, hw.own-epoch, begin-quorum.on-election.
    """
    endpoint = own_endpoint(state, configuration)
    leader = enter(state, Role.LEADER, Cause.ELECTION_WON, leader_endpoint=endpoint)
    # Rule: state.leader.start-of-epoch.
    records = [Record(leader.epoch, RecordKind.LEADER_CHANGE, leader.key.id)]
    # Rules: state.leader.first-leader, bootstrap.first-leader-writes-records, update-voter.leader-self-update.
    if _writes_voters(leader, configuration):
        details = with_details(leader.log.voters[-1].details, own_details(leader, configuration))
        records.append(Record(leader.epoch, RecordKind.KRAFT_VERSION, leader.log.kraft_version))
        records.append(voters_record(leader, leader.voters, details))
    # Rule: state.leader.start-of-epoch.
    started = leader._replace(epoch_start_offset=leader.log.end_offset, log=flush(append(leader.log, records)))
    return with_high_watermark(with_untold_high_watermark(started, configuration))


def with_untold_high_watermark(state: ReplicaState, configuration: Configuration) -> ReplicaState:
    """With the high watermark that it has where no Fetch response tells one.  Rule: hw.own-epoch."""
    kept = configuration.profile.leader_high_watermark == "kept"
    return state if kept else state._replace(high_watermark=UNKNOWN_HIGH_WATERMARK)


def _writes_voters(leader: ReplicaState, configuration: Configuration) -> bool:
    """Does an epoch begin with the voters set too, whose keys stay as they are?

    At kraft.version 1 it does when the set is only in the bootstrap checkpoint, which is not replicated, and when the
    leader's own entry is out of date.
    Rules: state.leader.first-leader, bootstrap.first-leader-writes-records, update-voter.leader-self-update,
    kraft-version.record-gate, snapshot.bootstrap-checkpoint.
    """
    log = leader.log
    if log.kraft_version == 0:
        return False
    entry = details_of(leader, leader.key.id)
    out_of_date = entry is not None and entry != own_details(leader, configuration)
    return not log.has_voters_record or out_of_date


def voters_record(state: ReplicaState, keys: VoterSet, details: tuple[VoterDetails, ...]) -> Record:
    """The Leader's record of a whole set: a VotersRecord, or a VoterAssignment with the target that stands.

    Rules: voters.record-replaces-set, reassign.assignment-record.
    """
    kind = RecordKind.VOTERS if state.target is None else RecordKind.VOTER_ASSIGNMENT
    ids = {key.id for key in keys}
    return Record(state.epoch, kind, 0, keys, tuple([one for one in details if one.id in ids]), state.target)


def with_details(known: tuple[VoterDetails, ...], newer: VoterDetails) -> tuple[VoterDetails, ...]:
    """The details of a voters set with those of one voter put in the place of older ones, or added.

    Rules: update-voter.not-a-membership-change, add-voter.append-and-apply.
    """
    return tuple(sorted([*[details for details in known if details.id != newer.id], newer]))


# ---------------------------------------------------------------------------------------------------------
# Resigned.
# ---------------------------------------------------------------------------------------------------------


def preferred_candidates(state: ReplicaState) -> tuple[ReplicaKey, ...]:
    """The other voters by falling fetch offset, then by id.  Rule: end-quorum.send."""
    return tuple(sorted(other_voters(state), key=lambda voter: (-reached_by(state, voter), voter.id)))


def to_resigned(state: ReplicaState, configuration: Configuration, cause: Cause) -> ReplicaState:
    """A Leader that gives up its epoch and keeps its own id as leader of it.  Rule: state.leader.resigns."""
    resigned = enter(state, Role.RESIGNED, cause, leader_endpoint=state.leader_endpoint)
    return with_untold_high_watermark(resigned, configuration)._replace(
        preferred_candidates=preferred_candidates(state)
    )


def voted_for(state: ReplicaState, key: ReplicaKey) -> bool:
    """Is the vote of this epoch for this key?  Rule: vote.repeat-grant."""
    return state.voted_key is not None and names(state.voted_key, key)
