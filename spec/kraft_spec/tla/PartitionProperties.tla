------------------------ MODULE PartitionProperties -------------------------
(***************************************************************************)
(* What reassignment promises (KIP-455).  In Python, about single steps:   *)
(* kraft_partitions.properties.                                  *)
(***************************************************************************)
EXTENDS PartitionReassignment

Now == Existing(cluster)
P(n) == Parts(cluster)[n]
R(n) == Members(P(n).replicas)
AR(n) == Members(P(n).adding)
RR(n) == Members(P(n).removing)
InProgress(n) == asked[n].original # asked[n].target

PartitionOk(p) ==
  /\ \A r \in Members(p.replicas) \cup Members(p.adding) \cup Members(p.removing) : r \in Int
  /\ p.leader \in config.brokers \cup {NoLeader}
  /\ p.leader_epoch \in Nat /\ p.partition_epoch \in Nat

PartitionTypeOk ==
  /\ cluster.controller \in config.controllers
  /\ cluster.controller \in DOMAIN cluster.memory
  /\ cluster.alive \subseteq config.brokers
  /\ \A n \in DOMAIN cluster.stored : PartitionOk(P(n)) /\ PartitionOk(cluster.stored[n])
  /\ DOMAIN cluster.legacy \subseteq DOMAIN cluster.stored

(***************************************************************************)
(* Of states.                                                              *)
(***************************************************************************)
\* R is not empty and names registered brokers, each once.
ReplicasAreBrokers ==
  \A n \in Now : P(n).replicas # <<>> /\ NamedOnce(P(n).replicas) /\ R(n) \subseteq config.brokers

\* I, AR and RR are in R; in progress R is the old and the new replicas, AR the new ones alone, RR the old ones alone.
ListsAreConsistent ==
  \A n \in Now :
    /\ P(n).in_sync \subseteq R(n) /\ AR(n) \subseteq R(n) /\ RR(n) \subseteq R(n)
    /\ Moving(P(n)) => /\ R(n) = asked[n].original \cup asked[n].target
                       /\ AR(n) = asked[n].target \ asked[n].original
                       /\ RR(n) = asked[n].original \ asked[n].target

\* The leader is alive, in R and in I; there is none only if nobody is.
LeaderIsReplica ==
  \A n \in Now :
    LET may == P(n).in_sync \cap R(n) \cap cluster.alive
    IN IF may = {} THEN P(n).leader = NoLeader ELSE P(n).leader \in may

\* Where nothing is in progress R is what was asked for last.
CompletesAsAsked == \A n \in Now : Moving(P(n)) \/ R(n) = asked[n].target

\* What the controller has in memory is what is stored.
StoredIsWhole == Parts(cluster) = cluster.stored

(***************************************************************************)
(* Of steps.                                                               *)
(***************************************************************************)
\* Somebody is in sync; after a completion all of R, if the profile waits for that.
NeverBelow(n) ==
  /\ P(n)'.in_sync # {}
  /\ Decided("completes_with", "target") /\ ~(asked[n].original \subseteq R(n)') => R(n)' \subseteq P(n)'.in_sync

\* When a replica from before the reassignment is gone, all that the reassignment added are in sync.
Grows(n) == asked[n].original \subseteq R(n)' \/ (R(n)' \ asked[n].original) \subseteq P(n)'.in_sync

\* A cancellation leaves the replicas from before, and in sync those of them that were.
Restores(n) ==
  LET kept == P(n).in_sync \cap asked[n].original
  IN InProgress(n) /\ asked'[n].target = asked[n].original =>
       R(n)' = asked[n].original /\ ~Moving(P(n)') /\ (P(n)'.in_sync = kept \/ kept = {})

\* A request in the middle stops nobody but whom the running one added, and keeps who is in sync.
LosesNone(n) ==
  InProgress(n) /\ asked'[n].target # asked[n].target /\ Moving(P(n)') =>
    /\ R(n) \ R(n)' \subseteq asked[n].target \ asked[n].original
    /\ P(n).in_sync \cap R(n)' \subseteq P(n)'.in_sync

InSyncNeverBelow == [][\A n \in Now' : NeverBelow(n)]_vars
ReplicasGrowBeforeTheyShrink == [][\A n \in Now' : Grows(n)]_vars
CancelRestores == [][\A n \in Now' : Restores(n)]_vars
OverrideLosesNoReplica == [][\A n \in Now' : LosesNone(n)]_vars

(***************************************************************************)
(* Of behaviours, where requests and failures come to an end, brokers come *)
(* back and replicas that the leader knows of catch up.                    *)
(***************************************************************************)
EventuallyCompletes == <>[](\A n \in Now : ~Moving(P(n)))
=============================================================================
