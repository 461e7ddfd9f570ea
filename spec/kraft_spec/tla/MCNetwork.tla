----------------------------- MODULE MCNetwork ------------------------------
(***************************************************************************)
(* Slice "network": messages lost, delivered twice, cut off in one         *)
(* direction; connections that give up waiting; a replica that searches    *)
(* for the leader.                                                         *)
(*                                                                         *)
(* Bounds: two voters at kraft.version 0, from the first start; epoch 1;   *)
(* only replica 1 times out; only Votes and Fetches are delivered twice;   *)
(* one append; at most MessageLimit messages on their way.                 *)
(* Leaves out: a second epoch and a third voter (simulation has both with  *)
(* every fault on); crashes (crash).  Only reduction 4 of MCBounds is      *)
(* used: a message sent twice and a request given up count here.           *)
(***************************************************************************)
EXTENDS MCBounds

MessageLimit == 3

Init == InitWith(Cluster(2, 2, 0))

TimeOut(r, timer) == r = 1 /\ timer \in {"election", "fetch"} /\ replicas[r].epoch < 1

GivesUp(r, to) == TRUE
Duplicates(m) == m.type \in {"VoteRequest", "FetchRequest"}
AppendsOnce(r) == EndOffset(replicas[r]) < 2
CutsOne(from, to) == cuts = {}
Alive(r, types) == Deliverable(r, types)

Bounds == EpochsUpTo(1) /\ Cardinality({m \in network : ~Dead(m)}) <= MessageLimit
=============================================================================
