----------------------------- MODULE MCChanges ------------------------------
(***************************************************************************)
(* Slice "changes": a VotersRecord in the log, and a disk replaced: a      *)
(* voter set is derived from the log, uncommitted or not, and a replaced   *)
(* disk is another key.                                                    *)
(*                                                                         *)
(* Bounds: replica 1 is the only voter, replica 2 an observer, at          *)
(* kraft.version 1; starts with replica 1 leader of epoch 1 (Elected in    *)
(* MCBounds); one VotersRecord, {1} or {1, 2}; one crash, of replica 2,    *)
(* whose disk may be replaced once it is stopped; nobody times out but     *)
(* replica 2 while it is an observer; at most three messages on their way. *)
(* Leaves out: elections between the voter sets, and the requests that     *)
(* lead to a VotersRecord (AppendVoters stands for them here).             *)
(* No reduction: a replaced disk starts at epoch 0, so that no message is  *)
(* dead for good.                                                          *)
(***************************************************************************)
EXTENDS MCBounds

Init == Elected(Cluster(2, 1, 1), 1)

TimeOut(r, timer) == r = 2 /\ timer = "fetch" /\ ~IsVoter(replicas[r])
ChangesOnce(r) == Len(replicas[r].voters) <= 2
CrashesOnce(r) == r = 2 /\ history.crashes < 1
ReplacesOnce(r) == r = 2 /\ replicas[r].replica_key.directory_id # "new"
InFlightHere(r, types) == {m \in network : m.destination = r /\ m.type \in types}

Bounds ==
  /\ EpochsUpTo(1)
  /\ Cardinality(network) <= 3
  /\ ReplicaKey(1, "A") \in Voters(replicas[1])
=============================================================================
