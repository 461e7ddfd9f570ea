-------------------------- MODULE MCVotersSnapshot ---------------------------
(***************************************************************************)
(* Slice "voters-snapshot": snapshots that carry voters.  The leader takes *)
(* one whenever it can; the joiner loads it, knows the voters set from it  *)
(* alone, is added and fetches its own record, which a leader of epoch 2   *)
(* may truncate: then the set of the snapshot is in force again (scenario  *)
(* S19).                                                                   *)
(*                                                                         *)
(* Bounds: as voters-add, and only replica 1 takes snapshots, as a leader; *)
(* replica 3 votes and never fetches.                                      *)
(* Leaves out: as voters-add; snapshots at followers, which serve nobody.  *)
(* Reductions of MCVoters: a request for a snapshot is never withheld.     *)
(***************************************************************************)
EXTENDS MCVotersAdd

\* Probes: must be found violated.
NoSnapshotIsLoaded == ~(replicas[4].base.end_offset > 0 /\ IsVoter(replicas[4]))
NoSetOfASnapshotReturns ==
  [][~(replicas[4].base.end_offset > 0 /\ Len(replicas[4].voters) = 2 /\ Len(replicas'[4].voters) = 1)]_replicas

\* A rival as soon as the joiner, standing on a snapshot, is a voter.
RivalLate(r, timer) == TimeOut(r, timer) /\ replicas[4].base.end_offset > 0 /\ IsVoter(replicas[4])

LeaderTakesOne(r, end) == r = 1 /\ replicas[r].role = "Leader" /\ Rested
=============================================================================
