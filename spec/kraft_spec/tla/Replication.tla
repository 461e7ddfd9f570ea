---------------------------- MODULE Replication ----------------------------
(***************************************************************************)
(* Fetch: discovery of the leader, divergence and truncation, the high     *)
(* watermark; and the records that a leader appends.                       *)
(***************************************************************************)
EXTENDS PendingChanges

\* Rules: discovery.bootstrap, discovery.bootstrap-fallback
BootstrapServers(s) ==
  (IF config.bootstrap_servers = {} THEN {v.id : v \in config.voters} ELSE config.bootstrap_servers) \ {s.replica_key.id}

\* To whom a replica sends a Fetch.
\* Rules: fetch.who-fetches, discovery.leader-endpoint-known, observer.fetch-timeout,
\*        voters.fetch-from-leader-outside-set, voters.observer-discovery
FetchTargets(s) ==
  CASE s.role = "Follower"   -> IF s.searching THEN BootstrapServers(s) \cup {s.leader_id} ELSE {s.leader_id}
    [] s.role = "Unattached" -> BootstrapServers(s)
    [] OTHER                 -> {}

\* Rules: fetch.replica-key, discovery.leader-endpoint-known, identity.could-become-voter
FetchRequest(s, to, corr) ==
  [type |-> "FetchRequest", source |-> s.replica_key.id, destination |-> to, correlation_id |-> corr,
   epoch |-> s.epoch, replica_key |-> s.replica_key, fetch_offset |-> EndOffset(s), last_epoch |-> LastEpoch(s)]

FetchResponse(s, m, error, records, diverging, snapshot) ==
  [type |-> "FetchResponse", source |-> s.replica_key.id, destination |-> m.source,
   correlation_id |-> m.correlation_id, error |-> error,
   epoch |-> s.epoch, leader_id |-> s.leader_id,
   leader_endpoint |-> IF config.sends_leader_endpoint[s.replica_key.id] THEN s.leader_endpoint ELSE NoEndpoint,
   high_watermark |-> IF error = "NONE" /\ s.high_watermark > s.epoch_start_offset THEN s.high_watermark ELSE Unknown,
   diverging_epoch |-> diverging.epoch, diverging_end_offset |-> diverging.offset, records |-> records,
   snapshot_end_offset |-> snapshot.end_offset, snapshot_epoch |-> snapshot.epoch]

NotDiverging == [epoch |-> -1, offset |-> -1]

\* Whole batches only.  Rule: kraft-version.upgrade-atomic-batch
RecordsFrom(s, offset) ==
  LET end == IF config.fetch_max_records = 0 THEN EndOffset(s)
             ELSE Smaller(EndOffset(s), offset + config.fetch_max_records)
  IN RecordsBetween(s, offset, BatchEnd(s, end))

\* If the Fetch shows that a new voter has caught up, its response does not yet have the VotersRecord that is appended.
\* Rules: fetch.leader-only, fetch.replica-key, fetch.leader-outside-set-serves, hw.majority, check-quorum.counts-keys,
\*        remove-voter.leader-removal, add-voter.catch-up-first, identity.leader-tracks-by-key
AfterFetchRequest(s, m) ==
  LET Refuse(error, reason) ==
        [Outcome(s, <<FetchResponse(s, m, error, <<>>, NotDiverging, NoSnapshotId)>>) EXCEPT !.reason = reason]
      entry == EntryOf(s, m.replica_key)
      gone == NeedsSnapshot(s, m.fetch_offset, m.last_epoch)
      agrees == ~gone /\ Agrees(s, m.fetch_offset, m.last_epoch)
      seen == IF agrees \/ config.profile.diverging_fetch = "counts" THEN WithFetcher(s, entry) ELSE s
      progressed == WithHighWatermark([seen EXCEPT !.fetch_offsets = (entry :> m.fetch_offset) @@ @])
      served == Outcome(progressed, <<FetchResponse(progressed, m, "NONE", RecordsFrom(s, m.fetch_offset), NotDiverging,
                                                    NoSnapshotId)>>)
  IN
  IF m.epoch < s.epoch THEN Refuse("FENCED_LEADER_EPOCH", "STALE_EPOCH")
  ELSE IF m.epoch > s.epoch THEN Refuse("UNKNOWN_LEADER_EPOCH", "UNKNOWN_EPOCH")
  ELSE IF s.role # "Leader" THEN Refuse("NOT_LEADER_OR_FOLLOWER", "NOT_LEADER")
  ELSE IF gone
  THEN Outcome(seen, <<FetchResponse(seen, m, "NONE", <<>>, NotDiverging, SnapshotId(s.base.end_offset, s.base.epoch))>>)
  ELSE IF ~agrees
  THEN Outcome(seen, <<FetchResponse(seen, m, "NONE", <<>>, EndOfEpoch(s, m.last_epoch), NoSnapshotId)>>)
  ELSE AppendCaughtUp(ConcludeCommitted(served))

