---------------------------- MODULE Durability -----------------------------
(***************************************************************************)
(* The state on disk, the order in which an outcome is written, crashes    *)
(* and restarts.                                                           *)
(***************************************************************************)
EXTENDS Snapshots

\* A stopped replica: it keeps epoch, leader, vote and log, and loses the rest.
Stopped(s) ==
  [Cleared(s) EXCEPT !.role = "Stopped", !.leader_endpoint = NoEndpoint, !.high_watermark = Unknown, !.moved_to = NoEndpoint]

\* A crash loses any number of unflushed batches at the end of the log.
\* Rules: durable.flush-before-fetch, kraft-version.upgrade-atomic-batch
Crashed(s, kept) == [Stopped(Truncated(s, kept)) EXCEPT !.flushed = kept]
KeptAfterCrash(s) == {kept \in s.flushed .. EndOffset(s) : kept = s.flushed \/ ~TearsBatch(s, kept)}

(***************************************************************************)
(* The effects of an outcome in their order: quorum state, snapshot, log,  *)
(* flush, and only then the messages, because a message must not depend on *)
(* something that a crash can lose.                                        *)
(* Rules: durable.write-before-act, vote.persist-before-reply,             *)
(* durable.soft-transitions, identity.voted-key-persisted                  *)
(***************************************************************************)
Quorum(s) == <<s.epoch, s.leader_id, s.voted_key>>

\* Rule: snapshot.control-records-first
HasNewBase(s, after) == after.base.end_offset # s.base.end_offset \/ after.base.epoch # s.base.epoch

