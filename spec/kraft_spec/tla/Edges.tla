------------------------------- MODULE Edges --------------------------------
(***************************************************************************)
(* Slice "edges": six small clusters whose complete state graph, every     *)
(* action of Next in it, is replayed on the Python reference edge by edge  *)
(* (kraft_spec.edges, docs/edges.md).                                      *)
(*                                                                         *)
(* Bounds: three voters (and an observer in one cluster), epochs up to 2;  *)
(* at most MessageLimit messages on their way and one request whose        *)
(* messages are gone while its sender still waits; which event may happen  *)
(* where is in one table, May.  A replica's own events wait until nothing  *)
(* is on its way (Calm), except for some timers and polls in HandOver and  *)
(* Rivals, so that requests are forgotten and answers come late.           *)
(* A step out of the bounds is an edge too; the state it leads to is not   *)
(* explored.                                                               *)
(* Besides, kraft_spec.edges binds one replica to a state that the graph   *)
(* need not have, constructed states, and asks for one step from there.    *)
(* Leaves out: most of what two replicas do at the same time, which gives  *)
(* other states of the cluster and few other edges of one replica; a       *)
(* second crash, append or cut.                                            *)
(*                                                                         *)
(* Each step is labelled with what it was and what could be seen of it.    *)
(* The labels are no part of the state: kraft_spec.edges takes them off.   *)
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

OtherDecisions ==
  [observerRefusal |-> "lasts", voterKeyError |-> "INVALID_VOTER_KEY", prospectiveAnnouncement |-> "stays",
   endQuorumFetchedFlag |-> "kept", divergingFetch |-> "ignored", restartPrecedence |-> "own-vote",
   kraftVersionGate |-> "append"]

\* Static voters have no directory ids.
StaticVoters == {<<1, "">>, <<2, "">>, <<3, "">>}

\* A leader that resigns, an append, a rival; one crash of a voter that has voted for the rival.
HandOver == [ThreeVoters EXCEPT !.voters = StaticVoters]
\* Software of three versions, from the first start.
Mixed == [ThreeVoters EXCEPT !.preVote = <<"supported", "unsupported", "ignored">>]
\* Three candidates of one epoch whose timers and polls do not wait.
Rivals == [ThreeVoters EXCEPT !.bootstrap = {3}]
\* Voters sets in the log.
Changes == Cluster(3, 3, 1)
\* A crash at rest or in the middle of a step, a restart, a lost disk.
Crashing == [Cluster(3, 3, 1) EXCEPT !.bootstrap = {2}, !.decisions = OtherDecisions]
\* An observer that follows record by record; a leader of old software.
Observing ==
  [Cluster(4, 3, 1) EXCEPT !.fetchMaxRecords = 1, !.speaksEndpoints = <<FALSE, TRUE, TRUE, TRUE>>]

In(cluster) == config = cluster

\* For kraft_spec.edges, which names them so.
Clusters == [HandOver |-> HandOver, Mixed |-> Mixed, Rivals |-> Rivals,
             Changes |-> Changes, Crashing |-> Crashing, Observing |-> Observing]

EdgesInit ==
  /\ \/ Elected(HandOver, 1)
     \/ InitWith(Mixed)
     \/ InitWith(Rivals)
     \/ Elected(Changes, 1)
     \/ Elected(Crashing, 1)
     \/ Elected(Observing, 1)
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
  replicas[r].epoch = 1 /\ replicas[r].role = "Unattached" /\ replicas[r].leader = NoLeader /\ replicas[r].voted = NoKey
LogBelow(r, end) == EndOffset(replicas[r]) < end
MayCrashOnce(r) ==
  IF Asked THEN Constructed /\ step.crashing
  ELSE /\ history.crashes = 0
       /\ \/ In(Crashing) /\ r \in {1, 2}
          \/ In(HandOver) /\ r = 3 /\ replicas[3].voted[1] = 2 /\ replicas[2].role = "Candidate"

May(name, r) ==
  IF Asked THEN r = step.replica
  ELSE CASE name = "ElectionTimeout" ->
              /\ NotLast(r) \/ (r = 2 /\ Unsettled(r))
              /\ \/ Calm /\ (r = 2 \/ replicas[r].role = "Resigned")
                 \/ Calm /\ r = 1 /\ (In(Mixed) \/ In(Crashing))
                 \/ r = 2 /\ In(HandOver)
                 \/ In(Rivals)
         [] name = "FetchTimeout" ->
              /\ NotLast(r)
              /\ CASE In(Observing) -> r = 4
                   [] In(Changes) -> r = 3 /\ Calm
                   [] In(HandOver) -> r = 2
                   [] OTHER -> r = 2 /\ Calm
         [] name = "CheckQuorumTimeout" -> NotLast(r) /\ Calm /\ r = 1 /\ (In(HandOver) \/ In(Observing))
         [] name = "BeginQuorumEpochTimeout" ->
              NotLast(r) /\ Calm /\ r = 1 /\ replicas[r].acknowledged # {} /\ In(HandOver)
         [] name = "RequestTimeout" -> Calm /\ ~In(Changes) /\ ~In(Crashing)
         \* A follower would report to its leader: no message of that is in these clusters yet.
         [] name = "Poll" -> replicas[r].role # "Follower" /\ (Calm \/ In(Rivals))
         [] name = "PollFetch" -> Calm /\ ~In(Rivals) /\ (IF In(Observing) THEN r = 4 ELSE r \in {1, 2})
         [] name = "ClientAppend" -> Calm /\ r = 1 /\ LogBelow(r, 2) /\ In(HandOver)
         [] name = "AppendVoters" -> Calm /\ r = 1 /\ LogBelow(r, 4) /\ In(Changes)
         [] name = "Shutdown" -> Calm /\ r = 1 /\ In(HandOver)
         [] name = "Crash" -> Calm /\ MayCrashOnce(r)
         [] name = "Restart" -> Calm
         [] name = "ReplaceDisk" -> Calm /\ replicas[r].key[2] # "new"
         [] OTHER -> TRUE

Yes(r) == TRUE
DuplicatesVotes(m) == In(Mixed) /\ m.type = "VoteRequest" /\ m.to = 3
CutsOnce(from, to) == In(Changes) /\ Calm /\ cuts = {} /\ <<from, to>> = <<1, 2>>

\* Requests whose messages are gone while their sender still waits.
Lost(r) ==
  {<<r, a>> : a \in {a \in replicas[r].awaiting :
                       \A m \in network : m.corr = 0 \/ {m.from, m.to} # {r, a[1]}}}

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
      Forgotten(m) == \/ IsRequest(m) /\ m.from = r /\ <<m.to, m.corr>> \in lost
                      \/ ~IsRequest(m) /\ m.to = r /\ <<m.from, m.corr>> \in lost
  IN network' = IF Constructed THEN {} ELSE
                {IF Forgotten(m) THEN [m EXCEPT !.corr = 0] ELSE m : m \in network \ consumed}
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
          \E kept \in KeptAfterCrash(Reached(replicas[r], out.state, done)) :
            /\ CrashAfter(r, consumed, out, done, kept)
            /\ observed' = SeenOf(r, out, done, kept)

\* Steps of KRaft that do not go through Take.
WithoutEffects(r) == observed' = Seen(r, "", <<>>, -1, -1)

Event(name, r) == [name |-> name, replica |-> r]
EventTo(name, r, to) == [name |-> name, replica |-> r, destination |-> to]
AppendOf(r, value) == [name |-> "ClientAppend", replica |-> r, value |-> value]
VotersOf(r, voters) == [name |-> "AppendVoters", replica |-> r, voters |-> voters]
CrashOf(r, kept) == [name |-> "Crash", replica |-> r, kept |-> kept]
RestartOf(r) == [name |-> "Restart", replica |-> r, endpoint |-> NoEndpoint]
DiskOf(r, directory) == [name |-> "ReplaceDisk", replica |-> r, directory |-> directory]

Is(event) == step' = event
Delivers(r, m) == step' = [name |-> "Handle" \o m.type, replica |-> r, message |-> m]
OfNetwork(name) == step' = [name |-> name] /\ observed' = <<>>

Arriving(r, type) == {m \in InFlight(r, {type}) : Constructed \/ ~Asked}
InNetwork == {m \in network : ~Asked}
VotersSets == SUBSET {config.keys[i] : i \in 1..3}

(***************************************************************************)
(* The specification: Next of KRaft.tla with bounds and labels.            *)
(***************************************************************************)
Happens(name, r) == May(name, r) /\ Is(Event(name, r))

EdgesNext ==
  \/ \E r \in Ids : Happens("ElectionTimeout", r) /\ ElectionTimeout(r)
  \/ \E r \in Ids : Happens("FetchTimeout", r) /\ FetchTimeout(r)
  \/ \E r \in Ids : Happens("CheckQuorumTimeout", r) /\ CheckQuorumTimeout(r)
  \/ \E r \in Ids : Happens("BeginQuorumEpochTimeout", r) /\ BeginQuorumEpochTimeout(r)
  \/ \E r \in Ids : Happens("VoterChangeTimeout", r) /\ VoterChangeTimeout(r)
  \/ \E r, to \in Ids : May("RequestTimeout", r) /\ Is(EventTo("RequestTimeout", r, to)) /\ RequestTimeout(r, to)
  \/ \E r \in Ids : Happens("Poll", r) /\ Poll(r)
  \/ \E r, to \in Ids : May("PollFetch", r) /\ Is(EventTo("PollFetch", r, to)) /\ PollFetch(r, to)
  \/ \E r \in Ids : \E m \in Arriving(r, "VoteRequest") :
       CanBeEncoded(m) /\ Delivers(r, m) /\ HandleVoteRequest(r, m)
  \/ \E r \in Ids : \E m \in Arriving(r, "VoteResponse") : Delivers(r, m) /\ HandleVoteResponse(r, m)
  \/ \E r \in Ids : \E m \in Arriving(r, "BeginQuorumEpochRequest") :
       Delivers(r, m) /\ HandleBeginQuorumEpochRequest(r, m)
  \/ \E r \in Ids : \E m \in Arriving(r, "BeginQuorumEpochResponse") :
       Delivers(r, m) /\ HandleBeginQuorumEpochResponse(r, m)
  \/ \E r \in Ids : \E m \in Arriving(r, "EndQuorumEpochRequest") :
       Delivers(r, m) /\ HandleEndQuorumEpochRequest(r, m)
  \/ \E r \in Ids : \E m \in Arriving(r, "EndQuorumEpochResponse") :
       Delivers(r, m) /\ HandleEndQuorumEpochResponse(r, m)
  \/ \E r \in Ids : \E m \in Arriving(r, "FetchRequest") : Delivers(r, m) /\ HandleFetchRequest(r, m)
  \/ \E r \in Ids : \E m \in Arriving(r, "FetchResponse") : Delivers(r, m) /\ HandleFetchResponse(r, m)
  \/ \E r \in Ids : \E m \in Arriving(r, "FetchSnapshotRequest") : Delivers(r, m) /\ HandleFetchSnapshotRequest(r, m)
  \/ \E r \in Ids : \E m \in Arriving(r, "FetchSnapshotResponse") : Delivers(r, m) /\ HandleFetchSnapshotResponse(r, m)
  \/ \E r \in Ids : \E m \in Arriving(r, "ApiVersionsRequest") : Delivers(r, m) /\ HandleApiVersionsRequest(r, m)
  \/ \E r \in Ids : \E m \in Arriving(r, "ApiVersionsResponse") : Delivers(r, m) /\ HandleApiVersionsResponse(r, m)
  \/ \E r \in Ids : \E m \in Arriving(r, "AddVoterRequest") : Delivers(r, m) /\ HandleAddVoterRequest(r, m)
  \/ \E r \in Ids : \E m \in Arriving(r, "AddVoterResponse") : Delivers(r, m) /\ HandleAddVoterResponse(r, m)
  \/ \E r \in Ids : \E m \in Arriving(r, "RemoveVoterRequest") : Delivers(r, m) /\ HandleRemoveVoterRequest(r, m)
  \/ \E r \in Ids : \E m \in Arriving(r, "RemoveVoterResponse") : Delivers(r, m) /\ HandleRemoveVoterResponse(r, m)
  \/ \E r \in Ids : \E m \in Arriving(r, "UpdateVoterRequest") : Delivers(r, m) /\ HandleUpdateVoterRequest(r, m)
  \/ \E r \in Ids : \E m \in Arriving(r, "UpdateVoterResponse") : Delivers(r, m) /\ HandleUpdateVoterResponse(r, m)
  \/ \E r \in Ids : May("ClientAppend", r) /\ Is(AppendOf(r, 7)) /\ ClientAppend(r, 7)
  \/ \E r \in Ids : \E voters \in VotersSets :
       May("AppendVoters", r) /\ Is(VotersOf(r, voters)) /\ AppendVoters(r, voters)
  \/ \E r \in Ids : Happens("Shutdown", r) /\ Shutdown(r)
  \/ \E r \in Ids : \E kept \in KeptAfterCrash(replicas[r]) :
       May("Crash", r) /\ Is(CrashOf(r, kept)) /\ Crash(r, kept) /\ WithoutEffects(r)
  \/ \E r \in Ids : May("Restart", r) /\ Is(RestartOf(r)) /\ Restart(r, NoEndpoint)
  \/ \E r \in Ids : May("ReplaceDisk", r) /\ Is(DiskOf(r, "new")) /\ ReplaceDisk(r, "new") /\ WithoutEffects(r)
  \/ \E m \in InNetwork : AnswerUnsupportedVersion(m) /\ OfNetwork("AnswerUnsupportedVersion")
  \/ \E m \in InNetwork : DropMessage(m) /\ OfNetwork("DropMessage")
  \/ \E from, to \in Ids : ~Asked /\ CutLink(from, to) /\ OfNetwork("CutLink")
  \/ \E from, to \in Ids : ~Asked /\ HealLink(from, to) /\ OfNetwork("HealLink")

(***************************************************************************)
(* The events that the replica might be asked for, each with the reason    *)
(* why it takes no notice if the model does not allow it.                  *)
(***************************************************************************)
Refusable(r) ==
  {Event(name, r) : name \in {"ElectionTimeout", "FetchTimeout", "CheckQuorumTimeout", "BeginQuorumEpochTimeout",
                              "VoterChangeTimeout", "Poll", "Shutdown"}}
    \cup {EventTo(name, r, to) : name \in {"RequestTimeout", "PollFetch"}, to \in Ids}
    \cup {AppendOf(r, 7), VotersOf(r, {config.keys[1]}), RestartOf(r), DiskOf(r, "new")}
    \cup {CrashOf(r, kept) : kept \in KeptAfterCrash(replicas[r])}

AskedEvents == {<<event, RefusalReason(event.name, event.replica)>> : event \in Refusable(step.replica)}
=============================================================================
