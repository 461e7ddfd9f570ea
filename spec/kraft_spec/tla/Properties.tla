---------------------------- MODULE Properties -----------------------------
(***************************************************************************)
(* What the protocol promises.  The names are those of the rule catalogue. *)
(* Each invariant has two forms: the whole one over all replicas, which    *)
(* the MC models check in every state, and a local one about the replica   *)
(* that an event changed, which a trace check can afford on every line.    *)
(***************************************************************************)
EXTENDS KRaft, RoleTable

\* The replicas whose states are known: all, except in a trace that does not observe some (Trace.tla).
Watched == Ids

(***************************************************************************)
(* TypeOk, a clause beside each variable.                                  *)
(***************************************************************************)
RoleNames == {"Unattached", "Prospective", "Candidate", "Leader", "Follower", "Resigned"}

IsKey(k) == k.id \in Ids \cup {-1} /\ k.directory_id \in STRING

IsDetails(d) == d.endpoint \in STRING /\ d.min_version \in Nat /\ d.max_version \in Nat

RecordOk(r) ==
  /\ r.epoch \in Nat \ {0}
  /\ r.kind \in {"LeaderChange", "Data", "KRaftVersion"} \cup SetKinds
  /\ r.value \in Int
  /\ \A v \in r.voters : IsKey(v)
  /\ \A d \in r.details : IsDetails(d)
  /\ TargetOf(r) \subseteq Ids

\* A pending voter change: see PendingChanges.tla.
ChangeOk(change) ==
  /\ change.kind \in {"add", "remove", "update", "upgrade"}
  /\ change.phase \in (IF change.kind = "add" THEN {"learn-versions", "catch-up"} ELSE {}) \cup {"commit"}
  /\ change.voter.directory_id \in STRING /\ change.endpoint \in STRING
  /\ change.min_version \in -1..change.max_version
  /\ change.phase = "learn-versions" <=> change.offset < 0
  /\ change.requester \in Ids \cup {Client, Reassignment} /\ change.request \in Nat
  /\ change.when_committed \in BOOLEAN

StateOk(s) ==
  /\ IsKey(s.replica_key)                                   \* id and directory id
  /\ s.role \in RoleNames \cup {"Stopped"}          \* "Stopped" is not a role: the process does not run
  /\ s.epoch \in Nat
  /\ s.leader_id \in Ids \cup {NoLeader}               \* leader id known for this epoch
  /\ s.leader_endpoint \in STRING /\ s.moved_to \in STRING        \* of the leader; of this process, if it has moved
  /\ IsKey(s.voted_key)                                 \* vote in this epoch
  /\ s.base.end_offset \in Nat /\ s.base.epoch \in Nat       \* snapshot at the start of the log
  /\ s.flushed \in s.base.end_offset..EndOffset(s)          \* records before this offset survive a crash
  /\ Len(s.voters) > 0 /\ Len(s.versions) > 0          \* voter sets and levels in the log, the newest last
  /\ s.quorum_state_version \in 0..1                         \* of the quorum state file
  /\ s.high_watermark \in -1..EndOffset(s)
  /\ s.role = "Leader" /\ config.profile.leader_high_watermark = "unknown"
       => s.high_watermark = Unknown \/ s.high_watermark > s.epoch_start_offset
  /\ s.role = "Resigned" /\ config.profile.leader_high_watermark = "unknown" => s.high_watermark = Unknown
  /\ s.granted \subseteq Ids /\ s.rejected \subseteq Ids \* votes of this round; Prospective, Candidate
  /\ s.granted \cap s.rejected = {}
  /\ s.fetched \in BOOLEAN                          \* a fetch succeeded since it became Follower
  /\ s.searching \in BOOLEAN                        \* it fetches from bootstrap servers, too
  /\ s.has_updated_leader \in BOOLEAN               \* Follower: its leader has accepted its UpdateVoter
  /\ s.epoch_start_offset \in 0..EndOffset(s)               \* Leader: first offset of its epoch
  /\ \A k \in DOMAIN s.fetch_offsets : IsKey(k) /\ s.fetch_offsets[k] \in 0..EndOffset(s)
  /\ s.fetchers \subseteq Ids                       \* Leader: voters seen in this check-quorum period
  /\ s.acknowledging_voters \subseteq Ids           \* Leader, Resigned: voters that acknowledged the announcement
  /\ \A a \in s.awaiting : a.destination \in Ids    \* outstanding requests
  /\ s.pending_change.kind # "none" => ChangeOk(s.pending_change)
  /\ \A report \in s.reports : IsKey(report.key)         \* Leader at level 0: what voters report of themselves
  /\ \A a \in s.awaited_targets :                           \* Leader: clients' requests that await their target
       a.request \in Nat /\ s.high_watermark <= a.offset /\ a.offset < EndOffset(s)
  /\ s.wanted_snapshot.end_offset \in Nat \cup {-1}          \* Follower: the snapshot to fetch

