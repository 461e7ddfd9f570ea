------------------------------- MODULE KRaft -------------------------------
(***************************************************************************)
(* KRaft's elections with Pre-Vote (KIP-996) and replication as far as     *)
(* they need it (KIP-595, KIP-853).  Nothing here is bounded: the MC and   *)
(* SIM modules bound it by overriding the operators under "Switches", the  *)
(* Trace module replaces the network by that of a recorded run.            *)
(*                                                                         *)
(* Reading order: Definitions, Roles, Elections, Leadership, Replication,  *)
(* Durability, then this module, then Properties.                          *)
(***************************************************************************)
EXTENDS Durability

(***************************************************************************)
(* Switches.                                                               *)
(***************************************************************************)
MayTimeOut(r, timer) == TRUE
MayTimeOutRequest(r, to) == TRUE
MayAppend(r) == TRUE
MayChangeVoters(r) == FALSE           \* voter changes come with their own rules (KIP-853)
MayCrash(r) == TRUE
MayReplaceDisk(r) == FALSE
MayShutDown(r) == TRUE
MayDuplicate(m) == TRUE
MayCut(from, to) == TRUE

(***************************************************************************)
(* The network.  RequestManager allows one request in flight on a          *)
(* connection, so a request needs no number: corr is 1 while its sender    *)
(* still waits for the answer and becomes 0 when the sender forgets it.    *)
(* An answer that nobody waits for any more would be dropped on arrival    *)
(* and leaves the network at once; a forgotten request stays, because its  *)
(* receiver cannot know.                                                   *)
(***************************************************************************)
Correlation == 1

IsRequest(m) == m.type \in {"VoteRequest", "BeginQuorumEpochRequest", "EndQuorumEpochRequest", "FetchRequest"}

InFlight(r, types) == {m \in network : m.to = r /\ m.type \in types /\ <<m.from, m.to>> \notin cuts}

\* Messages that the replica's forgetting leaves behind.
Forget(r, before, after, messages) ==
  LET lost == before \ after
      Stale(m) == \/ IsRequest(m) /\ m.from = r /\ <<m.to, m.corr>> \in lost
                  \/ ~IsRequest(m) /\ m.to = r /\ <<m.from, m.corr>> \in lost
  IN IF lost = {} THEN messages
     ELSE {IF IsRequest(m) /\ Stale(m) THEN [m EXCEPT !.corr = 0] ELSE m :
             m \in {n \in messages : IsRequest(n) \/ ~Stale(n)}}

\* After the event at r: consumed leaves the network, sends enter it.
Transmit(r, consumed, after, sends) ==
  LET rest == network \ consumed
      wanted == {sends[i] : i \in {j \in 1..Len(sends) : IsRequest(sends[j]) \/ sends[j].corr # 0}}
  IN network' = Forget(r, replicas[r].awaiting, after.awaiting, rest) \cup wanted

(***************************************************************************)
(* What the properties remember.                                           *)
(*   epochs     epoch -> who led it, how far it wrote, whether it wrote an *)
(*              offset twice                                               *)
(*   votes      replica id -> the newest epoch it voted in, and for whom   *)
(*   committed  the records below some high watermark of a leader          *)
(*   crashes    how many crashes there were                                *)
(***************************************************************************)
EpochEntry(epoch) ==
  IF epoch \in DOMAIN history.epochs THEN history.epochs[epoch] ELSE [leaders |-> {}, end |-> 0, rewritten |-> FALSE]

EpochsAfter(s, after) ==
  IF after.role # "Leader" \/ (s.role = "Leader" /\ EndOffset(after.log) = EndOffset(s.log))
  THEN history.epochs
  ELSE LET entry == EpochEntry(after.epoch) IN
       (after.epoch :> [leaders |-> entry.leaders \cup {after.key}, end |-> EndOffset(after.log),
                        rewritten |-> entry.rewritten \/ EndOffset(s.log) < entry.end]) @@ history.epochs

NoVotes == [epoch |-> 0, candidates |-> {}]

VotesAfter(r, s, after) ==
  IF after.key # s.key THEN [history.votes EXCEPT ![r] = NoVotes]
  ELSE IF \/ after.voted = s.voted /\ after.epoch = s.epoch
          \/ after.voted = NoKey
  THEN history.votes
  ELSE [history.votes EXCEPT ![r] =
          IF @.epoch = after.epoch THEN [@ EXCEPT !.candidates = @ \cup {after.voted}]
          ELSE [epoch |-> after.epoch, candidates |-> {after.voted}]]

CommittedAfter(after) ==
  IF after.role \in {"Leader", "Resigned"} /\ after.highWatermark > Len(history.committed)
  THEN history.committed \o SubSeq(after.log, Len(history.committed) + 1, after.highWatermark)
  ELSE history.committed

\* after is what is left of the replica, shown is what others have seen of it: the same, unless it crashed after
\* some of its messages had left.
Remember(r, s, after, shown) ==
  history' = [epochs |-> EpochsAfter(s, after), votes |-> VotesAfter(r, s, after),
              committed |-> CommittedAfter(shown),
              crashes |-> history.crashes + (IF after.role = "Stopped" /\ s.role # "Stopped" THEN 1 ELSE 0)]

(***************************************************************************)
(* How an outcome becomes a step: whole, or up to a crash after any prefix *)
(* of its effects.                                                         *)
(***************************************************************************)
Step(r, consumed, out) ==
  /\ replicas' = [replicas EXCEPT ![r] = out.state]
  /\ Transmit(r, consumed, out.state, out.sends)
  /\ Remember(r, replicas[r], out.state, out.state)
  /\ UNCHANGED <<config, cuts>>

CrashAfter(r, consumed, out, done, kept) ==
  LET s == replicas[r]
      reached == Reached(s, out.state, done)
      after == Crashed(reached, kept)
  IN /\ kept \in KeptAfterCrash(reached)
     /\ replicas' = [replicas EXCEPT ![r] = after]
     /\ Transmit(r, consumed, after, Left(s, out, done))
     /\ Remember(r, s, after, IF Left(s, out, done) = <<>> THEN after ELSE out.state)
     /\ UNCHANGED <<config, cuts>>

EffectCount(r, out) == Len(DurableEffects(replicas[r], out.state)) + Len(out.sends)

Take(r, consumed, out) ==
  \/ Step(r, consumed, out)
  \/ /\ MayCrash(r)
     /\ \E done \in 1..(EffectCount(r, out) - 1) :
          \E kept \in KeptAfterCrash(Reached(replicas[r], out.state, done)) :
            CrashAfter(r, consumed, out, done, kept)

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

\* The connection gives up on an answer.
RequestTimeout(r, to) ==
  /\ Runs(r)
  /\ \E a \in replicas[r].awaiting : a[1] = to
  /\ MayTimeOutRequest(r, to)
  /\ Take(r, {}, Becomes([replicas[r] EXCEPT !.awaiting = {a \in @ : a[1] # to}]))

(***************************************************************************)
(* Poll sends what is due on idle connections, one request on each.        *)
(* Rules: prevote.request.recipients, prevote.response.majority,           *)
(* begin-quorum.on-election, begin-quorum.resend, end-quorum.send,         *)
(* fetch.who-fetches, durable.flush-before-fetch,                          *)
(* discovery.election-endpoints                                            *)
(***************************************************************************)
Idle(s, to) == \A a \in s.awaiting : a[1] # to

VoterEntry(s, id) == CHOOSE v \in Others(s) : v[1] = id

DueElectionRequests(s) ==
  CASE s.role \in {"Prospective", "Candidate"} /\ CanStillWin(s) -> OtherIds(s) \ (s.granted \cup s.rejected)
    [] s.role = "Leader" -> OtherIds(s) \ (s.acknowledged \cup s.fetchers)
    [] s.role = "Resigned" -> OtherIds(s) \ s.acknowledged
    [] OTHER -> {}

Due(s) == {id \in DueElectionRequests(s) : id # s.key[1] /\ Idle(s, id)}

ElectionRequest(s, id, corr) ==
  CASE s.role \in {"Prospective", "Candidate"} -> VoteRequest(s, VoterEntry(s, id), corr)
    [] s.role = "Leader" -> BeginQuorumEpochRequest(s, VoterEntry(s, id), corr)
    [] s.role = "Resigned" -> EndQuorumEpochRequest(s, VoterEntry(s, id), corr)

AfterPoll(s, corr) ==
  LET to == Ascending(Due(s)) IN
  Outcome([s EXCEPT !.awaiting = @ \cup {<<id, corr>> : id \in Due(s)}],
          [n \in 1..Len(to) |-> ElectionRequest(s, to[n], corr)])

AfterFetchPoll(s, to, corr) ==
  Outcome([Flushed(s) EXCEPT !.awaiting = {<<to, corr>>}], <<FetchRequest(s, to, corr)>>)

Poll(r) ==
  /\ Runs(r)
  /\ Due(replicas[r]) # {}
  /\ Take(r, {}, AfterPoll(replicas[r], Correlation))

PollFetch(r, to) ==
  /\ Runs(r)
  /\ to \in FetchTargets(replicas[r])
  /\ replicas[r].awaiting = {}
  /\ Take(r, {}, AfterFetchPoll(replicas[r], to, Correlation))

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

(***************************************************************************)
(* Clients and operators.                                                  *)
(***************************************************************************)
ClientAppend(r, value) ==
  /\ Runs(r)
  /\ replicas[r].role = "Leader"
  /\ MayAppend(r)
  /\ Take(r, {}, AfterAppend(replicas[r], "Data", value, {}))

AppendVoters(r, voters) ==
  /\ Runs(r)
  /\ replicas[r].role = "Leader"
  /\ voters # {}
  /\ MayChangeVoters(r)
  /\ Take(r, {}, AfterAppend(replicas[r], "Voters", 0, voters))

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

Restart(r) ==
  /\ ~Runs(r)
  /\ Take(r, {}, AfterRestart(replicas[r]))

ReplaceDisk(r, directory) ==
  /\ ~Runs(r)
  /\ MayReplaceDisk(r)
  /\ Step(r, {}, Becomes(NewReplica(<<r, directory>>)))

(***************************************************************************)
(* The network's own actions.                                              *)
(***************************************************************************)
\* A Pre-Vote cannot be encoded for software below Vote version 2; the sender's network layer answers itself.
\* Rules: prevote.unsupported-version
UnsupportedVersionAnswer(m) ==
  [type |-> "VoteResponse", from |-> m.to, to |-> m.from, corr |-> m.corr,
   error |-> "UNSUPPORTED_VERSION", epoch |-> 0, leader |-> NoLeader, endpoint |-> NoEndpoint,
   granted |-> FALSE, preVote |-> FALSE]

CanBeEncoded(m) == ~(m.preVote /\ config.preVote[m.to] = "unsupported")

AnswerUnsupportedVersion(m) ==
  /\ m.type = "VoteRequest"
  /\ ~CanBeEncoded(m)
  /\ network' = (network \ {m}) \cup (IF m.corr = 0 THEN {} ELSE {UnsupportedVersionAnswer(m)})
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
NewHistory ==
  [epochs |-> [e \in {} |-> 0], votes |-> [r \in Ids |-> NoVotes],
   committed |-> <<>>, crashes |-> 0]

InitWith(configuration) ==
  /\ config = configuration
  /\ replicas = [r \in DOMAIN configuration.endpoints |-> AfterRestart(NewReplica(configuration.keys[r])).state]
  /\ network = {}
  /\ cuts = {}
  /\ history = NewHistory

Next ==
  \/ \E r \in Ids : ElectionTimeout(r)
  \/ \E r \in Ids : FetchTimeout(r)
  \/ \E r \in Ids : CheckQuorumTimeout(r)
  \/ \E r \in Ids : BeginQuorumEpochTimeout(r)
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
  \/ \E r \in Ids : ClientAppend(r, 0)
  \/ \E r \in Ids : \E voters \in SUBSET {config.keys[i] : i \in Ids} : AppendVoters(r, voters)
  \/ \E r \in Ids : Shutdown(r)
  \/ \E r \in Ids : \E kept \in KeptAfterCrash(replicas[r]) : Crash(r, kept)
  \/ \E r \in Ids : Restart(r)
  \/ \E r \in Ids : ReplaceDisk(r, "new")
  \/ \E m \in network : AnswerUnsupportedVersion(m)
  \/ \E m \in network : DropMessage(m)
  \/ \E from \in Ids : \E to \in Ids : CutLink(from, to)
  \/ \E from \in Ids : \E to \in Ids : HealLink(from, to)
=============================================================================
