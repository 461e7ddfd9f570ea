---------------------------- MODULE MCHandover ------------------------------
(***************************************************************************)
(* Slice "handover": a leader that resigns, by check quorum or shutdown,   *)
(* the EndQuorumEpoch that follows, and the announcement that is repeated  *)
(* (BeginQuorumEpochTimeout).                                              *)
(*                                                                         *)
(* Bounds: three voters at kraft.version 0; starts with replica 1 leader   *)
(* of epoch 1 (Elected in MCBounds); epochs up to 2; replicas 1 and 2 time *)
(* out (replica 1 once it is Resigned), not in the last epoch; replica 2   *)
(* fetches.                                                                *)
(* Leaves out: appends (replication), crashes (crash), network faults      *)
(* (network).  Polls happen at once, reduction 2 of MCBounds: a repeated   *)
(* announcement is sent at once, too, and only one is in flight.           *)
(***************************************************************************)
EXTENDS MCBounds

EpochLimit == 2

Init == Elected(ThreeVoters, 1)

SecondFetches(s) == IF s.role = "Follower" /\ s.replica_key.id = 2 THEN {s.leader_id} ELSE {}

TimeOut(r, timer) ==
  /\ NobodyPollsOrFetches
  /\ replicas[r].epoch < EpochLimit
  /\ CASE timer \in {"election", "fetch"} -> r = 2 \/ replicas[r].role = "Resigned"
       [] timer = "begin-quorum-epoch" -> r = 1 /\ replicas[r].acknowledging_voters # {}
       [] OTHER -> r = 1

ShutsDown(r) == r = 1 /\ NobodyPollsOrFetches

Bounds == EpochsUpTo(EpochLimit)
=============================================================================
