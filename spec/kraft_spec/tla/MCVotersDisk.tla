---------------------------- MODULE MCVotersDisk -----------------------------
(***************************************************************************)
(* Slice "voters-disk-loss": a disk that is lost at kraft.version 1, where *)
(* an empty disk is another replica (scenario S4).  The clients have the   *)
(* old key removed and the new one added, in any order and as often as a   *)
(* leader accepts it; replica 2 rivals the leader, so that candidates ask  *)
(* the new disk for the vote of the old one.                               *)
(*                                                                         *)
(* Bounds: three voters; starts from Stand in MCVoters when replica 3 has  *)
(* just started with an empty disk; epochs 1 and 2, replica 2 times out.   *)
(* Leaves out: the crash itself, and messages of the old disk that are     *)
(* still on their way (slice changes has both); another crash; client      *)
(* appends.                                                                *)
(* Dead messages are dead for good: the disk is replaced before the start. *)
(* Reductions 6 and 7 of MCVoters, not 8: an announcement to the old key   *)
(* is answered with an error, and due again as long as fetchers lacks its  *)
(* id.                                                                     *)
(***************************************************************************)
EXTENDS MCVoters

Nobody == {}
EpochLimit == 2
Campaigners == {2}
Both == {ReplicaKey(3, "C"), ReplicaKey(3, "new")}

\* Replica 3 has just started with an empty disk.
Replaced(scene) ==
  [scene EXCEPT !.replicas[3] = AfterRestart(EmptyReplica(ReplicaKey(3, "new")), NoEndpoint).state,
                !.history.votes[3] = NoVotes, !.history.crashes = 1, !.history.directories = @ \cup {"new"}]

Init == config = Joining(3, 3) /\ \E stand \in {Stand({})} : \E scene \in {Replaced(stand)} : Begins(scene)

FollowsOrSearches(s) ==
  CASE s.role = "Follower" -> {s.leader_id}
    [] s.role = "Unattached" /\ s.replica_key.directory_id = "new" -> BootstrapServers(s)
    [] OTHER -> {}

TimeOut(r, timer) == Rested /\ ElectionTimer(timer) /\ r \in Campaigners /\ replicas[r].epoch < EpochLimit

\* Probe: must be found violated.
NobodyReturns ==
  ~\E r \in Ids : LET s == replicas[r] IN
     /\ s.role = "Leader" /\ ReplicaKey(3, "new") \in Voters(s)
     /\ s.high_watermark > s.voters[Len(s.voters)].offset

Bounds == EpochsUpTo(EpochLimit)
=============================================================================