\* Which fields may be set in which role.  Rules: state.roles, observer.states
RoleOk(s) ==
  /\ s.role \in {"Leader", "Resigned"} => s.leader_id = s.replica_key.id
  /\ s.role = "Follower" => s.leader_id # NoLeader /\ s.leader_endpoint # NoEndpoint
  /\ s.role = "Candidate" => s.leader_id = NoLeader /\ s.voted_key # NoKey
  /\ s.role \in {"Prospective", "Candidate"} => IsVoter(s) /\ s.replica_key.id \in s.granted
  /\ s.role \notin {"Prospective", "Candidate"} => s.granted = {} /\ s.rejected = {}
  /\ s.role # "Follower" => ~s.fetched /\ ~s.searching /\ ~s.has_updated_leader /\ s.wanted_snapshot = NoSnapshotId
  /\ s.role \notin {"Leader", "Resigned"} => s.acknowledging_voters = {}
  /\ s.role # "Leader" => s.pending_change.kind = "none" /\ s.reports = {} /\ s.awaited_targets = {}

LocalTypeOk(r) == StateOk(replicas[r]) /\ RoleOk(replicas[r])

TypeOk ==
  /\ \A r \in Ids : LocalTypeOk(r)
  /\ \A r \in Ids : \A i \in 1..Len(replicas[r].log) : RecordOk(replicas[r].log[i])
  /\ cuts \subseteq Ids \X Ids

(***************************************************************************)
(* Elections.                                                              *)
(***************************************************************************)
\* An epoch has at most one leader.
LocalElectionSafety(r) ==
  replicas[r].epoch \in DOMAIN history.epochs =>
    Cardinality(history.epochs[replicas[r].epoch].leaders) <= 1
ElectionSafety == \A e \in DOMAIN history.epochs : Cardinality(history.epochs[e].leaders) <= 1

