-------------------------- MODULE MCVotersSnapshot ---------------------------
(***************************************************************************)
(* Slice "voters-snapshot": snapshots that carry voters.  The leader takes *)
(* one whenever it can; the joiner loads it, knows the voter set from it   *)
(* alone, is added and fetches its own record, which a leader of epoch 2   *)
(* may truncate: then the set of the snapshot is in force again (scenario  *)
(* S19).                                                                   *)
(*                                                                         *)
(* Bounds: as voters-add, and only replica 1 takes snapshots, as a leader; *)
(* replica 3 votes and never fetches.                                      *)
(* Leaves out: as voters-add; snapshots at followers, which serve nobody.  *)
(* Reductions of MCVoters: a request for a snapshot is never withheld.     *)
(*                                                                         *)
(* Slice "voters-overwritten", below, has bounds of its own.               *)
(***************************************************************************)
EXTENDS MCVotersAdd

\* Probes: must be found violated.
NoSnapshotIsLoaded == ~(replicas[4].base.end_offset > 0 /\ IsVoter(replicas[4]))
NoSetOfASnapshotReturns ==
  [][~(replicas[4].base.end_offset > 0 /\ Len(replicas[4].voters) = 2 /\ Len(replicas'[4].voters) = 1)]_replicas

\* A rival as soon as the joiner, standing on a snapshot, is a voter.
RivalLate(r, timer) == TimeOut(r, timer) /\ replicas[4].base.end_offset > 0 /\ IsVoter(replicas[4])

LeaderTakesOne(r, end) == r = 1 /\ replicas[r].role = "Leader" /\ Rested

(***************************************************************************)
(* voters-overwritten: the old leader has a voter set, or a level with a   *)
(* voter set, that nobody else has, below, at or beyond the end of the     *)
(* snapshot which it loads from the leader of epoch 2.                     *)
(***************************************************************************)
Padding(number) == [i \in 1..number |-> Record(1, "Data", 0, {})]
StaticVoters == WithoutPreVote([ThreeVoters EXCEPT !.voters = {ReplicaKey(r, "") : r \in 1..3}])
OwnRecords(before, records, more) == Padding(before) \o records \o Padding(more)

InitOverwritten ==
  \E clusterAndRecords \in {<<Joining(3, 3), 1>>, <<StaticVoters, 0>>} :
  \E before \in 0..2 : \E more \in 0..1 :
    /\ config = clusterAndRecords[1]
    /\ LET records == IF clusterAndRecords[2] = 1 THEN <<SetOf({1, 2})>>
                      ELSE <<Record(1, "KRaftVersion", 1, {}), SetOf(1..3)>>
       IN \E stand \in {Stand({})} :
          \E left \in {AppendsFor(stand, OwnRecords(before, records, more), {})} :
          \E scene \in {NextLeads(left, 2, {3})} : Begins(scene)

NewLeaderTakesOne(r, end) ==
  r = 2 /\ replicas[r].base.end_offset = 0 /\ end = replicas[r].high_watermark /\ replicas[3].high_watermark = end
NewLeaderAppends(r) == r = 2 /\ Rested /\ replicas[r].base.end_offset = 0 /\ RecordsOfOwnEpoch(r) < 2

FetchesForTheSnapshot(s) ==
  IF s.role = "Follower" /\ (s.replica_key.id = 1 \/ replicas[2].base.end_offset = 0) THEN {s.leader_id} ELSE {}

\* The old leader hears of the new one once that has its snapshot; before, it truncates (voters-truncation).
OldLeaderWaits(r, types) == IF r = 1 /\ replicas[2].base.end_offset = 0 THEN {} ELSE Delivered(r, types)
=============================================================================
