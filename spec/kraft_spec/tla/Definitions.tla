---------------------------- MODULE Definitions ----------------------------
(***************************************************************************)
(* The vocabulary of all modules: variables, keys, logs, voter sets and    *)
(* majorities.                                                             *)
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
  network,   \* in-flight messages
  cuts,      \* cut links <<from, to>>, one way each
  history    \* what the properties compare with; no action of a replica reads it

variables == <<config, replicas, network, cuts, history>>

(***************************************************************************)
(* Identity.  A replica key is an id and a directory id, which is "" if it *)
(* is unknown (static voters, old versions).                               *)
(***************************************************************************)
NoLeader == -1
ReplicaKey(id, directoryId) == [id |-> id, directory_id |-> directoryId]
NoKey == ReplicaKey(-1, "")
NoEndpoint == ""
NoTarget == {}                        \* no reassignment; a target has at least one voter
Unknown == -1                         \* high watermark of a replica that does not know it

Ids == DOMAIN config.endpoints

\* True if a voter set's entry, or a stored vote, is this key; without a directory id it is any key of the id.
\* Rules: fetch.replica-key, state.voters-set.fallback-static, identity.replica-key,
\*        identity.unknown-directory-matches-id
Names(entry, key) == entry.id = key.id /\ (entry.directory_id = "" \/ entry.directory_id = key.directory_id)

\* True if the voter key in a request addresses the replica with the key own.
\* Rules: vote.voter-key, end-quorum.candidate-key, identity.addressed-to-key
Addresses(addressed, own) ==
  /\ addressed.id \in {-1, own.id}
  /\ addressed.directory_id \in {"", own.directory_id}

(***************************************************************************)
(* Logs.  A log begins at the end of its base: the bootstrap checkpoint,   *)
(* which ends at offset 0, or a snapshot that was taken or fetched.        *)
(* Offsets count from 0; an end offset is one after the last record.       *)
(* These operators take any record with the fields base and log: a         *)
(* replica, or history.committed.                                          *)
(***************************************************************************)
EndOffset(s) == s.base.end_offset + Len(s.log)
LastEpoch(s) == IF s.log = <<>> THEN s.base.epoch ELSE s.log[Len(s.log)].epoch

\* Kinds of records that contain a whole voter set, and their targets.
SetKinds == {"Voters", "VoterAssignment"}
TargetOf(record) == IF record.kind = "VoterAssignment" THEN record.target ELSE NoTarget

\* The record at an offset, and the records from one offset up to another; the log must still have them.
RecordAt(s, offset) == s.log[offset - s.base.end_offset + 1]
RecordsBetween(s, from, to) == SubSeq(s.log, from - s.base.end_offset + 1, to - s.base.end_offset)

\* The epoch of the record before an offset; the offset is not before the base.
EpochBefore(s, offset) == IF offset = s.base.end_offset THEN s.base.epoch ELSE s.log[offset - s.base.end_offset].epoch

\* True if a log with this last epoch and end offset is at least as up-to-date as that of s.
\* Rules: vote.log-check, prevote.request.log-check
UpToDate(lastEpoch, endOffset, s) ==
  \/ lastEpoch > LastEpoch(s)
  \/ lastEpoch = LastEpoch(s) /\ endOffset >= EndOffset(s)

\* The largest epoch of the log that is at most epoch, and its end offset.  Records before the base count as records of
\* the base's epoch.
EndOfEpoch(s, epoch) ==
  IF epoch >= LastEpoch(s)
  THEN [epoch |-> LastEpoch(s), offset |-> EndOffset(s)]
  ELSE LET upto == Cardinality({i \in 1..Len(s.log) : s.log[i].epoch <= epoch})
       IN [epoch |-> IF upto = 0 THEN s.base.epoch ELSE s.log[upto].epoch, offset |-> s.base.end_offset + upto]

