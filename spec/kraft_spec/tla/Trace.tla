------------------------------- MODULE Trace -------------------------------
(***************************************************************************)
(* A recorded run against the model, line by line.  The checker            *)
(* (kraft_traces.check) binds the variable event to one line of a          *)
(* trace, asks for the successors under the action that the line names,    *)
(* and compares Observation in each with what the line says it saw.        *)
(*                                                                         *)
(* The network is the recorded one: a message on its way is known by the   *)
(* line that sent it and its receiver, so that a line has one successor.   *)
(* Nothing else differs from KRaft: Trace.cfg overrides Transmit, Perform, *)
(* Receive, Correlation, Remembered, Watched and the switches.             *)
(*                                                                         *)
(* A replica of config.opaque is not observed.  It takes no step here and  *)
(* its entry of replicas is that of a process that never ran.  It may send *)
(* anything at any time (TraceOpaqueSend), and receives nothing.           *)
(***************************************************************************)

(***************************************************************************)
(* Every event of a trace with its counterparts.  The action of KRaft.tla  *)
(* has the name of the event, the action of this module Trace before it;   *)
(* HandleTYPE is one action here, TraceHandle.  The function is one of     *)
(* kraft_reference, the method one of KafkaRaftClient in Apache Kafka      *)
(* 4.3.1, or of the class that is named.                                   *)
(***************************************************************************)
\* Event                          Function                             Method
\* ElectionTimeout                after_election_timeout               pollUnattachedAsVoter, pollProspective, pollCandidate,
\*                                                                     pollResigned
\* FetchTimeout                   after_fetch_timeout                  pollFollowerAsVoter, pollFollowerAsObserver
\* CheckQuorumTimeout             after_check_quorum_timeout           pollLeader, transitionToResigned
\* BeginQuorumEpochTimeout        after_begin_quorum_epoch_timeout     pollLeader, maybeSendBeginQuorumEpochRequests
\* VoterChangeTimeout             after_voter_change_timeout           pollLeader, LeaderState.maybeExpirePendingOperation
\* RequestTimeout                 _after_request_timeout               RequestManager (the class)
\* Poll                           after_poll                           maybeSendVoteRequests, maybeSendBeginQuorumEpochRequests,
\*                                                                     pollResigned, maybeSendUpdateVoterRequest,
\*                                                                     maybeSendAddVoterRequest, maybeSendRemoveVoterRequest
\* PollFetch                      after_poll_fetch                     maybeSendFetchOrFetchSnapshot, maybeSendFetchToBestNode
\* HandleVoteRequest              after_vote_request                   handleVoteRequest
\* HandleVoteResponse             after_vote_response                  handleVoteResponse
\* HandleBeginQuorumEpochRequest  after_begin_quorum_epoch_request     handleBeginQuorumEpochRequest
\* HandleBeginQuorumEpochResponse after_announcement_response          handleBeginQuorumEpochResponse
\* HandleEndQuorumEpochRequest    after_end_quorum_epoch_request       handleEndQuorumEpochRequest
\* HandleEndQuorumEpochResponse   after_announcement_response          handleEndQuorumEpochResponse
\* HandleFetchRequest             after_fetch_request                  handleFetchRequest, tryCompleteFetchRequest
\* HandleFetchResponse            after_fetch_response                 handleFetchResponse
\* HandleFetchSnapshotRequest     after_fetch_snapshot_request         handleFetchSnapshotRequest
\* HandleFetchSnapshotResponse    after_fetch_snapshot_response        handleFetchSnapshotResponse
\* HandleApiVersionsRequest       after_api_versions_request           none: the server answers
\* HandleApiVersionsResponse      after_api_versions_response          handleApiVersionsResponse
\* HandleAddVoterRequest          after_add_voter                      handleAddVoterRequest
\* HandleAddVoterResponse         after_change_response                handleAddVoterResponse
\* HandleRemoveVoterRequest       after_remove_voter                   handleRemoveVoterRequest
\* HandleRemoveVoterResponse      after_change_response                handleRemoveVoterResponse
\* HandleUpdateVoterRequest       after_update_voter_request           handleUpdateVoterRequest
\* HandleUpdateVoterResponse      after_change_response                handleUpdateVoterResponse
\* ClientAppend                   after_append                         prepareAppend, schedulePreparedAppend, maybeAppendBatches
\* AddVoter                       after_add_voter                      handleAddVoterRequest
\* RemoveVoter                    after_remove_voter                   handleRemoveVoterRequest
\* UpdateFeatures                 after_update_features                upgradeKRaftVersion
\* AppendVoters                   after_append_voters                  none: a voter set is appended without a request
\* AlterPartitionReassignments    after_alter_partition_reassignments  none: KIP-642 has not shipped
\* AdvanceReassignment            after_advance_reassignment           none: KIP-642 has not shipped
\* TakeSnapshot                   after_take_snapshot                  createSnapshot
\* Shutdown                       after_shutdown                       shutdown, transitionToResigned
\* Crash                          crash                                none: the process dies
\* Restart                        after_restart                        initialize
\* ReplaceDisk                    after_replace_disk                   none: kafka-storage format
\* ReplaceSoftware                none: kraft_simulation               none: another release
\* DropMessage, DuplicateMessage, none: kraft_simulation               none: the network
\* CutLink, HealLink
\* AnswerUnsupportedVersion       none: kraft_simulation               none: the network client
EXTENDS Observed, Forgetting

