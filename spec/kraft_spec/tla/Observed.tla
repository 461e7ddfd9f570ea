------------------------------ MODULE Observed ------------------------------
(***************************************************************************)
(* The observable part of a step: the effects in order, the replica's      *)
(* state, the reason of a refusal.  Fields have the names of a trace line. *)
(* Trace.tla compares it with a line, Edges.tla with the reference.        *)
(***************************************************************************)
EXTENDS Properties

ObservedEffect(s, after, effect) ==
  CASE effect = "PersistQuorumState" ->
         [type |-> effect, epoch |-> after.epoch, leader_id |-> after.leader_id, voted_key |-> after.voted_key,
          version |-> after.quorum_state_version]
    [] effect = "WriteSnapshot" -> [type |-> effect, snapshot |-> after.base, replaces_log |-> after.log = <<>>]
    [] effect = "TruncateLog" -> [type |-> effect, end_offset |-> EndOffset(after)]
    [] effect = "AppendRecords" -> [type |-> effect, base_offset |-> EndOffset(s),
                                    records |-> RecordsBetween(after, EndOffset(s), EndOffset(after))]
    [] effect = "FlushLog" -> [type |-> effect, end_offset |-> after.flushed]

ObservedEffects(s, out, completed) ==
  LET durable == DurableEffects(s, out.state)
      shown == [i \in 1..Len(durable) |-> ObservedEffect(s, out.state, durable[i])] \o out.sends
  IN IF completed < 0 THEN shown ELSE SubSeq(shown, 1, completed)

ObservedState(s) ==
  LET set == s.voters[Len(s.voters)] IN
  [replica_key |-> s.replica_key, role |-> s.role, epoch |-> s.epoch, leader_id |-> s.leader_id,
   leader_endpoint |-> s.leader_endpoint, voted_key |-> s.voted_key,
   log_start_offset |-> s.base.end_offset, log_end_offset |-> EndOffset(s), last_epoch |-> LastEpoch(s),
   flushed_offset |-> s.flushed, high_watermark |-> s.high_watermark,
   voters |-> [offset |-> set.offset, voters |-> set.voters, target |-> set.target], kraft_version |-> Level(s),
   granted |-> s.granted, rejected |-> s.rejected, fetched |-> s.fetched, searching |-> s.searching,
   awaiting |-> s.awaiting, acknowledged |-> IF s.has_updated_leader THEN {s.leader_id} ELSE s.acknowledging_voters, fetchers |-> s.fetchers,
   fetch_offsets |-> {<<key, s.fetch_offsets[key]>> : key \in DOMAIN s.fetch_offsets},
   pending_change |-> s.pending_change, reports |-> s.reports, awaited_targets |-> s.awaited_targets,
   wanted_snapshot |-> s.wanted_snapshot, quorum_state_version |-> s.quorum_state_version, moved_to |-> s.moved_to]

\* The reason why a replica ignores an event; "" if it must not.  Rule: state.roles
RefusalReason(name, r) ==
  IF ~Runs(r)
  THEN IF name \in {"Restart", "ReplaceDisk", "ReplaceSoftware"} THEN "" ELSE "NOT_RUNNING"
  ELSE CASE name \in {"Restart", "ReplaceDisk", "ReplaceSoftware"} -> "RUNNING"
         [] name \in {"Poll", "PollFetch", "RequestTimeout"} -> "NOTHING_DUE"
         [] name = "AdvanceReassignment" -> IF replicas[r].role = "Leader" THEN "NOTHING_DUE" ELSE "NOT_IN_ROLE"
         [] name \in {"ElectionTimeout", "FetchTimeout", "CheckQuorumTimeout", "BeginQuorumEpochTimeout",
                      "VoterChangeTimeout", "ClientAppend", "Shutdown"} -> "NOT_IN_ROLE"
         [] name = "AppendVoters" -> IF replicas[r].role = "Leader" THEN "CHANGE_NOT_ALLOWED" ELSE "NOT_IN_ROLE"
         [] name = "TakeSnapshot" -> "SNAPSHOT_OUT_OF_RANGE"
         [] OTHER -> ""
=============================================================================