\* True if a log that ends at offset with lastEpoch is a prefix of this log.  Rule: fetch.diverging.truncate
Agrees(s, offset, lastEpoch) ==
  /\ s.base.end_offset <= offset /\ offset <= EndOffset(s)
  /\ offset = 0 \/ EpochBefore(s, offset) = lastEpoch

\* True if a log that ends at offset with lastEpoch must start from this log's snapshot: the records that it lacks are
\* deleted here, or it diverges before the snapshot, where this log no longer knows the offset.  The bootstrap checkpoint
\* replaces no records.  Rule: fetch.snapshot.bootstrap-not-served
NeedsSnapshot(s, offset, lastEpoch) ==
  /\ s.base.end_offset > 0
  /\ \/ offset < s.base.end_offset
     \/ lastEpoch < s.base.epoch
     \/ offset = s.base.end_offset /\ lastEpoch # s.base.epoch

\* The newest entry of a history before an end offset.
InForce(entries, end) ==
  LET known == SelectSeq(entries, LAMBDA entry : entry.offset < end) IN known[Len(known)]

\* True if a log that ends at end would end within a batch.  A KRaftVersionRecord is in one batch with its VotersRecord.
\* At the start of an epoch a LeaderChange precedes both, which is the case if kraft.version was 1 before.  A replica that
\* was formatted without voters reads that version from the first batch.
\* Rules: kraft-version.upgrade-atomic-batch, state.leader.first-leader
TearsBatch(s, end) ==
  /\ s.base.end_offset < end /\ end < EndOffset(s)
  /\ LET kind == RecordAt(s, end).kind
         before == RecordAt(s, end - 1).kind
     IN \/ kind \in SetKinds /\ before = "KRaftVersion"
        \/ /\ kind = "KRaftVersion" /\ before = "LeaderChange"
           /\ InForce(s.versions, end).kraft_version > 0 \/ (end = 1 /\ s.base.voters = {})

\* The first end of a batch at or after end; a batch of control records has at most three records.
BatchEnd(s, end) ==
  IF ~TearsBatch(s, end) THEN end ELSE IF TearsBatch(s, end + 1) THEN end + 2 ELSE end + 1

\* A record without a voter set.
Record(epoch, kind, value, voters) ==
  [epoch |-> epoch, kind |-> kind, value |-> value, voters |-> voters, details |-> {}]

\* Endpoint and kraft.version range of a voter.
VoterDetails(id, endpoint, minVersion, maxVersion) ==
  [id |-> id, endpoint |-> endpoint, min_version |-> minVersion, max_version |-> maxVersion]

\* A VotersRecord: the whole set, keys and details.  A voter may be without details.
\* Rules: voters.record-replaces-set, voters.endpoints-are-part-of-the-set
VotersRecordOf(epoch, voters, details) ==
  [epoch |-> epoch, kind |-> "Voters", value |-> 0, voters |-> voters,
   details |-> {d \in details : \E v \in voters : v.id = d.id}]

\* A VoterAssignment: the whole set, and the target of the reassignment.  No other record has the field target.
\* Rule: reassign.assignment-record
AssignmentOf(epoch, voters, details, target) ==
  [epoch |-> epoch, kind |-> "VoterAssignment", value |-> 0, voters |-> voters,
   details |-> {d \in details : \E v \in voters : v.id = d.id}, target |-> target]

