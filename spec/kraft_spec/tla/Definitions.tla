---------------------------- MODULE Definitions ----------------------------
(***************************************************************************)
(* The vocabulary that every module of the model shares: variables, keys,  *)
(* logs, voters sets and majorities.                                       *)
(*                                                                         *)
(* The model is sans-I/O like the Python reference: an event at a replica  *)
(* is a function from the replica's state to an outcome (the new state,    *)
(* the messages sent, the reason if the event was ignored).  KRaft.tla     *)
(* turns outcomes into actions.                                            *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets, TLC

VARIABLES
  config,    \* what the operators have set up; never changes
  replicas,  \* replica id -> state of that replica (see StateType in Properties.tla)
  network,   \* the messages on their way
  cuts,      \* the one-way cuts <<from, to>> in force
  history    \* what the properties remember; no action of a replica reads it

variables == <<config, replicas, network, cuts, history>>

(***************************************************************************)
(* Identity.  A replica is named by its id and its directory id; "" stands *)
(* for a directory id that is not known (static voters, old versions).     *)
(***************************************************************************)
NoLeader == -1
NoKey == <<-1, "">>
NoEndpoint == ""
Unknown == -1                         \* a high watermark that is not known yet

Ids == DOMAIN config.endpoints

\* Does the voter entry or stored vote name this key?  Rules: fetch.replica-key, state.voters-set.fallback-static
Names(entry, key) == entry[1] = key[1] /\ (entry[2] = "" \/ entry[2] = key[2])

\* Does the key in a request address the replica with the key own?  Rules: vote.voter-key, end-quorum.candidate-key
Addresses(addressed, own) ==
  /\ addressed[1] \in {-1, own[1]}
  /\ addressed[2] \in {"", own[2]}

(***************************************************************************)
(* A rule that a scenario or an experiment has switched off is in          *)
(* config.off.  The decisions of the profile are in config.decisions.      *)
(***************************************************************************)
Enforced(rule) == rule \notin config.off

(***************************************************************************)
(* Logs.  Offsets count from 0, so the record at offset o is log[o + 1].   *)
(***************************************************************************)
EndOffset(log) == Len(log)
LastEpoch(log) == IF Len(log) = 0 THEN 0 ELSE log[Len(log)].epoch

\* (last epoch, end offset) of a requester against the log of a receiver.  Rules: vote.log-check, prevote.request.log-check
UpToDate(lastEpoch, endOffset, log) ==
  \/ lastEpoch > LastEpoch(log)
  \/ lastEpoch = LastEpoch(log) /\ endOffset >= EndOffset(log)

\* The largest epoch of the log that is not larger than epoch, and the offset after its last record.
EndOfEpoch(log, epoch) ==
  IF epoch >= LastEpoch(log)
  THEN [epoch |-> LastEpoch(log), offset |-> EndOffset(log)]
  ELSE LET upto == {o \in 1..Len(log) : log[o].epoch <= epoch}
           end  == Cardinality(upto)
       IN IF end = 0 THEN [epoch |-> 0, offset |-> 0] ELSE [epoch |-> log[end].epoch, offset |-> end]

\* Does a log that ends at offset with lastEpoch agree with this log?  Rule: fetch.diverging.truncate
Agrees(log, offset, lastEpoch) ==
  \/ offset = 0
  \/ offset <= Len(log) /\ log[offset].epoch = lastEpoch

Record(epoch, kind, value, voters) == [epoch |-> epoch, kind |-> kind, value |-> value, voters |-> voters]

(***************************************************************************)
(* Voters sets.  Every replica derives its own from its own log: the       *)
(* newest VotersRecord, committed or not.  The state carries the history   *)
(* <<[offset, voters], ...>> so that truncation can revert it.             *)
(* Rules: state.voters-set.applied-uncommitted, fetch.truncate.voters-set  *)
(***************************************************************************)
BaseVoters == <<[offset |-> -1, voters |-> config.voters]>>   \* static voters or bootstrap checkpoint

Voters(s) == s.voters[Len(s.voters)].voters
VoterIds(s) == {v[1] : v \in Voters(s)}
IsVoter(s) == \E v \in Voters(s) : Names(v, s.key)
Others(s) == {v \in Voters(s) : ~Names(v, s.key)}
OtherIds(s) == {v[1] : v \in Others(s)}

\* The entry of the voters set that counts for a key, or the key itself for an observer.  Rule: fetch.replica-key
Entry(s, key) ==
  IF ~Enforced("fetch.replica-key") /\ \E v \in Voters(s) : v[1] = key[1]
  THEN CHOOSE v \in Voters(s) : v[1] = key[1]
  ELSE IF \E v \in Voters(s) : Names(v, key) THEN CHOOSE v \in Voters(s) : Names(v, key) ELSE key

\* Rule: state.voters-set.own-majority
IsMajority(number, s) == 2 * number > Cardinality(Voters(s))

\* Records and voters after cutting the log to end records.
RevertVoters(voters, end) ==
  IF voters[Len(voters)].offset < end THEN voters
  ELSE SelectSeq(voters, LAMBDA entry : entry.offset < end)

\* Voters history after records were appended at offset base.
ExtendVoters(voters, base, records) ==
  IF \A i \in 1..Len(records) : records[i].kind # "Voters" THEN voters
  ELSE LET offsets == {i \in 1..Len(records) : records[i].kind = "Voters"}
           Nth(n)  == CHOOSE i \in offsets : Cardinality({j \in offsets : j < i}) = n - 1
       IN voters \o [n \in 1..Cardinality(offsets) |->
                       [offset |-> base + Nth(n) - 1, voters |-> records[Nth(n)].voters]]

Appended(s, records) ==
  [s EXCEPT !.log = @ \o records, !.voters = ExtendVoters(@, EndOffset(s.log), records)]

Truncated(s, end) ==
  [s EXCEPT !.log = SubSeq(@, 1, end),
            !.flushed = IF @ < end THEN @ ELSE end,
            !.voters = RevertVoters(@, end)]

(***************************************************************************)
(* Small helpers on sets and sequences.                                    *)
(***************************************************************************)
Max(S) == CHOOSE x \in S : \A y \in S : x >= y
Min(S) == CHOOSE x \in S : \A y \in S : x <= y
Least(a, b) == IF a < b THEN a ELSE b

\* A set of integers as an ascending sequence: the order in which a replica sends to several others.
Ascending(S) == [n \in 1..Cardinality(S) |-> CHOOSE x \in S : Cardinality({y \in S : y < x}) = n - 1]

NoOffsets == [key \in {} |-> 0]
=============================================================================
