----------------------------- MODULE LocalForms -----------------------------
(***************************************************************************)
(* The local forms of Properties.tla, about the replica that a step        *)
(* changed, and what they are worth.  A trace check evaluates them on      *)
(* every line and the whole invariants only now and then, so it has to be  *)
(* shown that nothing slips through:                                       *)
(*                                                                         *)
(* LocalForms    holds on every step of every slice: no false alarms.      *)
(* LocalImplies  a step from a state in which the whole invariants hold    *)
(*               and on which the local forms hold leads to a state in     *)
(*               which the whole ones hold.  On the protocol itself that   *)
(*               is true because its conclusion is; it is worth something  *)
(*               on the broken protocols of MCBroken.tla, whose whole      *)
(*               state graphs, up to and with each first bad state, are    *)
(*               checked: there the whole invariants do fail, and never on *)
(*               a step that the local forms accept.                       *)
(***************************************************************************)
EXTENDS Properties

LocalFormsAt(r) ==
  /\ (LocalTypeOk(r))'
  /\ (LocalElectionSafety(r))'
  /\ (LocalVoteOncePerEpoch(r))'
  /\ (LocalNotFollowerOfSelf(r))'
  /\ (LocalOffsetEpochUnique(r))'
  /\ LocalLogMatching(r)
  /\ LocalLeaderCompleteness(r)
  /\ LocalStateMachineSafety(r)           \* LocalCommittedNeverLost is in it
  /\ LocalConfigFollowsLog(r)
  /\ (LocalOnePendingChange(r))'
  /\ LocalConfigOverlap(r)

LocalStep == \A r \in Ids : replicas'[r] = replicas[r] \/ LocalFormsAt(r)
LocalForms == [][LocalStep]_variables

\* One of them alone, for the broken protocols that break several invariants.
LogMatchingLocally == [][\A r \in Ids : LocalLogMatching(r)]_variables

\* The whole invariants that have a local form.
WithLocalForm ==
  /\ TypeOk /\ ElectionSafety /\ VoteOncePerEpoch /\ NotFollowerOfSelf /\ OffsetEpochUnique
  /\ LogMatching /\ LeaderCompleteness /\ CommittedNeverLost /\ StateMachineSafety
  /\ ConfigFollowsLog /\ OnePendingChange /\ ConfigOverlap

LocalImplies == [][WithLocalForm /\ LocalStep => WithLocalForm']_variables
=============================================================================