DurableEffects(s, after) ==
     (IF Quorum(after) # Quorum(s) THEN <<"PersistQuorumState">> ELSE <<>>)
  \o IF HasNewBase(s, after) THEN <<"WriteSnapshot">>
     ELSE    (IF EndOffset(after) < EndOffset(s) THEN <<"TruncateLog">> ELSE <<>>)
          \o (IF EndOffset(after) > EndOffset(s) THEN <<"AppendRecords">> ELSE <<>>)
          \o (IF after.flushed > s.flushed THEN <<"FlushLog">> ELSE <<>>)

(***************************************************************************)
(* The end of every step: the quorum state file has the version of the     *)
(* newest kraft.version, and a leader that leaves its role answers the     *)
(* requester of its pending change.                                        *)
(* Rules: durable.version-by-kraft, kraft-version.finalized-when,          *)
(* add-voter.leader-change-leaves-outcome-open, reassign.client-retries    *)
(***************************************************************************)
AtStepEnd(s, out) ==
  LET answered == IF LeavesRequests(s, out) THEN WithLostLeadership(s, out) ELSE out
  IN IF out.state.quorum_state_version = Level(out.state) \/ Quorum(out.state) = Quorum(s) THEN answered
     ELSE [answered EXCEPT !.state.quorum_state_version = Level(out.state)]

\* The state on disk after the first done effects.
OnDiskAfter(s, after, done) ==
  LET effects == DurableEffects(s, after)
      Done(effect) == \E i \in 1..Smaller(done, Len(effects)) : effects[i] = effect
      persisted == IF Done("PersistQuorumState")
                   THEN [s EXCEPT !.epoch = after.epoch, !.leader_id = after.leader_id, !.voted_key = after.voted_key,
                                  !.quorum_state_version = after.quorum_state_version]
                   ELSE s
      written == IF Done("TruncateLog") \/ Done("AppendRecords")
                 THEN [persisted EXCEPT !.log = after.log, !.voters = after.voters, !.versions = after.versions,
                                        !.flushed = Smaller(@, EndOffset(after))]
                 ELSE persisted
  IN IF Done("WriteSnapshot")
     THEN [persisted EXCEPT !.base = after.base, !.log = after.log, !.voters = after.voters,
                            !.versions = after.versions,
                            !.flushed = after.flushed]
     ELSE IF Done("FlushLog") THEN [written EXCEPT !.flushed = after.flushed] ELSE written

\* The messages that were sent before the crash.
\* Rules: vote.persist-before-reply, durable.write-before-act
SentBeforeCrash(s, out, done) ==
  LET durable == Len(DurableEffects(s, out.state)) IN
  IF done <= durable THEN <<>> ELSE SubSeq(out.sends, 1, done - durable)

(***************************************************************************)
(* A restart, at an endpoint of its own or that of the configuration       *)
(* (NoEndpoint).                                                           *)
(* Rules: durable.restart.was-leader, durable.restart.voted-self,          *)
(* durable.restart.known-leader, durable.restart.log-epoch,                *)
(* durable.vote.v0-uuid-in-memory, durable.fields-v0, durable.fields-v1,   *)
(* durable.version-by-kraft, identity.voted-uuid-volatile-at-version-0,    *)
(* update-voter.when-sent, voters.set-from-snapshot-and-log,               *)
(* kraft-version.static-config-ignored                                     *)
(***************************************************************************)
AfterRestart(s, endpoint) ==
  LET forgets == s.quorum_state_version = 0 /\ config.profile.voted_directory_at_version_0 = "forgotten"
      read == [s EXCEPT !.voted_key = IF forgets THEN [@ EXCEPT !.directory_id = ""] ELSE @, !.moved_to = endpoint]
      id == s.replica_key.id
      ownVote == read.voted_key # NoKey /\ Names(read.voted_key, s.replica_key)
      known == EndpointOf(s, s.leader_id, NoEndpoint)
      nominated == ownVote /\ IsVoter(s)
                     /\ (s.leader_id = NoLeader \/ config.profile.restart_precedence = "own-vote")
  IN
  IF LastEpoch(s) > s.epoch                           \* the file was lost: its vote counts as spent
  THEN Becomes([ToUnattached(read, LastEpoch(s), NoLeader) EXCEPT
                  !.voted_key = IF config.profile.vote_of_lost_file = "spent" THEN s.replica_key ELSE NoKey])
  ELSE IF s.leader_id = id
  THEN Becomes([ToResigned(read, <<>>) EXCEPT !.leader_endpoint = OwnEndpoint(read)])
  ELSE IF nominated /\ s.leader_id = NoLeader /\ config.profile.own_vote_at_restart = "prospective"
  THEN Becomes(ToProspective(read))
  ELSE IF nominated /\ (s.leader_id # NoLeader \/ config.profile.own_vote_at_restart = "candidate")
  THEN Becomes(LeaderIfMajority([read EXCEPT !.role = "Candidate", !.leader_id = NoLeader, !.granted = {id}]))
  ELSE IF s.leader_id # NoLeader /\ known # NoEndpoint
  THEN Becomes([read EXCEPT !.role = "Follower", !.leader_endpoint = known])
  ELSE Becomes([read EXCEPT !.role = "Unattached"])

(***************************************************************************)
(* A formatted replica with a list of voters.  A replaced disk gets no     *)
(* list at kraft.version 1, because the list would be out of date.         *)
(* Rules: identity.directory-id-at-format, bootstrap.standalone,           *)
(* bootstrap.multi-voter, bootstrap.no-list-means-observer                 *)
(***************************************************************************)
FormattedWith(key, voters) ==
  LET base == Checkpoint(voters) IN
  [replica_key |-> key, role |-> "Stopped", epoch |-> 0, leader_id |-> NoLeader, leader_endpoint |-> NoEndpoint,
   voted_key |-> NoKey,
   log |-> <<>>, flushed |-> 0, base |-> base, voters |-> BaseVoters(base), versions |-> BaseLevels(base),
   high_watermark |-> Unknown, quorum_state_version |-> base.kraft_version, moved_to |-> NoEndpoint,
   granted |-> {}, rejected |-> {}, fetched |-> FALSE, searching |-> FALSE,
   has_updated_leader |-> FALSE,
   epoch_start_offset |-> 0, fetch_offsets |-> NoOffsets, fetchers |-> {}, acknowledging_voters |-> {},
   preferred_candidates |-> <<>>, awaiting |-> {},
   pending_change |-> NoChange, reports |-> {}, awaited_targets |-> {}, wanted_snapshot |-> NoSnapshotId]

\* The voters that a replica is formatted with; {NoKey} means those of the cluster.
\* Rules: bootstrap.sets-must-be-equal, bootstrap.static-quorum, voters.static-set-at-version-0
InitialVoters(id) == IF config.initial_voters[id] = {NoKey} THEN config.voters ELSE config.initial_voters[id]

NewReplica(key) == FormattedWith(key, InitialVoters(key.id))
EmptyReplica(key) == FormattedWith(key, IF config.kraft_version = 0 THEN config.voters ELSE {})
=============================================================================
