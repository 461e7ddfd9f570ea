-------------------------- MODULE MCVotersSnapshot ---------------------------
(***************************************************************************)
(* Slice "voters-snapshot".                                                *)
(***************************************************************************)
EXTENDS MCVotersAdd

LeaderTakesOne(r, end) == r = 1 /\ replicas[r].role = "Leader" /\ Rested
ThirdOnlyVotes(s) == IF s.role = "Follower" /\ s.key[1] # 3 THEN {s.leader} ELSE {}
=============================================================================