\* A replica grants standard votes to at most one (id, directory id) per epoch; by id while its quorum state file has no
\* place for the directory id.  Rules: vote.once-per-epoch, identity.voted-uuid-volatile-at-version-0
LocalVoteOncePerEpoch(r) ==
  LET candidates == history.votes[r].candidates IN
  \/ Cardinality(candidates) <= 1
  \/ /\ Cardinality({c.id : c \in candidates}) <= 1
     /\ replicas[r].quorum_state_version = 0 \/ Cardinality({c \in candidates : c.directory_id # ""}) <= 1
VoteOncePerEpoch == \A r \in Ids : LocalVoteOncePerEpoch(r)

\* No replica is Follower of its own id.
LocalNotFollowerOfSelf(r) == replicas[r].role = "Follower" => replicas[r].leader_id # r
NotFollowerOfSelf == \A r \in Ids : LocalNotFollowerOfSelf(r)

(***************************************************************************)
(* Logs.                                                                   *)
(***************************************************************************)
\* No two different records are ever written with the same (offset, epoch).
LocalOffsetEpochUnique(r) ==
  replicas[r].epoch \in DOMAIN history.epochs => ~history.epochs[replicas[r].epoch].rewritten
OffsetEpochUnique == \A e \in DOMAIN history.epochs : ~history.epochs[e].rewritten

\* Logs with an equal (offset, epoch) agree up to that offset, as far as both have it.
MatchAt(a, b, start, o) ==
  LET x == RecordAt(a, o)
      y == RecordAt(b, o)
  IN x.epoch = y.epoch => x = y /\ (o = start \/ RecordAt(a, o - 1) = RecordAt(b, o - 1))

LogsMatch(a, b, from) ==
  LET start == Larger(a.base.end_offset, b.base.end_offset) IN
  \A o \in Larger(start, from)..(Smaller(EndOffset(a), EndOffset(b)) - 1) : MatchAt(a, b, start, o)

LogMatching == \A r \in Ids : \A q \in Ids : r < q => LogsMatch(replicas[r], replicas[q], 0)

\* The log of a new Leader contains every committed record.
NewestLed == IF DOMAIN history.epochs = {} THEN 0 ELSE Max(DOMAIN history.epochs)

\* From one offset up to another, as far as both have the records.
SameRecords(a, b, from, end) ==
  \A o \in Larger(from, Larger(a.base.end_offset, b.base.end_offset))..(end - 1) : RecordAt(a, o) = RecordAt(b, o)

\* A replica's records agree with the committed records.  For a committed record that Forgetting.tla has deleted, only the
\* epoch is compared (past), which is enough because offset and epoch determine a record (OffsetEpochUnique).
HoldsWhatIsCommitted(s, committed, from, end) ==
  /\ \A o \in Larger(from, s.base.end_offset)..(Smaller(end, committed.base.end_offset) - 1) :
       RecordAt(s, o).epoch = InForce(committed.past, o + 1).epoch
  /\ SameRecords(s, committed, from, end)

Contains(s, committed) ==
  LET end == EndOffset(committed) IN
  EndOffset(s) >= end /\ s.base.end_offset <= end /\ HoldsWhatIsCommitted(s, committed, 0, end)

LeaderComplete(s) == Contains(s, history.committed)

LeaderCompleteness ==
  \A r \in Ids : replicas[r].role = "Leader" /\ replicas[r].epoch = NewestLed => LeaderComplete(replicas[r])

\* Records below a replica's high watermark are committed records.
CommittedFrom(s, from, committed) ==
  s.high_watermark <= EndOffset(committed) /\ HoldsWhatIsCommitted(s, committed, from, s.high_watermark)
CommittedNeverLost ==
  /\ \A r \in Ids : CommittedFrom(replicas[r], 0, history.committed)
  /\ LeaderCompleteness

\* No two replicas commit different records at one offset, and no committed record is lost.  The first part compares the
\* replicas without the history.  The second is CommittedNeverLost, and for records that a snapshot has replaced: the
\* snapshot ends at a committed offset with the epoch that was committed there.
CommitTheSame(a, b) == SameRecords(a, b, 0, Smaller(a.high_watermark, b.high_watermark))

SnapshotIsCommitted(s) ==
  LET committed == history.committed
      end == s.base.end_offset
  IN /\ end <= EndOffset(committed)
     /\ end > 0 => s.base.epoch = IF end < committed.base.end_offset THEN InForce(committed.past, end).epoch
                                  ELSE EpochBefore(committed, end)

StateMachineSafety ==
  /\ \A r \in Ids : \A q \in Ids : r < q => CommitTheSame(replicas[r], replicas[q])
  /\ \A r \in Ids : SnapshotIsCommitted(replicas[r])
  /\ CommittedNeverLost

(***************************************************************************)
(* Voter sets.                                                             *)
(***************************************************************************)
\* A VotersRecord exists only at kraft.version 1, after a KRaftVersionRecord or a snapshot.
\* Rules: kraft-version.record-gate, kraft-version.upgrade-atomic-batch
SetsHaveLevels(s) == \A i \in 2..Len(s.voters) : InForce(s.versions, s.voters[i].offset).kraft_version >= 1

\* A replica's voter set and kraft.version are those of the newest records in its log, or else of its snapshot.
FollowsLog(s) ==
  /\ s.voters = ExtendVoters(BaseVoters(s.base), s.base.end_offset, s.log)
  /\ s.versions = ExtendLevels(BaseLevels(s.base), s.base.end_offset, s.log)
  /\ SetsHaveLevels(s)

\* The offset of the last committed record with a voter set or kraft.version before an end offset, as far as it is not
\* deleted; otherwise one before all.
LastOfKind(kinds, end) ==
  LET log == history.committed
      found == {o \in log.base.end_offset..(end - 1) : RecordAt(log, o).kind \in kinds}
  IN IF found = {} THEN -1 ELSE Max(found)

\* A snapshot says what was in force in the committed history at its end; before the first such record, that is what its
\* replica was formatted with.  Rule: snapshot.set-at-its-end-offset
SnapshotFollowsHistory(s) ==
  LET committed == history.committed
      end == s.base.end_offset
      set == LastOfKind(SetKinds, end)
      level == LastOfKind({"KRaftVersion"}, end)
      known == IF end < committed.base.end_offset THEN InForce(committed.past, end) ELSE committed.base
  IN end > 0 /\ end <= EndOffset(committed) =>
       /\ IF set >= 0 THEN /\ s.base.voters = RecordAt(committed, set).voters
                           /\ s.base.details = RecordAt(committed, set).details
                           /\ s.base.target = TargetOf(RecordAt(committed, set))
          ELSE \/ known.voters = {NoKey}
               \/ s.base.voters = known.voters /\ s.base.details = known.details /\ s.base.target = known.target
       /\ IF level >= 0 THEN s.base.kraft_version = RecordAt(committed, level).value
          ELSE known.kraft_version \in {-1, s.base.kraft_version}

ConfigFollowsLog == \A r \in Ids : FollowsLog(replicas[r]) /\ SnapshotFollowsHistory(replicas[r])

\* Replicas with equal logs have the same voter set, except replicas without one.
\* Rules: state.leader.first-leader, bootstrap.sets-must-be-equal
ConfigAgreement ==
  \A r \in Watched : \A q \in Watched :
    LET a == replicas[r]
        b == replicas[q]
    IN r < q /\ EndOffset(a) = EndOffset(b) /\ LastEpoch(a) = LastEpoch(b) /\ Voters(a) # {} /\ Voters(b) # {}
         => Voters(a) = Voters(b)

\* A leader's log has at most one uncommitted change of the voter set.  A set with the same keys as the one before is no
\* change: a new leader may write one with new details of itself.
\* Rule: voters.one-change-at-a-time
ChangesAfter(s, end) ==
  {i \in 2..Len(s.voters) : s.voters[i].offset >= end /\ s.voters[i].voters # s.voters[i - 1].voters}

LocalOnePendingChange(r) ==
  replicas[r].role = "Leader" =>
    Cardinality(ChangesAfter(replicas[r], EndOffset(history.committed))) <= 1
OnePendingChange == \A r \in Ids : LocalOnePendingChange(r)

(***************************************************************************)
(* Any two voter sets that can both decide something have no disjoint      *)
(* majorities.                                                             *)
(*                                                                         *)
(* A set decides through a replica that has it in force, as a candidate    *)
(* that counts grants or as a leader that counts offsets.  It can decide   *)
(* if that replica's log holds everything that is committed.  One whose    *)
(* log does not can neither be elected any more nor commit anything: what  *)
(* it lacks is on a majority that refuses it its votes (vote.log-check)    *)
(* and has another epoch than it; LeaderCompleteness says so.  A leader of *)
(* an older epoch with a change that nobody else has is such a replica, as *)
(* soon as the newer leader has committed the start of its own epoch.      *)
(* Before that it is not, and that is why the newer leader has to wait     *)
(* (voters.epoch-committed-before-change).  Stopped replicas count: they   *)
(* may start again.                                                        *)
(*                                                                         *)
(* In the protocol the sets of such replicas are the last committed one    *)
(* and at most one other, a single voter away from it: of two changes that *)
(* are not committed, the later was appended when a record of its own      *)
(* epoch was, and no log with the earlier one has that record.             *)
(***************************************************************************)
\* By LogMatching it is enough to compare the last committed record.
HoldsCommitted(s) ==
  LET committed == history.committed
      end == EndOffset(committed)
  IN s.base.end_offset <= end /\ end <= EndOffset(s) /\ EpochBefore(s, end) = LastEpoch(committed)

\* True if an entry of a voter set is this key.  Not defined by Names, because the properties check what Names counts.
IsEntryOf(entry, key) == entry.id = key.id /\ entry.directory_id \in {"", key.directory_id}

\* True if entries of two sets are the same voter.
SameVoter(v, w) == IsEntryOf(v, w) \/ IsEntryOf(w, v)

\* True if a majority of A and one of B can be disjoint: each takes its own members first, then common ones.
HaveDisjointMajorities(A, B) ==
  LET common == Cardinality({v \in A : \E w \in B : SameVoter(v, w)})
      Missing(S) == Larger(0, (Cardinality(S) \div 2 + 1) - (Cardinality(S) - common))
  IN A # {} /\ B # {} /\ Missing(A) + Missing(B) <= common

MayDecideApart(s, t) ==
  /\ Voters(s) # Voters(t)
  /\ HoldsCommitted(s) /\ HoldsCommitted(t)
  /\ HaveDisjointMajorities(Voters(s), Voters(t))

ConfigOverlap == \A r \in Ids : \A q \in Ids : r < q => ~MayDecideApart(replicas[r], replicas[q])

Invariants ==
  /\ TypeOk /\ ElectionSafety /\ VoteOncePerEpoch /\ NotFollowerOfSelf /\ OffsetEpochUnique
  /\ LogMatching /\ LeaderCompleteness /\ CommittedNeverLost /\ StateMachineSafety
  /\ ConfigFollowsLog /\ ConfigAgreement /\ OnePendingChange /\ ConfigOverlap

(***************************************************************************)
(* Steps.  Each is about one replica, before and after.                    *)
(***************************************************************************)
SameDisk(r) == replicas'[r].replica_key = replicas[r].replica_key

\* The epoch of a replica never decreases.
EpochMonotonicAt(r) == SameDisk(r) => replicas'[r].epoch >= replicas[r].epoch
EpochMonotonic == [][\A r \in Ids : EpochMonotonicAt(r)]_replicas

\* The high watermark that a replica publishes never decreases between restarts.  A new leader may reset it to unknown until
\* it has committed a record of its epoch, and a Resigned replica until it learns it from a leader.
HwMonotonicAt(r) ==
  LET before == replicas[r]
      after == replicas'[r]
      begins == before.role # after.role /\ after.role \in {"Leader", "Resigned"}
  IN \/ after.role = "Stopped"
     \/ after.high_watermark >= before.high_watermark
     \/ begins /\ after.high_watermark = Unknown /\ config.profile.leader_high_watermark = "unknown"
HwMonotonic == [][\A r \in Ids : HwMonotonicAt(r)]_replicas

\* Roles change only as the transition table of the reference says.  Rule: state.roles
RoleChangeAt(r) ==
  replicas'[r].role # replicas[r].role => <<replicas[r].role, replicas'[r].role>> \in RoleChanges
RoleChange == [][\A r \in Ids : RoleChangeAt(r)]_replicas

\* A Pre-Vote request of the receiver's epoch does not change the receiver.
PureAt(r, m) ==
  m.type = "VoteRequest" /\ m.pre_vote /\ m.epoch = replicas[r].epoch /\ config.pre_vote[r] = "supported"
    => replicas'[r] = replicas[r] \/ replicas'[r].role = "Stopped"
PreVoteIsPure ==
  [][\A m \in network : m \notin network' => PureAt(m.destination, m)]_<<replicas, network>>

\* True if a request addresses this key.  Not defined by Addresses, for the same reason as IsEntryOf.
IsMeantFor(addressed, own) == addressed.id \in {-1, own.id} /\ addressed.directory_id \in {"", own.directory_id}

\* Votes and fetch offsets count only for the exact id and directory id: a step that counts one had such a request.  A
\* replica votes only for a candidate that requests the vote of its key.  A voter gets a fetch offset only from a Fetch
\* with its key, and credit in check quorum from a Fetch or FetchSnapshot with its key, or an UpdateVoter (decision
\* update_voter_credit).  requests are those that the step may be about.
\* Rules: fetch.replica-key, vote.voter-key, identity.leader-tracks-by-key, identity.addressed-to-key
GrantIsBound(r, requests) ==
  LET before == replicas[r]
      voted == replicas'[r].voted_key
  IN /\ before.role # "Stopped"
     /\ voted # before.voted_key /\ voted \notin {NoKey, before.replica_key}
     => \E m \in requests : /\ m.type = "VoteRequest" /\ m.destination = r /\ ~(m.pre_vote /\ config.pre_vote[r] = "supported")
                            /\ m.replica_key = voted /\ IsMeantFor(m.voter_key, before.replica_key)

CreditIsBound(r, requests) ==
  LET before == replicas[r]
      after == replicas'[r]
      Requests(types) == {m \in requests : m.type \in types /\ m.destination = r}
      WasHeard(v) ==
        \/ \E m \in Requests({"FetchRequest", "FetchSnapshotRequest"}) : IsEntryOf(v, m.replica_key)
        \/ /\ config.profile.update_voter_credit = "fetch"
           /\ \E m \in Requests({"UpdateVoterRequest"}) : IsEntryOf(v, m.voter)
      FetchedUpTo(v, offset) ==
        \E m \in Requests({"FetchRequest"}) : IsEntryOf(v, m.replica_key) /\ m.fetch_offset = offset
  IN before.role = "Leader" /\ after.role = "Leader" =>
       /\ \A v \in DOMAIN after.fetch_offsets :
            \/ v \in DOMAIN before.fetch_offsets /\ after.fetch_offsets[v] = before.fetch_offsets[v]
            \/ FetchedUpTo(v, after.fetch_offsets[v])
       /\ \A id \in after.fetchers \ before.fetchers : \E v \in Voters(before) : v.id = id /\ WasHeard(v)

IdentityBindingAt(r, requests) == GrantIsBound(r, requests) /\ CreditIsBound(r, requests)
IdentityBinding == [][\A r \in Ids : IdentityBindingAt(r, network)]_<<replicas, network>>

(***************************************************************************)
(* The local forms, for the replica that an event changed.                 *)
(***************************************************************************)
LocalLogMatching(r) ==
  LET s == replicas'[r]
      from == Smaller(EndOffset(replicas[r]), EndOffset(s))
  IN from < EndOffset(s) => \A q \in Ids : q = r \/ LogsMatch(s, replicas'[q], from)

\* A new leader has what was committed before; what is committed now is in the log of the newest leader, which may
\* be another than the one that committed it.
LocalLeaderCompleteness(r) ==
  /\ replicas'[r].role = "Leader" /\ replicas[r].role # "Leader" /\ replicas'[r].epoch >= NewestLed
       => Contains(replicas'[r], history'.committed)
  /\ LET before == EndOffset(history.committed)
         end == EndOffset(history'.committed)
     IN end > before =>
          LET newest == Max(DOMAIN history'.epochs) IN
          \A q \in Ids : replicas'[q].role = "Leader" /\ replicas'[q].epoch = newest =>
            /\ EndOffset(replicas'[q]) >= end
            /\ SameRecords(replicas'[q], history'.committed, before, end)

LocalCommittedNeverLost(r) ==
  LET before == replicas[r].high_watermark IN
  replicas'[r].high_watermark # before => CommittedFrom(replicas'[r], Larger(before, 0), history'.committed)

\* The records are those of CommittedNeverLost; a new snapshot is looked at when it is there.
NewSnapshot(r) ==
  replicas'[r].base.end_offset # replicas[r].base.end_offset \/ replicas'[r].base.epoch # replicas[r].base.epoch

LocalStateMachineSafety(r) ==
  /\ LocalCommittedNeverLost(r)
  /\ NewSnapshot(r) => SnapshotIsCommitted(replicas[r])'

\* The histories change as the log does.
LocalConfigFollowsLog(r) ==
  LET s == replicas[r]
      after == replicas'[r]
      end == EndOffset(s)
      new == RecordsBetween(after, end, EndOffset(after))
  IN
  IF NewSnapshot(r) \/ after.replica_key # s.replica_key THEN (FollowsLog(replicas[r]) /\ SnapshotFollowsHistory(replicas[r]))'
  ELSE IF EndOffset(after) = end THEN after.voters = s.voters /\ after.versions = s.versions
  ELSE IF EndOffset(after) > end
  THEN /\ after.voters = ExtendVoters(s.voters, end, new)
       /\ after.versions = ExtendLevels(s.versions, end, new)
       /\ Len(after.voters) = Len(s.voters) \/ SetsHaveLevels(after)
  ELSE after.voters = Reverted(s.voters, EndOffset(after)) /\ after.versions = Reverted(s.versions, EndOffset(after))

\* A log that did not change decides as before, because the committed log only grows.
LocalConfigOverlap(r) ==
  \/ EndOffset(replicas'[r]) = EndOffset(replicas[r]) /\ LastEpoch(replicas'[r]) = LastEpoch(replicas[r])
  \/ \A q \in Ids : q = r \/ ~MayDecideApart(replicas[r], replicas[q])'
=============================================================================
