---------------------------- MODULE Properties -----------------------------
(***************************************************************************)
(* What the protocol promises.  The names are those of the rule catalogue. *)
(* Each invariant has two forms: the whole one over all replicas, which    *)
(* the MC models check in every state, and a local one about the replica   *)
(* that an event changed, which a trace check can afford on every line.    *)
(***************************************************************************)
EXTENDS KRaft, RoleTable

(***************************************************************************)
(* TypeOk, a clause beside each variable.                                  *)
(***************************************************************************)
RoleNames == {"Unattached", "Prospective", "Candidate", "Leader", "Follower", "Resigned"}

IsKey(k) == k[1] \in Ids \cup {-1} /\ k[2] \in STRING

RecordOk(r) ==
  /\ r.epoch \in Nat \ {0}
  /\ r.kind \in {"LeaderChange", "Data", "Voters", "KRaftVersion"}
  /\ r.value \in Int
  /\ \A v \in r.voters : IsKey(v)

StateOk(s) ==
  /\ IsKey(s.key)                                   \* (replica id, directory id)
  /\ s.role \in RoleNames \cup {"Stopped"}          \* "Stopped" is not a role: the process does not run
  /\ s.epoch \in Nat
  /\ s.leader \in Ids \cup {NoLeader}               \* leader id known for this epoch
  /\ s.endpoint \in {config.endpoints[i] : i \in Ids} \cup {NoEndpoint}
  /\ IsKey(s.voted)                                 \* votedKey
  /\ s.flushed \in 0..EndOffset(s.log)              \* records before this offset survive a crash
  /\ Len(s.voters) > 0                              \* voters sets in the log, the newest last
  /\ s.highWatermark \in -1..EndOffset(s.log)
  /\ s.granted \subseteq Ids /\ s.rejected \subseteq Ids \* answers of this round; Prospective, Candidate
  /\ s.granted \cap s.rejected = {}
  /\ s.fetched \in BOOLEAN                          \* a fetch succeeded since it became Follower
  /\ s.searching \in BOOLEAN                        \* an observer's fetch timer fired
  /\ s.epochStart \in 0..EndOffset(s.log)           \* Leader: first offset of its epoch
  /\ \A k \in DOMAIN s.offsets : IsKey(k) /\ s.offsets[k] \in 0..EndOffset(s.log)
  /\ s.fetchers \subseteq Ids                       \* Leader: voters seen in this check-quorum period
  /\ s.acknowledged \subseteq Ids                   \* Leader, Resigned: voters that answered the announcement
  /\ \A a \in s.awaiting : a[1] \in Ids             \* outstanding requests <<to, correlation>>

\* Which fields may be set in which role.  Rules: state.roles, observer.states
RoleOk(s) ==
  /\ s.role \in {"Leader", "Resigned"} => s.leader = s.key[1]
  /\ s.role = "Follower" => s.leader # NoLeader /\ s.endpoint # NoEndpoint
  /\ s.role = "Candidate" => s.leader = NoLeader /\ s.voted # NoKey
  /\ s.role \in {"Prospective", "Candidate"} => IsVoter(s) /\ s.key[1] \in s.granted
  /\ s.role \notin {"Prospective", "Candidate"} => s.granted = {} /\ s.rejected = {}
  /\ s.role # "Follower" => ~s.fetched /\ ~s.searching

LocalTypeOk(r) == StateOk(replicas[r]) /\ RoleOk(replicas[r])

TypeOk ==
  /\ \A r \in Ids : LocalTypeOk(r)
  /\ \A r \in Ids : \A i \in 1..Len(replicas[r].log) : RecordOk(replicas[r].log[i])
  /\ cuts \subseteq Ids \X Ids

(***************************************************************************)
(* Elections.                                                              *)
(***************************************************************************)
\* At most one replica is ever Leader of an epoch.
LocalElectionSafety(r) ==
  replicas[r].epoch \in DOMAIN history.epochs =>
    Cardinality(history.epochs[replicas[r].epoch].leaders) <= 1
ElectionSafety == \A e \in DOMAIN history.epochs : Cardinality(history.epochs[e].leaders) <= 1

\* A replica grants standard votes to at most one (id, directory id) per epoch; at kraft.version 0 by id.
LocalVoteOncePerEpoch(r) ==
  LET candidates == history.votes[r].candidates IN
  IF config.kraftVersion = 0 THEN Cardinality({c[1] : c \in candidates}) <= 1 ELSE Cardinality(candidates) <= 1
VoteOncePerEpoch == \A r \in Ids : LocalVoteOncePerEpoch(r)

\* No replica is Follower of its own id.
LocalNotFollowerOfSelf(r) == replicas[r].role = "Follower" => replicas[r].leader # r
NotFollowerOfSelf == \A r \in Ids : LocalNotFollowerOfSelf(r)

(***************************************************************************)
(* Logs.                                                                   *)
(***************************************************************************)
\* No two different records are ever written with the same (offset, epoch).
LocalOffsetEpochUnique(r) ==
  replicas[r].epoch \in DOMAIN history.epochs => ~history.epochs[replicas[r].epoch].rewritten
OffsetEpochUnique == \A e \in DOMAIN history.epochs : ~history.epochs[e].rewritten

