--------------------- MODULE MCQuorumReassignmentBroken ----------------------
(***************************************************************************)
(* Quorum reassignment with one rule taken out, in bounds that are narrow  *)
(* around the scenario that needs it (membership-scenarios.md, S20 to      *)
(* S22): what happens, and that the properties see it.  Nothing here is    *)
(* exhaustive but reassign-resumed, which is the first of them with the    *)
(* rule in force; the bounds say who moves, TLC finds the order.           *)
(*                                                                         *)
(* The starts have epoch 1 as far as the scenario needs it: replica 1      *)
(* leads, and what it has appended is at everybody and committed, but for  *)
(* the records that a start names beside it.                               *)
(***************************************************************************)
EXTENDS MCVotersBroken

\* An assignment of epoch 1.
AssignmentTo(ids, target) ==
  LET keys == {config.keys[r] : r \in ids} IN AssignmentOf(1, keys, FormattedDetails(keys), target)

\* Everybody has these assignments behind the records of the start of the epoch, and they are committed.
StandAfter(assignments) ==
  LET Extended(s) == Flushed(Appended(s, assignments))
      With(leads) == StandWith(leads, {})
  IN Of(With, Of(Extended, FirstLeads))

(***************************************************************************)
(* KIP-642 without a commit of the own epoch before each step: it calls    *)
(* the LeaderChange unnecessary.  Four voters shall become {3, 4}.         *)
(* Replica 1 has removed 2, and nobody else knows; replica 2 is elected    *)
(* and resumes at once: it removes 1.  {1, 3} is a majority of the set of  *)
(* the one, {2, 4} of that of the other (S10, by steps that nobody asked   *)
(* for).                                                                   *)
(***************************************************************************)
ResumedTooEarly ==
  /\ config = Joining(4, 4)
  /\ \E stand \in {StandAfter(<<AssignmentTo({1, 2, 3, 4}, {3, 4})>>)} : Begins(stand)

\* The same with replica 2 elected already.
ResumedTooEarlyLoss ==
  /\ config = Joining(4, 4)
  /\ \E stand \in {StandAfter(<<AssignmentTo({1, 2, 3, 4}, {3, 4})>>)} :
     \E left \in {AppendsFor(stand, <<AssignmentTo({1, 3, 4}, {3, 4})>>, {})} :
     \E scene \in {NextLeads(left, 2, {3, 4})} : Begins(scene)

FourthFetches == {4}

(***************************************************************************)
(* S20 in one step: {1, 2, 3} to {3, 4, 5}.  {1, 2} is a majority of the   *)
(* one, {4, 5} of the other.                                               *)
(***************************************************************************)
InitJumped ==
  /\ config = Joining(5, 3)
  /\ \E stand \in {StandAfter(<<AssignmentTo({1, 2, 3}, {3, 4, 5})>>)} : Begins(stand)

(***************************************************************************)
(* S21.  On the way from {1, 2, 3} to {1, 4, 5} the client names the first *)
(* voters again, and they come back in one record: {2, 3} is a majority of *)
(* them, {1, 4, 5} of those that there are.                                *)
(***************************************************************************)
InitRestored ==
  /\ config = Joining(5, 3)
  /\ \E stand \in {StandAfter(<<AssignmentTo({1, 2, 3}, {1, 4, 5}), AssignmentTo({1, 2, 3, 4}, {1, 4, 5}),
                            AssignmentTo({1, 2, 4}, {1, 4, 5}), AssignmentTo({1, 2, 4, 5}, {1, 4, 5})>>)} : Begins(stand)

\* S21 (c).  The step to {1, 2, 4, 5} is not committed when the client names another target, and the record of that
\* target undoes it.
InitUndone ==
  /\ config = Joining(5, 3)
  /\ \E stand \in {StandAfter(<<AssignmentTo({1, 2, 3}, {1, 4, 5}), AssignmentTo({1, 2, 3, 4}, {1, 4, 5}),
                            AssignmentTo({1, 2, 4}, {1, 4, 5})>>)} :
     \E scene \in {AppendsFor(stand, <<AssignmentTo({1, 2, 4, 5}, {1, 4, 5})>>, {})} : Begins(scene)

FirstVoters == {<<<<1, 2, 3>>>>}
FirstIsAsked(r) == r = 1 /\ Rested /\ Target(replicas[1]) \notin {NoTarget, {1, 2, 3}}
=============================================================================
