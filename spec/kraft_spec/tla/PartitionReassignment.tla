----------------------- MODULE PartitionReassignment ------------------------
(***************************************************************************)
(* The controllers of a cluster and what they store (KIP-455).             *)
(* In Python: kraft_partitions.                                  *)
(*                                                                         *)
(* cluster: controller (the node), memory (what each node takes the        *)
(* partitions to be; with every rule in force nobody but the controller    *)
(* has one), stored, alive (brokers), deleting (topics), legacy (the       *)
(* content of /admin/reassign_partitions).                                 *)
(*                                                                         *)
(* asked is a ghost: the replicas before the reassignment in progress and  *)
(* those asked for last.  It is taken from requests and answers alone, so  *)
(* that the properties do not believe the lists they judge.                *)
(***************************************************************************)
EXTENDS Partitions

VARIABLES cluster, asked

vars == <<config, cluster, asked>>

Parts(s) == s.memory[s.controller]
\* Rule: partition-reassign.unknown-partition
Exists(s, parts, name) == name \in DOMAIN parts /\ name[1] \notin s.deleting
Existing(s) == {name \in DOMAIN Parts(s) : Exists(s, Parts(s), name)}
Unclean(name) == name[1] \in config.unclean
NoPartitions == [name \in {} |-> 0]
MemoryOf(s, node) == IF node \in DOMAIN s.memory THEN s.memory[node] ELSE NoPartitions

(***************************************************************************)
(* Outcomes: the state after, whose partitions are stored, who is sent a   *)
(* LeaderAndIsr and who is stopped, as pairs <<broker, name>>, whether     *)
(* the old znode is written, the answer, the reason of a refusal, and the  *)
(* node that acts.                                                         *)
(***************************************************************************)
NoAnswer == <<>>
Refused(s, reason, answer) ==
  [s |-> s, stored |-> {}, znode |-> FALSE, leader_and_isr |-> {}, stopped |-> {}, answer |-> answer, reason |-> reason,
   accepted |-> {}, node |-> s.controller]

\* Rules: partition-reassign.complete-in-one-step, partition-reassign.leader-in-removing
Settled(s, name, before, after) ==
  LET done == IF Decided("completes", "with-the-change") /\ MayComplete(after)
              THEN Completed(after, s.alive) ELSE after
      fences == /\ Decided("leader_epoch", "of-removals-too") /\ done.leader = before.leader
                /\ ~(Members(before.replicas) \subseteq Members(done.replicas))
  IN [done EXCEPT !.partition_epoch = Bumped(before.partition_epoch),
                  !.leader_epoch = IF fences THEN Bumped(@) ELSE @]

IsNews(p, q) == [p EXCEPT !.in_sync = q.in_sync, !.partition_epoch = q.partition_epoch] # q

