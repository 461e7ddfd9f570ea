----------------------------- MODULE MCChanges ------------------------------
(***************************************************************************)
(* Slice "changes": a VotersRecord in the log, and a disk replaced.  The   *)
(* rules for voter changes (KIP-853) are not in this model yet; the slice  *)
(* shows that a voters set is derived from the log, uncommitted or not,    *)
(* and that a replaced disk is another key.                                *)
(*                                                                         *)
(* Bounds: replicas 1 and 2 are voters, replica 3 an observer, at          *)
(* kraft.version 1; starts with replica 1 leader of epoch 1 (Elected in    *)
(* MCBounds); one VotersRecord, {1, 2} or {1, 2, 3}; one crash, of replica *)
(* 3, whose disk may be replaced once it is stopped; nobody times out but  *)
(* replica 3's fetch timer; replicas 2 and 3 fetch, the others only from   *)
(* the leader.                                                             *)
(* Leaves out: elections between the voters sets, which are not safe       *)
(* without the rules of voter changes.                                     *)
(* Replica 2 fetches at once, reduction 3 of MCBounds; no other reduction: *)
(* a replaced disk starts at epoch 0, so that no message is dead for good. *)
(***************************************************************************)
EXTENDS MCBounds

Init == Elected(Cluster(3, 2, 1), 1)

Thirds == {<<1, "A">>, <<2, "B">>, <<3, "C">>}

TimeOut(r, timer) == r = 3 /\ timer = "fetch"
ChangesOnce(r) == Len(replicas[r].voters) <= 2
CrashesOnce(r) == r = 3 /\ history.crashes < 1
ReplacesOnce(r) == r = 3 /\ replicas[r].key[2] # "new"
Fetches(s) ==
  CASE s.role = "Follower" -> IF s.searching THEN BootstrapServers(s) \cup {s.leader} ELSE {s.leader}
    [] s.role = "Unattached" /\ s.key[1] = 3 -> BootstrapServers(s)
    [] OTHER -> {}

InFlightHere(r, types) == {m \in network : m.to = r /\ m.type \in types /\ (r # 2 => ~FetchIsDue(replicas[2]))}

Bounds ==
  /\ EpochsUpTo(1)
  /\ \A v \in Voters(replicas[1]) : v \in Thirds
  /\ {<<1, "A">>, <<2, "B">>} \subseteq Voters(replicas[1])
=============================================================================
