"""Changes of role.

`enter` is the only function that changes a role, by the table in `roles`.
The functions after it are the changes that the protocol makes, each from a state before to a state after, as in
Roles.tla.
"""

from kraft_reference.configuration import Configuration
from kraft_reference.identity import Epoch, ReplicaId, ReplicaKey, VoterDetails, VoterSet
from kraft_reference.log import append, flush
from kraft_reference.records import Record, RecordKind
from kraft_reference.roles import TRANSITION, Cause, EpochChange, IllegalTransitionError, LeaderChange, Role, VoteChange
from kraft_reference.state import UNKNOWN_HIGH_WATERMARK, ReplicaState, details_of, is_majority, is_voter, other_voters
from kraft_reference.watermark import reached_by, with_high_watermark


def enter(
    state: ReplicaState,
    role: Role,
    cause: Cause,
    *,
    epoch: Epoch | None = None,
    leader_id: ReplicaId | None = None,
    leader_endpoint: str | None = None,
    requester: ReplicaKey | None = None,
) -> ReplicaState:
    """Return the state after a transition of the table.

    Args:
        epoch: The epoch to adopt, where the table says "adopt".
        leader_id: The leader, where the table says "the named leader".
        leader_endpoint: Endpoint of the leader after the transition.
        requester: The replica voted for, where the table says "the requester".

    Raises:
        IllegalTransitionError: The table has no row for this source, cause and target.
    """
    # Rules: state.roles, durable.soft-transitions.
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
    return without_role_state(state)._replace(
        role=role, epoch=new_epoch, leader_id=new_leader, leader_endpoint=leader_endpoint, voted_key=new_vote
    )


def without_role_state(state: ReplicaState) -> ReplicaState:
    """Return the state without the fields of one stay in a role.

    Requests in flight are among them: their responses are about a role that the replica has left.
    The requests that a leader has open are not: `answer_open_requests` answers them.
    """
    # Rules: prevote.response.correlate, fetch.fetched-flag.
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
        pending_change=state.pending_change,
        awaited_targets=state.awaited_targets,
    )


# Unattached and Follower: epoch and leader of a message.


def endpoint_of(
    state: ReplicaState, configuration: Configuration, leader_id: ReplicaId, leader_endpoint: str | None
) -> str | None:
    """Return the leader's endpoint from the message, else from the replica's own voter set; None if unknown."""
    # Rules: begin-quorum.endpoint, voters.network-client-follows-set.
    if leader_endpoint is not None:
        return leader_endpoint
    # Rules: discovery.endpoint-lookup, voters.endpoints-are-part-of-the-set.
    details = details_of(state, leader_id)
    if details is not None:
        return details.endpoint
    if any(voter.id == leader_id for voter in state.voters):
        return configuration.replicas[leader_id].endpoint
    return None


def own_endpoint(state: ReplicaState, configuration: Configuration) -> str:
    """Return the endpoint that this replica listens on."""
    return configuration.replicas[state.key.id].endpoint if state.moved_to is None else state.moved_to


def own_details(state: ReplicaState, configuration: Configuration) -> VoterDetails:
    """Return this replica's own entry for the voter set."""
    # Rules: update-voter.when-sent, update-voter.leader-self-update.
    replica = configuration.replicas[state.key.id]
    return VoterDetails(state.key.id, own_endpoint(state, configuration), replica.min_version, replica.max_version)


def follow(
    state: ReplicaState,
    configuration: Configuration,
    cause: Cause,
    epoch: Epoch,
    leader_id: ReplicaId,
    leader_endpoint: str | None,
) -> ReplicaState:
    """Return a Follower of the named leader; Unattached with the leader's id while its endpoint is unknown."""
    # Rules: state.learn-higher-epoch.leader, state.unattached.leader, discovery.endpoint-lookup,
    # state.candidate.leader-equal-epoch.
    endpoint = endpoint_of(state, configuration, leader_id, leader_endpoint)
    role = Role.UNATTACHED if endpoint is None else Role.FOLLOWER
    return enter(state, role, cause, epoch=epoch, leader_id=leader_id, leader_endpoint=endpoint)


