------------------------------ MODULE Liveness -------------------------------
(***************************************************************************)
(* What eventually happens once the faults have stopped: EventualLeader,   *)
(* NoPingPong, EventuallyFetching, CommitProgress, ZombieBounded.          *)
(*                                                                         *)
(* Three things belong together here: the timing assumption (Timely), the  *)
(* fairness (Fairness), and the properties with their premises.  Links     *)
(* that are cut and replicas that are stopped stay so for the whole        *)
(* behaviour; which they are, is a choice of the initial state.            *)
(***************************************************************************)
EXTENDS Stability

\* TLC wants the bounds of a quantifier over temporal formulas to be constant; CastIsWhole says that nobody is missing.
Cast == 1..3
CastIsWhole == Ids = Cast

(***************************************************************************)
(* Links.                                                                  *)
(***************************************************************************)
Linked(a, b) == <<a, b>> \notin cuts /\ <<b, a>> \notin cuts
Reaches(a, b) == Runs(a) /\ Runs(b) /\ Linked(a, b)

\* Transmit of KRaft.tla, except for two kinds of messages.  What is sent over a cut link or to a stopped replica is lost
\* at once: links do not heal here, so it could only lie there.  A Fetch that its sender has forgotten is lost, too: it
\* could only count its sender once more, and each of them that stays behind doubles the states.
Arrives(m) == <<m.source, m.destination>> \notin cuts /\ Runs(m.destination)
IsForgottenFetch(m) == m.type = "FetchRequest" /\ m.correlation_id # Correlation

TransmitOverLinks(r, consumed, after, sends) ==
  LET kept == Forget(r, replicas[r].awaiting, after.awaiting, network \ consumed)
  IN network' = {m \in kept : ~IsForgottenFetch(m)} \cup {m \in Entering(sends) : Arrives(m)}

\* Neither the request of r nor its answer is on its way any more.
IsLost(r, to) ==
  ~\E m \in network : /\ m.correlation_id = Correlation
                      /\ IF IsRequest(m) THEN m.source = r /\ m.destination = to ELSE m.source = to /\ m.destination = r

\* A Fetch that is lost is given up.  An election request is not: to send it again over the same cut link would lose it
\* again, and the next round forgets it.
ExchangeIsLost(r, to) == replicas[r].role \in {"Follower", "Unattached"} /\ IsLost(r, to)

(***************************************************************************)
(* The timing assumption.  The model has no clock; a switch says when a    *)
(* timer may fire.                                                         *)
(*                                                                         *)
(* Elections are faster than timers: an election or check-quorum timer     *)
(* fires only when no election request or answer is on its way, and none   *)
(* is due.  So who has lost a round does not disturb another one with the  *)
(* next, and a new leader does not resign before its followers have heard  *)
(* of it; this is what timeouts far longer than a round trip and their     *)
(* random length buy (rule state.timers.random); with election timers that *)
(* may always fire together, votes can be split for ever.  Which timer     *)
(* fires next, is free.  Fetches and their answers may be anywhere when a  *)
(* timer fires.                                                            *)
(*                                                                         *)
(* A follower that is served fetches in time: its fetch timer fires only   *)
(* if the replica that it follows does not run, does not lead that epoch   *)
(* any more, or cannot be reached, in one direction or both; then it may   *)
(* fire in the middle of an election, and split its votes once.  A leader  *)
(* that a majority of its voters follows and reaches is fetched from in    *)
(* time: its check-quorum timer fires only if there is no such majority.   *)
(***************************************************************************)
ElectionTypes ==
  {"VoteRequest", "VoteResponse", "BeginQuorumEpochRequest", "BeginQuorumEpochResponse",
   "EndQuorumEpochRequest", "EndQuorumEpochResponse"}

Quiet ==
  /\ \A m \in network : m.type \notin ElectionTypes
  /\ \A r \in Ids : Runs(r) => Due(replicas[r]) = {}

\* Replica r follows leader, can reach it and be reached, and the leader leads that epoch.
FollowsInReach(r, leader) ==
  /\ Reaches(r, leader)
  /\ replicas[r].role = "Follower" /\ replicas[r].leader_id = leader
  /\ replicas[leader].role = "Leader" /\ replicas[leader].epoch = replicas[r].epoch

Served(r) == FollowsInReach(r, replicas[r].leader_id)

MajorityOf(s, ids) == IsMajority(Cardinality(ids \cap VoterIds(s)) + (IF IsVoter(s) THEN 1 ELSE 0), s)

IsFollowed(leader) ==
  MajorityOf(replicas[leader], {r \in OtherIds(replicas[leader]) : FollowsInReach(r, leader)})

