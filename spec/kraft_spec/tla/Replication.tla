---------------------------- MODULE Replication ----------------------------
(***************************************************************************)
(* Fetch: discovery of the leader, divergence and truncation, the high     *)
(* watermark; and the records that a leader appends.                       *)
(***************************************************************************)
EXTENDS PendingChanges

\* Rules: discovery.bootstrap, discovery.bootstrap-fallback
BootstrapServers(s) ==
  (IF config.bootstrap = {} THEN {v[1] : v \in config.voters} ELSE config.bootstrap) \ {s.key[1]}

\* To whom a replica sends a Fetch.
\* Rules: fetch.who-fetches, discovery.leader-endpoint-known, observer.fetch-timeout, fetch.follow-outside-leader,
\*        voters.observer-discovery
FetchTargets(s) ==
  CASE s.role = "Follower"   -> IF s.searching THEN BootstrapServers(s) \cup {s.leader} ELSE {s.leader}
    [] s.role = "Unattached" -> BootstrapServers(s)
    [] OTHER                 -> {}

\* Rules: fetch.replica-key, discovery.leader-endpoint-known
FetchRequest(s, to, corr) ==
  [type |-> "FetchRequest", from |-> s.key[1], to |-> to, corr |-> corr,
   epoch |-> s.epoch, key |-> s.key, offset |-> EndOffset(s), lastEpoch |-> LastEpoch(s)]

FetchResponse(s, m, error, records, diverging, snapshot) ==
  [type |-> "FetchResponse", from |-> s.key[1], to |-> m.from, corr |-> m.corr, error |-> error,
   epoch |-> s.epoch, leader |-> s.leader,
   endpoint |-> IF config.speaksEndpoints[s.key[1]] THEN s.endpoint ELSE NoEndpoint,
   highWatermark |-> IF error = "NONE" /\ s.highWatermark > s.epochStart THEN s.highWatermark ELSE Unknown,
   divergingEpoch |-> diverging.epoch, divergingOffset |-> diverging.offset, records |-> records,
   snapshotEnd |-> snapshot[1], snapshotEpoch |-> snapshot[2]]

NotDiverging == [epoch |-> -1, offset |-> -1]

\* In whole batches.  Rule: kraft-version.upgrade-atomic-batch
RecordsFrom(s, offset) ==
  LET end == IF config.fetchMaxRecords = 0 THEN EndOffset(s)
             ELSE Least(EndOffset(s), offset + config.fetchMaxRecords)
  IN RecordsBetween(s, offset, BatchEnd(s, end))

\* The Fetch that completes the catching up of a new voter is answered with the records of before.
\* Rules: fetch.leader-only, fetch.replica-key, fetch.leader-outside-set-serves, hw.majority, check-quorum.counts-keys,
\*        state.leader.resigns-on-own-removal, add-voter.catch-up-first
AfterFetchRequest(s, m) ==
  LET Refuse(error, reason) ==
        [Outcome(s, <<FetchResponse(s, m, error, <<>>, NotDiverging, NoSnapshotId)>>) EXCEPT !.reason = reason]
      entry == EntryOf(s, m.key)
      gone == NeedsSnapshot(s, m.offset, m.lastEpoch)
      agrees == ~gone /\ Agrees(s, m.offset, m.lastEpoch)
      seen == IF agrees \/ config.decisions.divergingFetch = "counts" THEN WithFetcher(s, entry) ELSE s
      progressed == WithHighWatermark([seen EXCEPT !.offsets = (entry :> m.offset) @@ @])
      served == Outcome(progressed, <<FetchResponse(progressed, m, "NONE", RecordsFrom(s, m.offset), NotDiverging,
                                                    NoSnapshotId)>>)
  IN
  IF m.epoch < s.epoch THEN Refuse("FENCED_LEADER_EPOCH", "STALE_EPOCH")
  ELSE IF m.epoch > s.epoch THEN Refuse("UNKNOWN_LEADER_EPOCH", "UNKNOWN_EPOCH")
  ELSE IF s.role # "Leader" THEN Refuse("NOT_LEADER_OR_FOLLOWER", "NOT_LEADER")
  ELSE IF gone
  THEN Outcome(seen, <<FetchResponse(seen, m, "NONE", <<>>, NotDiverging, <<s.base.end, s.base.epoch>>)>>)
  ELSE IF ~agrees
  THEN Outcome(seen, <<FetchResponse(seen, m, "NONE", <<>>, EndOfEpoch(s, m.lastEpoch), NoSnapshotId)>>)
  ELSE Advanced(Settled(served))

\* Where a diverging answer cuts the log.  Rule: fetch.diverging.truncate
CutOffset(s, m) ==
  LET own == EndOfEpoch(s, m.divergingEpoch) IN
  IF own.epoch = m.divergingEpoch \/ config.decisions.divergingCut = "smaller-offset"
  THEN Least(own.offset, m.divergingOffset) ELSE own.offset

\* Rule: hw.follower
FollowerHighWatermark(s, published) ==
  LET known == Least(published, EndOffset(s)) IN
  IF known > s.highWatermark THEN [s EXCEPT !.highWatermark = known] ELSE s

\* What may not be cut off or replaced by a snapshot.
KnownCommitted(s) == IF s.highWatermark > s.base.end THEN s.highWatermark ELSE s.base.end

\* Rules: fetch.response.common, fetch.diverging.truncate, fetch.truncate.voters-set, fetch.fetched-flag,
\*        hw.follower, observer.becomes-voter, observer.becomes-non-voter
AfterFetchResponse(s, m) ==
  LET rest == Answered(s, m)
      learned == Learn(rest, m.epoch, m.leader, m.endpoint)
      fetched == [learned EXCEPT !.fetched = TRUE, !.searching = FALSE]
  IN
  IF ~Correlated(s, m) THEN Ignored(s, "UNCORRELATED_RESPONSE")
  ELSE IF m.epoch < s.epoch THEN Ignored(rest, "STALE_EPOCH")
  ELSE IF NamesSecondLeader(s, m.epoch, m.leader) THEN Ignored(rest, "SECOND_LEADER_IN_EPOCH")
  ELSE IF m.error # "NONE"
  THEN IF learned # rest THEN Becomes(learned) ELSE Ignored(rest, "ERROR_RESPONSE")
  ELSE IF learned.role # "Follower" \/ learned.leader # m.from \/ m.epoch # s.epoch
  THEN IF learned # rest THEN Becomes(learned) ELSE Ignored(rest, "NOT_FOLLOWER_OF_SENDER")
  ELSE IF m.snapshotEnd >= 0
  THEN IF m.snapshotEnd < KnownCommitted(s)
       THEN Ignored(rest, "TRUNCATION_BELOW_HIGH_WATERMARK")
       ELSE Becomes([fetched EXCEPT !.wanted = <<m.snapshotEnd, m.snapshotEpoch>>])
  ELSE IF m.divergingEpoch >= 0
  THEN IF CutOffset(s, m) < KnownCommitted(s)
       THEN Ignored(rest, "TRUNCATION_BELOW_HIGH_WATERMARK")
       ELSE Becomes(Truncated(fetched, CutOffset(s, m)))
  ELSE Becomes(FollowerHighWatermark(Appended(fetched, m.records), m.highWatermark))

\* A client's record.  Rules: hw.majority, durable.flush-before-fetch
AfterClientAppend(s, value) ==
  Settled(Becomes(AppendedByLeader(s, <<Record(s.epoch, "Data", value, {})>>)))
=============================================================================
