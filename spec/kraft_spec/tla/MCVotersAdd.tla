----------------------------- MODULE MCVotersAdd -----------------------------
(***************************************************************************)
(* Slices about one voter that is added.                                   *)
(***************************************************************************)
EXTENDS MCVoters

EpochLimit == 2
Campaigners == {2}
Joiner == {config.keys[4]}

\* The joiner knows the leader and has fetched nothing.
Init == config = Joining(4, 3) /\ \E scene \in {Stand({4})} : Begins(scene)

TimeOut(r, timer) ==
  /\ Rested
  /\ \/ ElectionTimer(timer) /\ r \in Campaigners /\ replicas[r].epoch < EpochLimit
     \/ timer = "voter-change"

Bounds == EpochsUpTo(EpochLimit)

(***************************************************************************)
(* voters-interrupted: the leader has died while its addition was on its   *)
(* way to the replicas 2 and 4, and the client asks the next leader again. *)
(***************************************************************************)
Interrupted(holders) ==
  LET left == AppendsFor(Stand({}), <<SetOf({1, 2, 3, 4})>>, holders) IN
  [left EXCEPT !.replicas[1] = Stopped(@), !.history.crashes = 1]

InitInterrupted ==
  /\ config = Joining(4, 3)
  /\ \E holders \in SUBSET {2, 4} : \E scene \in {Interrupted(holders)} : Begins(scene)

SecondOrFourth == {2, 4}

(***************************************************************************)
(* voters-truncation: the old leader has an addition that the new one      *)
(* does not know of, and perhaps the joiner has it, too.                   *)
(***************************************************************************)
Overtaken(holders) == NextLeads(AppendsFor(Stand({}), <<SetOf({1, 2, 3, 4})>>, holders), 2, {3})

InitOvertaken ==
  /\ config = Joining(4, 3)
  /\ \E holders \in SUBSET {4} : \E scene \in {Overtaken(holders)} : Begins(scene)

FirstOnly == {1}
ThreeEpochs == 3
=============================================================================