InNeed(r, timer) ==
  CASE timer = "fetch" -> ~Served(r)
    [] timer = "check-quorum" -> ~IsFollowed(r)
    [] timer = "begin-quorum-epoch" -> FALSE
    [] OTHER -> TRUE

Timely(r, timer) == (timer = "fetch" \/ Quiet) /\ InNeed(r, timer)

(***************************************************************************)
(* Fairness.                                                               *)
(*                                                                         *)
(* Elections move on (weakly fair, all replicas together): while election  *)
(* requests are due or election messages are on their way, one is sent or  *)
(* handled some time.  And timers are slow: if they fire for ever, there   *)
(* are quiet instants between, again and again.  Else a follower that is   *)
(* not served might ask for ever, one round after the other, while another *)
(* replica's message never arrives.                                        *)
(*                                                                         *)
(* The fetches of each replica move on (weakly fair, each replica by       *)
(* itself): it asks, it is answered, it handles the answer or gives up.    *)
(* One exchange is open at a time, so weak fairness of the steps together  *)
(* is enough; and a healthy follower that fetches for ever keeps neither   *)
(* the elections nor another replica's fetches waiting.                    *)
(*                                                                         *)
(* The timer of each replica fires (strongly fair): a role has one timer,  *)
(* and most may fire only in quiet instants, which the futile rounds of a  *)
(* replica that is cut off interrupt again and again.  Weak fairness would *)
(* let such a replica stop everybody else's clock.                         *)
(*                                                                         *)
(* Not fair: client appends.                                               *)
(*                                                                         *)
(* WF and SF are written out, with the guards of the actions instead of    *)
(* ENABLED: TLC needs minutes for a state's ENABLED here, because it does  *)
(* not keep the values of a LET meanwhile.  A guard that was true where    *)
(* no step is possible would leave no fair behaviour; NeverFair in         *)
(* MCLiveness is the probe against that.                                   *)
(***************************************************************************)
HandleElection(r) ==
  \/ \E m \in InFlight(r, {"VoteRequest"}) : HandleVoteRequest(r, m)
  \/ \E m \in InFlight(r, {"VoteResponse"}) : HandleVoteResponse(r, m)
  \/ \E m \in InFlight(r, {"BeginQuorumEpochRequest"}) : HandleBeginQuorumEpochRequest(r, m)
  \/ \E m \in InFlight(r, {"BeginQuorumEpochResponse"}) : HandleBeginQuorumEpochResponse(r, m)
  \/ \E m \in InFlight(r, {"EndQuorumEpochRequest"}) : HandleEndQuorumEpochRequest(r, m)
  \/ \E m \in InFlight(r, {"EndQuorumEpochResponse"}) : HandleEndQuorumEpochResponse(r, m)

ElectionStep == \E r \in Ids : Poll(r) \/ HandleElection(r)

FetchStep(r) ==
  \/ \E to \in Ids : PollFetch(r, to) \/ RequestTimeout(r, to)
  \/ \E to \in Ids : \E m \in InFlight(to, {"FetchRequest"}) : m.source = r /\ HandleFetchRequest(to, m)
  \/ \E m \in InFlight(r, {"FetchResponse"}) : HandleFetchResponse(r, m)

TimerFires(r) == ElectionTimeout(r) \/ FetchTimeout(r) \/ CheckQuorumTimeout(r)

FetchStepIsDue(r) ==
  /\ replicas[r].role \in {"Follower", "Unattached"}
  /\ replicas[r].awaiting # {} \/ FetchTargets(replicas[r]) # {}

TimerMayFire(r) ==
  LET s == replicas[r]
      Changes(outcome) == outcome.state # s
  IN
  /\ Runs(r)
  /\ \/ HasElectionTimer(s) /\ MayTimeOut(r, "election") /\ Changes(AfterElectionTimeout(s))
     \/ s.role = "Follower" /\ MayTimeOut(r, "fetch") /\ Changes(AfterFetchTimeout(s))
     \/ HasCheckQuorumTimer(s) /\ MayTimeOut(r, "check-quorum") /\ Changes(AfterCheckQuorumTimeout(s))

Fairness ==
  /\ []<>Quiet \/ ([]<><<ElectionStep>>_variables /\ <>[][\A r \in Cast : ~TimerFires(r)]_variables)
  /\ \A r \in Cast : []<>~FetchStepIsDue(r) \/ []<><<FetchStep(r)>>_variables
  /\ \A r \in Cast : <>[]~TimerMayFire(r) \/ []<><<TimerFires(r)>>_variables

Start == FALSE
Spec == Start /\ [][Next]_variables /\ Fairness

(***************************************************************************)
(* Premises and goals, as states.                                          *)
(***************************************************************************)
\* The voter set of the longest log among these replicas.
NewestVoters(ids) ==
  LET newest == CHOOSE r \in ids : \A q \in ids : UpToDate(LastEpoch(replicas[r]), EndOffset(replicas[r]),
                                                           replicas[q])
  IN {v.id : v \in Voters(replicas[newest])}

\* Replicas that run, reach each other pairwise, and are a majority of the newest voter set that they know.
ConnectedMajority(ids) ==
  /\ ids # {}
  /\ \A a \in ids : Runs(a) /\ \A b \in ids : a # b => Linked(a, b)
  /\ 2 * Cardinality(ids \cap NewestVoters(ids)) > Cardinality(NewestVoters(ids))

MajorityStaysConnected == \E ids \in SUBSET Ids : ConnectedMajority(ids)

\* Replica r has fetched from leader and still does.
FetchesFrom(r, leader) == FollowsInReach(r, leader) /\ replicas[r].fetched

IsFetchedFrom(leader) ==
  MajorityOf(replicas[leader], {r \in OtherIds(replicas[leader]) : FetchesFrom(r, leader)})

Leads(leader) == replicas[leader].role = "Leader" /\ IsFetchedFrom(leader)

HasCommitted(leader) == replicas[leader].high_watermark = EndOffset(replicas[leader])

(***************************************************************************)
(* EventualLeader.  "If a majority stays connected, eventually there is a  *)
(* Leader it follows."                                                     *)
(*                                                                         *)
(* "It" is read as: a majority.  There may be several connected majorities *)
(* (1-2 and 2-3 work, 1-3 does not), and the protocol keeps the leader of  *)
(* one although the other cannot follow it: KIP-996 wants just that.       *)
(* EveryMajorityFollows is the other reading; it must be found violated.   *)
(***************************************************************************)
SomeoneLeads == \E leader \in Ids : Leads(leader)

EventualLeader == <>[]MajorityStaysConnected => <>[]SomeoneLeads

FollowsSomeone(ids) ==
  \E leader \in Ids : Leads(leader) /\ \A r \in ids : r = leader \/ FetchesFrom(r, leader)

EveryMajorityFollows ==
  \A ids \in SUBSET Cast : <>[]ConnectedMajority(ids) => <>[]FollowsSomeone(ids)

(***************************************************************************)
(* NoPingPong.  "Two voters that can reach each other and form a majority  *)
(* do not refuse each other's Pre-Votes for ever."                         *)
(***************************************************************************)
Refuses(a, b) ==
  \E m \in network : m.type = "VoteResponse" /\ m.pre_vote /\ ~m.granted /\ m.source = a /\ m.destination = b

Couple(a, b) == ConnectedMajority({a, b})

NoPingPong ==
  \A a \in Cast : \A b \in Cast :
    a < b => (<>[]Couple(a, b) => <>[]~Refuses(a, b) \/ <>[]~Refuses(b, a))

(***************************************************************************)
(* EventuallyFetching.  "A replica that can reach the leader and a         *)
(* bootstrap server eventually fetches."                                   *)
(*                                                                         *)
(* The leader is one that a majority follows, and the bootstrap server is  *)
(* the leader or follows it: one that knows nothing can tell nothing.      *)
(***************************************************************************)
CanFindLeader(r) ==
  \E leader \in Ids :
    /\ Leads(leader)
    /\ Reaches(r, leader)
    /\ \E server \in BootstrapServers(replicas[r]) : /\ Reaches(r, server)
                                                     /\ server = leader \/ FetchesFrom(server, leader)

Fetches(r) == \E leader \in Ids : FetchesFrom(r, leader)

EventuallyFetching == \A r \in Cast : <>[](CanFindLeader(r) /\ replicas[r].role # "Leader") => <>[]Fetches(r)

(***************************************************************************)
(* CommitProgress.  "With a stable majority, appended records eventually   *)
(* commit."  Appends end in these models, so all are committed at last.    *)
(***************************************************************************)
AllCommitted == \E leader \in Ids : Leads(leader) /\ HasCommitted(leader)

CommitProgress == <>[]MajorityStaysConnected => <>[]AllCommitted

(***************************************************************************)
(* ZombieBounded.  "A Leader without a majority fetching from it stops     *)
(* being Leader."                                                          *)
(***************************************************************************)
Zombie(leader) == replicas[leader].role = "Leader" /\ ~IsFetchedFrom(leader)

ZombieBounded == \A leader \in Cast : []<>~Zombie(leader)
=============================================================================