(***************************************************************************)
(* Voter sets and kraft.version.  A replica uses the newest VotersRecord   *)
(* and KRaftVersionRecord of its own log, committed or not, or else those  *)
(* of the base.  The state has their histories, so that truncation can     *)
(* revert them: a sequence of [offset, voters, details, target] and one of *)
(* [offset, kraft_version].  The base's entry has the last offset that the *)
(* base covers.                                                            *)
(* Rules: voters.effective-on-append, voters.truncation-reverts,           *)
(* voters.set-from-snapshot-and-log, state.voters-set.fallback-static,     *)
(* voters.history-kept-from-snapshot-to-leo, snapshot.load-resets-history, *)
(* reassign.assignment-record, reassign.effective-on-append                *)
(***************************************************************************)
BaseVoters(base) ==
  <<[offset |-> base.end_offset - 1, voters |-> base.voters, details |-> base.details, target |-> base.target]>>
BaseLevels(base) == <<[offset |-> base.end_offset - 1, kraft_version |-> base.kraft_version]>>

\* The voter set in force.  Rules: voters.set-from-snapshot-and-log, kraft-version.static-config-ignored
Voters(s) == s.voters[Len(s.voters)].voters
Details(s) == s.voters[Len(s.voters)].details
\* The target of the reassignment under way, or NoTarget.  Rules: reassign.assignment-record, reassign.new-leader-resumes
Target(s) == s.voters[Len(s.voters)].target
VoterIds(s) == {v.id : v \in Voters(s)}
\* Rules: identity.voter-definition, identity.observer-definition
IsVoter(s) == \E v \in Voters(s) : Names(v, s.replica_key)
Others(s) == {v \in Voters(s) : ~Names(v, s.replica_key)}
OtherIds(s) == {v.id : v \in Others(s)}

\* The newest kraft.version, committed or not.
Level(s) == s.versions[Len(s.versions)].kraft_version

\* The kraft.version by which a leader accepts requests.  Rule: kraft-version.finalized-when
FinalizedLevel(s) ==
  IF config.profile.kraft_version_gate = "append" THEN Level(s)
  ELSE LET known == {i \in 1..Len(s.versions) : i = 1 \/ s.versions[i].offset < s.high_watermark}
       IN s.versions[CHOOSE i \in known : \A j \in known : i >= j].kraft_version

\* The entry of the voter set for a key; an observer's is the key itself.
\* Rules: fetch.replica-key, identity.leader-tracks-by-key, identity.unknown-directory-matches-id
EntryOf(s, key) ==
  IF key \in Voters(s) \/ ~\E v \in Voters(s) : Names(v, key) THEN key
  ELSE CHOOSE v \in Voters(s) : Names(v, key)

\* Rule: state.voters-set.own-majority
IsMajority(number, s) == 2 * number > Cardinality(Voters(s))

\* A history after the log was truncated to end.  Rules: voters.truncation-reverts, reassign.truncation-reverts
Reverted(entries, end) ==
  IF entries[Len(entries)].offset < end THEN entries
  ELSE SelectSeq(entries, LAMBDA entry : entry.offset < end)

\* A history after records were appended at the offset end.
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
(* What replicas are formatted with.                                       *)
(***************************************************************************)
\* Details of the voters that a replica is formatted with; of static voters the endpoint alone is known.
\* Rules: bootstrap.multi-voter, voters.static-set-at-version-0
FormattedDetails(voters) ==
  {IF config.kraft_version = 0 THEN VoterDetails(id, config.endpoints[id], 0, 0)
   ELSE VoterDetails(id, config.endpoints[id], config.min_version[id], config.max_version[id]) :
     id \in {v.id : v \in voters} \cap Ids}

\* The bootstrap checkpoint, or the static voters at kraft.version 0.  A replica that is formatted without voters starts
\* at version 0.
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

\* A set of integers in ascending order, in which a replica sends its requests.
Ascending(S) == [n \in 1..Cardinality(S) |-> CHOOSE x \in S : Cardinality({y \in S : y < x}) = n - 1]

NoOffsets == [key \in {} |-> 0]

\* A request whose response has not come.
OutstandingRequest(destination, correlationId) == [destination |-> destination, correlation_id |-> correlationId]

\* No pending change, no snapshot to fetch, no snapshot in a response.
NoChange == [kind |-> "none"]
SnapshotId(endOffset, epoch) == [end_offset |-> endOffset, epoch |-> epoch]
NoSnapshotId == SnapshotId(-1, -1)
NoSnapshot == <<>>
=============================================================================
