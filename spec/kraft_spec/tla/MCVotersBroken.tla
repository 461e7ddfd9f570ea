--------------------------- MODULE MCVotersBroken ----------------------------
(***************************************************************************)
(* Voter changes with one rule taken out, in bounds that are narrow around *)
(* the scenario that needs it (membership-scenarios.md): what happens, and *)
(* that the properties see it.  Nothing here is exhaustive; the bounds say *)
(* who moves, TLC finds the order.                                         *)
(***************************************************************************)
EXTENDS MCVoters

EpochLimit == 2
ThreeEpochs == 3

\* Who may campaign, and from which epoch; who fetches.
Campaigns == <<0, 0, 0, 0, 0>>
TimeOut(r, timer) == Rested /\ ElectionTimer(timer) /\ replicas[r].epoch = Campaigns[r]
Fetching == {}
SomeFetch(s) == IF s.role = "Follower" /\ s.replica_key.id \in Fetching THEN {s.leader_id} ELSE {}

Bounds == EpochsUpTo(EpochLimit)

(***************************************************************************)
(* S10.  The single-server-change bug: replica 1 adds 5, replica 2 is      *)
(* elected without knowing it and removes 1 at once.                       *)
(***************************************************************************)
InitS10 ==
  /\ config = Joining(5, 4)
  /\ \E scene \in {Stand({})} : Begins(scene)

\* The same with replica 2 elected already, and the addition of 5 at 1 and 5 alone.
InitS10Loss ==
  /\ config = Joining(5, 4)
  /\ \E stand \in {Stand({})} :
     \E left \in {AppendsFor(stand, <<SetOf({1, 2, 3, 4, 5})>>, {5})} :
     \E scene \in {NextLeads(left, 2, {3, 4})} : Begins(scene)

KeysOfS10 == {ReplicaKey(1, "A"), ReplicaKey(5, "E")}
SecondOnce == <<0, 1, 0, 0, 0>>
FirstAgain == <<2, 0, 0, 0, 0>>
ThirdFetches == {3}

(***************************************************************************)
(* S11.  Replica 1 adds 4 and 5 before either is committed.                *)
(***************************************************************************)
InitS11 ==
  /\ config = Joining(5, 3)
  /\ \E scene \in {Stand({})} : Begins(scene)

KeysOfS11 == {ReplicaKey(4, "D"), ReplicaKey(5, "E")}
NewFetch == {4, 5}

\* voters.at-most-one-difference: both in one record.
InitJump ==
  /\ config = Joining(5, 3)
  /\ \E scene \in {Stand({})} : Begins(scene)
FirstAppends(r) == r = 1 /\ Rested

(***************************************************************************)
(* S7b.  A leader that removes itself counts itself on.  Starts when the   *)
(* replicas 3 and 4 have the record and the leader does not know it.       *)
(***************************************************************************)
InitS7b ==
  /\ config = Joining(4, 4)
  /\ \E stand \in {Stand({})} :
     \E scene \in {AppendsFor(stand, <<SetOf({2, 3, 4})>>, {3, 4})} : Begins(scene)

ThirdOnce == <<0, 0, 1, 0, 0>>
SecondFetches == {2}
AppendsAfterChange(r) == r = 1 /\ Rested /\ EndOffset(replicas[r]) = 4

(***************************************************************************)
(* S5.  Replica 3 comes back with an empty disk.                           *)
(***************************************************************************)
EmptyThird(scene) ==
  [scene EXCEPT !.replicas[3] = AfterRestart(EmptyReplica(ReplicaKey(3, "new")), NoEndpoint).state,
                !.history.votes[3] = NoVotes, !.history.crashes = 1, !.history.directories = @ \cup {"new"}]

InitVote ==
  /\ config = Joining(3, 3)
  /\ \E stand \in {Stand({})} :
     \E scene \in {EmptyThird(stand)} : Begins(scene)

InitFetch ==
  /\ config = Joining(3, 3)
  /\ \E stand \in {Stand({})} :
     \E scene \in {EmptyThird(stand)} : Begins(scene)

NewDiskFetches(s) ==
  CASE s.replica_key.id = 3 /\ s.role = "Follower" -> {s.leader_id}
    [] s.replica_key.id = 3 /\ s.role = "Unattached" -> BootstrapServers(s)
    [] OTHER -> {}

(***************************************************************************)
(* S2b.  Two lists in one cluster.                                         *)
(***************************************************************************)
TwoLists ==
  LET keys == Cluster(5, 5, 1).keys
      low == {keys[1], keys[2], keys[3]}
      high == {keys[3], keys[4], keys[5]}
  IN [Cluster(5, 5, 1) EXCEPT !.initial_voters = <<low, low, {}, high, high>>]

InitS2b == InitWith(WithoutPreVote(TwoLists))
FirstAndFourth == <<0, -1, -1, 0, -1>>
EpochOneOnly == 1

(***************************************************************************)
(* S13.  Truncation keeps the set.  Starts when replica 2 leads epoch 2,   *)
(* its first record is committed, and replica 1 still has its own set.     *)
(***************************************************************************)
CutKeepsSets(s, end) ==
  [s EXCEPT !.log = SubSeq(@, 1, end - s.base.end_offset), !.flushed = IF @ < end THEN @ ELSE end]

