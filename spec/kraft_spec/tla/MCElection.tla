----------------------------- MODULE MCElection -----------------------------
(***************************************************************************)
(* Slice "election" (and "smoke", smaller): from the first start to        *)
(* leaders of two epochs, Pre-Vote and Vote in every order of messages.    *)
(*                                                                         *)
(* Bounds: three voters at kraft.version 0; epochs up to EpochLimit; the   *)
(* replicas in Campaigners may time out (election and fetch timers), and   *)
(* not in the last epoch, whose next round could only start a later one.   *)
(* Leaves out: Fetch, so that no follower has fetched (slice replication   *)
(* and slice stability have it) and logs hold start-of-epoch records only; *)
(* check quorum and hand-over (handover); faults (network, crash).         *)
(***************************************************************************)
EXTENDS MCBounds

EpochLimit == 2
ThreeEpochs == 3

Campaigners == {1, 2, 3}
TwoCampaign == {1, 2}

Init == InitWith(ThreeVoters)

TimeOut(r, timer) ==
  /\ timer \in {"election", "fetch"}
  /\ r \in Campaigners
  /\ replicas[r].epoch < EpochLimit
  /\ NobodyPolls

Bounds == EpochsUpTo(EpochLimit)
=============================================================================
