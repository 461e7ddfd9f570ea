------------------------------- MODULE KRaft -------------------------------
(***************************************************************************)
(* KRaft: elections with Pre-Vote (KIP-996), replication (KIP-595) as far  *)
(* as elections need it, voter changes (KIP-853), and quorum reassignment  *)
(* (KIP-642).  The model is unbounded.  Other modules override operators:  *)
(*   MC, Sim  of the switches below; of whole actions that are closed      *)
(*            (models/checks/closed.toml); of InFlight, FetchTargets and   *)
(*            NamedKeys, for fewer interleavings.  Liveness takes a        *)
(*            network without memory (Transmit), the checks of Forgetting  *)
(*            keep two histories (Remember), and a check that must find a  *)
(*            violation takes something wrong for an operator of the       *)
(*            protocol.                                                    *)
(*   Trace    of the switches, and of Transmit, Receive, Perform,          *)
(*            Correlation and Remembered: the network is the recorded one. *)
(*                                                                         *)
(* Reading order: Definitions, Roles, Elections, Leadership,               *)
(* PendingChanges, Replication, VoterChanges, QuorumReassignment,          *)
(* Snapshots, Durability, then this module, then Properties.               *)
(***************************************************************************)
EXTENDS Durability

(***************************************************************************)
(* Switches.  Those that are off by default multiply the states of every   *)
(* slice that does not ask for them: voter changes, snapshots, replaced    *)
(* disks and moved endpoints happen at any time at any replica, and a      *)
(* follower reports to each leader (MCBounds says why nothing is lost      *)
(* without).                                                               *)
(***************************************************************************)
MayTimeOut(r, timer) == TRUE
MayTimeOutRequest(r, to) == TRUE
MayAppend(r) == TRUE
MayChangeVoters(r) == FALSE           \* AddVoter, RemoveVoter
MayAppendVoters(r) == FALSE
Reassignments == {}                   \* AlterPartitionReassignments for the quorum: targets that clients request
MayReassign(r) == TRUE
MayUpgrade(r) == FALSE
MayReport(s) == FALSE                 \* UpdateVoter and auto join, by a follower in this state
MayTakeSnapshot(r, end) == FALSE
MayMove(r, endpoint) == endpoint = NoEndpoint
MayCrash(r) == TRUE
MayReplaceDisk(r) == FALSE
NewSoftware(r) == {}                  \* support for Pre-Vote of software that replaces the replica's
NewDirectories(r) == {"new"}          \* directory ids of disks that replace the replica's
MayShutDown(r) == TRUE
MayDuplicate(m) == TRUE
MayCut(from, to) == TRUE

(***************************************************************************)
(* The network.  RequestManager allows one request in flight on a          *)
(* connection, so a request needs no number: its correlation_id is 1 while *)
(* its sender still waits for the answer and becomes 0 when the sender     *)
(* forgets it.  An answer that nobody waits for any more would be dropped  *)
(* on arrival and leaves the network at once; a forgotten request stays,   *)
(* because its receiver cannot know.                                       *)
(***************************************************************************)
Correlation == 1

RequestTypes ==
  {"VoteRequest", "BeginQuorumEpochRequest", "EndQuorumEpochRequest", "FetchRequest", "FetchSnapshotRequest",
   "ApiVersionsRequest", "AddVoterRequest", "RemoveVoterRequest", "UpdateVoterRequest"}
ChangeResponseTypes == {"AddVoterResponse", "RemoveVoterResponse", "UpdateVoterResponse"}

IsRequest(m) == m.type \in RequestTypes

InFlight(r, types) == {m \in network : m.destination = r /\ m.type \in types /\ <<m.source, m.destination>> \notin cuts}

\* The network after a replica has forgotten outstanding requests.
Forget(r, before, after, messages) ==
  LET lost == before \ after
      Stale(m) == \/ IsRequest(m) /\ m.source = r /\ OutstandingRequest(m.destination, m.correlation_id) \in lost
                  \/ ~IsRequest(m) /\ m.destination = r /\ OutstandingRequest(m.source, m.correlation_id) \in lost
  IN IF lost = {} THEN messages
     ELSE {IF IsRequest(m) /\ Stale(m) THEN [m EXCEPT !.correlation_id = 0] ELSE m :
             m \in {n \in messages : IsRequest(n) \/ ~Stale(n)}}

