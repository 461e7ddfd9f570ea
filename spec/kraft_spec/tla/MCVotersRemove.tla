--------------------------- MODULE MCVotersRemove ----------------------------
(***************************************************************************)
(* Slices about one voter that is removed, of three at kraft.version 1.    *)
(*                                                                         *)
(* voters-remove: replica 3 is removed; 2 and 3 rival the leader, 3 as an  *)
(* observer, too, once it knows its removal.                               *)
(*                                                                         *)
(* voters-remove-leader: replica 1, the leader, is removed: it leads on    *)
(* without counting itself until its removal is committed, answers,        *)
(* resigns and hands over (scenario S7).                                   *)
(*                                                                         *)
(* Bounds: starts from Stand in MCVoters; epochs 1 and 2; only the         *)
(* replicas in Campaigners time out, and in the second slice replica 1     *)
(* when it has resigned, not in the last epoch; the change may run out of  *)
(* time in the first.                                                      *)
(* Leaves out: crashes, client appends, network faults, check quorum.      *)
(* All reductions of MCVoters.                                             *)
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