\* What a node makes of its partitions.  resent: sent although nothing has changed.  quiet: whose in-sync replicas need
\* not be sent.  accepted: the requests <<name, target>> that the step has accepted.
\* Rules: partition-reassign.per-partition, partition-reassign.persisted, partition-reassign.legacy-znode
Changed(s, node, after, resent, quiet, accepted, refused) ==
  LET before == MemoryOf(s, node)
      names == {n \in DOMAIN after : after[n] # before[n]}
      new == [n \in DOMAIN after |-> IF n \in names THEN Settled(s, n, before[n], after[n]) ELSE before[n]]
      left == {n \in DOMAIN s.legacy \ refused : Exists(s, new, n) /\ Moving(new[n])}
      news == {n \in names : n \notin quiet \/ IsNews(before[n], new[n])} \cup resent
      gone(n) == Members(before[n].replicas) \ Members(new[n].replicas)
  IN [s |-> [s EXCEPT !.memory = (node :> new) @@ @,
                      !.stored = [n \in DOMAIN @ |-> IF n \in names THEN new[n] ELSE @[n]],
                      !.legacy = [n \in left |-> @[n]]],
      stored |-> names,
      znode |-> left # DOMAIN s.legacy,
      leader_and_isr |-> UNION {(Members(new[n].replicas) \cap s.alive) \X {n} : n \in news},
      stopped |-> UNION {(gone(n) \cap s.alive) \X {n} : n \in names},
      answer |-> NoAnswer, reason |-> "", accepted |-> accepted, node |-> node]

WithAnswer(o, answer) == [o EXCEPT !.answer = answer]

(***************************************************************************)
(* Requests.                                                               *)
(***************************************************************************)
\* Rules: partition-reassign.error-order, partition-reassign.authorization, partition-reassign.controller-only,
\*        partition-reassign.timeout-ignored
TopLevelError(s, node, permitted) ==
  IF ~permitted THEN "CLUSTER_AUTHORIZATION_FAILED"
  ELSE IF node # s.controller THEN "NOT_CONTROLLER"
  ELSE "NONE"

\* One partition of a request: <<error, partition after>>.  Unclean only where nobody in sync is left: those that are
\* merely dead are not replaced by one that has just been added.
\* Rules: partition-reassign.error-order, partition-reassign.unknown-partition, partition-reassign.cancel-nothing,
\*        partition-reassign.invalid-assignment, partition-reassign.isr-never-empty
Altered(s, parts, name, target) ==
  IF ~Exists(s, parts, name) THEN <<"UNKNOWN_TOPIC_OR_PARTITION">>
  ELSE IF target = NoTarget /\ ~Moving(parts[name]) THEN <<"NO_REASSIGNMENT_IN_PROGRESS">>
  ELSE IF target # NoTarget /\ ~ValidTarget(target) THEN <<"INVALID_REPLICA_ASSIGNMENT">>
  ELSE LET after == IF target = NoTarget THEN Cancelled(parts[name]) ELSE Reassigned(parts[name], target)
       IN IF ~Unclean(name) /\ ~KeepsRecords(after) THEN <<"INVALID_REPLICA_ASSIGNMENT">>
          ELSE <<"NONE", Led(after, s.alive, Unclean(name) /\ after.in_sync = {})>>

\* Each meets the partition as it was; of several about one partition the last that is accepted counts.
\* Rule: partition-reassign.per-partition
RECURSIVE AlteredAll(_, _, _, _)
AlteredAll(s, before, targets, done) ==
  IF targets = <<>> THEN done
  ELSE LET name == Head(targets)[1]
           one == Altered(s, before, name, Head(targets)[2])
           parts == IF one[1] = "NONE" THEN [done.parts EXCEPT ![name] = one[2]] ELSE done.parts
       IN AlteredAll(s, before, Tail(targets), [parts |-> parts, results |-> Append(done.results, <<name, one[1]>>)])

\* targets: a sequence of <<name, target>>.  Rules: partition-reassign.per-partition, partition-reassign.admin-api
AfterAlterReassignments(s, node, targets, permitted) ==
  LET error == TopLevelError(s, node, permitted)
      all == AlteredAll(s, MemoryOf(s, node), targets, [parts |-> MemoryOf(s, node), results |-> <<>>])
      taken == {i \in DOMAIN targets : all.results[i][2] = "NONE"}
      last == {i \in taken : \A j \in taken : targets[j][1] = targets[i][1] => j <= i}
      changed == Changed(s, node, all.parts, {}, {}, {targets[i] : i \in last}, {})
  IN IF error # "NONE" THEN Refused(s, "REQUEST_REFUSED", <<error, <<>>>>)
     ELSE [WithAnswer(changed, <<"NONE", all.results>>)
             EXCEPT !.reason = IF targets # <<>> /\ taken = {} THEN "REQUEST_REFUSED" ELSE ""]

\* names: a set, for those asked for by name, or {} and all.
\* Rules: partition-reassign.list, partition-reassign.error-order, partition-reassign.timeout-ignored
AfterListReassignments(s, node, all, names, permitted) ==
  LET error == TopLevelError(s, node, permitted)
      parts == MemoryOf(s, node)
      there == {n \in (IF all THEN DOMAIN parts ELSE names) : Exists(s, parts, n)}
      idleToo == ~all /\ Decided("idle_when_named", "listed")
      shown == {<<n, parts[n].replicas, parts[n].adding, parts[n].removing>> :
                  n \in {m \in there : Moving(parts[m]) \/ idleToo}}
  IN IF error # "NONE" THEN Refused(s, "REQUEST_REFUSED", <<error, {}>>)
     ELSE Refused(s, "", <<"NONE", shown>>)

\* AlterPartition, of the leader; KIP-497, in Kafka's order of the errors.
\* Rules: partition-reassign.controller-only, partition-reassign.unknown-partition
AlterPartitionError(s, node, broker, name, leader_epoch, partition_epoch, isr) ==
  LET p == MemoryOf(s, node)[name]
  IN IF node # s.controller THEN "NOT_CONTROLLER"
     ELSE IF ~Exists(s, MemoryOf(s, node), name) THEN "UNKNOWN_TOPIC_OR_PARTITION"
     ELSE IF leader_epoch > p.leader_epoch \/ partition_epoch > p.partition_epoch THEN "NOT_CONTROLLER"
     ELSE IF leader_epoch < p.leader_epoch THEN "FENCED_LEADER_EPOCH"
     ELSE IF broker # p.leader THEN "INVALID_REQUEST"
     ELSE IF partition_epoch < p.partition_epoch THEN "INVALID_UPDATE_VERSION"
     ELSE IF broker \notin isr \/ ~(isr \subseteq Members(p.replicas)) THEN "INVALID_REQUEST"
     ELSE IF ~(isr \subseteq s.alive) THEN "INELIGIBLE_REPLICA"
     ELSE "NONE"

\* Rules: partition-reassign.leader-in-removing, partition-reassign.complete-in-one-step
AfterAlterPartition(s, node, broker, name, leader_epoch, partition_epoch, isr) ==
  LET error == AlterPartitionError(s, node, broker, name, leader_epoch, partition_epoch, isr)
      changed == Changed(s, node, [s.memory[node] EXCEPT ![name].in_sync = isr], {}, {name}, {}, {})
      now == changed.s.memory[node][name]
      answered == IF now.leader = broker THEN "NONE" ELSE "NEW_LEADER_ELECTED"
  IN IF error # "NONE" THEN Refused(s, "REQUEST_REFUSED", <<error, -1>>)
     ELSE WithAnswer(changed, <<answered, IF answered = "NONE" THEN now.partition_epoch ELSE -1>>)

(***************************************************************************)
(* What the controller does on its own account.                            *)
(***************************************************************************)
\* Rules: partition-reassign.complete-in-one-step, partition-reassign.add-before-remove
AfterComplete(s, name) ==
  IF ~Exists(s, Parts(s), name) THEN Refused(s, "NOTHING_DUE", NoAnswer)
  ELSE IF ~MayComplete(Parts(s)[name]) THEN Refused(s, "NOTHING_DUE", NoAnswer)
  ELSE Changed(s, s.controller, [Parts(s) EXCEPT ![name] = Completed(@, s.alive)], {}, {}, {}, {})

HeldBy(s, broker) == {n \in Existing(s) : broker \in Members(Parts(s)[n].replicas)}

\* Rule: partition-reassign.isr-never-empty
AfterBrokerFails(s, broker) ==
  LET now == [s EXCEPT !.alive = @ \ {broker}]
      fallen == [n \in DOMAIN Parts(s) |-> IF n \in HeldBy(s, broker)
                   THEN AfterFailure(Parts(s)[n], broker, now.alive, Unclean(n)) ELSE Parts(s)[n]]
  IN IF broker \notin config.brokers THEN Refused(s, "UNKNOWN_ID", NoAnswer)
     ELSE IF broker \notin s.alive THEN Refused(s, "ALREADY_SO", NoAnswer)
     ELSE Changed(now, s.controller, fallen, {}, {}, {}, {})

\* Rule: partition-reassign.leader-and-isr-fields
AfterBrokerStarts(s, broker) ==
  LET now == [s EXCEPT !.alive = @ \cup {broker}]
      held == HeldBy(s, broker)
      risen == [n \in DOMAIN Parts(s) |-> IF n \in held THEN Led(Parts(s)[n], now.alive, Unclean(n)) ELSE Parts(s)[n]]
      changed == Changed(now, s.controller, risen, {}, {}, {}, {})
  IN IF broker \notin config.brokers THEN Refused(s, "UNKNOWN_ID", NoAnswer)
     ELSE IF broker \in s.alive THEN Refused(s, "ALREADY_SO", NoAnswer)
     ELSE [changed EXCEPT !.leader_and_isr = @ \cup ({broker} \X held)]

(***************************************************************************)
(* The old znode, and another controller.                                  *)
(***************************************************************************)
\* Rules: partition-reassign.legacy-znode, partition-reassign.legacy-znode-precedence
LegacyAltered(s, parts) ==
  [n \in DOMAIN s.legacy |-> Altered(s, parts, n, s.legacy[n])]
WithLegacy(s, parts) ==
  [n \in DOMAIN parts |-> IF n \in DOMAIN s.legacy /\ LegacyAltered(s, parts)[n][1] = "NONE"
                          THEN LegacyAltered(s, parts)[n][2] ELSE parts[n]]
\* A failover must not try again what has been refused.
LegacyRefused(s, parts) == {n \in DOMAIN s.legacy : LegacyAltered(s, parts)[n][1] # "NONE"}
LegacyAccepted(s, parts) ==
  {<<n, s.legacy[n]>> : n \in {m \in DOMAIN s.legacy : LegacyAltered(s, parts)[m][1] = "NONE"}}

\* Rule: partition-reassign.legacy-znode
AfterWriteReassignPartitions(s, targets) ==
  LET now == [s EXCEPT !.legacy = targets]
  IN IF s.legacy # NoPartitions THEN Refused(s, "ZNODE_NOT_EMPTY", NoAnswer)
     ELSE Changed(now, s.controller, WithLegacy(now, Parts(s)), {}, {}, LegacyAccepted(now, Parts(s)),
                  LegacyRefused(now, Parts(s)))

\* Rules: partition-reassign.persisted, partition-reassign.legacy-znode-precedence, partition-reassign.controller-only
AfterControllerFailover(s, node) ==
  LET now == [s EXCEPT !.controller = node, !.memory = node :> s.stored]
      after == WithLegacy(now, s.stored)
  IN IF node \notin config.controllers THEN Refused(s, "UNKNOWN_ID", NoAnswer)
     ELSE IF node = s.controller THEN Refused(s, "ALREADY_SO", NoAnswer)
     ELSE Changed(now, node, after, Existing(now), {}, LegacyAccepted(now, s.stored), LegacyRefused(now, s.stored))

\* Rule: partition-reassign.unknown-partition
AfterDeleteTopic(s, topic) ==
  IF \A n \in DOMAIN Parts(s) : n[1] # topic THEN Refused(s, "UNKNOWN_ID", NoAnswer)
  ELSE IF topic \in s.deleting THEN Refused(s, "ALREADY_SO", NoAnswer)
  ELSE Changed([s EXCEPT !.deleting = @ \cup {topic}], s.controller, Parts(s), {}, {}, {}, {})

(***************************************************************************)
(* Steps.                                                                  *)
(***************************************************************************)
\* The ghost after a step: a cancellation asks for the replicas from before.
NewAsked(o) ==
  [n \in DOMAIN asked |->
     LET of == {request[2] : request \in {r \in o.accepted : r[1] = n}}
         target == IF of = {} THEN asked[n].target
                   ELSE IF NoTarget \in of THEN asked[n].original ELSE Members(CHOOSE t \in of : TRUE)
     IN [original |-> IF Moving(Parts(o.s)[n]) THEN asked[n].original ELSE target, target |-> target]]

Does(o) ==
  /\ cluster' = o.s
  /\ asked' = NewAsked(o)
  /\ UNCHANGED config

NewPartition(replicas) ==
  [replicas |-> replicas, in_sync |-> Members(replicas), adding |-> <<>>, removing |-> <<>>,
   leader |-> replicas[1], leader_epoch |-> 0, partition_epoch |-> 0]

\* Everybody is alive and in sync.  assignments: a function from names to replicas.
Begins(assignments, node) ==
  LET parts == [n \in DOMAIN assignments |-> NewPartition(assignments[n])]
  IN /\ cluster = [controller |-> node, memory |-> node :> parts, stored |-> parts, alive |-> config.brokers,
                   deleting |-> {}, legacy |-> NoPartitions]
     /\ asked = [n \in DOMAIN parts |-> [original |-> Members(assignments[n]), target |-> Members(assignments[n])]]
=============================================================================
