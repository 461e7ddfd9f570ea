-------------------------- MODULE MCLivenessScenes ---------------------------
(***************************************************************************)
(* Slice "liveness-scenes": the states from which the scenarios 6, 9, 13,  *)
(* 15, 17, 19, 20 and 43 go on after their faults, each the start of all   *)
(* behaviours under the assumptions of Liveness.tla.  The epoch of the     *)
(* scenario's leader is 1.                                                 *)
(*                                                                         *)
(* Bounds and what is left out: as MCLiveness; and a Fetch that would      *)
(* change nothing at either end (TargetsWithNews): with four or five       *)
(* replicas, the fetches that go round without effect would multiply the   *)
(* states.  It is sent as soon as it would change something.  The slice    *)
(* "liveness" has all of them.                                             *)
(***************************************************************************)
EXTENDS MCLiveness

\* Fetch credit apart, which only starts a new period of check quorum.
ChangesNothing(s, to) ==
  LET sent == AfterPollFetch(s, to, Correlation)
      handled == AfterFetchRequest(replicas[to], sent.sends[1])
      answered == AfterFetchResponse(sent.state, handled.sends[1])
  IN \/ ~Reaches(s.replica_key.id, to)
     \/ /\ [handled.state EXCEPT !.fetchers = {}] = [replicas[to] EXCEPT !.fetchers = {}]
        /\ answered.state = s

\* FetchTargets of KRaft.tla, without those that would change nothing.
TargetsWithNews(s) ==
  {to \in CASE s.role = "Follower"   -> IF s.searching THEN BootstrapServers(s) \cup {s.leader_id} ELSE {s.leader_id}
            [] s.role = "Unattached" -> BootstrapServers(s)
            [] OTHER                 -> {} : ~ChangesNothing(s, to)}

(***************************************************************************)
(* More bounds, where three or four running replicas would multiply the    *)
(* states.  In hand-over and cannot-commit fetch timers wait for the end   *)
(* of an election as the other timers do (TimelyInQuiet), and while a      *)
(* replica owes election requests nothing is delivered (AfterSending).     *)
(* In cannot-commit and heard-in-vain one replica at a time fetches, and   *)
(* its exchange is over before another message is delivered or a timer     *)
(* fires; announcements and their answers come in the order of the ids     *)
(* (InTurn); and the election timer of replica 1 never fires: it could not *)
(* win, and it does not go on to the next epoch either.                    *)
(***************************************************************************)
TimelyInQuiet(r, timer) == Quiet /\ Timely(r, timer)

AfterSending(r, types) ==
  {m \in network : /\ m.destination = r /\ m.type \in types /\ <<m.source, m.destination>> \notin cuts
                   /\ \A q \in Ids : Runs(q) => Due(replicas[q]) = {}}

FetchMessages == {m \in network : m.type \in {"FetchRequest", "FetchResponse"}}

TargetInTurn(s) == IF FetchMessages = {} THEN TargetsWithNews(s) ELSE {}

\* An announcement or its answer.
Announces(m) == m.type \in {"BeginQuorumEpochRequest", "BeginQuorumEpochResponse"}
AnnouncedTo(m) == IF IsRequest(m) THEN m.destination ELSE m.source

InTurn(r, types) ==
  {m \in AfterSending(r, types) :
     /\ m \in FetchMessages \/ FetchMessages = {}
     /\ Announces(m) => \A n \in network : Announces(n) => AnnouncedTo(m) <= AnnouncedTo(n)}

IsInTurn(r, timer) == Quiet /\ FetchMessages = {} /\ ~(r = 1 /\ timer = "election")

TimelyInTurn(r, timer) == IsInTurn(r, timer) /\ Timely(r, timer)

Two == 1..2
Four == 1..4
Five == 1..5

Refusal == "expires"
FlagAfterEndQuorum == "cleared"

WithProfile(configuration) ==
  [configuration EXCEPT !.bootstrap_servers = {}, !.profile.observer_refusal = Refusal,
                        !.profile.end_quorum_fetched_flag = FlagAfterEndQuorum]

VotersRecord(ids) ==
  LET keys == {config.keys[r] : r \in ids} IN VotersRecordOf(1, keys, FormattedDetails(keys))

(***************************************************************************)
(* 6.  Replica 3 does not know that it was removed, and is in a Pre-Vote   *)
(* round; all links work again.                                            *)
(***************************************************************************)
RemovedVoter ==
  /\ config = WithProfile(Cluster(3, 3, 1))
  /\ LET leads == LeaderOf(1, <<VotersRecord({1, 2})>>)
         end == EndOffset(leads)
         states == <<leads, FollowerOf(leads, 2, end), Prospective(FollowerOf(leads, 3, end - 1))>>
     IN /\ replicas = Knowing(states, 1, end)
        /\ history = EpochOne(leads, end)
  /\ network = {}
  /\ cuts = {}

(***************************************************************************)
(* 9.  Replica 5 is down, the leader reaches replica 2 alone, which has    *)
(* the longest log; or it hears them, and its answers are lost.  With four *)
(* voters, of which all run, {2, 3, 4} is a majority and {1, 2} is none    *)
(* just as well.                                                           *)
(***************************************************************************)
CannotCommitCuts == {BothWaysOf({<<1, 3>>, <<1, 4>>}), {<<1, 2>>, <<1, 3>>, <<1, 4>>}}
AnswersAreLost == {{<<1, 3>>, <<1, 4>>}}

LeaderThatCannotCommit ==
  /\ config = WithProfile(Cluster(Cardinality(Cast), Cardinality(Cast), 0))
  /\ LET leads == LeaderOf(1, <<Record(1, "Data", 0, {})>>)
         end == EndOffset(leads)
         Has(r) == FollowerOf(leads, r, IF r = 2 THEN end ELSE end - 1)
         running == Knowing([r \in Ids |-> IF r = 1 THEN leads ELSE Has(r)], 1, end - 1)
     IN /\ replicas = [r \in Ids |-> IF r = 5 THEN Stopped(running[5]) ELSE running[r]]
        /\ history = [EpochOne(leads, end - 1) EXCEPT !.crashes = Cardinality(Ids \cap {5})]
  /\ network = {}
  /\ cuts \in CannotCommitCuts

(***************************************************************************)
(* 19.  As 9, but the leader hears the replicas 3 and 4, and only its      *)
(* answers to them are lost.  They ask in every period of check quorum:    *)
(* a lost Pre-Vote makes them followers again.  So this timer does not     *)
(* fire, although nobody but replica 2 is served.                          *)
(***************************************************************************)
Asks(r, leader) ==
  /\ Runs(r) /\ <<r, leader>> \notin cuts
  /\ replicas[r].role \in {"Follower", "Prospective"}
  /\ replicas[r].leader_id = leader /\ replicas[r].epoch = replicas[leader].epoch

IsHeard(leader) == MajorityOf(replicas[leader], {r \in OtherIds(replicas[leader]) : Asks(r, leader)})

TimelyByWhatIsHeard(r, timer) ==
  IsInTurn(r, timer) /\ IF timer = "check-quorum" THEN ~IsHeard(r) ELSE Timely(r, timer)

(***************************************************************************)
(* 13.  Replica 1 has removed itself, and does not know that {2, 3} have   *)
(* elected replica 2; nobody tells it.  Replica 4 is an observer of it.    *)
(***************************************************************************)
ZombieLeader ==
  /\ config = WithProfile(Cluster(4, 3, 1))
  /\ \E old \in {LeaderOf(1, <<VotersRecord({2, 3})>>)} :
       LET end == EndOffset(old)
           key == config.keys[2]
           Has(r) == FollowerOf(old, r, end)
           Voted2(s) == [s EXCEPT !.epoch = 2, !.voted_key = key, !.leader_id = NoLeader]
           Elected2(s) == [ToLeader([Voted2(s) EXCEPT !.role = "Candidate"]) EXCEPT !.acknowledging_voters = {3}]
           Follows2(s) == ToFollower(Voted2(s), 2, 2, config.endpoints[2])
           states == Knowing(<<old, Has(2), Has(3), Has(4)>>, 1, end - 1)
       IN \E new \in {Of(Elected2, states[2])} :
            /\ replicas = [states EXCEPT ![2] = new, ![3] = Of(Follows2, @)]
            /\ history = [EpochOne(old, end - 1) EXCEPT
                            !.epochs = 2 :> [leaders |-> {key}, end_offset |-> EndOffset(new), rewritten |-> FALSE] @@ @,
                            !.votes[2] = [epoch |-> 2, candidates |-> {key}],
                            !.votes[3] = [epoch |-> 2, candidates |-> {key}]]
  /\ network = {}
  /\ cuts = {}

(***************************************************************************)
(* 15.  Replica 3 was added by a record that it has not read; the leader   *)
(* is down.                                                                *)
(***************************************************************************)
NewVoterUnaware ==
  /\ config = WithProfile(Cluster(3, 2, 1))
  /\ LET leads == LeaderOf(1, <<VotersRecord({1, 2, 3})>>)
         end == EndOffset(leads)
         states == <<Stopped(leads), FollowerOf(leads, 2, end), FollowerOf(leads, 3, end - 1)>>
     IN /\ replicas = [r \in Ids |-> IF r = 1 THEN states[1] ELSE [states[r] EXCEPT !.high_watermark = end - 1]]
        /\ history = [EpochOne(leads, end - 1) EXCEPT !.crashes = 1]
  /\ network = {}
  /\ cuts = {}

(***************************************************************************)
(* 17.  The leader has shut down its leadership and tells the others, who  *)
(* have all fetched.  Of four voters one is down: the preferred candidate  *)
(* has the old leader's grant and its own, and needs that of replica 3.    *)
(***************************************************************************)
HandOver ==
  /\ config = WithProfile(Cluster(Cardinality(Cast), Cardinality(Cast), 0))
  /\ LET leads == LeaderOf(1, <<>>)
         end == EndOffset(leads)
         known == Knowing([r \in Ids |-> IF r = 1 THEN leads ELSE FollowerOf(leads, r, end)], 1, end)
     IN /\ replicas = [known EXCEPT ![1] = ToResigned(@, PreferredCandidates(@)), ![4] = Stopped(@)]
        /\ history = [EpochOne(leads, end) EXCEPT !.crashes = 1]
  /\ network = {}
  /\ cuts = {}

(***************************************************************************)
(* 20.  Replica 3 became Candidate of epoch 2 and told the observer 4 and  *)
(* nobody else; now it is down.                                            *)
(***************************************************************************)
ObserverAhead ==
  /\ config = [WithProfile(Cluster(4, 3, 0)) EXCEPT !.bootstrap_servers = {1, 3}]
  /\ LET leads == LeaderOf(1, <<>>)
         end == EndOffset(leads)
         candidate == [FollowerOf(leads, 3, end) EXCEPT !.epoch = 2, !.leader_id = NoLeader,
                                                        !.voted_key = config.keys[3]]
         ahead == ToUnattached(FollowerOf(leads, 4, end), 2, NoLeader)
         states == Knowing(<<leads, FollowerOf(leads, 2, end), candidate, ahead>>, 1, end)
     IN /\ replicas = [states EXCEPT ![3] = Stopped(states[3])]
        /\ history = [EpochOne(leads, end) EXCEPT !.votes[3] = [epoch |-> 2, candidates |-> {config.keys[3]}],
                                                !.crashes = 1]
  /\ network = {}
  /\ cuts = {}

(***************************************************************************)
(* 43.  Replica 1 led, appended the record that removes itself, and has    *)
(* restarted.  Whether replica 2, the only voter that is left, has that    *)
(* record, is the difference: with it, it is its own majority.             *)
(***************************************************************************)
RemovedLeader(fetched) ==
  /\ config = WithProfile(Cluster(2, 2, 1))
  /\ LET leads == LeaderOf(1, <<VotersRecord({2})>>)
         end == EndOffset(leads)
         remains == [FollowerOf(leads, 2, end - 1 + fetched) EXCEPT !.high_watermark = end - 1]
     IN /\ replicas = <<AfterRestart(Stopped(leads), NoEndpoint).state, remains>>
        /\ history = [EpochOne(leads, end - 1) EXCEPT !.crashes = 1]
  /\ network = {}
  /\ cuts = {}

RemovedLeaderAlone == RemovedLeader(0)
RemovedLeaderFetched == RemovedLeader(1)

\* EndQuorumEpoch sets the timer of the first in the list to zero, so it fires before all others.  Rule: end-quorum.handle
Preferred == 2
PreferredFirst(r, timer) == r = Preferred /\ Timely(r, timer)

\* What end-quorum.frees-followers buys: the preferred candidate wins without waiting for another timer than its own.
PreferredLeads == <>(replicas[Preferred].role = "Leader")

Kept == "kept"
Lasts == "lasts"
=============================================================================