\* Logs with an equal (offset, epoch) agree up to that offset.
MatchAt(a, b, i) == a[i].epoch = b[i].epoch => a[i] = b[i] /\ (i = 1 \/ a[i - 1] = b[i - 1])
LogsMatch(a, b, from) == \A i \in from..Least(Len(a), Len(b)) : MatchAt(a, b, i)
LogMatching == \A r \in Ids : \A q \in Ids : r < q => LogsMatch(replicas[r].log, replicas[q].log, 1)

\* The log of a new Leader contains every committed record.
NewestLed == IF DOMAIN history.epochs = {} THEN 0 ELSE Max(DOMAIN history.epochs)
Contains(log, records) == Len(log) >= Len(records) /\ \A i \in 1..Len(records) : log[i] = records[i]

LeaderComplete(s) == Contains(s.log, history.committed)
LeaderCompleteness ==
  \A r \in Ids : replicas[r].role = "Leader" /\ replicas[r].epoch = NewestLed => LeaderComplete(replicas[r])

\* What a replica has exposed as committed is what was committed, for ever.
CommittedFrom(s, from) ==
  /\ s.highWatermark <= Len(history.committed)
  /\ \A i \in from..s.highWatermark : s.log[i] = history.committed[i]
CommittedNeverLost ==
  /\ \A r \in Ids : CommittedFrom(replicas[r], 1)
  /\ LeaderCompleteness

\* The voters set of a replica is the newest VotersRecord in its log or snapshot.
ConfigFollowsLog ==
  \A r \in Ids : replicas[r].voters = ExtendVoters(BaseVoters, 0, replicas[r].log)

\* Of several replicas with one log prefix the voters sets agree.  Rule: state.leader.first-leader
ConfigAgreement ==
  \A r \in Ids : \A q \in Ids :
    replicas[r].log = replicas[q].log => Voters(replicas[r]) = Voters(replicas[q])

Invariants ==
  /\ TypeOk /\ ElectionSafety /\ VoteOncePerEpoch /\ NotFollowerOfSelf /\ OffsetEpochUnique
  /\ LogMatching /\ LeaderCompleteness /\ CommittedNeverLost /\ ConfigFollowsLog /\ ConfigAgreement

(***************************************************************************)
(* Steps.  Each is about one replica, before and after.                    *)
(***************************************************************************)
SameDisk(r) == replicas'[r].key = replicas[r].key

\* The epoch of a replica never decreases.
EpochMonotonicAt(r) == SameDisk(r) => replicas'[r].epoch >= replicas[r].epoch
EpochMonotonic == [][\A r \in Ids : EpochMonotonicAt(r)]_replicas

\* The high watermark that a replica publishes never decreases between restarts.
HwMonotonicAt(r) == replicas'[r].role # "Stopped" => replicas'[r].highWatermark >= replicas[r].highWatermark
HwMonotonic == [][\A r \in Ids : HwMonotonicAt(r)]_replicas

\* Roles change only as the transition table of the reference says.  Rule: state.roles
RoleChangeAt(r) ==
  replicas'[r].role # replicas[r].role => <<replicas[r].role, replicas'[r].role>> \in RoleChanges
RoleChange == [][\A r \in Ids : RoleChangeAt(r)]_replicas

\* Handling a Pre-Vote of the own epoch changes no variable of the receiver.
PureAt(r, m) ==
  m.type = "VoteRequest" /\ m.preVote /\ m.epoch = replicas[r].epoch /\ config.preVote[r] = "supported"
    => replicas'[r] = replicas[r] \/ replicas'[r].role = "Stopped"
PreVoteIsPure ==
  [][\A m \in network : m \notin network' => PureAt(m.to, m)]_<<replicas, network>>

(***************************************************************************)
(* The local forms, for the replica that an event changed.                 *)
(***************************************************************************)
LocalLogMatching(r) ==
  LET log == replicas'[r].log
      from == Least(EndOffset(replicas[r].log), EndOffset(log)) + 1
  IN from <= Len(log) => \A q \in Ids : q = r \/ LogsMatch(log, replicas'[q].log, from)

\* A new leader has what was committed before; what is committed now is in the log of the newest leader, which may
\* be another than the one that committed it.
LocalLeaderCompleteness(r) ==
  /\ replicas'[r].role = "Leader" /\ replicas[r].role # "Leader" /\ replicas'[r].epoch >= NewestLed
       => LeaderComplete(replicas'[r])
  /\ Len(history'.committed) > Len(history.committed) =>
       LET newest == Max(DOMAIN history'.epochs) IN
       \A q \in Ids : replicas'[q].role = "Leader" /\ replicas'[q].epoch = newest =>
         /\ EndOffset(replicas'[q].log) >= Len(history'.committed)
         /\ \A i \in (Len(history.committed) + 1)..Len(history'.committed) :
              replicas'[q].log[i] = history'.committed[i]

LocalCommittedNeverLost(r) ==
  LET before == replicas[r].highWatermark IN
  replicas'[r].highWatermark # before =>
    /\ replicas'[r].highWatermark <= Len(history'.committed)
    /\ \A i \in (IF before < 0 THEN 1 ELSE before + 1)..replicas'[r].highWatermark :
         replicas'[r].log[i] = history'.committed[i]
=============================================================================
