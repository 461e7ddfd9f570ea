--------------------------- MODULE MCVotersRemove ----------------------------
(***************************************************************************)
(* Slices about one voter that is removed.                                 *)
(***************************************************************************)
EXTENDS MCVoters

Nobody == {}
EpochLimit == 2
Campaigners == {2, 3}
OnlySecond == {2}
Leaving == {config.keys[3]}
TheLeader == {config.keys[1]}

Init == config = Joining(3, 3) /\ \E scene \in {Stand({})} : Begins(scene)

TimeOut(r, timer) ==
  /\ Rested
  /\ \/ ElectionTimer(timer) /\ r \in Campaigners /\ replicas[r].epoch < EpochLimit
     \/ timer = "voter-change"

TimeOutAfterResigning(r, timer) ==
  /\ Rested
  /\ ElectionTimer(timer) /\ replicas[r].epoch < EpochLimit
  /\ r \in Campaigners \/ replicas[r].role = "Resigned"

\* Probe: must be found violated.
NoRemovedLeaderResigns == ~(replicas[1].role = "Resigned" /\ ~IsVoter(replicas[1]))

Bounds == EpochsUpTo(EpochLimit)
=============================================================================
