--------------------------- MODULE MCVotersUpgrade ---------------------------
(***************************************************************************)
(* Slice "voters-upgrade": kraft.version 0 to 1.                           *)
(***************************************************************************)
EXTENDS MCVoters

Nobody == {}
EpochLimit == 2
Campaigners == {2}

StaticVoters == [ThreeVoters EXCEPT !.voters = {<<r, "">> : r \in 1..3}]

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
     s.role = "Leader" /\ Level(s) = 1 /\ s.highWatermark > s.levels[Len(s.levels)].offset
NoUpgradeIsTruncated == [][\A r \in Ids : Level(replicas'[r]) >= Level(replicas[r])]_replicas

Bounds == EpochsUpTo(EpochLimit)
=============================================================================
