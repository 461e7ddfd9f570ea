----------------------------- MODULE Snapshots ------------------------------
(***************************************************************************)
(* Snapshots: end offset, epoch, kraft.version and voters, in place of the *)
(* records before the end offset.                                          *)
(* Rules: snapshot.control-records-first, snapshot.set-at-its-end-offset   *)
(***************************************************************************)
EXTENDS QuorumReassignment

(***************************************************************************)
(* Taking a snapshot.                                                      *)
(***************************************************************************)
\* Rules: snapshot.set-at-its-end-offset, snapshot.control-records-first
SnapshotAt(s, end) ==
  LET set == InForce(s.voters, end) IN
  [end_offset |-> end, epoch |-> EpochBefore(s, end), kraft_version |-> InForce(s.versions, end).kraft_version,
   voters |-> set.voters, details |-> set.details, target |-> set.target]

\* A log with the histories of voter sets and kraft.version that its records give.
WithSetsAndLevels(log) ==
  [base |-> log.base, log |-> log.log, voters |-> ExtendVoters(BaseVoters(log.base), log.base.end_offset, log.log),
   versions |-> ExtendLevels(BaseLevels(log.base), log.base.end_offset, log.log)]

\* The snapshot has the newest voter set and kraft.version before its end; older entries are deleted from the histories.
\* Rules: snapshot.trim-keeps-last, voters.history-kept-from-snapshot-to-leo
Rebased(s, snapshot) ==
  LET end == snapshot.end_offset
      Later(entries) == SelectSeq(entries, LAMBDA entry : entry.offset >= end)
  IN [s EXCEPT !.base = snapshot,
               !.log = RecordsBetween(s, end, EndOffset(s)),
               !.flushed = IF @ < end THEN end ELSE @,
               !.voters = BaseVoters(snapshot) \o Later(@),
               !.versions = BaseLevels(snapshot) \o Later(@)]

\* True if the snapshot would be newer than the base, and contain committed records only, in whole batches.
CanTakeSnapshot(s, end) == s.base.end_offset < end /\ end <= s.high_watermark /\ ~TearsBatch(s, end)

AfterTakeSnapshot(s, end) == Becomes(Rebased(s, SnapshotAt(s, end)))

(***************************************************************************)
(* Fetching the leader's snapshot.                                         *)
(***************************************************************************)
\* Rules: voters.fetch-goes-to-known-leader, identity.could-become-voter
FetchSnapshotRequest(s, to, corr) ==
  [type |-> "FetchSnapshotRequest", source |-> s.replica_key.id, destination |-> to, correlation_id |-> corr,
   epoch |-> s.epoch, replica_key |-> s.replica_key, snapshot_end_offset |-> s.wanted_snapshot.end_offset,
   snapshot_epoch |-> s.wanted_snapshot.epoch]

\* The leader of exactly this epoch serves its newest snapshot, even if it is outside its voter set.  The request counts
\* for check quorum, but not as a fetch offset.
\* Rules: snapshot.removed-leader-serves, voters.fetch-from-leader-outside-set, check-quorum.counts-keys,
\*        fetch.snapshot.accepted, fetch.snapshot.bootstrap-not-served
AfterFetchSnapshotRequest(s, m) ==
  LET Answer(after, error, snapshot, reason) ==
        [Outcome(after, <<[type |-> "FetchSnapshotResponse", source |-> s.replica_key.id, destination |-> m.source,
                           correlation_id |-> m.correlation_id,
                           error |-> error, epoch |-> s.epoch, leader_id |-> s.leader_id,
                           leader_endpoint |-> IF config.sends_leader_endpoint[s.replica_key.id] THEN s.leader_endpoint ELSE NoEndpoint,
                           snapshot |-> snapshot]>>) EXCEPT !.reason = reason]
      seen == WithFetcher(s, EntryOf(s, m.replica_key))
  IN
  IF m.epoch < s.epoch THEN Answer(s, "FENCED_LEADER_EPOCH", NoSnapshot, "STALE_EPOCH")
  ELSE IF m.epoch > s.epoch THEN Answer(s, "UNKNOWN_LEADER_EPOCH", NoSnapshot, "UNKNOWN_EPOCH")
  ELSE IF s.role # "Leader" THEN Answer(s, "NOT_LEADER_OR_FOLLOWER", NoSnapshot, "NOT_LEADER")
  ELSE IF s.base.end_offset = 0 \/ s.base.end_offset # m.snapshot_end_offset \/ s.base.epoch # m.snapshot_epoch
  THEN Answer(seen, "SNAPSHOT_NOT_FOUND", NoSnapshot, "")
  ELSE Answer(seen, "NONE", s.base, "")

\* The snapshot replaces the log and the histories of voter sets and kraft.version.
\* Rules: snapshot.load-resets-history, state.voters-set.fallback-static, fetch.snapshot.install
LogOn(s, snapshot) ==
  [s EXCEPT !.base = snapshot, !.log = <<>>, !.flushed = snapshot.end_offset,
            !.voters = BaseVoters(snapshot), !.versions = BaseLevels(snapshot),
            !.high_watermark = IF @ < snapshot.end_offset THEN snapshot.end_offset ELSE @]

\* After an error the replica fetches again, because the leader has a newer snapshot and names it in the Fetch response.
\* Rules: snapshot.load-resets-history, fetch.response.common, fetch.snapshot.install
AfterFetchSnapshotResponse(s, m) ==
  LET rest == FreeConnection(s, m)
      learned == Learn(rest, m.epoch, m.leader_id, m.leader_endpoint)
      done == [rest EXCEPT !.wanted_snapshot = NoSnapshotId]
  IN
  IF ~Correlated(s, m) THEN Ignored(s, "UNCORRELATED_RESPONSE")
  ELSE IF m.epoch < s.epoch THEN Ignored(rest, "STALE_EPOCH")
  ELSE IF NamesSecondLeader(s, m.epoch, m.leader_id) THEN Ignored(rest, "SECOND_LEADER_IN_EPOCH")
  ELSE IF learned # rest THEN Becomes(learned)
  ELSE IF m.error # "NONE" THEN Ignored(done, "ERROR_RESPONSE")
  ELSE IF s.role # "Follower" \/ s.leader_id # m.source THEN Ignored(rest, "NOT_FOLLOWER_OF_SENDER")
  ELSE IF m.snapshot = NoSnapshot \/ SnapshotId(m.snapshot.end_offset, m.snapshot.epoch) # s.wanted_snapshot
  THEN Ignored(rest, "SNAPSHOT_NOT_WANTED")
  ELSE IF m.snapshot.end_offset < KnownCommitted(s) THEN Ignored(done, "TRUNCATION_BELOW_HIGH_WATERMARK")
  ELSE Becomes([LogOn(done, m.snapshot) EXCEPT !.fetched = TRUE])
=============================================================================