\* True if a message enters the network: a Reply does not, and a response does only if its receiver waits for it.  The
\* response to a voter change may come after its receiver has given up the request; if it then waits for another response
\* on the same connection, it takes this one for that.  This adds behaviours and hides none: the response frees the
\* connection, as a timeout can, and has the epoch and leader that its sender knows.
EntersNetwork(m) ==
  CASE m.type = "Reply" -> FALSE
    [] m.type \in ChangeResponseTypes ->
         m.correlation_id # 0 /\ OutstandingRequest(m.source, m.correlation_id) \in replicas[m.destination].awaiting
    [] OTHER -> IsRequest(m) \/ m.correlation_id # 0

Entering(sends) == {sends[i] : i \in {j \in 1..Len(sends) : EntersNetwork(sends[j])}}

\* The network after an event at r: the messages in consumed leave it, those in sends enter it.  A replica that crashes
\* after it sent a request has forgotten the request.
Transmit(r, consumed, after, sends) ==
  LET entering == Entering(sends)
      asked == {OutstandingRequest(m.destination, m.correlation_id) : m \in {n \in entering : IsRequest(n)}}
  IN network' = Forget(r, replicas[r].awaiting \cup asked, after.awaiting, (network \ consumed) \cup entering)

(***************************************************************************)
(* History, for the properties.                                            *)
(*   epochs     epoch -> who led it, how far it wrote, whether it wrote an *)
(*              offset twice                                               *)
(*   votes      replica id -> the newest epoch it voted in, and for whom   *)
(*   committed  the records below some high watermark of a leader: a log,  *)
(*              and what is known of the records that it stands on         *)
(*   crashes    how many crashes there were                                *)
(*   directories  every directory id that a replica has ever had           *)
(*   left       epochs as in epochs, that every replica has left behind    *)
(*                                                                         *)
(* The committed log begins with the first record ever; it stands on       *)
(* nothing, and no epoch is left, until Remembered, which here keeps       *)
(* everything as it is, puts something away (Forgetting.tla).              *)
(***************************************************************************)
EpochEntry(epoch) ==
  IF epoch \in DOMAIN history.epochs THEN history.epochs[epoch]
  ELSE IF epoch \in DOMAIN history.left THEN history.left[epoch]
  ELSE [leaders |-> {}, end_offset |-> 0, rewritten |-> FALSE]

\* A leader has written itself to its quorum state file, also if it crashes in the step that elects it.
EpochsAfter(s, after) ==
  IF \/ after.role \notin {"Leader", "Stopped"}
     \/ after.leader_id # after.replica_key.id
     \/ after.leader_id = s.leader_id /\ after.epoch = s.epoch /\ EndOffset(after) = EndOffset(s)
  THEN history.epochs
  ELSE LET entry == EpochEntry(after.epoch) IN
       (after.epoch :> [leaders |-> entry.leaders \cup {after.replica_key},
                        end_offset |-> Larger(entry.end_offset, EndOffset(after)),
                        rewritten |-> entry.rewritten \/ EndOffset(s) < entry.end_offset]) @@ history.epochs

NoVotes == [epoch |-> 0, candidates |-> {}]

VotesAfter(r, s, after) ==
  IF after.replica_key # s.replica_key THEN [history.votes EXCEPT ![r] = NoVotes]
  ELSE IF \/ after.voted_key = s.voted_key /\ after.epoch = s.epoch
          \/ after.voted_key = NoKey
  THEN history.votes
  ELSE [history.votes EXCEPT ![r] =
          IF @.epoch = after.epoch THEN [@ EXCEPT !.candidates = @ \cup {after.voted_key}]
          ELSE [epoch |-> after.epoch, candidates |-> {after.voted_key}]]

\* A log that begins after the committed log adds nothing to it; StateMachineSafety checks that.
CommittedAfter(after) ==
  LET end == EndOffset(history.committed) IN
  IF /\ after.role \in {"Leader", "Resigned"}
     /\ after.high_watermark > end
     /\ after.base.end_offset <= end
  THEN [history.committed EXCEPT !.log = @ \o RecordsBetween(after, end, after.high_watermark)]
  ELSE history.committed

\* The history that is kept after the event at r, whose state was s.
Remembered(remembered, r, s) == remembered