def names_second_leader(state: ReplicaState, epoch: Epoch, leader_id: ReplicaId | None) -> bool:
    """Return True if a message names another leader of the replica's epoch than the one it knows.

    Two leaders of one epoch are evidence that ElectionSafety is broken, so the message is refused and says so.
    """
    # Rule: state.follower.larger-epoch-leader.
    return epoch == state.epoch and leader_id is not None and state.leader_id not in (None, leader_id)


def learn(
    state: ReplicaState,
    configuration: Configuration,
    epoch: Epoch,
    leader_id: ReplicaId | None,
    leader_endpoint: str | None,
) -> ReplicaState | None:
    """Return the state after learning a larger epoch, or the leader of its own one, from a message; None if neither.

    Replicas learn from Vote, BeginQuorumEpoch and EndQuorumEpoch requests, and from responses.  Requests to a leader
    (Fetch, FetchSnapshot, UpdateVoter) teach nothing.
    """
    named = leader_id is not None and leader_id != state.key.id
    # Rules: state.learn-higher-epoch.leader, state.learn-higher-epoch.no-leader, state.leader.higher-epoch,
    # state.resigned.higher-epoch, state.follower.larger-epoch-leader.
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
    return None


# Prospective, Candidate, Leader.


def to_prospective(state: ReplicaState, configuration: Configuration, cause: Cause) -> ReplicaState:
    """Return the state with a new round of Pre-Votes, its own one granted; nothing is written to disk.

    A sole voter becomes leader at once.  Software without Pre-Vote becomes Candidate at once: Prospective is only the
    name of the moment in which its timer fires.
    """
    # Rule: observer.never-nominates.
    assert is_voter(state), "only voters nominate themselves"
    # Rules: state.prospective.entry, state.candidate-only-from-prospective.
    prospective = new_round(enter(state, Role.PROSPECTIVE, cause, leader_endpoint=state.leader_endpoint))
    # Rules: state.sole-voter, bootstrap.single-voter-elects-itself.
    if is_majority(1, state.voters):
        return to_candidate(prospective, configuration, Cause.PRE_VOTE_WON)
    # Rule: prevote.not-gated-by-kraft-version.
    if lacks_pre_vote(state, configuration):
        return to_candidate(prospective, configuration, Cause.PRE_VOTE_UNSUPPORTED)
    return prospective


def lacks_pre_vote(state: ReplicaState, configuration: Configuration) -> bool:
    """Return True if the replica's software has no Pre-Vote (KIP-996).  Rule: prevote.unsupported-version."""
    return configuration.replicas[state.key.id].pre_vote == "unsupported"


def new_round(state: ReplicaState) -> ReplicaState:
    """Return a Prospective or Candidate that has its own grant and no other response."""
    return without_role_state(state)._replace(granted=frozenset((state.key.id,)))


def lose_pre_vote(state: ReplicaState) -> ReplicaState:
    """Return to Follower of the known leader, or to Unattached to look for one."""
    # Rules: state.prospective.lost.known-leader, state.prospective.lost.no-leader.
    if state.leader_id is not None and state.leader_endpoint is not None:
        return enter(state, Role.FOLLOWER, Cause.PRE_VOTE_LOST, leader_endpoint=state.leader_endpoint)
    return enter(state, Role.UNATTACHED, Cause.PRE_VOTE_LOST)


def to_candidate(state: ReplicaState, configuration: Configuration, cause: Cause) -> ReplicaState:
    """Return a Candidate of the next epoch that has voted for itself; Leader at once if that is a majority."""
    # A Candidate syncs its log before it asks for votes, which KIP-595 does not demand.  In {1, 2, 3}, leader 3 and
    # voter 2 have offset 9 on disk, so it is committed; 1 has it unsynced.  3 dies, and 2 grants 1.  1 crashes, loses
    # offset 9, restarts as Candidate of the same epoch, and asks again.  2 repeats its grant without a second look at
    # the log (vote.repeat-grant), and 1 would lead without a committed record (docs/decisions.md).
    # Rules: state.candidate.entry, prevote.response.ignored-when-candidate.
    synced = state._replace(log=flush(state.log))
    return leader_if_majority(new_round(enter(synced, Role.CANDIDATE, cause)), configuration)


def leader_if_majority(state: ReplicaState, configuration: Configuration) -> ReplicaState:
    """Return the Leader if the votes granted in this epoch are a majority of its voter set, else the state."""
    # Rules: state.candidate.to-leader, state.sole-voter.
    return to_leader(state, configuration) if is_majority(len(state.granted), state.voters) else state


