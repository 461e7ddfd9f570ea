----------------------------- MODULE Partitions -----------------------------
(***************************************************************************)
(* The algorithm of KIP-455 on one partition: start, replace, cancel,      *)
(* complete.  In Python: kraft_partitions.reassignment.          *)
(*                                                                         *)
(* A partition is a record: replicas (R, a sequence), in_sync (I, a set),  *)
(* adding (AR) and removing (RR, sequences), leader (NoLeader while nobody *)
(* may lead), leader_epoch, partition_epoch.  Nothing here is bounded.     *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets, TLC

VARIABLE config   \* brokers, controllers, unclean (topics), profile; never changes

Decided(point, answer) == config.profile[point] = answer

NoLeader == -1
NoTarget == <<-1>>   \* in a request: cancel

Members(s) == {s[i] : i \in DOMAIN s}
Without(s, others) == SelectSeq(s, LAMBDA r : r \notin others)
NamedOnce(s) == Cardinality(Members(s)) = Len(s)

RECURSIVE Ascending(_)
Ascending(ids) ==
  IF ids = {} THEN <<>>
  ELSE LET least == CHOOSE r \in ids : \A other \in ids : r <= other
       IN <<least>> \o Ascending(ids \ {least})

\* The models leave epochs where they are, for a finite state space.
Bumped(epoch) == epoch + 1

\* Rule: partition-reassign.persisted
Moving(p) == p.adding # <<>> \/ p.removing # <<>>
\* Rule: partition-reassign.cancel
Original(p) == Without(p.replicas, Members(p.adding))
Target(p) == Without(p.replicas, Members(p.removing))

(***************************************************************************)
(* Who leads: the leader there is, else the first of R in sync and alive,  *)
(* else with unclean election the first alive.                             *)
(***************************************************************************)
\* Rules: partition-reassign.leader-in-removing, partition-reassign.isr-never-empty
Led(p, alive, unclean) ==
  IF p.leader \in p.in_sync \cap alive \cap Members(p.replicas) THEN p
  ELSE
    LET candidates == SelectSeq(p.replicas, LAMBDA r : r \in alive)
        inSync == SelectSeq(candidates, LAMBDA r : r \in p.in_sync)
        dirty == unclean /\ inSync = <<>>
        leader == IF inSync # <<>> THEN inSync[1]
                  ELSE IF dirty /\ candidates # <<>> THEN candidates[1] ELSE NoLeader
        isr == IF dirty /\ candidates # <<>> THEN {leader}
               ELSE IF dirty /\ p.in_sync = {} THEN {p.replicas[1]} ELSE p.in_sync
    IN [p EXCEPT !.in_sync = isr, !.leader = leader,
                 !.leader_epoch = IF leader = p.leader THEN @ ELSE Bumped(@)]

AfterFailure(p, broker, alive, unclean) ==
  LET isr == p.in_sync \ {broker}
  IN Led([p EXCEPT !.in_sync = IF isr = {} THEN @ ELSE isr], alive, unclean)

(***************************************************************************)
(* Start and replace.                                                      *)
(***************************************************************************)
\* Rule: partition-reassign.invalid-assignment
ValidTarget(target) == target # <<>> /\ NamedOnce(target) /\ Members(target) \subseteq config.brokers

\* Rules: partition-reassign.start, partition-reassign.override, partition-reassign.no-op-target
Reassigned(p, target) ==
  LET base == IF Decided("override_base", "original") THEN Original(p) ELSE p.replicas
      joining == Without(target, Members(base))
      leaving == Without(base, Members(target))
      removingFirst == Decided("replicas_order", "removing-first")
      wide == IF removingFirst THEN leaving \o target ELSE target \o Ascending(Members(leaving))
      \* From the widened R a list that would be empty stays as the running reassignment has left it.
      stays == ~Decided("override_base", "original")
      Listed(list) == IF removingFirst THEN list ELSE Ascending(Members(list))
  IN [p EXCEPT !.replicas = wide,
               !.in_sync = @ \cap Members(wide),
               !.adding = IF stays /\ joining = <<>> THEN @ ELSE Listed(joining),
               !.removing = IF stays /\ leaving = <<>> THEN @ ELSE Listed(leaving)]

(***************************************************************************)
(* Cancel.                                                                 *)
(***************************************************************************)
\* Rule: partition-reassign.cancel
Cancelled(p) ==
  [p EXCEPT !.replicas = Original(p), !.in_sync = @ \cap Members(Original(p)), !.adding = <<>>, !.removing = <<>>]

\* Rule: partition-reassign.isr-never-empty
KeepsRecords(p) == p.in_sync # {}

(***************************************************************************)
(* Complete.                                                               *)
(***************************************************************************)
CompletedLists(p) ==
  [p EXCEPT !.replicas = Target(p), !.in_sync = @ \cap Members(Target(p)), !.adding = <<>>, !.removing = <<>>]

\* Rules: partition-reassign.add-before-remove, partition-reassign.complete-in-one-step,
\*        partition-reassign.isr-never-empty
MayComplete(p) ==
  LET fewer == Len(p.adding) < Len(p.removing)
      waitedFor == IF Decided("completes_with", "target") \/ (Decided("completes_with", "target-if-fewer") /\ fewer)
                   THEN Target(p) ELSE p.adding
  IN /\ Moving(p)
     /\ Members(waitedFor) \subseteq p.in_sync
     /\ KeepsRecords(CompletedLists(p))

\* Rules: partition-reassign.complete-in-one-step, partition-reassign.leader-in-removing
Completed(p, alive) == Led(CompletedLists(p), alive, FALSE)

\* What the leader is told, and so replicates to.
\* Rules: partition-reassign.mixed-versions, partition-reassign.leader-and-isr-fields
ToldReplicas(p) == p.replicas
=============================================================================
