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
  ELSE <<snapshot.end, snapshot.epoch, snapshot.level, snapshot.voters, snapshot.details, snapshot.target>>

ObservedMessage(m) ==
  CASE m.type = "VoteRequest" ->
         <<m.type, m.from, m.to, m.corr, m.epoch, m.key, m.voterKey, m.lastEpoch, m.endOffset, m.preVote>>
    [] m.type = "VoteResponse" ->
         <<m.type, m.from, m.to, m.corr, m.error, m.epoch, m.leader, m.endpoint, m.granted, m.preVote>>
    [] m.type = "BeginQuorumEpochRequest" ->
         <<m.type, m.from, m.to, m.corr, m.epoch, m.voterKey, m.endpoint>>
    [] m.type = "EndQuorumEpochRequest" ->
         <<m.type, m.from, m.to, m.corr, m.epoch, m.preferred>>
    [] m.type \in {"BeginQuorumEpochResponse", "EndQuorumEpochResponse", "AddVoterResponse", "RemoveVoterResponse",
                  "UpdateVoterResponse"} ->
         <<m.type, m.from, m.to, m.corr, m.error, m.epoch, m.leader, m.endpoint>>
    [] m.type = "FetchRequest" ->
         <<m.type, m.from, m.to, m.corr, m.epoch, m.key, m.offset, m.lastEpoch>>
    [] m.type = "FetchResponse" ->
         <<m.type, m.from, m.to, m.corr, m.error, m.epoch, m.leader, m.endpoint, m.highWatermark,
           m.divergingEpoch, m.divergingOffset, ObservedRecords(m.records), m.snapshotEnd, m.snapshotEpoch>>
    [] m.type = "FetchSnapshotRequest" ->
         <<m.type, m.from, m.to, m.corr, m.epoch, m.key, m.snapshotEnd, m.snapshotEpoch>>
    [] m.type = "FetchSnapshotResponse" ->
         <<m.type, m.from, m.to, m.corr, m.error, m.epoch, m.leader, m.endpoint, ObservedSnapshot(m.snapshot)>>
    [] m.type = "ApiVersionsRequest" ->
         <<m.type, m.from, m.to, m.corr>>
    [] m.type = "ApiVersionsResponse" ->
         <<m.type, m.from, m.to, m.corr, m.min, m.max>>
    [] m.type = "AddVoterRequest" ->
         <<m.type, m.from, m.to, m.corr, m.voter, m.endpoint, m.whenCommitted>>
    [] m.type = "RemoveVoterRequest" ->
         <<m.type, m.from, m.to, m.corr, m.voter>>
    [] m.type = "UpdateVoterRequest" ->
         <<m.type, m.from, m.to, m.corr, m.epoch, m.voter, m.endpoint, m.min, m.max>>
    [] m.type = "Reply" ->
         <<m.type, m.request, m.error, m.epoch, m.leader, m.endpoint>>

ObservedEffect(s, after, effect) ==
  CASE effect = "PersistQuorumState" -> <<effect, after.epoch, after.leader, after.voted, after.fileVersion>>
    [] effect = "WriteSnapshot" -> <<effect, ObservedSnapshot(after.base), after.log = <<>>>>
    [] effect = "Truncate" -> <<effect, EndOffset(after)>>
    [] effect = "Append" -> <<effect, EndOffset(s),
                              ObservedRecords(RecordsBetween(after, EndOffset(s), EndOffset(after)))>>
    [] effect = "Flush" -> <<effect, after.flushed>>

ObservedEffects(s, out, completed) ==
  LET durable == DurableEffects(s, out.state)
      shown == [i \in 1..Len(durable) |-> ObservedEffect(s, out.state, durable[i])]
      sent == [i \in 1..Len(out.sends) |-> ObservedMessage(out.sends[i])]
  IN IF completed < 0 THEN shown \o sent ELSE SubSeq(shown \o sent, 1, completed)

ObservedChange(change) ==
  IF change.kind = "none" THEN <<>>
  ELSE <<change.kind, change.phase, change.voter, change.endpoint, change.min, change.max, change.offset,
         change.requester, change.request, change.whenCommitted>>

ObservedState(s) ==
  LET voters == s.voters[Len(s.voters)] IN
  <<s.key, s.role, s.epoch, s.leader, s.endpoint, s.voted, EndOffset(s), LastEpoch(s), s.flushed,
    s.highWatermark, voters.offset, voters.voters, voters.target, Level(s),
    s.granted, s.rejected, s.fetched, s.searching, s.awaiting, s.acknowledged, s.fetchers, {<<key, s.offsets[key]>> : key \in DOMAIN s.offsets},
    s.base.end, ObservedChange(s.pending), s.reports, s.awaited, s.wanted, s.fileVersion, s.moved>>

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
