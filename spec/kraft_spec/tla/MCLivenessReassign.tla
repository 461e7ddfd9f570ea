------------------------- MODULE MCLivenessReassign --------------------------
(***************************************************************************)
(* EventualChange of a quorum reassignment: under the timing assumption of *)
(* Liveness.tla a target that is committed, and whose members run, is some *)
(* time the voter set, cleared and committed at a leader that a majority   *)
(* follows.  Nobody asks for anything: the leader, and the next one, takes *)
(* the steps by itself.                                                    *)
(*                                                                         *)
(* What it needs beside Liveness.tla:                                      *)
(*                                                                         *)
(*   a leader takes a step that is due (weakly fair, each replica by       *)
(*   itself), and the exchange of versions before an addition moves on, as *)
(*   in MCLivenessChange;                                                  *)
(*                                                                         *)
(*   the leader that has to go does not win for ever (TimelyLeaver).  It   *)
(*   is a voter until the next leader removes it, and if it wins it hands  *)
(*   over again.  The KIP does not keep it from campaigning; nothing but   *)
(*   chance does.  So from the epoch LastReturn on its timer is later than *)
(*   the timers of the others: before that it may win again.               *)
(*                                                                         *)
(* Bounds and what is left out: as MCLivenessChange.                       *)
(***************************************************************************)
EXTENDS MCLivenessChange

LastReturn == 2
One == 1
Leaver(s) == Target(s) # NoTarget /\ s.replica_key.id \notin Target(s)

TimelyLeaver(r, timer) ==
  /\ TimelyChange(r, timer)
  /\ ~(Leaver(replicas[r]) /\ replicas[r].epoch >= LastReturn /\ timer \in {"election", "fetch"})

(***************************************************************************)
(* Fairness.                                                               *)
(***************************************************************************)
Advance(r) == \E voter \in NextSteps(replicas[r]) : AdvanceReassignment(r, voter)
AdvanceIsDue(r) == Runs(r) /\ NextSteps(replicas[r]) # {}

SpecOfReassignment ==
  /\ Spec
  /\ \A r \in Cast : []<>~AdvanceIsDue(r) \/ []<><<Advance(r)>>_variables
  /\ []<>~VersionsAreDue \/ []<><<VersionsStep>>_variables

(***************************************************************************)
(* EventualChange.                                                         *)
(***************************************************************************)
Reassigned(r) == Changed(r) /\ Target(replicas[r]) = NoTarget
IsReassigned == \E r \in Ids : Leads(r) /\ Reassigned(r)
EventualReassignment == <>[]MajorityStaysConnected => <>[]IsReassigned

\* Probe: it never is.
NeverReassigned == ~IsReassigned

(***************************************************************************)
(* Starts: everybody has fetched everything from replica 1, the leader,    *)
(* and the target is committed.                                            *)
(***************************************************************************)
TargetRecord(voters, target) ==
  LET keys == {config.keys[r] : r \in voters} IN AssignmentOf(1, keys, FormattedDetails(keys), target)

WithTarget(voters, target, stopped) ==
  /\ config = WithProfile(Cluster(Cardinality(Cast), Cardinality(voters), 1))
  /\ \E leads \in {LeaderOf(1, <<TargetRecord(voters, target)>>)} :
     LET end == EndOffset(leads)
         states == [r \in Ids |-> IF r = 1 THEN leads ELSE FollowerOf(leads, r, end)]
     IN \E known \in {Knowing(states, 1, end)} :
          /\ replicas = [r \in Ids |-> IF r \in stopped THEN Stopped(known[r]) ELSE known[r]]
          /\ history = [EpochOne(leads, end) EXCEPT !.crashes = Cardinality(stopped)]
  /\ network = {}
  /\ cuts = {}

\* The leader has to go, last of all.
LeaderGoes == WithTarget({1, 2, 3}, {2, 3}, {})
\* The same of two: it is needed to elect the other.
OneOfTwoGoes == WithTarget({1, 2}, {2}, {})
\* It is gone: the next leader goes on.
LeaderIsGone == WithTarget({1, 2, 3}, {2, 3}, {1})
\* Replica 3 comes, replica 2 goes.
Replaced == WithTarget({1, 2}, {1, 3}, {})

FirstAndThird == {1, 3}
TheSecond == {2}

(***************************************************************************)
(* Without a rule.                                                         *)
(***************************************************************************)
MayStep(s) == s.role = "Leader" /\ Target(s) # NoTarget /\ ~IsBusy(s) /\ EpochIsCommitted(s) /\ SetIsCommitted(s)

\* Without reassign.new-leader-resumes: only the leader that took the target on works on it.
NobodyResumes(s) == MayStep(s) /\ s.epoch = 1

\* Without reassign.leader-steps-down-before-own-removal: the last one to remove does not hand over.
NeverHandsOver(s) == MayStep(s) /\ ~(~AddsNext(s) /\ RemovingVoters(s) = {s.replica_key.id})
=============================================================================
