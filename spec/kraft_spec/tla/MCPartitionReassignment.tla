---------------------- MODULE MCPartitionReassignment -----------------------
(***************************************************************************)
(* One partition, A-0, and two nodes that may be controller.               *)
(*                                                                         *)
(* Starts: R is <<1>>, <<1, 2>> or <<1, 2, 3>>, all in sync; other names   *)
(* of the brokers would give the same state space.                         *)
(* Bounds: brokers, targets, and how many requests, failures of brokers,   *)
(* failovers, writes of the old znode; how often replicas fall behind is   *)
(* not bounded unless for liveness.  Epochs stay where they are (Bumped):  *)
(* what they fence is a late AlterPartition, and here none is late.        *)
(* Leaves out: topic deletion and several partitions (the traces have      *)
(* them), List, which changes nothing.                                     *)
(***************************************************************************)
EXTENDS PartitionProperties

VARIABLE spent   \* requests, failures, failovers, writes of the old znode, replicas that fell behind

mcvars == <<config, cluster, asked, spent>>

Name == <<"A", 0>>

None == 0
One == 1
Two == 2
Three == 3
FiveBrokers == 1..5
ThreeBrokers == 1..3
UpToTwo == 1..2
UpToTwoReplicas == {<<1>>, <<1, 2>>}
TwoReplicas == {<<1, 2>>}
OfTopicA == {"A"}

\* Bounds, for configurations to override.
Brokers == 1..4
TargetSizes == 1..3
RequestsMax == 1
FailuresMax == 1
FailoversMax == 1
ZnodeMax == 0
LaggardsMax == -1   \* -1: no bound
UncleanTopics == {}
MayCancel == TRUE

StaysPut(epoch) == epoch

KipProfile ==
  [completes_with |-> "adding", completes |-> "in-its-own-step", override_base |-> "original",
   replicas_order |-> "removing-first", leader_epoch |-> "of-leaders", idle_when_named |-> "listed"]
KafkaProfile ==
  [completes_with |-> "target-if-fewer", completes |-> "with-the-change", override_base |-> "replicas",
   replicas_order |-> "target-first", leader_epoch |-> "of-removals-too", idle_when_named |-> "left-out"]
Profile == KipProfile
TargetProfile == [KipProfile EXCEPT !.completes_with = "target"]
WidenedBase == [KipProfile EXCEPT !.override_base = "replicas"]
KafkaFromOriginal == [KafkaProfile EXCEPT !.override_base = "original"]

RECURSIVE Orders(_)
Orders(ids) == IF ids = {} THEN {<<>>} ELSE UNION {{<<r>> \o rest : rest \in Orders(ids \ {r})} : r \in ids}

\* Every list of brokers without repetition of these sizes; or one order of each set.
AllOrders == UNION {Orders(ids) : ids \in {s \in SUBSET Brokers : Cardinality(s) \in TargetSizes}}
OneOrder == {Ascending(ids) : ids \in {s \in SUBSET Brokers : Cardinality(s) \in TargetSizes}}
Targets == AllOrders
BadTargets == {<<>>, <<1, 99>>, <<1, -2>>, <<1, 1>>}
AnyTargets == AllOrders \cup BadTargets
Starts == {<<1>>, <<1, 2>>, <<1, 2, 3>>}

Init ==
  /\ config = [brokers |-> Brokers, controllers |-> {1, 2}, unclean |-> UncleanTopics, profile |-> Profile]
  /\ \E replicas \in Starts : Begins(Name :> replicas, 1)
  /\ spent = [requests |-> 0, failures |-> 0, failovers |-> 0, znode |-> 0, laggards |-> 0]

Spends(what, limit) == spent[what] < limit /\ spent' = [spent EXCEPT ![what] = @ + 1]

Current == Parts(cluster)[Name]

\* A node that holds nothing would only answer an error.
Request ==
  \E node \in DOMAIN cluster.memory, target \in Targets :
    Spends("requests", RequestsMax)
    /\ Does(AfterAlterReassignments(cluster, node, <<<<Name, target>>>>, TRUE))

