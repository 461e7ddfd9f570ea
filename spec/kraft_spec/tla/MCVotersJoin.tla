---------------------------- MODULE MCVotersJoin -----------------------------
(***************************************************************************)
(* Slice "voters-rejoin": auto join after a lost disk, at kraft.version 1. *)
(* No client asks for anything: replica 3, a voter that has come back with *)
(* an empty disk, asks its leader to remove its old key and, once it has   *)
(* read that it is gone, to add the new one; it asks again after each      *)
(* refusal.  Replica 2 rivals the leader at any moment, and each change    *)
(* may run out of time.                                                    *)
(*                                                                         *)
(* Bounds: three voters; starts as voters-disk-loss does; epochs 1 and 2,  *)
(* replica 2 times out.                                                    *)
(* Leaves out: what voters-disk-loss leaves out; clients (there); a        *)
(* request to join that its sender gives up while the leader works on it   *)
(* (traces of random runs).  So an addition whose joiner asked before it   *)
(* fetched to the log's end is over when its time is.  No set is           *)
(* truncated: without the old disk replica 2 needs the vote of replica 1   *)
(* until it has the addition itself (voters-truncation, voters-snapshot).  *)
(*                                                                         *)
(* Reduction 5 of MCBounds is off: replica 3 reports, which here is to ask *)
(* to join.  It does so at once in place of a Fetch, or the Fetch before   *)
(* it; what it asks for stays while its log does, and the request may be   *)
(* on its way as long as it takes, so that the argument of reduction 3     *)
(* holds for it.                                                           *)
(* Reductions 6 and 7 of MCVoters, not 8, as in voters-disk-loss.  The id  *)
(* of a removed voter is added again, and 7 is not for slices in which an  *)
(* announcement that is not delivered could keep the leader from asking    *)
(* this id for its versions.  Here none does: one to the old key is        *)
(* answered with an error and so delivered, and nobody removes the new key *)
(* (VersionsAreAsked checks it).                                           *)
(* Dead messages are dead for good, as in voters-disk-loss; a request to   *)
(* join carries no epoch and never counts as dead.                         *)
(***************************************************************************)
EXTENDS MCVotersDisk

\* The auto join of replica 3 is on.
InitJoin ==
  /\ config = [Joining(3, 3) EXCEPT !.auto_join[3] = TRUE]
  /\ \E stand \in {Stand({})} : \E scene \in {Replaced(stand)} : Begins(scene)

Joins(s) == s.replica_key.id = 3

TimeOutOrEnd(r, timer) == TimeOut(r, timer) \/ (timer = "voter-change" /\ Rested)

\* A leader that waits for versions has asked, can ask, or can after an answer that is not held back.
VersionsAreAsked ==
  \A r \in Ids : AwaitsVersionsOf(replicas[r]) # {} =>
    \/ DueChangeRequest(replicas[r], Due(replicas[r]), Correlation) # {}
    \/ \E m \in network : m.type \in VersionTypes
    \/ \E m \in network : /\ m.type \in {"BeginQuorumEpochRequest", "BeginQuorumEpochResponse"} /\ m.correlation_id # 0
                         /\ {m.source, m.destination} = {r} \cup AwaitsVersionsOf(replicas[r]) /\ HasNews(m)

\* Probe: must be found violated.  Replica 3 fetches its set only when its own request is answered.
NobodyRejoins ==
  ~(/\ ReplicaKey(3, "new") \in Voters(replicas[3])
    /\ \E r \in Ids : LET s == replicas[r] IN
         /\ s.role = "Leader" /\ ReplicaKey(3, "new") \in Voters(s)
         /\ s.high_watermark > s.voters[Len(s.voters)].offset)
=============================================================================