HaveFetched(scene, ids) ==
  LET leader == scene.replicas[2]
      end == EndOffset(leader)
      Has(r) == [Flushed([scene.replicas[r] EXCEPT !.log = leader.log]) EXCEPT !.high_watermark = end, !.fetched = TRUE]
  IN [scene EXCEPT !.replicas = [r \in Ids |-> IF r \in ids THEN Has(r) ELSE @[r]],
                   !.replicas[2] = [leader EXCEPT !.high_watermark = end,
                                                  !.fetch_offsets = [k \in {config.keys[r] : r \in ids} |-> end]],
                   !.history.committed.log = leader.log]

InitS13 ==
  /\ config = [Joining(5, 4) EXCEPT !.bootstrap_servers = {1, 2}]    \* who else could tell 5 that 2 leads?
  /\ \E stand \in {Stand({})} :
     \E left \in {AppendsFor(stand, <<SetOf({1, 2, 3})>>, {})} :
     \E led \in {NextLeads(left, 2, {3, 4, 5})} :
     \E fetched \in {HaveFetched(led, {3, 4, 5})} :
     \E scene \in {[fetched EXCEPT !.history.votes[5] = NoVotes, !.replicas[5].voted_key = NoKey,
                                    !.replicas[5].quorum_state_version = 1, !.replicas[2].acknowledging_voters = {3, 4}]} : Begins(scene)

FirstTwice == <<2, 0, 0, 0, 0>>
AllButThird == {1, 4, 5}
AddsFifth == {ReplicaKey(5, "E")}

(***************************************************************************)
(* S12.  Every replica uses the newest set that it knows to be committed.  *)
(* Starts after its step 2: the sets of four and of five are committed,    *)
(* each counted under the one before it, by the replicas 1, 2 and 4, and   *)
(* replica 2 is down.                                                      *)
(***************************************************************************)
TwoAdded(scene) ==
  LET leader == scene.replicas[1]
      end == EndOffset(leader)
  IN [scene EXCEPT !.replicas[1] = [leader EXCEPT !.high_watermark = end,
                                                  !.fetch_offsets = (ReplicaKey(2, "B") :> end)
                                                                      @@ (ReplicaKey(4, "D") :> end) @@ @],
                   !.replicas[2] = Stopped(@), !.history.crashes = 1,
                  !.replicas[4].high_watermark = end - 1,
                   !.history.committed.log = leader.log]

InitS12 ==
  /\ config = Joining(5, 3)
  /\ \E stand \in {Stand({})} :
     \E four \in {AppendsFor(stand, <<SetOf({1, 2, 3, 4})>>, {2, 4})} :
     \E five \in {AppendsFor(four, <<SetOf({1, 2, 3, 4, 5})>>, {2, 4})} :
     \E scene \in {TwoAdded(five)} : Begins(scene)

AppendsAfterTwo(r) == r = 1 /\ Rested /\ EndOffset(replicas[r]) = 5

NewestCommitted(s) ==
  Max({i \in 1..Len(s.voters) : i = 1 \/ s.voters[i].offset < s.high_watermark})
VotersCommitted(s) == s.voters[NewestCommitted(s)].voters
DetailsCommitted(s) == s.voters[NewestCommitted(s)].details

(***************************************************************************)
(* A set that is never read (scenario 51).  Starts when replica 2 leads    *)
(* epoch 2, and replica 1 has two records more than 2 began with: the set  *)
(* without 3 comes to stand below its old end.  The next is without 1.     *)
(***************************************************************************)
InitUnread ==
  /\ config = Joining(3, 3)
  /\ \E stand \in {Stand({})} :
     \E left \in {AppendsFor(stand, <<Record(1, "Data", 0, {}), Record(1, "Data", 0, {})>>, {})} :
     \E scene \in {NextLeads(left, 2, {3})} : Begins(scene)

FirstFetches == {1}
ThirdThenFirst == {config.keys[IF config.keys[3] \in Voters(replicas[2]) THEN 3 ELSE 1]}
FourEpochs == 4
FirstOrSecond(r, timer) == Rested /\ ElectionTimer(timer) /\ r # 3 /\ replicas[r].epoch \in {2, 3}

(***************************************************************************)
(* Scenario 52 with three voters: 1 has the set {1,3} alone, and loads the *)
(* snapshot of 2, which leads epoch 2 and has removed 1; 2 removes 3, too. *)
(***************************************************************************)
InitOutlived ==
  /\ config = Joining(3, 3)
  /\ \E stand \in {Stand({})} :
     \E left \in {AppendsFor(stand, <<SetOf({1, 3}), Record(1, "Data", 0, {})>>, {})} :
     \E scene \in {NextLeads(left, 2, {3})} : Begins(scene)

FirstThenThird == {config.keys[IF config.keys[1] \in Voters(replicas[2]) THEN 1 ELSE 3]}
FirstAndThirdFetch == {1, 3}
SecondTakesOne(r, end) == r = 2 /\ replicas[r].base.end_offset = 0 /\ end = replicas[r].high_watermark
FirstTimesOut(r, timer) == Rested /\ ElectionTimer(timer) /\ r # 2 /\ replicas[r].epoch = 2

(***************************************************************************)
(* A snapshot that holds the newest set instead of the one at its end.     *)
(***************************************************************************)
InitUncommitted ==
  /\ config = Joining(4, 3)
  /\ \E stand \in {Stand({})} :
     \E scene \in {AppendsFor(stand, <<SetOf({1, 2, 3, 4})>>, {})} : Begins(scene)

AnySnapshot(r, end) == TRUE
NewestAtAnyEnd(s, end) ==
  [end_offset |-> end, epoch |-> EpochBefore(s, end), kraft_version |-> Level(s), voters |-> Voters(s),
   details |-> Details(s),
   target |-> Target(s)]
=============================================================================
