-------------------------- MODULE MCLivenessChange ---------------------------
(***************************************************************************)
(* EventualChange: under the timing assumption of Liveness.tla a voter     *)
(* change that a client asks for, again and again, is committed some time  *)
(* at a leader that a majority follows; and so is one that a leader which  *)
(* is gone has left behind on a majority of the new set.                   *)
(*                                                                         *)
(* The client asks whoever leads, when nothing is pending there and the    *)
(* set is not the wanted one, and waits for its answer.  The time of a     *)
(* pending change does not run out: messages are faster than timers.       *)
(*                                                                         *)
(* Bounds and what is left out: as MCLivenessScenes, and fetch timers wait *)
(* for the end of an election.                                             *)
(***************************************************************************)
EXTENDS MCLivenessScenes

Wanted == {1, 2, 3}
Named == {}

TimelyChange(r, timer) == timer # "voter-change" /\ TimelyInQuiet(r, timer)

\* One request: to add, to remove.
NeverAdd(r, request, voter, endpoint, whenCommitted, sameCluster) == FALSE
NeverRemove(r, request, voter, sameCluster) == FALSE

AsksAgain(r) ==
  /\ replicas[r].role = "Leader"
  /\ ~IsPending(replicas[r])
  /\ VoterIds(replicas[r]) # Wanted

(***************************************************************************)
(* Fairness beside that of Liveness.tla, all weak: the client asks where   *)
(* it would be heard; the leader asks a new voter for its versions, and    *)
(* these messages arrive.                                                  *)
(***************************************************************************)
Ask(r) ==
  \E voter \in Named : \/ AddVoter(r, 1, voter, config.endpoints[voter.id], TRUE, TRUE)
                       \/ RemoveVoter(r, 1, voter, TRUE)

AskIsDue(r) ==
  /\ Named # {}
  /\ Runs(r) /\ AsksAgain(r)
  /\ MembershipError(replicas[r], TRUE, TRUE) = NotRefused

VersionsStep ==
  \/ \E r \in Ids : AwaitsVersionsOf(replicas[r]) # {} /\ Poll(r)
  \/ \E r \in Ids : \E m \in InFlight(r, {"ApiVersionsRequest"}) : HandleApiVersionsRequest(r, m)
  \/ \E r \in Ids : \E m \in InFlight(r, {"ApiVersionsResponse"}) : HandleApiVersionsResponse(r, m)

VersionsAreDue ==
  \/ \E r \in Ids : Runs(r) /\ replicas[r].role = "Leader" /\ DueChangeRequest(replicas[r], Due(replicas[r]), Correlation) # {}
  \/ \E m \in network : m.type \in {"ApiVersionsRequest", "ApiVersionsResponse"}

ChangeFairness ==
  /\ \A r \in Cast : []<>~AskIsDue(r) \/ []<><<Ask(r)>>_variables
  /\ []<>~VersionsAreDue \/ []<><<VersionsStep>>_variables

SpecOfChange == Spec /\ ChangeFairness

(***************************************************************************)
(* EventualChange.                                                         *)
(***************************************************************************)
Changed(r) ==
  /\ VoterIds(replicas[r]) = Wanted
  /\ replicas[r].high_watermark > replicas[r].voters[Len(replicas[r].voters)].offset

IsChanged == \E r \in Ids : Leads(r) /\ Changed(r)

EventualChange == <>[]MajorityStaysConnected => <>[]IsChanged

(***************************************************************************)
(* Starts: everybody has fetched everything from replica 1, the leader.    *)
(***************************************************************************)
Standing(voters) ==
  /\ config = WithProfile(Cluster(3, voters, 1))
  /\ \E leads \in {LeaderOf(1, <<>>)} :
     LET end == EndOffset(leads) IN
     /\ \E states \in {[r \in Ids |-> IF r = 1 THEN leads ELSE FollowerOf(leads, r, end)]} :
          replicas = Knowing(states, 1, end)
     /\ history = EpochOne(leads, end)
  /\ network = {}
  /\ cuts = {}

TwoVoters == Standing(2)
AllVoters == Standing(3)

Third == {ReplicaKey(3, "C")}
TheLeader == {ReplicaKey(1, "A")}
WithoutTheLeader == {2, 3}

\* Probe: the change is never there.
NeverChanged == ~IsChanged
=============================================================================
