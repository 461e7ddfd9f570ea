------------------------------- MODULE MCMixed ------------------------------
(***************************************************************************)
(* Slice "mixed": software of several versions.  Replica 2 does not know   *)
(* Pre-Vote (Vote version below 2): a Pre-Vote to it cannot be encoded,    *)
(* and its own timeouts make it Candidate at once.  Replica 3 reads the    *)
(* flag and ignores it: to it a Pre-Vote is a vote.                        *)
(*                                                                         *)
(* Bounds: three voters at kraft.version 0, from the first start; epochs   *)
(* up to 2; only the replicas in Campaigners time out, not in the last     *)
(* epoch; replica 3 only votes (nightly: all time out).                    *)
(* Leaves out: Fetch, hand-over and faults, as the slice election; an      *)
(* upgrade while it runs: see MCUpgrade.                                   *)
(***************************************************************************)
EXTENDS MCBounds

EpochLimit == 2
Campaigners == {1, 2}
AllCampaign == {1, 2, 3}

Init == InitWith([ThreeVoters EXCEPT !.pre_vote = <<"supported", "unsupported", "ignored">>])

TimeOut(r, timer) ==
  /\ timer \in {"election", "fetch"}
  /\ r \in Campaigners
  /\ replicas[r].epoch < EpochLimit
  /\ NobodyPolls

Bounds == EpochsUpTo(EpochLimit)
=============================================================================
