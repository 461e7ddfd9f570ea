------------------------------- MODULE Roles -------------------------------
(***************************************************************************)
(* The six roles and how a replica enters them.  Each operator maps a      *)
(* state to the next one.  RoleTable.tla, generated from the reference's   *)
(* transition table, lists the changes of role.                            *)
(* Rules: state.roles, durable.write-before-act, durable.soft-transitions  *)
(***************************************************************************)
EXTENDS Definitions

\* Entering a role resets the fields of the last one, outstanding requests included.
\* Rules: prevote.response.correlate, fetch.fetched-flag
Cleared(s) ==
  [s EXCEPT !.granted = {}, !.rejected = {}, !.fetched = FALSE, !.searching = FALSE,
            !.has_updated_leader = FALSE,
            !.epoch_start_offset = 0, !.fetch_offsets = NoOffsets, !.fetchers = {}, !.acknowledging_voters = {},
            !.preferred_candidates = <<>>, !.awaiting = {},
            !.pending_change = NoChange, !.reports = {}, !.awaited_targets = {}, !.wanted_snapshot = NoSnapshotId]

\* Rules: state.same-epoch-preserves, state.learn-higher-epoch.no-leader
VoteAfter(s, epoch) == IF epoch > s.epoch THEN NoKey ELSE s.voted_key

\* Rules: state.learn-higher-epoch.no-leader, state.prospective.lost.no-leader
ToUnattached(s, epoch, leader) ==
  [Cleared(s) EXCEPT !.role = "Unattached", !.epoch = epoch, !.leader_id = leader,
                     !.leader_endpoint = NoEndpoint, !.voted_key = VoteAfter(s, epoch)]

\* Rules: state.learn-higher-epoch.leader, state.unattached.leader, state.candidate.leader-equal-epoch
ToFollower(s, epoch, leader, endpoint) ==
  [Cleared(s) EXCEPT !.role = "Follower", !.epoch = epoch, !.leader_id = leader, !.leader_endpoint = endpoint,
                     !.voted_key = VoteAfter(s, epoch)]

\* The details of a voter in this replica's voter set: a set of one, or empty.
DetailsOf(s, id) == {d \in Details(s) : d.id = id}

\* The leader's endpoint from the message, else from the own voter set.
\* Rules: discovery.endpoint-lookup, voters.endpoints-are-part-of-the-set, voters.network-client-follows-set
EndpointOf(s, leader, endpoint) ==
  IF endpoint # NoEndpoint THEN endpoint
  ELSE IF \E d \in Details(s) : d.id = leader THEN (CHOOSE d \in Details(s) : d.id = leader).endpoint
  ELSE IF leader \in VoterIds(s) \cap Ids THEN config.endpoints[leader] ELSE NoEndpoint

\* Where this replica listens, and the details that it reports of itself.
\* Rules: update-voter.when-sent, update-voter.leader-self-update
OwnEndpoint(s) == IF s.moved_to = NoEndpoint THEN config.endpoints[s.replica_key.id] ELSE s.moved_to
OwnDetails(s) ==
  LET id == s.replica_key.id IN VoterDetails(id, OwnEndpoint(s), config.min_version[id], config.max_version[id])

\* The details with those of one voter replaced, or added.
WithDetails(details, reported) == {d \in details : d.id # reported.id} \cup {reported}

\* Rules: state.learn-higher-epoch.leader, discovery.endpoint-lookup
Follow(s, epoch, leader, endpoint) ==
  IF EndpointOf(s, leader, endpoint) = NoEndpoint
  THEN ToUnattached(s, epoch, leader)
  ELSE ToFollower(s, epoch, leader, EndpointOf(s, leader, endpoint))

\* True if a message names a second leader of this epoch, which is evidence that ElectionSafety is broken.
\* Rule: state.follower.larger-epoch-leader
NamesSecondLeader(s, epoch, leader) ==
  epoch = s.epoch /\ leader # NoLeader /\ s.leader_id \notin {NoLeader, leader}

(***************************************************************************)
(* The state after the epoch and the leader of a message are learned.      *)
(* Rules: state.epoch-monotonic, state.leader.higher-epoch,                *)
(* state.resigned.higher-epoch, state.follower.larger-epoch-leader,        *)
(* state.learn-higher-epoch.leader, state.learn-higher-epoch.no-leader     *)
(***************************************************************************)
Learn(s, epoch, leader, endpoint) ==
  LET named == leader # NoLeader /\ leader # s.replica_key.id IN
  IF epoch > s.epoch
  THEN IF named THEN Follow(s, epoch, leader, endpoint) ELSE ToUnattached(s, epoch, NoLeader)
  ELSE IF epoch = s.epoch /\ named /\ s.leader_id = NoLeader
  THEN Follow(s, epoch, leader, endpoint)
  ELSE IF epoch = s.epoch /\ named /\ s.leader_id = leader /\ s.role = "Unattached" /\ endpoint # NoEndpoint
  THEN ToFollower(s, epoch, leader, endpoint)
  ELSE s

\* True if the start of the epoch includes a VotersRecord with the same keys.  At kraft.version 1 it does if the set is
\* only in the bootstrap checkpoint, which is not replicated, or if the leader's own details are out of date.
\* Rules: state.leader.first-leader, bootstrap.first-leader-writes-records, update-voter.leader-self-update,
\*        kraft-version.record-gate, snapshot.bootstrap-checkpoint
WritesVoters(s) ==
  /\ Level(s) >= 1
  /\ \/ s.base.end_offset = 0 /\ Len(s.voters) = 1
     \/ DetailsOf(s, s.replica_key.id) \notin {{}, {OwnDetails(s)}}

\* A leader's record of a voter set: a VotersRecord, or a VoterAssignment during a reassignment.
\* Rules: voters.record-replaces-set, reassign.assignment-record
SetRecord(s, voters, details) ==
  IF Target(s) = NoTarget THEN VotersRecordOf(s.epoch, voters, details)
  ELSE AssignmentOf(s.epoch, voters, details, Target(s))

\* Rules: state.leader.start-of-epoch, state.leader.first-leader, state.candidate.to-leader,
\*        bootstrap.first-leader-writes-records, update-voter.leader-self-update
StartOfEpochRecords(s) ==
  <<Record(s.epoch, "LeaderChange", s.replica_key.id, {})>>
    \o IF WritesVoters(s)
       THEN <<Record(s.epoch, "KRaftVersion", Level(s), {}),
              SetRecord(s, Voters(s), WithDetails(Details(s), OwnDetails(s)))>>
       ELSE <<>>

Flushed(s) == [s EXCEPT !.flushed = EndOffset(s)]

(***************************************************************************)
(* The largest offset that a majority of the voters has reached.           *)
(* Rules: hw.majority, hw.own-epoch, hw.monotonic, hw.leader-excluded,     *)
(* voters.commit-by-new-set, remove-voter.append-and-apply                 *)
(***************************************************************************)
ReachedBy(s, voter) ==
  IF Names(voter, s.replica_key) THEN EndOffset(s)
  ELSE IF voter \in DOMAIN s.fetch_offsets THEN s.fetch_offsets[voter] ELSE 0

MajorityOffset(s) ==
  LET reached == {ReachedBy(s, v) : v \in Voters(s)}
      AtLeast(o) == Cardinality({v \in Voters(s) : ReachedBy(s, v) >= o})
      enough == {o \in reached : IsMajority(AtLeast(o), s)}
  IN IF enough = {} THEN 0 ELSE Max(enough)

WithHighWatermark(s) ==
  LET offset == MajorityOffset(s) IN
  IF /\ offset > s.epoch_start_offset
     /\ offset > s.high_watermark
  THEN [s EXCEPT !.high_watermark = offset] ELSE s

\* A new leader keeps the high watermark that it knew as a follower, and a Resigned replica that it knew as the leader, or
\* resets it to unknown (decision leader_high_watermark).  Rule: hw.own-epoch
KeptHighWatermark(offset) == IF config.profile.leader_high_watermark = "unknown" THEN Unknown ELSE offset

\* Rules: state.candidate.to-leader, durable.write-before-act, hw.own-epoch
ToLeader(s) ==
  LET leader == [Cleared(s) EXCEPT !.role = "Leader", !.leader_id = s.replica_key.id,
                                   !.leader_endpoint = OwnEndpoint(s),
                                   !.epoch_start_offset = EndOffset(s),
                                   !.high_watermark = KeptHighWatermark(@)]
  IN WithHighWatermark(Flushed(Appended(leader, StartOfEpochRecords(leader))))

\* Rules: state.sole-voter, state.candidate.to-leader, state.voters-set.own-majority
LeaderIfMajority(s) == IF IsMajority(Cardinality(s.granted), s) THEN ToLeader(s) ELSE s

\* A Candidate syncs its log first.  A voter repeats a vote without comparing logs again, so if the Candidate lost an
\* unsynced tail in a crash and asked again, it could win with a shorter log than the votes were granted for.
\* Rules: state.candidate.entry, state.candidate-only-from-prospective, prevote.response.ignored-when-candidate
ToCandidate(s) ==
  LeaderIfMajority(
    [Cleared(Flushed(s)) EXCEPT !.role = "Candidate", !.epoch = @ + 1, !.leader_id = NoLeader,
                                !.leader_endpoint = NoEndpoint, !.voted_key = s.replica_key, !.granted = {s.replica_key.id}])

\* Rules: state.prospective.entry, prevote.not-gated-by-kraft-version
Prospective(s) == [Cleared(s) EXCEPT !.role = "Prospective", !.granted = {s.replica_key.id}]

\* Rule: prevote.unsupported-version
LacksPreVote(s) == config.pre_vote[s.replica_key.id] = "unsupported"

\* A sole voter becomes Candidate at once.  So does software without Pre-Vote, which has no role Prospective.
\* Rules: state.sole-voter, state.prospective.to-candidate, bootstrap.single-voter-elects-itself,
\*        state.prospective.entry
ToProspective(s) ==
  IF LacksPreVote(s) \/ IsMajority(1, s)
  THEN ToCandidate(Prospective(s)) ELSE Prospective(s)

\* Rules: state.prospective.lost.known-leader, state.prospective.lost.no-leader
LosePreVote(s) ==
  IF s.leader_id # NoLeader /\ s.leader_endpoint # NoEndpoint
  THEN ToFollower(s, s.epoch, s.leader_id, s.leader_endpoint)
  ELSE ToUnattached(s, s.epoch, s.leader_id)

\* The other voters in descending order of fetch offset, then by id.  Rule: end-quorum.send
PreferredCandidates(s) ==
  LET others == Others(s)
      Before(a, b) == \/ ReachedBy(s, a) > ReachedBy(s, b)
                      \/ ReachedBy(s, a) = ReachedBy(s, b) /\ a.id < b.id
  IN [n \in 1..Cardinality(others) |->
        CHOOSE v \in others : Cardinality({w \in others : Before(w, v)}) = n - 1]

\* Rule: state.leader.resigns
ToResigned(s, preferred) ==
  [Cleared(s) EXCEPT !.role = "Resigned", !.preferred_candidates = preferred,
                     !.high_watermark = KeptHighWatermark(@)]

(***************************************************************************)
(* Outcomes of an event.                                                   *)
(***************************************************************************)
Outcome(s, sends) == [state |-> s, sends |-> sends, reason |-> ""]
Becomes(s) == Outcome(s, <<>>)
Ignored(s, reason) == [state |-> s, sends |-> <<>>, reason |-> reason]
=============================================================================