VARIABLES
  event,     \* the line that is checked: [name, replica, sequence, ...]
  observed   \* the reason of a refusal and the effects in order that the line must show, or the response of the network

Yes(of) == TRUE
YesTo(r, what) == TRUE
AnySoftware(r) == {"supported", "unsupported", "ignored"}

(***************************************************************************)
(* The recorded network: [sent, copies, message].  A request's correlation *)
(* is the line that sent it.                                               *)
(***************************************************************************)
TraceCorrelation == event.sequence

TraceWatched == Ids \ config.opaque

(***************************************************************************)
(* Fetch responses of other software, which may delay an empty response:   *)
(* the request stays in the network with no copies, and a later line sends *)
(* the response.  kraft_traces.alternatives.fetch_answers does the same.   *)
(***************************************************************************)
ShowsFetches == "fetches" \in DOMAIN event

IsAnswer(m) == m.type = "FetchResponse"
HasNothingToSay(m) == m.error = "NONE" /\ m.records = <<>> /\ m.diverging_epoch < 0 /\ m.snapshot_end_offset < 0

\* The allowed response closest to the recorded one: with fewer records, in whole batches, or with a high watermark beside
\* an error.
Chosen(s, m, right, shown) ==
  IF 0 < shown.records /\ shown.records < Len(right.records) /\ ~TearsBatch(s, m.fetch_offset + shown.records)
  THEN [right EXCEPT !.records = SubSeq(@, 1, shown.records)]
  ELSE IF right.error # "NONE" /\ shown.watermark = s.high_watermark
  THEN [right EXCEPT !.high_watermark = s.high_watermark]
  ELSE right

\* After the loss of leadership the error may be NOT_LEADER_OR_FOLLOWER; a delayed response may omit the high watermark.
ChosenLate(s, m, shown) ==
  LET right == Chosen(s, m, AfterFetchRequest(s, m).sends[1], shown) IN
  IF right.error = "FENCED_LEADER_EPOCH" /\ shown.error = "NOT_LEADER_OR_FOLLOWER" THEN [right EXCEPT !.error = shown.error]
  ELSE IF HasNothingToSay(right) /\ shown.watermark = Unknown THEN [right EXCEPT !.high_watermark = Unknown]
  ELSE right

OwedBy(r) == {w \in network : w.copies = 0 /\ w.message.destination = r}
OwedTo(r, shown) ==
  {w \in OwedBy(r) : /\ shown.destination \in {-1, w.message.source}
                     /\ shown.correlation_id \in {-1, w.message.correlation_id}}
Owed(r, shown) == CHOOSE w \in OwedTo(r, shown) : TRUE

\* Each delayed response has a request, and no request has two.
LateAnswersAreOwed(r) ==
  ShowsFetches => /\ \A i \in DOMAIN event.fetches.late : OwedTo(r, event.fetches.late[i]) # {}
                  /\ \A i, j \in DOMAIN event.fetches.late :
                       i # j => Owed(r, event.fetches.late[i]) # Owed(r, event.fetches.late[j])

AsAnswered(r, consumed, out) ==
  LET shown == event.fetches
      kept == SelectSeq(out.sends, LAMBDA m : ~(shown.waits /\ IsAnswer(m) /\ HasNothingToSay(m)))
      now == [i \in 1..Len(kept) |-> IF IsAnswer(kept[i])
                                     THEN Chosen(out.state, CHOOSE m \in consumed : TRUE, kept[i], shown.now)
                                     ELSE kept[i]]
      late == [i \in 1..Len(shown.late) |-> ChosenLate(out.state, Owed(r, shown.late[i]).message, shown.late[i])]
  IN [out EXCEPT !.sends = now \o late]

\* A line may send two messages to one receiver: one of them is the response to a voter change, or a delayed Fetch response.
\* A Reply does not enter the network, and neither does a message to a replica that is not observed.
TraceTransmit(r, consumed, after, sends) ==
  LET taken == IF consumed = {} THEN {}
               ELSE {w \in network : w.copies > 0 /\ w.sent = event.sent /\ w.message \in consumed}
      left == {[w EXCEPT !.copies = @ - 1] : w \in {v \in taken : v.copies > 1}}
      waiting == IF ShowsFetches /\ event.fetches.waits THEN {[w EXCEPT !.copies = 0] : w \in taken} ELSE {}
      paid == IF ShowsFetches THEN {Owed(r, event.fetches.late[i]) : i \in DOMAIN event.fetches.late} ELSE {}
      lost == IF after.role = "Stopped" THEN OwedBy(r) ELSE {}
  IN network' = ((network \ (taken \cup paid \cup lost)) \cup left \cup waiting)
                  \cup {[sent |-> event.sequence, copies |-> 1, message |-> sends[i]] :
                          i \in {j \in 1..Len(sends) : /\ sends[j].type # "Reply"
                                                       /\ sends[j].destination \notin config.opaque}}

\* The in-flight messages with the id in the line: one, or none.
OnItsWay == {w \in network : w.copies > 0 /\ w.sent = event.sent /\ w.message.destination = event.replica}

\* True if the message has the recorded type and its link is not cut.
Arrives(w, type) == w.message.type = type /\ <<w.message.source, w.message.destination>> \notin cuts

(***************************************************************************)
(* The observation that is compared with the line, as text.                *)
(***************************************************************************)
Observation == <<ObservedState(replicas[event.replica]), observed>>

NetworkObservation == observed

\* All in-flight messages, for a line without a message id.
OnTheirWay ==
  {<<w.sent, w.message.destination, <<w.message.source, w.message.destination>> \in cuts,
     w.message>> : w \in {v \in network : v.copies > 0}}

(***************************************************************************)
(* Steps.                                                                  *)
(***************************************************************************)
TracePerform(r, consumed, outcome) ==
  /\ LateAnswersAreOwed(r)
  /\ LET out == IF ShowsFetches THEN AsAnswered(r, consumed, outcome) ELSE outcome IN
       /\ IF event.completed < 0
          THEN Step(r, consumed, out)
          ELSE /\ event.completed <= EffectCount(r, out)
               /\ CrashAfter(r, consumed, out, event.completed, event.log_end_offset)
       /\ observed' = <<out.reason, ObservedEffects(replicas[r], out, event.completed)>>
  /\ UNCHANGED event

TraceReceive(r, m, out) == Take(r, {m}, out)

\* For actions of KRaft that do not go through Take, so they have no effects and no crash points.
Quietly == event.completed < 0 /\ observed' = <<"", <<>>>> /\ UNCHANGED event

OnLine(name) == event.name = name

\* A delayed Fetch response is all that a Poll sends.
EndOfWait(r) ==
  /\ Runs(r)
  /\ ShowsFetches /\ event.fetches.late # <<>>
  /\ Take(r, {}, Becomes(replicas[r]))

TraceElectionTimeout == OnLine("ElectionTimeout") /\ ElectionTimeout(event.replica)
TraceFetchTimeout == OnLine("FetchTimeout") /\ FetchTimeout(event.replica)
TraceCheckQuorumTimeout == OnLine("CheckQuorumTimeout") /\ CheckQuorumTimeout(event.replica)
TraceBeginQuorumEpochTimeout == OnLine("BeginQuorumEpochTimeout") /\ BeginQuorumEpochTimeout(event.replica)
TraceVoterChangeTimeout == OnLine("VoterChangeTimeout") /\ VoterChangeTimeout(event.replica)
TraceRequestTimeout == OnLine("RequestTimeout") /\ RequestTimeout(event.replica, event.destination)
PollAsDue(r) == Poll(r) \/ (EndOfWait(r) /\ ~SomethingIsDue(replicas[r]))
PollTo(r, ids) ==
  \/ PollByClock(r, ids)
  \/ EndOfWait(r) /\ ids = {} /\ MayAnnounceTo(replicas[r], {}) /\ DueChangeRequest(replicas[r], {}, Correlation) = {}
TracePoll ==
  /\ OnLine("Poll")
  /\ IF event.announce_to = <<>> THEN PollAsDue(event.replica)
     ELSE PollTo(event.replica, Members(event.announce_to[1]))
TracePollFetch == OnLine("PollFetch") /\ PollFetch(event.replica, event.destination)

TraceHandle ==
  /\ event.type # ""
  /\ \E w \in OnItsWay : Arrives(w, event.type) /\ CanBeEncoded(w.message) /\ Handle(event.replica, w.message)

TraceClientAppend == OnLine("ClientAppend") /\ ClientAppend(event.replica, event.value)
TraceAppendVoters == OnLine("AppendVoters") /\ AppendVoters(event.replica, event.voters)
TraceAddVoter ==
  /\ OnLine("AddVoter")
  /\ AddVoter(event.replica, event.request, event.voter, event.endpoint, event.when_committed, event.same_cluster)
TraceRemoveVoter ==
  OnLine("RemoveVoter") /\ RemoveVoter(event.replica, event.request, event.voter, event.same_cluster)
TraceUpdateFeatures ==
  /\ OnLine("UpdateFeatures")
  /\ UpdateFeatures(event.replica, event.request, event.kraft_version, event.brokers_min, event.brokers_max)
TraceAlterPartitionReassignments ==
  /\ OnLine("AlterPartitionReassignments")
  /\ AlterPartitionReassignments(event.replica, event.request, event.replicas)
TraceAdvanceReassignment == OnLine("AdvanceReassignment") /\ AdvanceReassignment(event.replica, event.chosen)
TraceTakeSnapshot == OnLine("TakeSnapshot") /\ TakeSnapshot(event.replica, event.end_offset)
TraceShutdown == OnLine("Shutdown") /\ Shutdown(event.replica)
TraceCrash == OnLine("Crash") /\ Quietly /\ Crash(event.replica, event.log_end_offset)
TraceRestart == OnLine("Restart") /\ Restart(event.replica, event.endpoint)
TraceReplaceDisk == OnLine("ReplaceDisk") /\ Quietly /\ ReplaceDisk(event.replica, event.directory_id)
TraceReplaceSoftware == OnLine("ReplaceSoftware") /\ Quietly /\ ReplaceSoftware(event.replica, event.pre_vote)

(***************************************************************************)
(* Events of the network.                                                  *)
(***************************************************************************)
\* The message that the line names; change is true for the response to a voter change.
Named ==
  {w \in network : /\ w.copies > 0 /\ w.sent = event.sent /\ w.message.destination = event.destination
                   /\ (w.message.type \in ChangeResponseTypes) = event.change}

TraceDropMessage ==
  /\ OnLine("DropMessage")
  /\ \E w \in Named :
       network' = (network \ {w}) \cup (IF w.copies > 1 THEN {[w EXCEPT !.copies = @ - 1]} ELSE {})
  /\ observed' = <<"", <<>>>>
  /\ UNCHANGED <<config, replicas, cuts, history, event>>

TraceDuplicateMessage ==
  /\ OnLine("DuplicateMessage")
  /\ \E w \in Named : network' = (network \ {w}) \cup {[w EXCEPT !.copies = @ + 1]}
  /\ observed' = <<"", <<>>>>
  /\ UNCHANGED <<config, replicas, cuts, history, event>>

TraceAnswerUnsupportedVersion ==
  /\ OnLine("AnswerUnsupportedVersion")
  /\ \E w \in Named :
       /\ w.message.type = "VoteRequest"
       /\ ~CanBeEncoded(w.message)
       /\ LET answer == UnsupportedVersionAnswer(w.message) IN
            /\ network' = (network \ {w})
                            \cup (IF w.copies > 1 THEN {[w EXCEPT !.copies = @ - 1]} ELSE {})
                            \cup {[sent |-> event.sequence, copies |-> 1, message |-> answer]}
            /\ observed' = <<"", <<answer>>>>
  /\ UNCHANGED <<config, replicas, cuts, history, event>>

\* The line shows a message that no line sent.  Its number is that of the line itself, which sends nothing to its replica.
TraceOpaqueSend ==
  /\ OnLine("OpaqueSend")
  /\ network' = network \cup {[sent |-> event.sequence, copies |-> 1, message |-> event.message]}
  /\ UNCHANGED <<config, replicas, cuts, history, event, observed>>

TraceCutLink == OnLine("CutLink") /\ Quietly /\ CutLink(event.source, event.destination)
TraceHealLink == OnLine("HealLink") /\ Quietly /\ HealLink(event.source, event.destination)

\* The checker has found the action disabled: the replica ignores the event, only the message leaves the network.
TraceRefuse ==
  LET reason == RefusalReason(event.name, event.replica)
      came == IF event.type = "" THEN {} ELSE {w \in OnItsWay : Arrives(w, event.type) /\ CanBeEncoded(w.message)}
      left == {[w EXCEPT !.copies = @ - 1] : w \in {v \in came : v.copies > 1}}
  IN /\ reason # ""
     /\ event.completed < 0
     /\ event.type = "" \/ came # {}
     /\ network' = (network \ came) \cup left
     /\ observed' = <<reason, <<>>>>
     /\ UNCHANGED <<config, replicas, cuts, history, event>>

(***************************************************************************)
(* Properties on a line: the local forms for the replica that it changed.  *)
(***************************************************************************)
LineTypeOk == LocalTypeOk(event.replica)'
LineElectionSafety == LocalElectionSafety(event.replica)'
LineVoteOncePerEpoch == LocalVoteOncePerEpoch(event.replica)'
LineNotFollowerOfSelf == LocalNotFollowerOfSelf(event.replica)'
LineOffsetEpochUnique == LocalOffsetEpochUnique(event.replica)'
LineEpochMonotonic == EpochMonotonicAt(event.replica)
LineHwMonotonic == HwMonotonicAt(event.replica)
LineRoleChange == RoleChangeAt(event.replica)
LineLogMatching == LocalLogMatching(event.replica)
LineLeaderCompleteness == LocalLeaderCompleteness(event.replica)
LineCommittedNeverLost == LocalCommittedNeverLost(event.replica)
LineStateMachineSafety == LocalStateMachineSafety(event.replica)
LineConfigFollowsLog == LocalConfigFollowsLog(event.replica)
LineOnePendingChange == LocalOnePendingChange(event.replica)'
LineConfigOverlap == LocalConfigOverlap(event.replica)
LineIdentityBinding ==
  IdentityBindingAt(event.replica, IF "sent" \in DOMAIN event THEN {w.message : w \in OnItsWay} ELSE {})
LinePreVoteIsPure ==
  event.name = "HandleVoteRequest" /\ event.completed < 0
    => \A w \in OnItsWay : PureAt(event.replica, w.message)

(***************************************************************************)
(* A replica that is not observed may have committed records.  The         *)
(* properties that compare with all committed records are then not judged, *)
(* except for one part of StateMachineSafety: two replicas that are        *)
(* observed commit the same records.                                       *)
(***************************************************************************)
ObservedCommitTheSame ==
  LET r == event.replica
      before == replicas[r].high_watermark
      after == replicas'[r].high_watermark
  IN after > before =>
       \A q \in Watched :
         q = r \/ SameRecords(replicas'[r], replicas'[q], Larger(before, 0), Smaller(after, replicas'[q].high_watermark))

\* What must hold in the state after the line, to be asked in that state: where an expression is primed, TLC computes
\* its definitions and arguments anew at each mention.
PartLineInvariants ==
  /\ LocalTypeOk(event.replica)
  /\ LocalElectionSafety(event.replica)
  /\ LocalVoteOncePerEpoch(event.replica)
  /\ LocalNotFollowerOfSelf(event.replica)
  /\ LocalOffsetEpochUnique(event.replica)

LineInvariants ==
  /\ PartLineInvariants
  /\ LocalOnePendingChange(event.replica)

\* What must hold on the step.
StepsWithoutHistory ==
  /\ LineEpochMonotonic
  /\ LineHwMonotonic
  /\ LineRoleChange
  /\ LineLogMatching
  /\ LineConfigFollowsLog
  /\ LineIdentityBinding
  /\ LinePreVoteIsPure

PartLineSteps ==
  /\ StepsWithoutHistory
  /\ ObservedCommitTheSame

LineSteps ==
  /\ StepsWithoutHistory
  /\ LineLeaderCompleteness
  /\ LineStateMachineSafety        \* LineCommittedNeverLost is in it
  /\ LineConfigOverlap

LineProperties == LineInvariants' /\ LineSteps

(***************************************************************************)
(* The checker binds config before the first line and starts from there.   *)
(***************************************************************************)
NoEvent == [name |-> "none", replica |-> 0, sequence |-> 0, completed |-> -1]

TraceInit ==
  /\ config = [endpoints |-> <<>>, opaque |-> {}]
  /\ replicas = <<>> /\ network = {} /\ cuts = {} /\ history = <<>>
  /\ event = NoEvent /\ observed = <<"", <<>>>>

\* The only step without a line: from a bound config to the state in which a run begins.
TraceStart ==
  /\ event.name = "none"
  /\ UNCHANGED <<config, event, observed>>
  /\ replicas' = [r \in DOMAIN config.endpoints |->
                    IF r \in config.opaque THEN NewReplica(config.keys[r])
                    ELSE AfterRestart(NewReplica(config.keys[r]), NoEndpoint).state]
  /\ network' = {} /\ cuts' = {}
  /\ history' = NewHistory

\* The action that a line names.
TraceLine ==
  \/ TraceElectionTimeout
  \/ TraceFetchTimeout
  \/ TraceCheckQuorumTimeout
  \/ TraceBeginQuorumEpochTimeout
  \/ TraceVoterChangeTimeout
  \/ TraceRequestTimeout
  \/ TracePoll
  \/ TracePollFetch
  \/ TraceHandle
  \/ TraceClientAppend
  \/ TraceAppendVoters
  \/ TraceAddVoter
  \/ TraceRemoveVoter
  \/ TraceUpdateFeatures
  \/ TraceAlterPartitionReassignments
  \/ TraceAdvanceReassignment
  \/ TraceTakeSnapshot
  \/ TraceShutdown
  \/ TraceCrash
  \/ TraceRestart
  \/ TraceReplaceDisk
  \/ TraceReplaceSoftware
  \/ TraceDropMessage
  \/ TraceDuplicateMessage
  \/ TraceAnswerUnsupportedVersion
  \/ TraceCutLink
  \/ TraceHealLink

TraceNext ==
  \/ TraceStart
  \/ TraceOpaqueSend
  \/ TraceLine
  \/ TraceRefuse
=============================================================================
