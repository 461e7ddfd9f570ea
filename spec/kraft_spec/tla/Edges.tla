------------------------------- MODULE Edges --------------------------------
(***************************************************************************)
(* Slice "edges": twelve small clusters whose complete state graph, every  *)
(* action of Next in it, is replayed on the Python reference edge by edge  *)
(* (kraft_dev.edges, docs/edges.md).  Six of them are about voter          *)
(* changes, reassignment, the level of kraft.version and snapshots.        *)
(*                                                                         *)
(* Bounds: three voters at most (and an observer), epochs up to 2;         *)
(* at most MessageLimit messages on their way and one request whose        *)
(* messages are gone while its sender still waits; which event may happen  *)
(* where is in one table, May.  A replica's own events wait until nothing  *)
(* is on its way (Calm), except for some timers and polls in HandOver and  *)
(* Rivals, so that requests are forgotten and answers come late.           *)
(* A step out of the bounds is an edge too; the state it leads to is not   *)
(* explored.                                                               *)
(* Besides, kraft_dev.edges binds one replica to a state that the graph    *)
(* need not have, constructed states, and asks for one step from there.    *)
(* Leaves out: most of what two replicas do at the same time, which gives  *)
(* other states of the cluster and few other edges of one replica; a       *)
(* second crash, append, voter change or cut; where voters change, the     *)
(* loss of messages that are not about it.                                 *)
(*                                                                         *)
(* Each step is labelled with what it was and what could be seen of it.    *)
(* The labels are no part of the state: kraft_dev.edges takes them off.    *)
(***************************************************************************)
EXTENDS MCBounds, Observed

VARIABLES
  step,      \* the event of the step that led here: [name, replica, ...]
  observed   \* what could be seen of it: see Seen

(***************************************************************************)
(* The clusters.                                                           *)
(***************************************************************************)
EpochLimit == 2
MessageLimit == 2

OtherProfile ==
  [observer_refusal |-> "lasts", voter_key_error |-> "INVALID_VOTER_KEY", prospective_announcement |-> "stays",
   end_quorum_fetched_flag |-> "kept", diverging_fetch |-> "ignored", restart_precedence |-> "own-vote",
   kraft_version_gate |-> "append",
   leader_high_watermark |-> "kept", own_vote_at_restart |-> "candidate",
   voted_directory_at_version_0 |-> "forgotten", vote_of_lost_file |-> "spent",
   announcement_again |-> "when-idle", announced_to |-> "not-fetching",
   diverging_cut |-> "own-offset", unanswered_fetch |-> "leader-again",
   update_voter_credit |-> "fetch", report_at_version_0 |-> "noted", lagging_voter |-> "awaited"]

\* What each replica was formatted with, by name: MCBounds writes {NoKey} for the voters of the cluster.
Formatted(cluster) ==
  [cluster EXCEPT !.initial_voters = [r \in DOMAIN @ |-> IF @[r] = {NoKey} THEN cluster.voters ELSE @[r]]]

\* Static voters have no directory ids.
StaticVoters == {ReplicaKey(1, ""), ReplicaKey(2, ""), ReplicaKey(3, "")}

\* A leader that resigns, an append, a rival; one crash of a voter that has voted for the rival.
HandOver == Formatted([ThreeVoters EXCEPT !.voters = StaticVoters])
\* Software of three versions, from the first start.
Mixed == Formatted([ThreeVoters EXCEPT !.pre_vote = <<"supported", "unsupported", "ignored">>])
\* Three candidates of one epoch whose timers and polls do not wait.
Rivals == Formatted([ThreeVoters EXCEPT !.bootstrap_servers = {3}])
\* Voter sets in the log.
Changes == Formatted(Cluster(3, 3, 1))
\* A crash at rest or in the middle of a step, a restart, a lost disk.
Crashing == Formatted([Cluster(3, 3, 1) EXCEPT !.bootstrap_servers = {2}, !.profile = OtherProfile])
\* An observer that follows record by record; a leader of old software.
Observing ==
  Formatted([Cluster(4, 3, 1) EXCEPT !.fetch_max_records = 1, !.sends_leader_endpoint = <<FALSE, TRUE, TRUE, TRUE>>])

\* A client has a third voter added.
Adding == Formatted([Cluster(3, 2, 1) EXCEPT !.initial_voters = <<{NoKey}, {NoKey}, {}>>])
\* A voter that has lost its disk joins by itself: it removes its old key and adds its new one.
Rejoining ==
  Formatted([Cluster(3, 3, 1) EXCEPT !.voters = {ReplicaKey(1, "A"), ReplicaKey(2, "B"), ReplicaKey(3, "old")},
                                     !.initial_voters = <<{NoKey}, {NoKey}, {}>>, !.auto_join = <<FALSE, FALSE, TRUE>>])
\* A client has a voter removed, the leader for one.
Removing == Formatted([Cluster(3, 3, 1) EXCEPT !.bootstrap_servers = {2}])
\* A client names targets for two voters and an observer.
Reassigning == Formatted([Cluster(3, 2, 1) EXCEPT !.initial_voters = <<{NoKey}, {NoKey}, {}>>,
                                                  !.bootstrap_servers = {2}])
\* Static voters report, and a client raises the level; a voter moves.
Upgrading == Formatted([Cluster(2, 2, 0) EXCEPT !.voters = {ReplicaKey(1, ""), ReplicaKey(2, "")}, !.fetch_max_records = 1])
\* Snapshots of a sole voter and of its observer.
Trimming == Formatted([Cluster(2, 1, 1) EXCEPT !.initial_voters = <<{NoKey}, {}>>])

In(cluster) == config = cluster
HasClients == In(Adding) \/ In(Removing) \/ In(Reassigning) \/ In(Upgrading) \/ In(Trimming)

\* For kraft_dev.edges, which names them so.
Clusters == [HandOver |-> HandOver, Mixed |-> Mixed, Rivals |-> Rivals,
             Changes |-> Changes, Crashing |-> Crashing, Observing |-> Observing,
             Adding |-> Adding, Rejoining |-> Rejoining, Removing |-> Removing, Reassigning |-> Reassigning,
             Upgrading |-> Upgrading, Trimming |-> Trimming]

EdgesInit ==
  /\ \/ Elected(HandOver, 1)
     \/ InitWith(Mixed)
     \/ InitWith(Rivals)
     \/ Elected(Changes, 1)
     \/ Elected(Crashing, 1)
     \/ Elected(Observing, 1)
     \/ Elected(Adding, 1)
     \/ Elected(Rejoining, 1)
     \/ Elected(Removing, 1)
     \/ Elected(Reassigning, 1)
     \/ Elected(Upgrading, 1)
     \/ Elected(Trimming, 1)
  /\ step = [name |-> ""]
  /\ observed = <<>>

(***************************************************************************)
(* What may happen where.  The enumeration asks in each state of a replica *)
(* which of its own events the model allows there: then only that replica  *)
(* moves, and nothing is bounded.  In a constructed state it also takes    *)
(* the messages in the network, and crashes in the middle of a step where  *)
(* the label says so.                                                      *)
(***************************************************************************)
Constructed == step.name = "constructed"
Asked == step.name = "asked" \/ Constructed

Calm == network = {}
NotLast(r) == replicas[r].epoch < IF In(Rivals) THEN 1 ELSE EpochLimit
\* In epoch 1, and knows neither a leader nor a candidate of it.
Unsettled(r) ==
  replicas[r].epoch = 1 /\ replicas[r].role = "Unattached" /\ replicas[r].leader_id = NoLeader /\ replicas[r].voted_key = NoKey
LogBelow(r, end) == EndOffset(replicas[r]) < end
MayCrashOnce(r) ==
  IF Asked THEN Constructed /\ step.crashing
  ELSE /\ history.crashes = 0
       /\ \/ In(Crashing) /\ r \in {1, 2}
          \/ In(HandOver) /\ r = 3 /\ replicas[3].voted_key.id = 2 /\ replicas[2].role = "Candidate"
          \/ In(Adding) /\ r = 1 /\ IsPending(replicas[r])
          \/ In(Upgrading) /\ r = 2 /\ Level(replicas[2]) = 1

May(name, r) ==
  IF Asked THEN r = step.replica
  ELSE CASE name = "ElectionTimeout" ->
              /\ NotLast(r) \/ (r = 2 /\ Unsettled(r))
              /\ \/ Calm /\ (r = 2 \/ (replicas[r].role = "Resigned" /\ ~In(Removing) /\ ~In(Reassigning)))
                 \/ Calm /\ r = 1 /\ (In(Mixed) \/ In(Crashing))
                 \/ r = 2 /\ In(HandOver)
                 \/ In(Rivals)
         [] name = "FetchTimeout" ->
              /\ NotLast(r)
              /\ CASE In(Observing) -> r = 4
                   [] In(Changes) -> r = 3 /\ Calm
                   [] In(HandOver) -> r = 2
                   [] In(Removing) \/ In(Reassigning) -> r = 2 /\ Calm /\ replicas[1].role # "Leader"
                   [] In(Adding) \/ In(Rejoining) \/ In(Upgrading) \/ In(Trimming) -> FALSE
                   [] OTHER -> r = 2 /\ Calm
         [] name = "CheckQuorumTimeout" -> NotLast(r) /\ Calm /\ r = 1 /\ (In(HandOver) \/ In(Observing))
         [] name = "BeginQuorumEpochTimeout" ->
              NotLast(r) /\ Calm /\ r = 1 /\ replicas[r].acknowledging_voters # {} /\ In(HandOver)
         [] name = "VoterChangeTimeout" -> Calm /\ (In(Reassigning) => replicas[r].awaited_targets # {})
         [] name = "RequestTimeout" -> Calm /\ ~In(Changes) /\ ~In(Crashing)
         \* A follower reports to its leader where that is what the cluster is for.
         [] name = "Poll" ->
              /\ Calm \/ In(Rivals)
              /\ replicas[r].role # "Follower" \/ In(Rejoining) \/ In(Upgrading)
         [] name = "PollFetch" ->
              /\ Calm
              /\ CASE In(Rivals) -> FALSE
                   [] In(Observing) -> r = 4
                   [] In(Adding) \/ In(Rejoining) -> r \in {2, 3}
                   [] In(Removing) -> r \in {2, 3} /\ replicas[1].role = "Leader"
                   [] In(Reassigning) -> IF replicas[2].role = "Leader" THEN r \in {1, 3} ELSE r \in {2, 3}
                   [] OTHER -> r \in {1, 2}
         [] name = "ClientAppend" ->
              /\ Calm
              /\ r = 1
              /\ \/ In(HandOver) /\ LogBelow(r, 2)
                 \/ In(Trimming) /\ LogBelow(r, 4)
         [] name = "AppendVoters" -> Calm /\ r = 1 /\ LogBelow(r, 4) /\ In(Changes)
         [] name = "TakeSnapshot" ->
              /\ Calm
              /\ In(Trimming)
              /\ IF r = 1 THEN LogBelow(2, 1) ELSE replicas[1].base.end_offset = 0
         [] name = "Shutdown" ->
              /\ Calm
              /\ r = 1
              /\ \/ In(HandOver)
                 \/ (In(Adding) \/ In(Rejoining)) /\ IsPending(replicas[r])
                 \/ In(Removing) /\ IsPending(replicas[r]) /\ ~IsVoter(replicas[r])
                 \/ In(Reassigning) /\ replicas[r].awaited_targets # {}
         [] name = "AdvanceReassignment" -> Calm
         [] name = "Crash" -> Calm /\ MayCrashOnce(r)
         [] name = "Restart" -> Calm
         [] name = "ReplaceDisk" -> Calm /\ replicas[r].replica_key.directory_id # "new"
         [] name = "ReplaceSoftware" -> Calm
         [] OTHER -> TRUE

Leading == {r \in Ids : replicas[r].role = "Leader"}

\* Whom clients ask, rightly and wrongly.  In the graph Accepted bounds what changes the replica; what else is asked
\* changes nothing.
Asking ==
  IF Asked THEN IF Constructed /\ step.asking THEN {step.replica} ELSE {}
  ELSE IF Calm /\ HasClients THEN (IF In(Removing) THEN {1} ELSE IF In(Reassigning) THEN Leading ELSE Ids) ELSE {}
Accepted(event) ==
  /\ event.replica = 1
  /\ \/ event.name = "AddVoter" /\ In(Adding) /\ LogBelow(1, 4) /\ event.voter = config.keys[3]
     \/ event.name = "RemoveVoter" /\ In(Removing) /\ LogBelow(1, 4)
     \/ event.name = "UpdateFeatures" /\ In(Upgrading)
     \/ /\ event.name = "AlterPartitionReassignments" /\ In(Reassigning) /\ event.request = 1
        /\ \/ LogBelow(1, 4) /\ event.replicas = <<<<2, 3>>>>
           \/ LogBelow(1, 5) /\ event.replicas = NoReplicas
AsBefore(event) == Asked \/ Accepted(event) \/ UNCHANGED replicas

Yes(r) == TRUE
YesEnd(r, end) == TRUE
SameSoftware(r) == {config.pre_vote[r]}
MovesOnce(r, endpoint) == endpoint = NoEndpoint \/ Constructed \/ (In(Upgrading) /\ r = 2)
DuplicatesVotes(m) == In(Mixed) /\ m.type = "VoteRequest" /\ m.destination = 3
CutsOnce(from, to) == In(Changes) /\ Calm /\ cuts = {} /\ <<from, to>> = <<1, 2>>

\* Requests whose messages are gone while their sender still waits.
Lost(r) ==
  {<<r, a>> : a \in {a \in replicas[r].awaiting :
                       \A m \in network : m.correlation_id = 0 \/ {m.source, m.destination} # {r, a.destination}}}

EdgesBounds ==
  /\ EpochsUpTo(EpochLimit)
  /\ Cardinality(network) <= MessageLimit
  /\ Cardinality(UNION {Lost(r) : r \in Ids}) <= 1

\* Of the history, only the number of crashes decides what may happen.
EdgesState == <<config, replicas, network, cuts, history.crashes>>

(***************************************************************************)
(* The network of KRaft.tla takes an answer out as soon as nobody waits    *)
(* for it; here it stays and comes late.  After a step from a constructed  *)
(* state nothing is asked of the network.                                  *)
(***************************************************************************)
EdgesTransmit(r, consumed, after, sends) ==
  LET lost == replicas[r].awaiting \ after.awaiting
      Forgotten(m) == \/ IsRequest(m) /\ m.source = r /\ OutstandingRequest(m.destination, m.correlation_id) \in lost
                      \/ ~IsRequest(m) /\ m.destination = r /\ OutstandingRequest(m.source, m.correlation_id) \in lost
  IN network' = IF Constructed THEN {} ELSE
                {IF Forgotten(m) THEN [m EXCEPT !.correlation_id = 0] ELSE m : m \in network \ consumed}
                  \cup {sends[i] : i \in {j \in 1..Len(sends) : sends[j].type # "Reply"}}

(***************************************************************************)
(* Labels.                                                                 *)
(***************************************************************************)
Seen(r, reason, effects, completed, kept) ==
  [before |-> replicas[r], after |-> replicas'[r], reason |-> reason, effects |-> effects,
   completed |-> completed, kept |-> kept]

SeenOf(r, out, completed, kept) ==
  Seen(r, out.reason, ObservedEffects(replicas[r], out, completed), completed, kept)

EdgesPerform(r, consumed, out) ==
  \/ /\ Step(r, consumed, out)
     /\ observed' = SeenOf(r, out, -1, -1)
  \/ /\ MayCrashOnce(r)
     /\ \E done \in 1..(EffectCount(r, out) - 1) :
          \E kept \in KeptAfterCrash(OnDiskAfter(replicas[r], out.state, done)) :
            /\ CrashAfter(r, consumed, out, done, kept)
            /\ observed' = SeenOf(r, out, done, kept)

\* Steps of KRaft that do not go through Take.
WithoutEffects(r) == observed' = Seen(r, "", <<>>, -1, -1)

Event(name, r) == [name |-> name, replica |-> r]
EventTo(name, r, to) == [name |-> name, replica |-> r, destination |-> to]
PollOf(r, announce_to) == [name |-> "Poll", replica |-> r, announce_to |-> announce_to]
AppendOf(r, value) == [name |-> "ClientAppend", replica |-> r, value |-> value]
VotersOf(r, voters) == [name |-> "AppendVoters", replica |-> r, voters |-> voters]
CrashOf(r, kept) == [name |-> "Crash", replica |-> r, log_end_offset |-> kept]
RestartOf(r, endpoint) == [name |-> "Restart", replica |-> r, endpoint |-> endpoint]
SnapshotOf(r, end) == [name |-> "TakeSnapshot", replica |-> r, end_offset |-> end]
StepOf(r, voter) == [name |-> "AdvanceReassignment", replica |-> r, chosen |-> voter]
DiskOf(r, directory) == [name |-> "ReplaceDisk", replica |-> r, directory_id |-> directory]
SoftwareOf(r) == [name |-> "ReplaceSoftware", replica |-> r, pre_vote |-> config.pre_vote[r]]

Is(event) == step' = event
Delivers(r, m) == step' = [name |-> "Handle" \o m.type, replica |-> r, message |-> m]
OfNetwork(name) == step' = [name |-> name] /\ observed' = <<>>

Arriving(r) == {m \in InFlight(r, {n.type : n \in network}) : Constructed \/ ~Asked}
InNetwork == {m \in network : ~Asked}

\* Where voters change, what the change is about is lost, and other messages only in the other clusters.
MayDrop(m) ==
  CASE In(Adding) -> m.type \in {"ApiVersionsRequest", "ApiVersionsResponse"}
    [] In(Rejoining) -> m.type \in {"AddVoterRequest", "AddVoterResponse", "RemoveVoterRequest", "RemoveVoterResponse"}
    [] In(Removing) \/ In(Reassigning) -> FALSE
    [] In(Upgrading) -> m.type \in {"UpdateVoterRequest", "UpdateVoterResponse"}
    [] In(Trimming) -> m.type = "FetchSnapshotResponse"
    [] OTHER -> TRUE
VotersSets == SUBSET {config.keys[i] : i \in Ids \cap 1..3}

(***************************************************************************)
(* The requests of clients: plain ones, and each with one field wrong.     *)
(***************************************************************************)
Newest == Max(Ids)
Elsewhere == "elsewhere"
NamedBadly == {ReplicaKey(-1, "new"), ReplicaKey(Newest, ""), ReplicaKey(Newest, "(empty)")}

AdditionOf(r) ==
  [name |-> "AddVoter", replica |-> r, request |-> 1, voter |-> config.keys[Newest],
   endpoint |-> config.endpoints[Newest], when_committed |-> TRUE, same_cluster |-> TRUE]
RemovalOf(r, voter) == [name |-> "RemoveVoter", replica |-> r, request |-> 1, voter |-> voter, same_cluster |-> TRUE]

AddRequests(r) ==
  LET plain == AdditionOf(r)
      Naming(voter) == [plain EXCEPT !.voter = voter]
  IN {plain, [plain EXCEPT !.when_committed = FALSE], [plain EXCEPT !.same_cluster = FALSE],
      [plain EXCEPT !.endpoint = ""], [plain EXCEPT !.endpoint = "(empty)"]}
       \cup {Naming(voter) : voter \in
               NamedBadly \cup {ReplicaKey(1, "new"), ReplicaKey(Newest, "new"), ReplicaKey(Newest + 1, "new")}}

RemoveRequests(r) ==
  LET Naming(voter) == RemovalOf(r, voter) IN
  {[Naming(config.keys[1]) EXCEPT !.same_cluster = FALSE]}
    \cup {Naming(config.keys[i]) : i \in Ids}
    \cup {Naming(voter) : voter \in NamedBadly \cup {ReplicaKey(1, "new"), ReplicaKey(Newest + 1, "new")}}

FeatureRequests(r) ==
  {[name |-> "UpdateFeatures", replica |-> r, request |-> 1, kraft_version |-> asked[1], brokers_min |-> asked[2],
    brokers_max |-> asked[3]] : asked \in {<<1, 0, 1>>, <<0, 0, 1>>, <<2, 0, 2>>, <<1, 0, 0>>, <<1, 2, 3>>}}

TargetRequests(r) ==
  LET Asks(number, asked) ==
        [name |-> "AlterPartitionReassignments", replica |-> r, request |-> number, replicas |-> asked]
  IN {Asks(2, <<<<3, 2>>>>)}
       \cup {Asks(1, asked) : asked \in {NoReplicas, <<<<>>>>, <<<<2, 3>>>>, <<<<1, 2>>>>, <<<<2, 2>>>>, <<<<2, 9>>>>}}

(***************************************************************************)
(* The specification: Next of KRaft.tla with bounds and labels.            *)
(***************************************************************************)
\* Where targets are the matter, the other requests are asked once each.
AboutTargets == In(Reassigning) /\ ~Asked

Happens(name, r) == May(name, r) /\ Is(Event(name, r))

EdgesNext ==
  \/ \E r \in Ids : Happens("ElectionTimeout", r) /\ ElectionTimeout(r)
  \/ \E r \in Ids : Happens("FetchTimeout", r) /\ FetchTimeout(r)
  \/ \E r \in Ids : Happens("CheckQuorumTimeout", r) /\ CheckQuorumTimeout(r)
  \/ \E r \in Ids : Happens("BeginQuorumEpochTimeout", r) /\ BeginQuorumEpochTimeout(r)
  \/ \E r \in Ids : Happens("VoterChangeTimeout", r) /\ VoterChangeTimeout(r)
  \/ \E r, to \in Ids : May("RequestTimeout", r) /\ Is(EventTo("RequestTimeout", r, to)) /\ RequestTimeout(r, to)
  \/ \E r \in Ids : May("Poll", r) /\ Is(PollOf(r, <<>>)) /\ Poll(r)
  \/ \E r \in Ids : \E ids \in SUBSET OtherIds(replicas[r]) :
       In(HandOver) /\ May("Poll", r) /\ Is(PollOf(r, <<Ascending(ids)>>)) /\ PollByClock(r, ids)
  \/ \E r, to \in Ids : May("PollFetch", r) /\ Is(EventTo("PollFetch", r, to)) /\ PollFetch(r, to)
  \/ \E r \in Ids : \E m \in Arriving(r) : CanBeEncoded(m) /\ Delivers(r, m) /\ Handle(r, m)
  \/ \E r \in Ids : May("ClientAppend", r) /\ Is(AppendOf(r, 7)) /\ ClientAppend(r, 7)
  \/ \E r \in Ids : \E voters \in VotersSets :
       May("AppendVoters", r) /\ Is(VotersOf(r, voters)) /\ AppendVoters(r, voters)
  \/ \E r \in Asking : \E e \in IF AboutTargets THEN {AdditionOf(r)} ELSE AddRequests(r) :
       /\ Is(e)
       /\ AddVoter(r, e.request, e.voter, e.endpoint, e.when_committed, e.same_cluster)
       /\ AsBefore(e)
  \/ \E r \in Asking : \E e \in IF AboutTargets THEN {RemovalOf(r, config.keys[2])} ELSE RemoveRequests(r) :
       /\ Is(e)
       /\ RemoveVoter(r, e.request, e.voter, e.same_cluster)
       /\ AsBefore(e)
  \/ \E r \in Asking : \E e \in IF AboutTargets THEN {} ELSE FeatureRequests(r) :
       /\ Is(e)
       /\ UpdateFeatures(r, e.request, e.kraft_version, e.brokers_min, e.brokers_max)
       /\ AsBefore(e)
  \/ \E r \in Asking : \E e \in TargetRequests(r) :
       Is(e) /\ AlterPartitionReassignments(r, e.request, e.replicas) /\ AsBefore(e)
  \/ \E r \in Ids : \E voter \in NextSteps(replicas[r]) :
       May("AdvanceReassignment", r) /\ Is(StepOf(r, voter)) /\ AdvanceReassignment(r, voter)
  \/ \E r \in Ids : \E end \in (replicas[r].base.end_offset + 1)..replicas[r].high_watermark :
       May("TakeSnapshot", r) /\ Is(SnapshotOf(r, end)) /\ TakeSnapshot(r, end)
  \/ \E r \in Ids : Happens("Shutdown", r) /\ Shutdown(r)
  \/ \E r \in Ids : \E kept \in KeptAfterCrash(replicas[r]) :
       May("Crash", r) /\ Is(CrashOf(r, kept)) /\ Crash(r, kept) /\ WithoutEffects(r)
  \/ \E r \in Ids : \E endpoint \in {NoEndpoint, Elsewhere} :
       May("Restart", r) /\ Is(RestartOf(r, endpoint)) /\ Restart(r, endpoint)
  \/ \E r \in Ids : May("ReplaceDisk", r) /\ Is(DiskOf(r, "new")) /\ ReplaceDisk(r, "new") /\ WithoutEffects(r)
  \/ \E r \in Ids :
       May("ReplaceSoftware", r) /\ Is(SoftwareOf(r)) /\ ReplaceSoftware(r, config.pre_vote[r]) /\ WithoutEffects(r)
  \/ \E m \in InNetwork : AnswerUnsupportedVersion(m) /\ OfNetwork("AnswerUnsupportedVersion")
  \/ \E m \in InNetwork : MayDrop(m) /\ DropMessage(m) /\ OfNetwork("DropMessage")
  \/ \E from, to \in Ids : ~Asked /\ CutLink(from, to) /\ OfNetwork("CutLink")
  \/ \E from, to \in Ids : ~Asked /\ HealLink(from, to) /\ OfNetwork("HealLink")

(***************************************************************************)
(* The events that the replica might be asked for, each with the reason    *)
(* why it takes no notice if the model does not allow it.                  *)
(***************************************************************************)
Refusable(r) ==
  {Event(name, r) : name \in {"ElectionTimeout", "FetchTimeout", "CheckQuorumTimeout", "BeginQuorumEpochTimeout",
                              "VoterChangeTimeout", "Shutdown"}}
    \cup {EventTo(name, r, to) : name \in {"RequestTimeout", "PollFetch"}, to \in Ids}
    \cup {PollOf(r, <<>>), AppendOf(r, 7), VotersOf(r, {config.keys[1]}), RestartOf(r, NoEndpoint), SoftwareOf(r)}
    \* Which ids were given out the cluster knows, and not the replica: it is asked about a new one.
    \cup {DiskOf(r, directory) : directory \in {d \in {"new"} : Runs(r) \/ IsNewDirectory(d)}}
    \cup {CrashOf(r, kept) : kept \in KeptAfterCrash(replicas[r])}
    \cup {SnapshotOf(r, end) : end \in replicas[r].base.end_offset..(EndOffset(replicas[r]) + 1)}
    \cup {StepOf(r, voter) : voter \in {NoKey} \cup {config.keys[i] : i \in Ids}}
    \cup (IF Runs(r) THEN {} ELSE AddRequests(r) \cup RemoveRequests(r) \cup FeatureRequests(r) \cup TargetRequests(r))

AskedEvents == {<<event, RefusalReason(event.name, event.replica)>> : event \in Refusable(step.replica)}
=============================================================================