Cancel ==
  /\ MayCancel /\ Moving(Current)
  /\ Spends("requests", RequestsMax)
  /\ Does(AfterAlterReassignments(cluster, cluster.controller, <<<<Name, NoTarget>>>>, TRUE))

LeaderSays(isr) ==
  Does(AfterAlterPartition(cluster, cluster.controller, Current.leader, Name, Current.leader_epoch,
                           Current.partition_epoch, isr))

CatchUp ==
  \E r \in (Members(ToldReplicas(Current)) \cap cluster.alive) \ Current.in_sync :
    Current.leader # NoLeader /\ LeaderSays(Current.in_sync \cup {r}) /\ UNCHANGED spent

FallBehind ==
  \E r \in Current.in_sync \ {Current.leader} :
    /\ Current.leader # NoLeader
    /\ IF LaggardsMax = -1 THEN UNCHANGED spent ELSE Spends("laggards", LaggardsMax)
    /\ LeaderSays(Current.in_sync \ {r})

Complete == MayComplete(Current) /\ Does(AfterComplete(cluster, Name)) /\ UNCHANGED spent

FailBroker ==
  \E broker \in cluster.alive \cap Members(Current.replicas) :
    Spends("failures", FailuresMax) /\ Does(AfterBrokerFails(cluster, broker))

StartBroker ==
  \E broker \in config.brokers \ cluster.alive : Does(AfterBrokerStarts(cluster, broker)) /\ UNCHANGED spent

FailOver ==
  \E node \in config.controllers \ {cluster.controller} :
    Spends("failovers", FailoversMax) /\ Does(AfterControllerFailover(cluster, node))

WriteZnode ==
  \E target \in Targets :
    /\ cluster.legacy = NoPartitions
    /\ Spends("znode", ZnodeMax)
    /\ Does(AfterWriteReassignPartitions(cluster, Name :> target))

Next ==
  \/ Request
  \/ Cancel
  \/ CatchUp
  \/ FallBehind
  \/ Complete
  \/ FailBroker
  \/ StartBroker
  \/ FailOver
  \/ WriteZnode

\* Replicas that the leader knows of catch up, the controller does what is due, brokers come back.  One condition for
\* the three: between two steps of the others each happens finitely often.
Fair == CatchUp \/ Complete \/ StartBroker
FairIsEnabled ==
  \/ Current.leader # NoLeader /\ ~((Members(ToldReplicas(Current)) \cap cluster.alive) \subseteq Current.in_sync)
  \/ MayComplete(Current)
  \/ cluster.alive # config.brokers
\* WF_mcvars(Fair), said so that TLC need not look for steps at every edge, which takes a hundred times as long: where
\* laggards are bounded, the steps that spend nothing are those of Fair.
Fairness == []<>~FairIsEnabled \/ []<><<UNCHANGED spent>>_mcvars
Spec == Init /\ [][Next]_mcvars /\ Fairness

(***************************************************************************)
(* What Fairness rests on; WF_mcvars(Fair) itself takes TLC too long.      *)
(***************************************************************************)
FairnessIsWeak == FairIsEnabled <=> ENABLED <<Fair>>_mcvars
FairSpendsNothing == [][UNCHANGED spent <=> Fair]_mcvars

(***************************************************************************)
(* Probes: each must be found violated.                                    *)
(***************************************************************************)
NeverCompletes == [][~(Moving(Current) /\ ~Moving(Current') /\ asked'[Name].target # asked[Name].original)]_mcvars
NeverReplaced == [][~(Moving(Current) /\ Moving(Current') /\ asked'[Name].target # asked[Name].target)]_mcvars
LeaderIsNeverRemoved == Current.leader = NoLeader \/ Current.leader \notin Members(Current.removing)
SinceOverridden == cluster.legacy = NoPartitions \/ asked[Name].target = Members(cluster.legacy[Name])
NeverOffline == \A n \in Now : P(n).leader # NoLeader
=============================================================================
