----------------------------- MODULE MCDiskLoss ------------------------------
(***************************************************************************)
(* Slice "disk-loss": kraft.version 0 with static voters, which have no    *)
(* directory ids.  A voter whose disk is replaced keeps its identity and   *)
(* forgets what it acknowledged: committed records are lost, Pre-Vote or   *)
(* not.  A limit of that version, kept as a counterexample; with directory *)
(* ids (slice changes) an empty disk is another replica.                   *)
(*                                                                         *)
(* Bounds: as MCReplication, with one crash of replica 3, whose disk is    *)
(* replaced before it starts again.                                        *)
(* Leaves out: whatever is not needed to lose a record; the reductions 2   *)
(* and 3 of MCBounds leave out behaviours here, and add none.              *)
(***************************************************************************)
EXTENDS MCReplication

StaticVoters == [ThreeVoters EXCEPT !.voters = {ReplicaKey(r, "") : r \in 1..3}]

InitStatic == Elected(StaticVoters, 1)

ThirdCrashesOnce(r) == r = 3 /\ history.crashes = 0
ThirdLosesItsDisk(r) == r = 3 /\ replicas[r].replica_key.directory_id # "new"

=============================================================================