def to_leader(state: ReplicaState, configuration: Configuration) -> ReplicaState:
    """Return the Leader, with the records that start its epoch in the log, in one batch."""
    # Rules: state.candidate.to-leader, begin-quorum.on-election.
    endpoint = own_endpoint(state, configuration)
    leader = enter(state, Role.LEADER, Cause.ELECTION_WON, leader_endpoint=endpoint)
    # The LeaderChange record gives the leader something of its own epoch to commit.
    # Rules: state.leader.start-of-epoch, hw.own-epoch.
    records = [Record(leader.epoch, RecordKind.LEADER_CHANGE, leader.key.id)]
    # Rules: state.leader.first-leader, bootstrap.first-leader-writes-records, update-voter.leader-self-update.
    if _writes_voters(leader, configuration):
        details = with_details(leader.log.voters[-1].details, own_details(leader, configuration))
        records.append(Record(leader.epoch, RecordKind.KRAFT_VERSION, leader.log.kraft_version))
        records.append(voters_record(leader, leader.voters, details))
    # Rule: state.leader.start-of-epoch.
    started = leader._replace(epoch_start_offset=leader.log.end_offset, log=flush(append(leader.log, records)))
    return with_high_watermark(_with_kept_high_watermark(started, configuration))


def _with_kept_high_watermark(state: ReplicaState, configuration: Configuration) -> ReplicaState:
    """Return a new Leader or Resigned with the high watermark that it knew, or without it, as the profile decides."""
    # Rule: hw.own-epoch.
    kept = configuration.profile.latitude.leader_high_watermark == "kept"
    return state if kept else state._replace(high_watermark=UNKNOWN_HIGH_WATERMARK)


def _writes_voters(leader: ReplicaState, configuration: Configuration) -> bool:
    """Return True if a new leader writes the voter set, unchanged in its keys, at the start of its epoch.

    At kraft.version 1 the first leader does, because the bootstrap checkpoint that holds the set is not replicated.
    So does a leader whose own endpoint or version range has changed: it cannot send itself an UpdateVoter.
    """
    # Rule: kraft-version.record-gate.
    log = leader.log
    if log.kraft_version == 0:
        return False
    # Rule: update-voter.leader-self-update.
    entry = details_of(leader, leader.key.id)
    out_of_date = entry is not None and entry != own_details(leader, configuration)
    # Rules: state.leader.first-leader, bootstrap.first-leader-writes-records, snapshot.bootstrap-checkpoint.
    return not log.has_voters_record or out_of_date


def voters_record(state: ReplicaState, keys: VoterSet, details: tuple[VoterDetails, ...]) -> Record:
    """Return the record of a whole voter set: a VotersRecord, or during a reassignment a VoterAssignment.

    Rules: voters.record-replaces-set, reassign.assignment-record.
    """
    kind = RecordKind.VOTERS if state.target is None else RecordKind.VOTER_ASSIGNMENT
    ids = {key.id for key in keys}
    kept = tuple([voter for voter in details if voter.id in ids])
    return Record(state.epoch, kind, 0, keys, kept, state.target)


def with_details(known: tuple[VoterDetails, ...], newer: VoterDetails) -> tuple[VoterDetails, ...]:
    """Return the details of a voter set with those of one voter replaced or added, by ascending id.

    Rules: update-voter.not-a-membership-change, add-voter.append-and-apply.
    """
    return tuple(sorted([*[details for details in known if details.id != newer.id], newer]))


# Resigned.


def preferred_candidates(state: ReplicaState) -> tuple[ReplicaKey, ...]:
    """Return the other voters by descending fetch offset, then by ascending id."""
    # The voter with the longest log can win an election at once.  Rule: end-quorum.send.
    return tuple(sorted(other_voters(state), key=lambda voter: (-reached_by(state, voter), voter.id)))


def to_resigned(state: ReplicaState, configuration: Configuration, cause: Cause) -> ReplicaState:
    """Return a Leader that has given up its epoch; the epoch and its own id as leader stay."""
    # Rule: state.leader.resigns.
    resigned = enter(state, Role.RESIGNED, cause, leader_endpoint=state.leader_endpoint)
    return _with_kept_high_watermark(resigned, configuration)._replace(preferred_candidates=preferred_candidates(state))
