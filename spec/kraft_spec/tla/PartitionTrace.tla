--------------------------- MODULE PartitionTrace ---------------------------
(***************************************************************************)
(* A trace of kraft-partition-trace/1 against the model.                   *)
(*                                                                         *)
(* Each line is bound to event; the one action that it names must have a   *)
(* successor that shows what the line shows: Observation.                  *)
(***************************************************************************)
EXTENDS PartitionProperties

VARIABLES event, did   \* the line; what came of it beside the state after

NoEvent == [name |-> "none"]

\* config is bound before: see Start.
Init ==
  /\ config = [brokers |-> {}, controllers |-> {1}, unclean |-> {}, profile |-> <<>>,
               assignments |-> NoPartitions, first |-> 1]
  /\ Begins(NoPartitions, 1)
  /\ event = NoEvent
  /\ did = <<>>

TraceStart ==
  /\ event = NoEvent
  /\ LET parts == [n \in DOMAIN config.assignments |-> NewPartition(config.assignments[n])]
     IN /\ cluster' = [cluster EXCEPT !.controller = config.first, !.memory = config.first :> parts,
                                      !.stored = parts, !.alive = config.brokers]
        /\ asked' = [n \in DOMAIN parts |-> [original |-> Members(config.assignments[n]),
                                             target |-> Members(config.assignments[n])]]
  /\ UNCHANGED <<config, event, did>>

Shows(o) ==
  /\ Does(o)
  /\ did' = [o EXCEPT !.s = 0, !.accepted = 0]
  /\ UNCHANGED event

Is(name) == event.name = name

TraceAlterPartitionReassignments ==
  /\ Is("AlterPartitionReassignments")
  /\ Shows(AfterAlterReassignments(cluster, event.node, event.targets, event.may_alter))
TraceListPartitionReassignments ==
  /\ Is("ListPartitionReassignments")
  /\ Shows(AfterListReassignments(cluster, event.node, event.all, event.partitions, event.may_describe))
TraceAlterPartition ==
  /\ Is("AlterPartition")
  /\ Shows(AfterAlterPartition(cluster, event.node, event.broker, event.partition, event.leader_epoch,
                               event.partition_epoch, event.in_sync))
TraceCompleteReassignment == Is("CompleteReassignment") /\ Shows(AfterComplete(cluster, event.partition))
TraceBrokerFails == Is("BrokerFails") /\ Shows(AfterBrokerFails(cluster, event.broker))
TraceBrokerStarts == Is("BrokerStarts") /\ Shows(AfterBrokerStarts(cluster, event.broker))
TraceControllerFailover == Is("ControllerFailover") /\ Shows(AfterControllerFailover(cluster, event.node))
TraceDeleteTopic == Is("DeleteTopic") /\ Shows(AfterDeleteTopic(cluster, event.topic))
TraceWriteReassignPartitions ==
  Is("WriteReassignPartitions") /\ Shows(AfterWriteReassignPartitions(cluster, event.targets))

Next ==
  \/ TraceStart
  \/ TraceAlterPartitionReassignments
  \/ TraceListPartitionReassignments
  \/ TraceAlterPartition
  \/ TraceCompleteReassignment
  \/ TraceBrokerFails
  \/ TraceBrokerStarts
  \/ TraceControllerFailover
  \/ TraceDeleteTopic
  \/ TraceWriteReassignPartitions

(***************************************************************************)
(* What a line shows of a successor.                                       *)
(***************************************************************************)
\* Rules: partition-reassign.leader-and-isr-fields, partition-reassign.mixed-versions
LeaderAndIsr(pair) ==
  LET p == cluster.memory[did.node][pair[2]]
  IN [broker |-> pair[1], partition |-> pair[2], leader |-> p.leader, leader_epoch |-> p.leader_epoch,
      partition_epoch |-> p.partition_epoch, in_sync |-> p.in_sync, replicas |-> ToldReplicas(p), adding |-> p.adding,
      removing |-> p.removing, version |-> 3]

Observation ==
  [refusal |-> did.reason,
   store |-> {<<n, cluster.stored[n]>> : n \in did.stored},
   store_legacy |-> IF did.znode THEN <<{<<n, cluster.legacy[n]>> : n \in DOMAIN cluster.legacy}>> ELSE <<>>,
   leader_and_isr |-> {LeaderAndIsr(pair) : pair \in did.leader_and_isr},
   stop_replica |-> did.stopped,
   answer |-> did.answer,
   controller |-> cluster.controller,
   alive |-> cluster.alive,
   deleting |-> cluster.deleting,
   legacy |-> {<<n, cluster.legacy[n]>> : n \in DOMAIN cluster.legacy},
   partitions |-> {<<n, Parts(cluster)[n]>> : n \in DOMAIN Parts(cluster)}]
=============================================================================
