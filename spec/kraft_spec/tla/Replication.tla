---------------------------- MODULE Replication ----------------------------
(***************************************************************************)
(* Fetch: discovery of the leader, divergence and truncation, the high     *)
(* watermark; and the records that a leader appends.                       *)
(***************************************************************************)
EXTENDS Leadership

\* Rules: discovery.bootstrap, discovery.bootstrap-fallback
BootstrapServers(s) ==
  (IF config.bootstrap = {} THEN {v[1] : v \in config.voters} ELSE config.bootstrap) \ {s.key[1]}

\* To whom a replica sends a Fetch.
\* Rules: fetch.who-fetches, discovery.leader-endpoint-known, observer.fetch-timeout, fetch.follow-outside-leader
FetchTargets(s) ==
  CASE s.role = "Follower"   -> IF s.searching THEN BootstrapServers(s) \cup {s.leader} ELSE {s.leader}
    [] s.role = "Unattached" -> BootstrapServers(s)
    [] OTHER                 -> {}

\* Rules: fetch.replica-key, discovery.leader-endpoint-known
FetchRequest(s, to, corr) ==
  [type |-> "FetchRequest", from |-> s.key[1], to |-> to, corr |-> corr,
   epoch |-> s.epoch, key |-> s.key, offset |-> EndOffset(s.log), lastEpoch |-> LastEpoch(s.log)]

FetchResponse(s, m, error, records, diverging) ==
  [type |-> "FetchResponse", from |-> s.key[1], to |-> m.from, corr |-> m.corr, error |-> error,
   epoch |-> s.epoch, leader |-> s.leader,
   endpoint |-> IF config.speaksEndpoints[s.key[1]] THEN s.endpoint ELSE NoEndpoint,
   highWatermark |-> IF error = "NONE" /\ s.highWatermark > s.epochStart THEN s.highWatermark ELSE Unknown,
   divergingEpoch |-> diverging.epoch, divergingOffset |-> diverging.offset, records |-> records]

NotDiverging == [epoch |-> -1, offset |-> -1]

\* After each change of its progress a leader may find its own removal committed.
Settled(s) == IF RemovalCommitted(s) THEN ToResigned(s, PreferredCandidates(s)) ELSE s

RecordsFrom(s, offset) ==
  LET end == IF config.fetchMaxRecords = 0 THEN EndOffset(s.log)
             ELSE Least(EndOffset(s.log), offset + config.fetchMaxRecords)
  IN SubSeq(s.log, offset + 1, end)

\* Rules: fetch.leader-only, fetch.replica-key, fetch.leader-outside-set-serves, hw.majority, check-quorum.counts-keys,
\*        state.leader.resigns-on-own-removal
AfterFetchRequest(s, m) ==
  LET Refuse(error, reason) ==
        [Outcome(s, <<FetchResponse(s, m, error, <<>>, NotDiverging)>>) EXCEPT !.reason = reason]
      entry == Entry(s, m.key)
      agrees == Agrees(s.log, m.offset, m.lastEpoch)
      seen == IF agrees \/ config.decisions.divergingFetch = "counts" THEN WithFetcher(s, entry) ELSE s
      progressed == WithHighWatermark([seen EXCEPT !.offsets = (entry :> m.offset) @@ @])
  IN
  IF m.epoch < s.epoch THEN Refuse("FENCED_LEADER_EPOCH", "STALE_EPOCH")
  ELSE IF m.epoch > s.epoch THEN Refuse("UNKNOWN_LEADER_EPOCH", "UNKNOWN_EPOCH")
  ELSE IF s.role # "Leader" THEN Refuse("NOT_LEADER_OR_FOLLOWER", "NOT_LEADER")
  ELSE IF ~agrees
  THEN Outcome(seen, <<FetchResponse(seen, m, "NONE", <<>>, EndOfEpoch(s.log, m.lastEpoch))>>)
  ELSE Outcome(Settled(progressed),
               <<FetchResponse(progressed, m, "NONE", RecordsFrom(s, m.offset), NotDiverging)>>)

\* Where a diverging answer cuts the log.  Rule: fetch.diverging.truncate
CutOffset(s, m) ==
  LET own == EndOfEpoch(s.log, m.divergingEpoch) IN
  IF own.epoch = m.divergingEpoch THEN Least(own.offset, m.divergingOffset) ELSE own.offset

\* Rule: hw.follower
FollowerHighWatermark(s, published) ==
  LET known == Least(published, EndOffset(s.log)) IN
  IF known > s.highWatermark THEN [s EXCEPT !.highWatermark = known] ELSE s

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
  ELSE IF m.divergingEpoch >= 0
  THEN IF CutOffset(s, m) < s.highWatermark
       THEN Ignored(rest, "TRUNCATION_BELOW_HIGH_WATERMARK")
       ELSE Becomes(Truncated(fetched, CutOffset(s, m)))
  ELSE Becomes(FollowerHighWatermark(Appended(fetched, m.records), m.highWatermark))

\* A record of a client, or a voters set; the leader flushes before it counts its own log end.
\* Rules: state.voters-set.applied-uncommitted, hw.majority, durable.flush-before-fetch
AfterAppend(s, kind, value, voters) ==
  Becomes(Settled(WithHighWatermark(Flushed(Appended(s, <<Record(s.epoch, kind, value, voters)>>)))))
=============================================================================
