-------------------------- MODULE MCVotersSnapshot ---------------------------
(***************************************************************************)
(* Slice "voters-snapshot".                                                *)
(***************************************************************************)
EXTENDS MCVotersAdd

\* Probes: must be found violated.
NoSnapshotIsLoaded == ~(replicas[4].base.end > 0 /\ IsVoter(replicas[4]))
NoSetOfASnapshotReturns ==
  [][~(replicas[4].base.end > 0 /\ Len(replicas[4].voters) = 2 /\ Len(replicas'[4].voters) = 1)]_replicas

LeaderTakesOne(r, end) == r = 1 /\ replicas[r].role = "Leader" /\ Rested
ThirdOnlyVotes(s) == IF s.role = "Follower" /\ s.key[1] # 3 THEN {s.leader} ELSE {}
=============================================================================
