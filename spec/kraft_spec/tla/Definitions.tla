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
ReplicaKey(id, directoryId) == [id |-> id, directory_id |-> directoryId]
NoKey == ReplicaKey(-1, "")
NoEndpoint == ""
NoTarget == {}                        \* no reassignment is under way: a target has one voter at least
Unknown == -1                         \* a high watermark that is not known yet

Ids == DOMAIN config.endpoints

\* Does the voter entry or stored vote name this key?
\* Rules: fetch.replica-key, state.voters-set.fallback-static, identity.replica-key,
\*        identity.unknown-directory-matches-id
Names(entry, key) == entry.id = key.id /\ (entry.directory_id = "" \/ entry.directory_id = key.directory_id)

\* Does the key in a request address the replica with the key own?
\* Rules: vote.voter-key, end-quorum.candidate-key, identity.addressed-to-key
Addresses(addressed, own) ==
  /\ addressed.id \in {-1, own.id}
  /\ addressed.directory_id \in {"", own.directory_id}

(***************************************************************************)
(* Logs.  A log stands on a snapshot, its base, which is in place of the   *)
(* records before its end offset: the bootstrap checkpoint before offset 0 *)
(* or a snapshot that was taken or fetched.  Offsets count from 0; an end  *)
(* offset is the one after the last record.  An operator here takes        *)
(* anything with the fields base and log: a replica, or what is committed. *)
(***************************************************************************)
EndOffset(s) == s.base.end_offset + Len(s.log)
LastEpoch(s) == IF s.log = <<>> THEN s.base.epoch ELSE s.log[Len(s.log)].epoch

\* The records that hold a whole set, and their targets.
SetKinds == {"Voters", "VoterAssignment"}
TargetOf(record) == IF record.kind = "VoterAssignment" THEN record.target ELSE NoTarget

\* The record at an offset that the log still has, and the records from one offset up to another.
RecordAt(s, offset) == s.log[offset - s.base.end_offset + 1]
RecordsBetween(s, from, to) == SubSeq(s.log, from - s.base.end_offset + 1, to - s.base.end_offset)

\* The epoch of the record before an offset, which is not before the base.
EpochBefore(s, offset) == IF offset = s.base.end_offset THEN s.base.epoch ELSE s.log[offset - s.base.end_offset].epoch

\* (last epoch, end offset) of a requester against the log of a receiver.
\* Rules: vote.log-check, prevote.request.log-check
UpToDate(lastEpoch, endOffset, s) ==
  \/ lastEpoch > LastEpoch(s)
  \/ lastEpoch = LastEpoch(s) /\ endOffset >= EndOffset(s)

\* The largest epoch of the log that is not larger than epoch, and the offset after its last record.  What is before
\* the base counts as one epoch, the base's.
EndOfEpoch(s, epoch) ==
  IF epoch >= LastEpoch(s)
  THEN [epoch |-> LastEpoch(s), offset |-> EndOffset(s)]
  ELSE LET upto == Cardinality({i \in 1..Len(s.log) : s.log[i].epoch <= epoch})
       IN [epoch |-> IF upto = 0 THEN s.base.epoch ELSE s.log[upto].epoch, offset |-> s.base.end_offset + upto]

\* Does a log that ends at offset with lastEpoch agree with this log?  Rule: fetch.diverging.truncate
Agrees(s, offset, lastEpoch) ==
  /\ s.base.end_offset <= offset /\ offset <= EndOffset(s)
  /\ offset = 0 \/ EpochBefore(s, offset) = lastEpoch

\* Does a log that ends at offset with lastEpoch have to begin anew from the snapshot of this one?  What it lacks is
\* gone here, or it differs before the snapshot, where this log cannot say any more from which offset on.  The bootstrap
\* checkpoint is in place of nothing.  Rule: fetch.snapshot.bootstrap-not-served
NeedsSnapshot(s, offset, lastEpoch) ==
  /\ s.base.end_offset > 0
  /\ \/ offset < s.base.end_offset
     \/ lastEpoch < s.base.epoch
     \/ offset = s.base.end_offset /\ lastEpoch # s.base.epoch

\* The newest entry of a history below an end offset.
InForce(entries, end) ==
  LET known == SelectSeq(entries, LAMBDA entry : entry.offset < end) IN known[Len(known)]

