----------------------------- MODULE MCVotersAdd -----------------------------
(***************************************************************************)
(* Slices about one voter that is added, by a client that asks the leader: *)
(* replica 4, where 1, 2 and 3 are the voters, at kraft.version 1.         *)
(*                                                                         *)
(* voters-add: the joiner knows the leader and has fetched nothing; it     *)
(* catches up, is asked for its versions, added, and the client answered.  *)
(* Replica 2 rivals the leader at any moment, and the change may run out   *)
(* of time.                                                                *)
(*                                                                         *)
(* voters-interrupted: the leader is gone, its addition is on replica 2 or *)
(* nowhere; replica 2 is elected, and the client asks it again (scenario   *)
(* S15).                                                                   *)
(*                                                                         *)
(* voters-truncation: the old leader, and perhaps the joiner, has an       *)
(* addition that the leader of epoch 2 does not know of: it is truncated,  *)
(* the client asks the new leader, and replica 1 campaigns for epoch 3     *)
(* (scenario S13).                                                         *)
(*                                                                         *)
(* Bounds: epochs up to EpochLimit; only the replicas in Campaigners time  *)
(* out, not in the last epoch.  All start from Stand in MCVoters or from   *)
(* what follows it there.                                                  *)
(* Leaves out: crashes but for the one that has happened in                *)
(* voters-interrupted; client appends (replication); network faults        *)
(* (network); check quorum and hand-over (handover).                       *)
(* All reductions of MCVoters.                                             *)
(***************************************************************************)
EXTENDS MCVoters

Nobody == {}
EpochLimit == 2
Campaigners == {2}
Joiner == {config.keys[4]}

\* The joiner knows the leader and has fetched nothing.
Init == config = Joining(4, 3) /\ \E scene \in {Stand({4})} : Begins(scene)

ElectionsOnly(r, timer) ==
  Rested /\ ElectionTimer(timer) /\ r \in Campaigners /\ replicas[r].epoch < EpochLimit

TimeOut(r, timer) == ElectionsOnly(r, timer) \/ (timer = "voter-change" /\ Rested)

Bounds == EpochsUpTo(EpochLimit)

(***************************************************************************)
(* voters-interrupted: the leader has died while its addition was on its   *)
(* way to replica 2, and the client asks the next leader again.            *)
(***************************************************************************)
LeftBehind(scene) == [scene EXCEPT !.replicas[1] = Stopped(@), !.history.crashes = 1]

InitInterrupted ==
  /\ config = Joining(4, 3)
  /\ \E holders \in SUBSET {2} :
     \E stand \in {Stand({})} :
     \E left \in {AppendsFor(stand, <<SetOf({1, 2, 3, 4})>>, holders)} :
     \E scene \in {LeftBehind(left)} : Begins(scene)

(***************************************************************************)
(* voters-truncation: the old leader has an addition that the new one      *)
(* does not know of, and perhaps the joiner has it, too.                   *)
(***************************************************************************)
InitOvertaken ==
  /\ config = Joining(4, 3)
  /\ \E holders \in SUBSET {4} :
     \E stand \in {Stand({})} :
     \E left \in {AppendsFor(stand, <<SetOf({1, 2, 3, 4})>>, holders)} :
     \E scene \in {NextLeads(left, 2, {3})} : Begins(scene)

FirstOnly == {1}
ThreeEpochs == 3

(***************************************************************************)
(* Probes: each must be found violated.                                    *)
(***************************************************************************)
NobodyIsAdded ==
  ~\E r \in Ids : LET s == replicas[r] IN
     /\ s.role = "Leader" /\ config.keys[4] \in Voters(s)
     /\ s.high_watermark > s.voters[Len(s.voters)].offset

NoChangeRunsOut == [][\A r \in Ids : ~VoterChangeTimeout(r)]_variables

NoSetIsTruncated == [][\A r \in Ids : Len(replicas'[r].voters) >= Len(replicas[r].voters)]_replicas

(***************************************************************************)
(* The start in the middle is reached from the first start.                *)
(***************************************************************************)
InitFirst == InitWith(Joining(4, 3))

OnlyFirst(r, timer) == r = 1 /\ Rested /\ replicas[r].epoch = 0
FourthSearches(s) ==
  IF s.role = "Follower" THEN {s.leader_id} ELSE IF s.replica_key.id = 4 /\ replicas[1].role = "Leader" THEN {1} ELSE {}

Plain(s) == [Uncredited(s) EXCEPT !.awaiting = {}]
NobodyStands ==
  ~(/\ replicas[1].high_watermark = 3 /\ replicas[2].high_watermark = 3 /\ replicas[3].high_watermark = 3
    /\ LET scene == Stand({4}) IN
       /\ \A r \in Ids : Plain(replicas[r]) = Plain(scene.replicas[r])
       /\ history = scene.history)
=============================================================================
