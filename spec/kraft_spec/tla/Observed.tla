------------------------------ MODULE Observed ------------------------------
(***************************************************************************)
(* What can be seen of a step from outside: the effects of an outcome in   *)
(* order, the state of a replica, the reason of a refusal, all as plain    *)
(* tuples.  Trace.tla shows it for a line, Edges.tla for every edge.       *)
(*                                                                         *)
(* The order of the fields is that of the tables in kraft_spec.mapping.    *)
(* The text of these tuples is compared with the text of the same tuples   *)
(* made from a trace line (kraft_traces.check.text).                       *)
(***************************************************************************)
EXTENDS Properties

ObservedRecord(r) == <<r.epoch, r.kind, r.value, r.voters, r.details, TargetOf(r)>>
ObservedRecords(records) == [i \in 1..Len(records) |-> ObservedRecord(records[i])]

ObservedSnapshot(snapshot) ==
  IF snapshot = NoSnapshot THEN <<>>
  ELSE <<snapshot.end_offset, snapshot.epoch, snapshot.kraft_version, snapshot.voters, snapshot.details,
         snapshot.target>>

ObservedMessage(m) ==
  CASE m.type = "VoteRequest" ->
         <<m.type, m.source, m.destination, m.correlation_id, m.epoch, m.replica_key, m.voter_key, m.last_epoch,
           m.end_offset, m.pre_vote>>
    [] m.type = "VoteResponse" ->
         <<m.type, m.source, m.destination, m.correlation_id, m.error, m.epoch, m.leader_id, m.leader_endpoint,
           m.granted, m.pre_vote>>
    [] m.type = "BeginQuorumEpochRequest" ->
         <<m.type, m.source, m.destination, m.correlation_id, m.epoch, m.voter_key, m.leader_endpoint>>
    [] m.type = "EndQuorumEpochRequest" ->
         <<m.type, m.source, m.destination, m.correlation_id, m.epoch, m.preferred_candidates>>
    [] m.type \in {"BeginQuorumEpochResponse", "EndQuorumEpochResponse", "AddVoterResponse", "RemoveVoterResponse",
                  "UpdateVoterResponse"} ->
         <<m.type, m.source, m.destination, m.correlation_id, m.error, m.epoch, m.leader_id, m.leader_endpoint>>
    [] m.type = "FetchRequest" ->
         <<m.type, m.source, m.destination, m.correlation_id, m.epoch, m.replica_key, m.fetch_offset, m.last_epoch>>
    [] m.type = "FetchResponse" ->
         <<m.type, m.source, m.destination, m.correlation_id, m.error, m.epoch, m.leader_id, m.leader_endpoint,
           m.high_watermark, m.diverging_epoch, m.diverging_end_offset, ObservedRecords(m.records),
           m.snapshot_end_offset, m.snapshot_epoch>>
    [] m.type = "FetchSnapshotRequest" ->
         <<m.type, m.source, m.destination, m.correlation_id, m.epoch, m.replica_key, m.snapshot_end_offset,
           m.snapshot_epoch>>
    [] m.type = "FetchSnapshotResponse" ->
         <<m.type, m.source, m.destination, m.correlation_id, m.error, m.epoch, m.leader_id, m.leader_endpoint,
           ObservedSnapshot(m.snapshot)>>
    [] m.type = "ApiVersionsRequest" ->
         <<m.type, m.source, m.destination, m.correlation_id>>
    [] m.type = "ApiVersionsResponse" ->
         <<m.type, m.source, m.destination, m.correlation_id, m.min_version, m.max_version>>
    [] m.type = "AddVoterRequest" ->
         <<m.type, m.source, m.destination, m.correlation_id, m.voter, m.endpoint, m.when_committed>>
    [] m.type = "RemoveVoterRequest" ->
         <<m.type, m.source, m.destination, m.correlation_id, m.voter>>
    [] m.type = "UpdateVoterRequest" ->
         <<m.type, m.source, m.destination, m.correlation_id, m.epoch, m.voter, m.endpoint, m.min_version,
           m.max_version>>
    [] m.type = "Reply" ->
         <<m.type, m.request, m.error, m.epoch, m.leader_id, m.leader_endpoint>>

ObservedEffect(s, after, effect) ==
  CASE effect = "PersistQuorumState" -> <<effect, after.epoch, after.leader_id, after.voted_key,
                                          after.quorum_state_version>>
    [] effect = "WriteSnapshot" -> <<effect, ObservedSnapshot(after.base), after.log = <<>>>>
    [] effect = "TruncateLog" -> <<effect, EndOffset(after)>>
    [] effect = "AppendRecords" -> <<effect, EndOffset(s),
                              ObservedRecords(RecordsBetween(after, EndOffset(s), EndOffset(after)))>>
    [] effect = "FlushLog" -> <<effect, after.flushed>>

ObservedEffects(s, out, completed) ==
  LET durable == DurableEffects(s, out.state)
      shown == [i \in 1..Len(durable) |-> ObservedEffect(s, out.state, durable[i])]
      sent == [i \in 1..Len(out.sends) |-> ObservedMessage(out.sends[i])]
  IN IF completed < 0 THEN shown \o sent ELSE SubSeq(shown \o sent, 1, completed)

ObservedChange(change) ==
  IF change.kind = "none" THEN <<>>
  ELSE <<change.kind, change.phase, change.voter, change.endpoint, change.min_version, change.max_version,
         change.offset, change.requester, change.request, change.when_committed>>

ObservedState(s) ==
  LET voters == s.voters[Len(s.voters)] IN
  <<s.replica_key, s.role, s.epoch, s.leader_id, s.leader_endpoint, s.voted_key, EndOffset(s), LastEpoch(s), s.flushed,
    s.high_watermark, voters.offset, voters.voters, voters.target, Level(s),
    s.granted, s.rejected, s.fetched, s.searching, s.awaiting, s.acknowledged, s.fetchers,
    {<<key, s.fetch_offsets[key]>> : key \in DOMAIN s.fetch_offsets},
    s.base.end_offset, ObservedChange(s.pending_change), s.reports, s.awaited_targets, s.wanted_snapshot,
    s.quorum_state_version, s.moved_to>>

\* Why a replica takes no notice of an event; "" where it has to.  Rule: state.roles
RefusalReason(name, r) ==
  IF ~Runs(r)
  THEN IF name \in {"Restart", "ReplaceDisk"} THEN "" ELSE "NOT_RUNNING"
  ELSE CASE name \in {"Restart", "ReplaceDisk"} -> "RUNNING"
         [] name \in {"Poll", "PollFetch", "RequestTimeout"} -> "NOTHING_DUE"
         [] name = "AdvanceReassignment" -> IF replicas[r].role = "Leader" THEN "NOTHING_DUE" ELSE "NOT_IN_ROLE"
         [] name \in {"ElectionTimeout", "FetchTimeout", "CheckQuorumTimeout", "BeginQuorumEpochTimeout",
                      "VoterChangeTimeout", "ClientAppend", "Shutdown"} -> "NOT_IN_ROLE"
         [] name = "AppendVoters" -> IF replicas[r].role = "Leader" THEN "CHANGE_NOT_ALLOWED" ELSE "NOT_IN_ROLE"
         [] name = "TakeSnapshot" -> "SNAPSHOT_OUT_OF_RANGE"
         [] OTHER -> ""
=============================================================================