\* Would a cut at end part control records that were appended in one batch?  A KRaftVersionRecord is never without its
\* VotersRecord.  It has a LeaderChange before it in its batch at the start of an epoch, that is, where the level was 1
\* already; a replica that was formatted without voters learns of that level from the very first batch.
\* Rules: kraft-version.upgrade-atomic-batch, state.leader.first-leader
TearsBatch(s, end) ==
  /\ s.base.end_offset < end /\ end < EndOffset(s)
  /\ LET kind == RecordAt(s, end).kind
         before == RecordAt(s, end - 1).kind
     IN \/ kind \in SetKinds /\ before = "KRaftVersion"
        \/ /\ kind = "KRaftVersion" /\ before = "LeaderChange"
           /\ InForce(s.versions, end).kraft_version > 0 \/ (end = 1 /\ s.base.voters = {})

\* The smallest cut from end on that parts no batch; a batch has three records at most.
BatchEnd(s, end) ==
  IF ~TearsBatch(s, end) THEN end ELSE IF TearsBatch(s, end + 1) THEN end + 2 ELSE end + 1

\* A record; the details of its voters are in VotersRecordOf.
Record(epoch, kind, value, voters) ==
  [epoch |-> epoch, kind |-> kind, value |-> value, voters |-> voters, details |-> {}]

\* Endpoint and kraft.version range of a voter.
VoterDetails(id, endpoint, minVersion, maxVersion) ==
  [id |-> id, endpoint |-> endpoint, min_version |-> minVersion, max_version |-> maxVersion]

\* The whole set: keys and details.  A voter may be without details.
\* Rules: voters.record-replaces-set, voters.endpoints-are-part-of-the-set
VotersRecordOf(epoch, voters, details) ==
  [epoch |-> epoch, kind |-> "Voters", value |-> 0, voters |-> voters,
   details |-> {d \in details : \E v \in voters : v.id = d.id}]

\* The same with the ids that a reassignment shall end with; it alone has the field target.
\* Rule: reassign.assignment-record
AssignmentOf(epoch, voters, details, target) ==
  [epoch |-> epoch, kind |-> "VoterAssignment", value |-> 0, voters |-> voters,
   details |-> {d \in details : \E v \in voters : v.id = d.id}, target |-> target]

(***************************************************************************)
(* Voters sets and levels of kraft.version.  Every replica derives its own *)
(* from its own log: the newest VotersRecord and KRaftVersionRecord,       *)
(* committed or not, else those of the base.  The state carries their      *)
(* histories <<[offset, voters, details, target], ...>> and <<[offset,     *)
(* level], ...>> so that truncation can revert them.  Those of the base    *)
(* stand at the last offset that it covers.                                *)
(* Rules: voters.effective-on-append, voters.truncation-reverts,           *)
(* voters.set-from-snapshot-and-log, state.voters-set.fallback-static,     *)
(* voters.history-kept-from-snapshot-to-leo, snapshot.load-resets-history, *)
(* reassign.assignment-record, reassign.effective-on-append                *)
(***************************************************************************)
BaseVoters(base) ==
  <<[offset |-> base.end_offset - 1, voters |-> base.voters, details |-> base.details, target |-> base.target]>>
BaseLevels(base) == <<[offset |-> base.end_offset - 1, kraft_version |-> base.kraft_version]>>

\* The set in force, and no other.  Rules: voters.set-from-snapshot-and-log, kraft-version.static-config-ignored
Voters(s) == s.voters[Len(s.voters)].voters
Details(s) == s.voters[Len(s.voters)].details
\* The target that stands, or NoTarget.  Rules: reassign.assignment-record, reassign.new-leader-resumes
Target(s) == s.voters[Len(s.voters)].target
VoterIds(s) == {v.id : v \in Voters(s)}
\* Rules: identity.voter-definition, identity.observer-definition
IsVoter(s) == \E v \in Voters(s) : Names(v, s.replica_key)
Others(s) == {v \in Voters(s) : ~Names(v, s.replica_key)}
OtherIds(s) == {v.id : v \in Others(s)}

\* The newest level, committed or not.
Level(s) == s.versions[Len(s.versions)].kraft_version

\* The level by which a leader accepts requests.  Rule: kraft-version.finalized-when
FinalizedLevel(s) ==
  IF config.profile.kraft_version_gate = "append" THEN Level(s)
  ELSE LET known == {i \in 1..Len(s.versions) : i = 1 \/ s.versions[i].offset < s.high_watermark}
       IN s.versions[CHOOSE i \in known : \A j \in known : i >= j].kraft_version

