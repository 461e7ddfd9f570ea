------------------------------ MODULE MCUpgrade -----------------------------
(***************************************************************************)
(* Slice "rolling-upgrade": three voters whose software does not know      *)
(* Pre-Vote get software that does, one after the other, while they elect. *)
(* A voter stops for it at rest, gets the software and starts again.       *)
(*                                                                         *)
(* Bounds: three voters at kraft.version 0, from the first start; epoch 1  *)
(* (nightly: 2); only replicas 1 and 2 time out, while all run, not in the *)
(* last epoch; each voter stops once.                                      *)
(* Leaves out: Fetch, hand-over, other crashes and faults of the network;  *)
(* software that goes back; another order.                                 *)
(***************************************************************************)
EXTENDS MCBounds

EpochLimit == 1
TwoEpochs == 2

Init == InitWith([ThreeVoters EXCEPT !.pre_vote = <<"unsupported", "unsupported", "unsupported">>])

TimeOut(r, timer) ==
  /\ timer \in {"election", "fetch"}
  /\ r \in {1, 2}
  /\ replicas[r].epoch < EpochLimit
  /\ NobodyPolls
  /\ \A other \in Ids : Runs(other)

IsNext(r) == config.pre_vote[r] = "unsupported" /\ \A other \in 1..(r - 1) : config.pre_vote[other] = "supported"

\* Each stops once.
StopsForUpgrade(r) == IsNext(r) /\ history.crashes = r - 1 /\ NobodyPolls /\ \A other \in Ids : Runs(other)
Upgrade(r) == IF IsNext(r) THEN {"supported"} ELSE {}

NobodyLeadsUpgraded ==
  ~\E r \in Ids : replicas[r].role = "Leader" /\ \A other \in Ids : config.pre_vote[other] = "supported" /\ Runs(other)

Bounds == EpochsUpTo(EpochLimit)
=============================================================================
