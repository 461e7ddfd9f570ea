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

ObservedRecord(r) == <<r.epoch, r.kind, r.value, r.voters>>
ObservedRecords(records) == [i \in 1..Len(records) |-> ObservedRecord(records[i])]

ObservedMessage(m) ==
  CASE m.type = "VoteRequest" ->
         <<m.type, m.from, m.to, m.corr, m.epoch, m.key, m.voterKey, m.lastEpoch, m.endOffset, m.preVote>>
    [] m.type = "VoteResponse" ->
         <<m.type, m.from, m.to, m.corr, m.error, m.epoch, m.leader, m.endpoint, m.granted, m.preVote>>
    [] m.type = "BeginQuorumEpochRequest" ->
         <<m.type, m.from, m.to, m.corr, m.epoch, m.voterKey, m.endpoint>>
    [] m.type = "EndQuorumEpochRequest" ->
         <<m.type, m.from, m.to, m.corr, m.epoch, m.preferred>>
    [] m.type \in {"BeginQuorumEpochResponse", "EndQuorumEpochResponse"} ->
         <<m.type, m.from, m.to, m.corr, m.error, m.epoch, m.leader, m.endpoint>>
    [] m.type = "FetchRequest" ->
         <<m.type, m.from, m.to, m.corr, m.epoch, m.key, m.offset, m.lastEpoch>>
    [] m.type = "FetchResponse" ->
         <<m.type, m.from, m.to, m.corr, m.error, m.epoch, m.leader, m.endpoint, m.highWatermark,
           m.divergingEpoch, m.divergingOffset, ObservedRecords(m.records)>>

ObservedEffect(s, after, effect) ==
  CASE effect = "PersistQuorumState" -> <<effect, after.epoch, after.leader, after.voted>>
    [] effect = "Truncate" -> <<effect, EndOffset(after.log)>>
    [] effect = "Append" -> <<effect, EndOffset(s.log),
                              ObservedRecords(SubSeq(after.log, EndOffset(s.log) + 1, EndOffset(after.log)))>>
    [] effect = "Flush" -> <<effect, after.flushed>>

ObservedEffects(s, out, completed) ==
  LET durable == DurableEffects(s, out.state)
      shown == [i \in 1..Len(durable) |-> ObservedEffect(s, out.state, durable[i])]
      sent == [i \in 1..Len(out.sends) |-> ObservedMessage(out.sends[i])]
  IN IF completed < 0 THEN shown \o sent ELSE SubSeq(shown \o sent, 1, completed)

ObservedState(s) ==
  LET voters == s.voters[Len(s.voters)] IN
  <<s.key, s.role, s.epoch, s.leader, s.endpoint, s.voted, EndOffset(s.log), LastEpoch(s.log), s.flushed,
    s.highWatermark, voters.offset, voters.voters, config.kraftVersion, s.granted, s.rejected, s.fetched, s.searching,
    s.awaiting, s.acknowledged, s.fetchers, {<<key, s.offsets[key]>> : key \in DOMAIN s.offsets}>>

\* Why a replica takes no notice of an event; "" where it has to.  Rule: state.roles
RefusalReason(name, r) ==
  IF ~Runs(r)
  THEN IF name \in {"Restart", "ReplaceDisk"} THEN "" ELSE "NOT_RUNNING"
  ELSE CASE name \in {"Restart", "ReplaceDisk"} -> "RUNNING"
         [] name \in {"Poll", "PollFetch", "RequestTimeout"} -> "NOTHING_DUE"
         [] name \in {"ElectionTimeout", "FetchTimeout", "CheckQuorumTimeout", "BeginQuorumEpochTimeout",
                      "ClientAppend", "AppendVoters", "Shutdown"} -> "NOT_IN_ROLE"
         [] OTHER -> ""
=============================================================================