\* The entry of the voters set that names a key, or the key itself for an observer.
\* Rules: fetch.replica-key, identity.leader-tracks-by-key, identity.unknown-directory-matches-id
EntryOf(s, key) ==
  IF key \in Voters(s) \/ ~\E v \in Voters(s) : Names(v, key) THEN key
  ELSE CHOOSE v \in Voters(s) : Names(v, key)

\* Rule: state.voters-set.own-majority
IsMajority(number, s) == 2 * number > Cardinality(Voters(s))

\* Histories after the log was cut at end.  Rules: voters.truncation-reverts, reassign.truncation-reverts
Reverted(entries, end) ==
  IF entries[Len(entries)].offset < end THEN entries
  ELSE SelectSeq(entries, LAMBDA entry : entry.offset < end)

\* Histories after records were appended at the offset end.
Numbered(end, records, kinds) ==
  SelectSeq([i \in 1..Len(records) |-> [offset |-> end + i - 1, record |-> records[i]]],
            LAMBDA numbered : numbered.record.kind \in kinds)

ExtendVoters(voters, end, records) ==
  LET new == Numbered(end, records, SetKinds)
  IN voters \o [n \in 1..Len(new) |-> [offset |-> new[n].offset, voters |-> new[n].record.voters,
                                      details |-> new[n].record.details, target |-> TargetOf(new[n].record)]]

ExtendLevels(levels, end, records) ==
  LET new == Numbered(end, records, {"KRaftVersion"})
  IN levels \o [n \in 1..Len(new) |-> [offset |-> new[n].offset, kraft_version |-> new[n].record.value]]

\* Rule: voters.record-replaces-set
Appended(s, records) ==
  IF \A i \in 1..Len(records) : records[i].kind \in {"Data", "LeaderChange"}
  THEN [s EXCEPT !.log = @ \o records]
  ELSE [s EXCEPT !.log = @ \o records,
                 !.voters = ExtendVoters(@, EndOffset(s), records),
                 !.versions = ExtendLevels(@, EndOffset(s), records)]

\* Rules: voters.truncation-reverts, reassign.truncation-reverts
Truncated(s, end) ==
  [s EXCEPT !.log = SubSeq(@, 1, end - s.base.end_offset),
            !.flushed = IF @ < end THEN @ ELSE end,
            !.voters = Reverted(@, end),
            !.versions = Reverted(@, end)]

(***************************************************************************)
(* What operators have set up.                                             *)
(***************************************************************************)
\* What is known of a voter when it is formatted: of static voters the endpoints alone.
\* Rules: bootstrap.multi-voter, voters.static-set-at-version-0
FormattedDetails(voters) ==
  {IF config.kraft_version = 0 THEN VoterDetails(id, config.endpoints[id], 0, 0)
   ELSE VoterDetails(id, config.endpoints[id], config.min_version[id], config.max_version[id]) :
     id \in {v.id : v \in voters} \cap Ids}

\* What a replica is formatted with: the bootstrap checkpoint, or the static voters at level 0.  One without a list
\* knows no level above the default.
\* Rules: snapshot.bootstrap-checkpoint, bootstrap.standalone, bootstrap.no-list-means-observer, bootstrap.static-quorum
Checkpoint(voters) ==
  [end_offset |-> 0, epoch |-> 0, kraft_version |-> IF voters = {} THEN 0 ELSE config.kraft_version,
   voters |-> voters, details |-> FormattedDetails(voters), target |-> NoTarget]

(***************************************************************************)
(* Small helpers on sets and sequences.                                    *)
(***************************************************************************)
Max(S) == CHOOSE x \in S : \A y \in S : x >= y
Min(S) == CHOOSE x \in S : \A y \in S : x <= y
Smaller(a, b) == IF a < b THEN a ELSE b
Larger(a, b) == IF a < b THEN b ELSE a

\* A set of integers as an ascending sequence: the order in which a replica sends to several others.
Ascending(S) == [n \in 1..Cardinality(S) |-> CHOOSE x \in S : Cardinality({y \in S : y < x}) = n - 1]

NoOffsets == [key \in {} |-> 0]

\* A request whose response has not come.
OutstandingRequest(destination, correlationId) == [destination |-> destination, correlation_id |-> correlationId]

\* Nothing pending, nothing to fetch, no snapshot in an answer.
NoChange == [kind |-> "none"]
SnapshotId(endOffset, epoch) == [end_offset |-> endOffset, epoch |-> epoch]
NoSnapshotId == SnapshotId(-1, -1)
NoSnapshot == <<>>
=============================================================================