\* The offset to which a follower truncates its log after a diverging response.  Rule: fetch.diverging.truncate
TruncationOffset(s, m) ==
  LET own == EndOfEpoch(s, m.diverging_epoch) IN
  IF own.epoch = m.diverging_epoch \/ config.profile.diverging_cut = "smaller-offset"
  THEN Smaller(own.offset, m.diverging_end_offset) ELSE own.offset

\* Rule: hw.follower
FollowerHighWatermark(s, published) ==
  LET known == Smaller(published, EndOffset(s)) IN
  IF known > s.high_watermark THEN [s EXCEPT !.high_watermark = known] ELSE s

\* The offset below which the log must not be truncated or replaced by a snapshot.
KnownCommitted(s) == IF s.high_watermark > s.base.end_offset THEN s.high_watermark ELSE s.base.end_offset

\* Rules: fetch.response.common, fetch.diverging.truncate, voters.truncation-reverts, fetch.fetched-flag,
\*        hw.follower, observer.becomes-voter, observer.becomes-non-voter
AfterFetchResponse(s, m) ==
  LET rest == FreeConnection(s, m)
      learned == Learn(rest, m.epoch, m.leader_id, m.leader_endpoint)
      fetched == [learned EXCEPT !.fetched = TRUE, !.searching = FALSE]
  IN
  IF ~Correlated(s, m) THEN Ignored(s, "UNCORRELATED_RESPONSE")
  ELSE IF m.epoch < s.epoch THEN Ignored(rest, "STALE_EPOCH")
  ELSE IF NamesSecondLeader(s, m.epoch, m.leader_id) THEN Ignored(rest, "SECOND_LEADER_IN_EPOCH")
  ELSE IF m.error # "NONE"
  THEN IF learned # rest THEN Becomes(learned) ELSE Ignored(rest, "ERROR_RESPONSE")
  ELSE IF learned.role # "Follower" \/ learned.leader_id # m.source \/ m.epoch # s.epoch
  THEN IF learned # rest THEN Becomes(learned) ELSE Ignored(rest, "NOT_FOLLOWER_OF_SENDER")
  ELSE IF m.snapshot_end_offset >= 0
  THEN IF m.snapshot_end_offset < KnownCommitted(s)
       THEN Ignored(rest, "TRUNCATION_BELOW_HIGH_WATERMARK")
       ELSE Becomes([fetched EXCEPT !.wanted_snapshot = SnapshotId(m.snapshot_end_offset, m.snapshot_epoch)])
  ELSE IF m.diverging_epoch >= 0
  THEN IF TruncationOffset(s, m) < KnownCommitted(s)
       THEN Ignored(rest, "TRUNCATION_BELOW_HIGH_WATERMARK")
       ELSE Becomes(Truncated(fetched, TruncationOffset(s, m)))
  ELSE Becomes(FollowerHighWatermark(Appended(fetched, m.records), m.high_watermark))

\* A leader appends a client's record.  Rules: hw.majority, durable.flush-before-fetch
AfterClientAppend(s, value) ==
  ConcludeCommitted(Becomes(AppendRecords(s, <<Record(s.epoch, "Data", value, {})>>)))
=============================================================================
