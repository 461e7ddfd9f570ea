--------------------------- MODULE MCVotersExpired ---------------------------
(***************************************************************************)
(* Slice "voters-expired": two requests, and time that runs out between    *)
(* them.  Replicas 4 and 5 have all records; clients ask the leader to add *)
(* either, in any order, as often as it is free, and the time of a change  *)
(* may run out in each of its phases.  What has run out before its append  *)
(* has left no trace; what has run out after it is committed or truncated  *)
(* with nobody waiting, and until then nothing else may be appended.       *)
(*                                                                         *)
(* Bounds: three voters and two joiners at kraft.version 1; starts from    *)
(* Stand in MCVoters; epoch 1; replica 3 votes and never fetches.          *)
(* Leaves out: rivals (voters-add has them, and time that runs out, for    *)
(* one request), removals, client appends, crashes, network faults.        *)
(* All reductions of MCVoters.                                             *)
(***************************************************************************)
EXTENDS MCVoters

Init == config = Joining(5, 3) /\ \E scene \in {Stand({})} : Begins(scene)

Joiners == {config.keys[4], config.keys[5]}

TimeOut(r, timer) == Rested /\ timer = "voter-change"

Bounds == EpochsUpTo(1)

\* Broken: the leader goes by the request that it has at hand, and not by what is in its log.
ForgottenIsCommitted(s) == TRUE

(***************************************************************************)
(* Probe: must be found violated.  Nothing arrives while a request waits   *)
(* for its commit, so each runs out of time before; the records of both    *)
(* are committed all the same.                                             *)
(***************************************************************************)
WhileNobodyWaits(r, types) ==
  IF \E q \in Ids : IsPending(replicas[q]) /\ replicas[q].pending_change.phase = "commit" THEN {}
  ELSE Delivered(r, types)

NobodyComesAfter ==
  ~\E r \in Ids : LET s == replicas[r] IN
     /\ s.role = "Leader" /\ Joiners \subseteq Voters(s)
     /\ s.high_watermark > s.voters[Len(s.voters)].offset
=============================================================================
