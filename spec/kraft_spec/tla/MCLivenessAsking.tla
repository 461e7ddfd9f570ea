-------------------------- MODULE MCLivenessAsking ---------------------------
(***************************************************************************)
(* EverybodyIsAsked: whomever a replica has to ask, it asks again and      *)
(* again.  It is the property of that name in the simulator                *)
(* (kraft_simulation.asking), without time: what is owed again and  *)
(* again is sent again and again.                                          *)
(*                                                                         *)
(* Owes is written from the rules and not from what Due and FetchTargets   *)
(* of KRaft.tla take for due, so that a model that leaves somebody out is  *)
(* found.                                                                  *)
(*                                                                         *)
(* Two slices.  Three voters, one of them cut off: it goes on asking for   *)
(* votes, and the leader goes on announcing itself to it.  An observer     *)
(* whose bootstrap servers are voters, and none of them the leader.        *)
(*                                                                         *)
(* Bounds and what is left out: as MCLiveness, but announcements are       *)
(* repeated, and a request of an election that is lost may be given up.    *)
(***************************************************************************)
EXTENDS MCLivenessScenes

(***************************************************************************)
(* What is owed.                                                           *)
(***************************************************************************)
\* Rules: prevote.request.recipients, vote.request.contents
OwesVoteRequest(r, to) ==
  LET s == replicas[r] IN
  /\ s.role \in {"Prospective", "Candidate"}
  /\ to \in OtherIds(s) \ (s.granted \cup s.rejected)
  /\ CanStillWin(s)

\* Rules: begin-quorum.on-election, begin-quorum.resend
OwesAnnouncement(r, to) ==
  /\ replicas[r].role = "Leader"
  /\ to \in OtherIds(replicas[r])
  /\ ~FollowsInReach(to, r)

\* Rules: discovery.bootstrap, fetch.who-fetches, observer.fetch-timeout
OwesFetch(r, to) ==
  /\ replicas[r].role = "Unattached" \/ (replicas[r].role = "Follower" /\ replicas[r].searching)
  /\ to \in BootstrapServers(replicas[r])

Owes(kind, r, to) ==
  CASE kind = "VoteRequest" -> OwesVoteRequest(r, to)
    [] kind = "BeginQuorumEpochRequest" -> OwesAnnouncement(r, to)
    [] kind = "FetchRequest" -> OwesFetch(r, to)

Sends(kind, r, to) == Owes(kind, r, to) /\ Idle(replicas[r], to) /\ ~Idle(replicas'[r], to)

ElectionKinds == {"VoteRequest", "BeginQuorumEpochRequest"}
FetchKind == {"FetchRequest"}
Kinds == ElectionKinds

EverybodyIsAsked ==
  \A kind \in Kinds : \A r \in Cast : \A to \in Cast \ {r} :
    []<>Owes(kind, r, to) => []<><<Sends(kind, r, to)>>_variables

\* Probe: must be found violated, so that a behaviour is fair and the property says something in it.
NobodyOwesForEver == \A kind \in Kinds : \A r \in Cast : \A to \in Cast \ {r} : <>[]~Owes(kind, r, to)

(***************************************************************************)
(* Three voters, one cut off.  The leader gives up a request that is lost, *)
(* and repeats its announcement, both in quiet instants, which come and go *)
(* (strongly fair).                                                        *)
(***************************************************************************)
TimelyWithAnnouncements(r, timer) == IF timer = "begin-quorum-epoch" THEN Quiet ELSE Timely(r, timer)

LossIsNoticed(r, to) == IF replicas[r].role \in {"Follower", "Unattached"} THEN IsLost(r, to) ELSE Quiet /\ IsLost(r, to)

GivesUp == \E r \in Ids : \E to \in Ids : replicas[r].role = "Leader" /\ RequestTimeout(r, to)
MayGiveUp ==
  \E r \in Ids : \E a \in replicas[r].awaiting : replicas[r].role = "Leader" /\ MayTimeOutRequest(r, a.destination)

AnnouncesAgain == \E r \in Ids : BeginQuorumEpochTimeout(r)
MayAnnounceAgain ==
  \E r \in Ids : replicas[r].role = "Leader" /\ replicas[r].acknowledging_voters # {} /\ MayTimeOut(r, "begin-quorum-epoch")

AnnouncementFairness ==
  /\ <>[]~MayGiveUp \/ []<><<GivesUp>>_variables
  /\ <>[]~MayAnnounceAgain \/ []<><<AnnouncesAgain>>_variables

SpecOfAnnouncements == Spec /\ AnnouncementFairness

ThirdIsCutOff == {BothWaysOf({<<1, 3>>, <<2, 3>>})}

(***************************************************************************)
(* Replica 4 looks for the leader, 1, and may ask 2 and 3.  Replica 2 is   *)
(* down.  Replica 4 is new, or has lost its link to the leader; it reaches *)
(* replica 3, or nobody.                                                   *)
(*                                                                         *)
(* Whom it asks next is its choice, and nobody is passed over for ever     *)
(* (strongly fair): "at random" comes to that.                             *)
(***************************************************************************)
Searcher == 4

ListWithoutTheLeader ==
  /\ config = [WithProfile(Cluster(4, 3, 0)) EXCEPT !.bootstrap_servers = {2, 3}]
  /\ LET leads == LeaderOf(1, <<>>)
         end == EndOffset(leads)
         new == AfterRestart(NewReplica(config.keys[Searcher]), NoEndpoint).state
         states == <<leads, FollowerOf(leads, 2, end), FollowerOf(leads, 3, end), FollowerOf(leads, Searcher, end)>>
         known == [Knowing(states, 1, end) EXCEPT ![2] = Stopped(@)]
         unknown == [known EXCEPT ![Searcher] = new,
                                  ![1].fetch_offsets = [key \in DOMAIN @ \ {config.keys[Searcher]} |-> @[key]]]
     IN /\ replicas \in {known, unknown}
        /\ history = [EpochOne(leads, end) EXCEPT !.crashes = 1]
  /\ network = {}
  /\ cuts \in {{}, BothWaysOf({<<3, 4>>}), BothWaysOf({<<1, 4>>}), BothWaysOf({<<1, 4>>, <<3, 4>>})}

MayFetchFrom(r, to) == to \in FetchTargets(replicas[r]) /\ replicas[r].awaiting = {}

SearchFairness ==
  \A to \in Cast : <>[]~MayFetchFrom(Searcher, to) \/ []<><<PollFetch(Searcher, to)>>_variables

SpecOfSearch == Spec /\ SearchFairness

(***************************************************************************)
(* Broken on purpose: somebody is left out.                                *)
(***************************************************************************)
DueWithout(s, left) == {id \in DueElectionRequests(s) \ left : id # s.replica_key.id /\ Idle(s, id)}

DueButOneVote(s) == DueWithout(s, IF s.replica_key.id = 3 /\ s.role \in {"Prospective", "Candidate"} THEN {2} ELSE {})
DueButOneAnnouncement(s) == DueWithout(s, IF s.replica_key.id = 1 /\ s.role = "Leader" THEN {3} ELSE {})

FirstServer(s) ==
  CASE s.role = "Follower"   -> IF s.searching THEN {Min(BootstrapServers(s))} \cup {s.leader_id} ELSE {s.leader_id}
    [] s.role = "Unattached" -> {Min(BootstrapServers(s))}
    [] OTHER                 -> {}
=============================================================================