\* after is the replica's state, shown its state as its messages have it; they differ only if it crashed after some of its
\* messages were sent.
HistoryAfter(r, s, after, shown) ==
  [epochs |-> EpochsAfter(s, after), votes |-> VotesAfter(r, s, after), committed |-> CommittedAfter(shown),
   crashes |-> history.crashes + (IF after.role = "Stopped" /\ s.role # "Stopped" THEN 1 ELSE 0),
   directories |-> IF after.replica_key = s.replica_key THEN history.directories
                   ELSE history.directories \cup {after.replica_key.directory_id},
   left |-> history.left]

Remember(r, s, after, shown) == history' = Remembered(HistoryAfter(r, s, after, shown), r, s)

\* A leader resigns in the step that commits its removal, and may reset its high watermark (leader_high_watermark), which
\* its Fetch responses still contain.
WithSentHighWatermark(after, sends) ==
  IF after.role # "Resigned" THEN after
  ELSE LET sent == {sends[i].high_watermark : i \in {j \in DOMAIN sends : sends[j].type = "FetchResponse"}}
       IN [after EXCEPT !.high_watermark = Max({@} \cup sent)]

(***************************************************************************)
(* An outcome becomes a step: whole, or up to a crash after any prefix of  *)
(* its effects.                                                            *)
(***************************************************************************)
Step(r, consumed, out) ==
  /\ replicas' = [replicas EXCEPT ![r] = out.state]
  /\ Transmit(r, consumed, out.state, out.sends)
  /\ Remember(r, replicas[r], out.state, WithSentHighWatermark(out.state, out.sends))
  /\ UNCHANGED <<config, cuts>>

CrashAfter(r, consumed, out, done, kept) ==
  LET s == replicas[r]
      reached == OnDiskAfter(s, out.state, done)
      after == Crashed(reached, kept)
  IN /\ kept \in KeptAfterCrash(reached)
     /\ replicas' = [replicas EXCEPT ![r] = after]
     /\ Transmit(r, consumed, after, SentBeforeCrash(s, out, done))
     /\ LET sent == SentBeforeCrash(s, out, done)
        IN Remember(r, s, after, IF sent = <<>> THEN after ELSE WithSentHighWatermark(out.state, sent))
     /\ UNCHANGED <<config, cuts>>

EffectCount(r, out) == Len(DurableEffects(replicas[r], out.state)) + Len(out.sends)

Perform(r, consumed, out) ==
  \/ Step(r, consumed, out)
  \/ /\ MayCrash(r)
     /\ \E done \in 1..(EffectCount(r, out) - 1) :
          \E kept \in KeptAfterCrash(OnDiskAfter(replicas[r], out.state, done)) :
            CrashAfter(r, consumed, out, done, kept)

\* All events go through Take; Perform may be overridden, AtStepEnd may not.
Take(r, consumed, out) == Perform(r, consumed, AtStepEnd(replicas[r], out))

\* The delivered message leaves the network; a network that duplicates keeps it.
Receive(r, m, out) ==
  \/ Take(r, {m}, out)
  \/ MayDuplicate(m) /\ Take(r, {}, out)

Runs(r) == replicas[r].role # "Stopped"

(***************************************************************************)
(* Timers.  They are local: an action reads the variables of its replica   *)
(* alone.                                                                  *)
(***************************************************************************)
ElectionTimeout(r) ==
  /\ Runs(r)
  /\ HasElectionTimer(replicas[r])
  /\ MayTimeOut(r, "election")
  /\ Take(r, {}, AfterElectionTimeout(replicas[r]))

FetchTimeout(r) ==
  /\ Runs(r)
  /\ replicas[r].role = "Follower"
  /\ MayTimeOut(r, "fetch")
  /\ Take(r, {}, AfterFetchTimeout(replicas[r]))

CheckQuorumTimeout(r) ==
  /\ Runs(r)
  /\ HasCheckQuorumTimer(replicas[r])
  /\ MayTimeOut(r, "check-quorum")
  /\ Take(r, {}, AfterCheckQuorumTimeout(replicas[r]))

BeginQuorumEpochTimeout(r) ==
  /\ Runs(r)
  /\ HasCheckQuorumTimer(replicas[r])
  /\ MayTimeOut(r, "begin-quorum-epoch")
  /\ Take(r, {}, AfterBeginQuorumEpochTimeout(replicas[r]))

\* The pending voter change expires.  Rule: add-voter.timeout
VoterChangeTimeout(r) ==
  /\ Runs(r)
  /\ IsPending(replicas[r])
  /\ MayTimeOut(r, "voter-change")
  /\ Take(r, {}, AfterVoterChangeTimeout(replicas[r]))

\* A request times out.  A leader that announces itself by its timer sends nothing to this voter until the timer fires.
\* Rules: begin-quorum.resend, fetch.who-fetches
AfterRequestTimeout(s, to) ==
  LET quiet == IF s.role = "Leader" /\ config.profile.announcement_again = "by-timer"
              THEN OtherIds(s) \cap {to} ELSE {}
  IN Becomes([s EXCEPT !.awaiting = {a \in @ : a.destination # to}, !.acknowledging_voters = @ \cup quiet,
                       !.searching = @ \/ LooksElsewhere(s, to)])

RequestTimeout(r, to) ==
  /\ Runs(r)
  /\ \E a \in replicas[r].awaiting : a.destination = to
  /\ MayTimeOutRequest(r, to)
  /\ Take(r, {}, AfterRequestTimeout(replicas[r], to))

(***************************************************************************)
(* Poll sends what is due on idle connections, one request on each: the    *)
(* election requests by ascending id of the receiver, then one about       *)
(* voters.                                                                 *)
(* Rules: prevote.request.recipients, prevote.response.majority,           *)
(* begin-quorum.on-election, begin-quorum.resend, end-quorum.send,         *)
(* fetch.who-fetches, durable.flush-before-fetch,                          *)
(* add-voter.learn-versions, update-voter.when-sent,                       *)
(* auto-join.remove-stale-self-first, auto-join.add-self,                  *)
(* voters.no-begin-epoch-to-observers                                      *)
(***************************************************************************)
Idle(s, to) == \A a \in s.awaiting : a.destination # to

VoterEntry(s, id) == CHOOSE v \in Others(s) : v.id = id

DueElectionRequests(s) ==
  CASE s.role \in {"Prospective", "Candidate"} /\ CanStillWin(s) -> OtherIds(s) \ (s.granted \cup s.rejected)
    [] s.role = "Leader" ->
         OtherIds(s) \ (CASE config.profile.announced_to = "not-fetching" -> s.acknowledging_voters \cup s.fetchers
                           [] config.profile.announced_to = "all" -> s.acknowledging_voters
                           [] config.profile.announced_to = "all-again" -> {})
    [] s.role = "Resigned" -> OtherIds(s) \ s.acknowledging_voters
    [] OTHER -> {}

Due(s) == {id \in DueElectionRequests(s) : id # s.replica_key.id /\ Idle(s, id)}

ElectionRequest(s, id, corr) ==
  CASE s.role \in {"Prospective", "Candidate"} -> VoteRequest(s, VoterEntry(s, id), corr)
    [] s.role = "Leader" -> BeginQuorumEpochRequest(s, VoterEntry(s, id), corr)
    [] s.role = "Resigned" -> EndQuorumEpochRequest(s, VoterEntry(s, id), corr)

\* The request of a voter change that is due, {} or a set of one: a leader's ApiVersions to a new voter, or a follower's
\* request for itself.
DueChangeRequest(s, due, corr) ==
  CASE s.role = "Leader" -> {ApiVersionsRequest(s, id, corr) :
                               id \in {id \in AwaitsVersionsOf(s) :
                                        id # s.replica_key.id /\ Idle(s, id) /\ id \notin due}}
    [] s.role = "Follower" -> IF MayReport(s) THEN DueReport(s, corr) ELSE {}
    [] OTHER -> {}

AfterPoll(s, due, corr) ==
  LET to == Ascending(due)
      change == DueChangeRequest(s, due, corr)
      asked == due \cup {m.destination : m \in change}
      requests == [n \in 1..Len(to) |-> ElectionRequest(s, to[n], corr)]
  IN Outcome([s EXCEPT !.awaiting = @ \cup {OutstandingRequest(id, corr) : id \in asked}],
             IF change = {} THEN requests ELSE Append(requests, CHOOSE m \in change : TRUE))

SomethingIsDue(s) == Due(s) # {} \/ DueChangeRequest(s, Due(s), Correlation) # {}

Poll(r) ==
  /\ Runs(r)
  /\ SomethingIsDue(replicas[r])
  /\ Take(r, {}, AfterPoll(replicas[r], Due(replicas[r]), Correlation))

(***************************************************************************)
(* A leader announces itself to the voters in ids, which its clock         *)
(* chooses: to each that has neither acknowledged the epoch nor fetched in *)
(* it, and to others if it likes.  Not in Next, which has no clock: the    *)
(* messages are those of Poll, to the same voters, at other times.         *)
(* Rules: begin-quorum.on-election, begin-quorum.resend                    *)
(***************************************************************************)
MayAnnounceTo(s, ids) ==
  LET idle == {id \in OtherIds(s) : id # s.replica_key.id /\ Idle(s, id)}
      fetched == {v.id : v \in {v \in Others(s) : v \in DOMAIN s.fetch_offsets}}
  IN s.role = "Leader" /\ idle \ (s.acknowledging_voters \cup fetched) \subseteq ids /\ ids \subseteq idle

PollByClock(r, ids) ==
  /\ Runs(r)
  /\ MayAnnounceTo(replicas[r], ids)
  /\ ids # {} \/ DueChangeRequest(replicas[r], ids, Correlation) # {}
  /\ Take(r, {}, AfterPoll([replicas[r] EXCEPT !.acknowledging_voters = @ \ ids], ids, Correlation))

\* A Fetch or a FetchSnapshot.  The log is synced before a Fetch, because the leader counts the fetch offset as persisted.
\* Rules: durable.flush-before-fetch, voters.fetch-goes-to-known-leader
AfterPollFetch(s, to, corr) ==
  IF s.wanted_snapshot # NoSnapshotId /\ to = s.leader_id
  THEN Outcome([s EXCEPT !.awaiting = {OutstandingRequest(to, corr)}], <<FetchSnapshotRequest(s, to, corr)>>)
  ELSE Outcome([Flushed(s) EXCEPT !.awaiting = {OutstandingRequest(to, corr)}], <<FetchRequest(s, to, corr)>>)

PollFetch(r, to) ==
  /\ Runs(r)
  /\ to \in FetchTargets(replicas[r])
  /\ replicas[r].awaiting = {}
  /\ Take(r, {}, AfterPollFetch(replicas[r], to, Correlation))

(***************************************************************************)
(* Messages.                                                               *)
(***************************************************************************)
HandleVoteRequest(r, m) == Runs(r) /\ Receive(r, m, AfterVoteRequest(replicas[r], m))
HandleVoteResponse(r, m) == Runs(r) /\ Receive(r, m, AfterVoteResponse(replicas[r], m))
HandleBeginQuorumEpochRequest(r, m) == Runs(r) /\ Receive(r, m, AfterBeginQuorumEpochRequest(replicas[r], m))
HandleBeginQuorumEpochResponse(r, m) == Runs(r) /\ Receive(r, m, AfterBeginQuorumEpochResponse(replicas[r], m))
HandleEndQuorumEpochRequest(r, m) == Runs(r) /\ Receive(r, m, AfterEndQuorumEpochRequest(replicas[r], m))
HandleEndQuorumEpochResponse(r, m) == Runs(r) /\ Receive(r, m, AfterEndQuorumEpochResponse(replicas[r], m))
HandleFetchRequest(r, m) == Runs(r) /\ Receive(r, m, AfterFetchRequest(replicas[r], m))
HandleFetchResponse(r, m) == Runs(r) /\ Receive(r, m, AfterFetchResponse(replicas[r], m))
HandleFetchSnapshotRequest(r, m) == Runs(r) /\ Receive(r, m, AfterFetchSnapshotRequest(replicas[r], m))
HandleFetchSnapshotResponse(r, m) == Runs(r) /\ Receive(r, m, AfterFetchSnapshotResponse(replicas[r], m))
HandleApiVersionsRequest(r, m) == Runs(r) /\ Receive(r, m, AfterApiVersionsRequest(replicas[r], m))
HandleApiVersionsResponse(r, m) == Runs(r) /\ Receive(r, m, AfterApiVersionsResponse(replicas[r], m))
HandleAddVoterRequest(r, m) == Runs(r) /\ Receive(r, m, AfterAddVoterRequest(replicas[r], m))
HandleAddVoterResponse(r, m) == Runs(r) /\ Receive(r, m, AfterChangeResponse(replicas[r], m))
HandleRemoveVoterRequest(r, m) == Runs(r) /\ Receive(r, m, AfterRemoveVoterRequest(replicas[r], m))
HandleRemoveVoterResponse(r, m) == Runs(r) /\ Receive(r, m, AfterChangeResponse(replicas[r], m))
HandleUpdateVoterRequest(r, m) == Runs(r) /\ Receive(r, m, AfterUpdateVoterRequest(replicas[r], m))
HandleUpdateVoterResponse(r, m) == Runs(r) /\ Receive(r, m, AfterChangeResponse(replicas[r], m))

\* The message that arrives, whatever it is.
Handle(r, m) ==
  CASE m.type = "VoteRequest" -> HandleVoteRequest(r, m)
    [] m.type = "VoteResponse" -> HandleVoteResponse(r, m)
    [] m.type = "BeginQuorumEpochRequest" -> HandleBeginQuorumEpochRequest(r, m)
    [] m.type = "BeginQuorumEpochResponse" -> HandleBeginQuorumEpochResponse(r, m)
    [] m.type = "EndQuorumEpochRequest" -> HandleEndQuorumEpochRequest(r, m)
    [] m.type = "EndQuorumEpochResponse" -> HandleEndQuorumEpochResponse(r, m)
    [] m.type = "FetchRequest" -> HandleFetchRequest(r, m)
    [] m.type = "FetchResponse" -> HandleFetchResponse(r, m)
    [] m.type = "FetchSnapshotRequest" -> HandleFetchSnapshotRequest(r, m)
    [] m.type = "FetchSnapshotResponse" -> HandleFetchSnapshotResponse(r, m)
    [] m.type = "ApiVersionsRequest" -> HandleApiVersionsRequest(r, m)
    [] m.type = "ApiVersionsResponse" -> HandleApiVersionsResponse(r, m)
    [] m.type = "AddVoterRequest" -> HandleAddVoterRequest(r, m)
    [] m.type = "AddVoterResponse" -> HandleAddVoterResponse(r, m)
    [] m.type = "RemoveVoterRequest" -> HandleRemoveVoterRequest(r, m)
    [] m.type = "RemoveVoterResponse" -> HandleRemoveVoterResponse(r, m)
    [] m.type = "UpdateVoterRequest" -> HandleUpdateVoterRequest(r, m)
    [] m.type = "UpdateVoterResponse" -> HandleUpdateVoterResponse(r, m)

(***************************************************************************)
(* Clients and operators.                                                  *)
(***************************************************************************)
ClientAppend(r, value) ==
  /\ Runs(r)
  /\ replicas[r].role = "Leader"
  /\ MayAppend(r)
  /\ Take(r, {}, AfterClientAppend(replicas[r], value))

\* Request of an admin client, with its number; any replica answers.
\* Rules: add-voter.check-order, add-voter.leader-only
AddVoter(r, request, voter, endpoint, whenCommitted, sameCluster) ==
  /\ Runs(r)
  /\ MayChangeVoters(r)
  /\ Take(r, {}, AfterAddVoter(replicas[r], Client, request, voter, endpoint, whenCommitted, sameCluster))

\* Rules: remove-voter.check-order, remove-voter.leader-only
RemoveVoter(r, request, voter, sameCluster) ==
  /\ Runs(r)
  /\ MayChangeVoters(r)
  /\ Take(r, {}, AfterRemoveVoter(replicas[r], Client, request, voter, sameCluster))

\* Rules: kraft-version.upgrade-needs-all-voters, kraft-version.upgrade-atomic-batch, kraft-version.no-downgrade
UpdateFeatures(r, request, level, brokersMin, brokersMax) ==
  /\ Runs(r)
  /\ MayUpgrade(r)
  /\ Take(r, {}, AfterUpdateFeatures(replicas[r], request, level, brokersMin, brokersMax))

\* A voter set without a request.  Rules: voters.at-most-one-difference, voters.one-change-at-a-time
AppendVoters(r, voters) ==
  /\ Runs(r)
  /\ replicas[r].role = "Leader"
  /\ voters # {}
  /\ MayAppendVoters(r)
  /\ MayAppendSet(replicas[r], voters)
  /\ Take(r, {}, AfterAppendVoters(replicas[r], voters))

\* Request of an admin client for the quorum's own partition.
\* Rules: reassign.request-leader-only, reassign.cancel-null
AlterPartitionReassignments(r, request, asked) ==
  /\ Runs(r)
  /\ MayReassign(r)
  /\ Take(r, {}, AfterAlterPartitionReassignments(replicas[r], request, asked))

\* The leader's next step towards the target: it adds or removes this voter, one of NextSteps.
\* Rules: reassign.add-or-remove-choice, reassign.new-leader-resumes
AdvanceReassignment(r, voter) ==
  /\ Runs(r)
  /\ voter \in NextSteps(replicas[r])
  /\ Take(r, {}, AfterAdvanceReassignment(replicas[r], voter))

\* Rules: snapshot.control-records-first, snapshot.set-at-its-end-offset
TakeSnapshot(r, end) ==
  /\ Runs(r)
  /\ CanTakeSnapshot(replicas[r], end)
  /\ MayTakeSnapshot(r, end)
  /\ Take(r, {}, AfterTakeSnapshot(replicas[r], end))

Shutdown(r) ==
  /\ Runs(r)
  /\ replicas[r].role = "Leader"
  /\ MayShutDown(r)
  /\ Take(r, {}, AfterShutdown(replicas[r]))

Crash(r, kept) ==
  /\ Runs(r)
  /\ MayCrash(r)
  /\ kept \in KeptAfterCrash(replicas[r])
  /\ Step(r, {}, Becomes(Crashed(replicas[r], kept)))

\* The replica listens at the configured endpoint, or at another one from now on.  Rule: update-voter.when-sent
Restart(r, endpoint) ==
  /\ ~Runs(r)
  /\ MayMove(r, endpoint)
  /\ Take(r, {}, AfterRestart(replicas[r], endpoint))

\* A new disk has a directory id that no replica has had.
\* Rule: identity.directory-id-at-format
IsNewDirectory(directory) == directory \notin history.directories \ {""}

\* Rule: identity.directory-id-at-format
ReplaceDisk(r, directory) ==
  /\ ~Runs(r)
  /\ IsNewDirectory(directory)
  /\ MayReplaceDisk(r)
  /\ Step(r, {}, Becomes(EmptyReplica(ReplicaKey(r, directory))))

\* The replica runs other software from its next start on; the network knows at once whether it supports Pre-Vote.
\* Rule: prevote.unsupported-version
ReplaceSoftware(r, support) ==
  /\ ~Runs(r)
  /\ support \in NewSoftware(r)
  /\ config' = [config EXCEPT !.pre_vote[r] = support]
  /\ UNCHANGED <<replicas, network, cuts, history>>

(***************************************************************************)
(* The network.                                                            *)
(***************************************************************************)
\* A Pre-Vote needs version 2 of Vote; for older software the sender's own network client answers.
\* Rules: prevote.unsupported-version
UnsupportedVersionAnswer(m) ==
  [type |-> "VoteResponse", source |-> m.destination, destination |-> m.source, correlation_id |-> m.correlation_id,
   error |-> "UNSUPPORTED_VERSION", epoch |-> 0, leader_id |-> NoLeader, leader_endpoint |-> NoEndpoint,
   granted |-> FALSE, pre_vote |-> FALSE]

CanBeEncoded(m) == ~(m.type = "VoteRequest" /\ m.pre_vote /\ config.pre_vote[m.destination] = "unsupported")

AnswerUnsupportedVersion(m) ==
  /\ m.type = "VoteRequest"
  /\ ~CanBeEncoded(m)
  /\ network' = (network \ {m}) \cup (IF m.correlation_id = 0 THEN {} ELSE {UnsupportedVersionAnswer(m)})
  /\ UNCHANGED <<config, replicas, cuts, history>>

DropMessage(m) ==
  /\ network' = network \ {m}
  /\ UNCHANGED <<config, replicas, cuts, history>>

CutLink(from, to) ==
  /\ from # to
  /\ <<from, to>> \notin cuts
  /\ MayCut(from, to)
  /\ cuts' = cuts \cup {<<from, to>>}
  /\ UNCHANGED <<config, replicas, network, history>>

HealLink(from, to) ==
  /\ <<from, to>> \in cuts
  /\ cuts' = cuts \ {<<from, to>>}
  /\ UNCHANGED <<config, replicas, network, history>>

(***************************************************************************)
(* The specification.                                                      *)
(***************************************************************************)
\* The state before the first record is not replicated: its voters are {NoKey}, its kraft.version -1.
NothingCommitted ==
  [base |-> [end_offset |-> 0, epoch |-> 0, kraft_version |-> -1, voters |-> {NoKey}, details |-> {},
             target |-> NoTarget],
   log |-> <<>>, past |-> <<>>]

\* A history with these committed records.
HistoryOf(records) ==
  [epochs |-> [e \in {} |-> 0], votes |-> [r \in Ids |-> NoVotes],
   committed |-> [NothingCommitted EXCEPT !.log = records], crashes |-> 0,
   directories |-> {config.keys[r].directory_id : r \in Ids}, left |-> [e \in {} |-> 0]]

NewHistory == HistoryOf(<<>>)

InitWith(configuration) ==
  /\ config = configuration
  /\ replicas = [r \in DOMAIN configuration.endpoints |->
                   AfterRestart(NewReplica(configuration.keys[r]), NoEndpoint).state]
  /\ network = {}
  /\ cuts = {}
  /\ history = NewHistory

\* Who a request may name: the replicas as they were set up, and as they are.
NamedKeys == {config.keys[i] : i \in Ids} \cup {replicas[i].replica_key : i \in Ids}

Next ==
  \/ \E r \in Ids : ElectionTimeout(r)
  \/ \E r \in Ids : FetchTimeout(r)
  \/ \E r \in Ids : CheckQuorumTimeout(r)
  \/ \E r \in Ids : BeginQuorumEpochTimeout(r)
  \/ \E r \in Ids : VoterChangeTimeout(r)
  \/ \E r \in Ids : \E to \in Ids : RequestTimeout(r, to)
  \/ \E r \in Ids : Poll(r)
  \/ \E r \in Ids : \E to \in Ids : PollFetch(r, to)
  \/ \E r \in Ids : \E m \in InFlight(r, {"VoteRequest"}) : CanBeEncoded(m) /\ HandleVoteRequest(r, m)
  \/ \E r \in Ids : \E m \in InFlight(r, {"VoteResponse"}) : HandleVoteResponse(r, m)
  \/ \E r \in Ids : \E m \in InFlight(r, {"BeginQuorumEpochRequest"}) : HandleBeginQuorumEpochRequest(r, m)
  \/ \E r \in Ids : \E m \in InFlight(r, {"BeginQuorumEpochResponse"}) : HandleBeginQuorumEpochResponse(r, m)
  \/ \E r \in Ids : \E m \in InFlight(r, {"EndQuorumEpochRequest"}) : HandleEndQuorumEpochRequest(r, m)
  \/ \E r \in Ids : \E m \in InFlight(r, {"EndQuorumEpochResponse"}) : HandleEndQuorumEpochResponse(r, m)
  \/ \E r \in Ids : \E m \in InFlight(r, {"FetchRequest"}) : HandleFetchRequest(r, m)
  \/ \E r \in Ids : \E m \in InFlight(r, {"FetchResponse"}) : HandleFetchResponse(r, m)
  \/ \E r \in Ids : \E m \in InFlight(r, {"FetchSnapshotRequest"}) : HandleFetchSnapshotRequest(r, m)
  \/ \E r \in Ids : \E m \in InFlight(r, {"FetchSnapshotResponse"}) : HandleFetchSnapshotResponse(r, m)
  \/ \E r \in Ids : \E m \in InFlight(r, {"ApiVersionsRequest"}) : HandleApiVersionsRequest(r, m)
  \/ \E r \in Ids : \E m \in InFlight(r, {"ApiVersionsResponse"}) : HandleApiVersionsResponse(r, m)
  \/ \E r \in Ids : \E m \in InFlight(r, {"AddVoterRequest"}) : HandleAddVoterRequest(r, m)
  \/ \E r \in Ids : \E m \in InFlight(r, {"AddVoterResponse"}) : HandleAddVoterResponse(r, m)
  \/ \E r \in Ids : \E m \in InFlight(r, {"RemoveVoterRequest"}) : HandleRemoveVoterRequest(r, m)
  \/ \E r \in Ids : \E m \in InFlight(r, {"RemoveVoterResponse"}) : HandleRemoveVoterResponse(r, m)
  \/ \E r \in Ids : \E m \in InFlight(r, {"UpdateVoterRequest"}) : HandleUpdateVoterRequest(r, m)
  \/ \E r \in Ids : \E m \in InFlight(r, {"UpdateVoterResponse"}) : HandleUpdateVoterResponse(r, m)
  \/ \E r \in Ids : ClientAppend(r, 0)
  \/ \E r \in Ids : \E voter \in NamedKeys : AddVoter(r, 1, voter, config.endpoints[voter.id], TRUE, TRUE)
  \/ \E r \in Ids : \E voter \in NamedKeys : RemoveVoter(r, 1, voter, TRUE)
  \/ \E r \in Ids : UpdateFeatures(r, 1, 1, 0, 1)
  \/ \E r \in Ids : \E asked \in Reassignments : AlterPartitionReassignments(r, 1, asked)
  \/ \E r \in Ids : \E voter \in NextSteps(replicas[r]) : AdvanceReassignment(r, voter)
  \/ \E r \in Ids : \E voters \in SUBSET {config.keys[i] : i \in Ids} : AppendVoters(r, voters)
  \/ \E r \in Ids : Shutdown(r)
  \/ \E r \in Ids : \E kept \in KeptAfterCrash(replicas[r]) : Crash(r, kept)
  \/ \E r \in Ids : \E end \in (replicas[r].base.end_offset + 1)..replicas[r].high_watermark : TakeSnapshot(r, end)
  \/ \E r \in Ids : \E endpoint \in {NoEndpoint, "elsewhere"} : Restart(r, endpoint)
  \/ \E r \in Ids : \E directory \in NewDirectories(r) : ReplaceDisk(r, directory)
  \/ \E r \in Ids : \E support \in NewSoftware(r) : ReplaceSoftware(r, support)
  \/ \E m \in network : AnswerUnsupportedVersion(m)
  \/ \E m \in network : DropMessage(m)
  \/ \E from \in Ids : \E to \in Ids : CutLink(from, to)
  \/ \E from \in Ids : \E to \in Ids : HealLink(from, to)
=============================================================================
