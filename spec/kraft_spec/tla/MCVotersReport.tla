--------------------------- MODULE MCVotersReport ---------------------------
(***************************************************************************)
(* Slice "voters-report": voters report themselves (UpdateVoter), and the  *)
(* leader counts their reports in check quorum, or does not (decision      *)
(* update_voter_credit).  With three voters a leader has its majority as   *)
(* soon as one of them is counted, and the period starts anew: no credit   *)
(* is ever seen.  So there are four.                                       *)
(*                                                                         *)
(* Bounds: four voters; starts from Stand in MCVoters at kraft.version 0   *)
(* with static voters, or at 1 with replicas 2 and 3 at another endpoint   *)
(* than their voter set has; epoch 1, no timer fires; replica 4 neither    *)
(* fetches nor reports at 1.                                               *)
(* Leaves out: elections, the upgrade (voters-upgrade), crashes, client    *)
(* appends, network faults, a Fetch that tells nothing new.                *)
(* Reductions 6, 7 and 9 of MCVoters; not 8, because credit is what this   *)
(* slice is about.                                                         *)
(***************************************************************************)
EXTENDS MCVoters

StaticVoters == WithoutPreVote([Cluster(4, 4, 0) EXCEPT !.voters = {ReplicaKey(r, "") : r \in 1..4}])
Moved(scene) == [scene EXCEPT !.replicas[2].moved_to = "E5", !.replicas[3].moved_to = "E5"]

Init ==
  \/ config = StaticVoters /\ \E scene \in {Stand({})} : Begins(scene)
  \/ config = Joining(4, 4) /\ \E scene \in {Stand({})} : Begins(Moved(scene))

Reports(s) == TRUE
FourthIsSilent(s) == IF s.role = "Follower" /\ s.replica_key.id # 4 THEN {s.leader_id} ELSE {}

Bounds == EpochsUpTo(1)
=============================================================================
