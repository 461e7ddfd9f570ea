--------------------------- MODULE MCVotersUpgrade ---------------------------
(***************************************************************************)
(* Slice "voters-upgrade": kraft.version 0 to 1, with static voters whose  *)
(* directory ids nobody knows (scenario S17).  The followers report to     *)
(* each leader, the client asks any leader to upgrade, the leader appends  *)
(* level and set as one batch, and a leader of epoch 2 may truncate it:    *)
(* then the level is 0 again, and the static set is in force.              *)
(*                                                                         *)
(* Bounds: three voters; starts from Stand in MCVoters; epochs 1 and 2;    *)
(* replica 2 times out, not in the last epoch; the change may run out of   *)
(* time.                                                                   *)
(* Leaves out: crashes (a batch stays whole on disk: KeptAfterCrash),      *)
(* client appends, network faults, ranges that forbid the upgrade.         *)
(* Reduction 5 of MCBounds is off: followers report.  A report is sent at  *)
(* once in place of a Fetch, or the Fetch before it; its content does not  *)
(* change while its sender follows one leader, so that the argument of     *)
(* reduction 3 holds for it.  Reductions 6 to 8 of MCVoters.               *)
(***************************************************************************)
EXTENDS MCVoters

Nobody == {}
EpochLimit == 2
Campaigners == {2}

StaticVoters == WithoutPreVote([ThreeVoters EXCEPT !.voters = {ReplicaKey(r, "") : r \in 1..3}])

Init == config = StaticVoters /\ \E scene \in {Stand({})} : Begins(scene)

Reports(s) == TRUE
Upgrades(r) == replicas[r].role = "Leader" /\ Level(replicas[r]) = 0 /\ Rested

TimeOut(r, timer) ==
  /\ Rested
  /\ \/ ElectionTimer(timer) /\ r \in Campaigners /\ replicas[r].epoch < EpochLimit
     \/ timer = "voter-change"

\* Probes: must be found violated.
NoUpgradeIsCommitted ==
  ~\E r \in Ids : LET s == replicas[r] IN
     s.role = "Leader" /\ Level(s) = 1 /\ s.high_watermark > s.versions[Len(s.versions)].offset
NoUpgradeIsTruncated == [][\A r \in Ids : Level(replicas'[r]) >= Level(replicas[r])]_replicas

Bounds == EpochsUpTo(EpochLimit)
=============================================================================
