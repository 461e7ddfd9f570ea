------------------------ MODULE MCQuorumReassignment -------------------------
(***************************************************************************)
(* Slices about quorum reassignment (KIP-642) at kraft.version 1: a client *)
(* names other voters, and the leader takes the steps towards them.        *)
(*                                                                         *)
(* reassign-plans: every plan, from any set of voters of three replicas to *)
(* any other, up to its end: no message is late, and nobody campaigns but  *)
(* after a hand-over.                                                      *)
(*                                                                         *)
(* reassign-deposed: the same plans; any voter campaigns at any moment, so *)
(* that the next leader resumes after any step and in the middle of any,   *)
(* and the client asks it again if it does not know of the target.         *)
(*                                                                         *)
(* reassign-crash: the same plans; the leader crashes at any moment, after *)
(* every prefix of effects too, and starts again at any later one.         *)
(*                                                                         *)
(* reassign-replace, reassign-replace-crash: one plan, {1, 2} to {1, 3},   *)
(* with fetches in any order.                                              *)
(*                                                                         *)
(* reassign-retarget: {1, 2} shall become any set, and in the middle of    *)
(* that any other, or the client stops at what there is.                   *)
(*                                                                         *)
(* reassign-four: plans of four replicas, as reassign-plans.               *)
(*                                                                         *)
(* Bounds: start in StandAt, which is Stand of MCVoters for any voters and *)
(* any leader: it leads epoch 1, everything is at everybody and committed. *)
(* Leader is the voter with the lowest id.  Epochs 1 and 2: the second is  *)
(* needed for what a hand-over leaves to do.  Fetches go whole (Whole): an *)
(* answer arrives before anything else does.  What a late answer would     *)
(* add, a leader that has counted a follower which lacks newer records of  *)
(* it, needs two records on their way at once; the slices voters-* have    *)
(* it.                                                                     *)
(* Leaves out: client appends, network faults, check quorum, a pending     *)
(* addition that runs out of time (voters-add).                            *)
(*                                                                         *)
(* Reductions: those of MCVoters, of which two are widened.                *)
(*                                                                         *)
(*   6 (Rested, here AtRest): the replica that is asked for its versions   *)
(*   may be one that has crashed.  Its request then keeps nobody waiting,  *)
(*   and is answered as soon as it runs.  A pending addition may also be   *)
(*   given up for another target, which is as if it had never begun.       *)
(*                                                                         *)
(*   7 (HasNews): a removed voter may be added again here, and an open     *)
(*   announcement without news would keep its connection busy.  So it is   *)
(*   delivered as soon as its sender has to ask its receiver for versions. *)
(*                                                                         *)
(*   3 (fetch at once) in slices with crashes: only leaders crash.  A      *)
(*   leader has flushed what it had when it was elected and flushes what   *)
(*   it appends, so that what a Fetch flushes elsewhere is read nowhere.   *)
(***************************************************************************)
EXTENDS MCVoters

EpochLimit == 2
Size == 3
Starts == SUBSET (1..Size) \ {{}}

(***************************************************************************)
(* Clusters and starts.  The observers ask any replica for the leader.     *)
(***************************************************************************)
Planned(ids) ==
  WithoutPreVote([Cluster(Size, Size, 1)
                    EXCEPT !.voters = {ReplicaKey(r, Directories[r]) : r \in ids},
                           !.initial_voters = [r \in 1..Size |-> IF r \in ids THEN {NoKey} ELSE {}],
                           !.bootstrap_servers = 1..Size])

VotedFor(leader, r) ==
  LET new == NewReplica(config.keys[r]) IN
  [new EXCEPT !.epoch = 1, !.voted_key = IF IsVoter(new) THEN config.keys[leader] ELSE NoKey]

FollowsAt(leads, r) ==
  LET leader == leads.replica_key.id
      Follows(s) == ToFollower(s, 1, leader, config.endpoints[leader])
      Has(s) == [Flushed(s) EXCEPT !.fetched = TRUE, !.high_watermark = EndOffset(leads)]
      Fetches(s) == Appended(s, leads.log)
  IN Of(Has, Of(Fetches, Of(Follows, VotedFor(leader, r))))

StandsAt(leads) ==
  LET end == EndOffset(leads)
      id == leads.replica_key.id
      fetching == {config.keys[r] : r \in Ids \ {id}}
      leader == [leads EXCEPT !.acknowledging_voters = OtherIds(leads), !.high_watermark = end,
                              !.fetch_offsets = [k \in fetching |-> end]]
  IN [replicas |-> Each([r \in Ids |-> IF r = id THEN leader ELSE FollowsAt(leads, r)]),
      history |-> [HistoryOf(leads.log)
                             EXCEPT !.epochs = 1 :> [leaders |-> {leads.replica_key}, end_offset |-> end,
                                                     rewritten |-> FALSE],
                                    !.votes = Each([r \in Ids |-> IF r \in VoterIds(leads)
                                                                  THEN [epoch |-> 1, candidates |-> {leads.replica_key}]
                                                                  ELSE NoVotes])]]

StandAt(leader) == Of(StandsAt, Of(ToLeader, [VotedFor(leader, leader) EXCEPT !.role = "Candidate"]))

Init ==
  \E ids \in Starts :
    /\ config = Planned(ids)
    /\ \E scene \in {StandAt(Min(ids))} : Begins(scene)

(***************************************************************************)
(* Reductions 6 and 7, widened, and whole fetches.                         *)
(***************************************************************************)
NobodyAsksRunning == \A m \in network : m.type \in VersionTypes => ~Runs(m.destination)
AtRest == NobodyIsDue /\ NobodyAsksRunning

Announcements == {"BeginQuorumEpochRequest", "BeginQuorumEpochResponse"}
KeepsBusy(m) == m.type \in Announcements /\ m.source # m.destination
                  /\ (m.destination \in AwaitsVersionsOf(replicas[m.source]) \/ m.source \in AwaitsVersionsOf(replicas[m.destination]))

TellsNews(m) == HasNews(m) \/ KeepsBusy(m)

NobodyIsAnswered == \A m \in network : m.type # "FetchResponse"

Whole(r, types) ==
  {m \in Deliverable(r, types) :
     /\ NobodyIsDue
     /\ m.type \in VersionTypes \/ NobodyAsksRunning
     /\ m.type = "FetchResponse" \/ NobodyIsAnswered
     /\ TellsNews(m)}

(***************************************************************************)
(* Bound: messages arrive one at a time, in an order that TLC's order of   *)
(* values gives; the Fetches come last.                                    *)
(***************************************************************************)
News == {m \in network : Runs(m.destination) /\ ~Dead(m) /\ TellsNews(m)}

OneByOne(r, types) ==
  IF ~NobodyIsDue \/ \A m \in network : m.destination # r \/ m.type \notin types THEN {}
  ELSE LET news == News
           first == {m \in news : m.type # "FetchRequest"}
       IN IF news = {} THEN {}
          ELSE {CHOOSE m \in IF first = {} THEN news ELSE first : TRUE} \cap Deliverable(r, types)

AllIsDelivered == AtRest /\ News = {}

(***************************************************************************)
(* Who fetches: voters, and who shall be one.  An observer whose leader    *)
(* leads no more gives its Fetch up and finds the newer leader.            *)
(***************************************************************************)
LeadsStill(s) == s.leader_id # NoLeader /\ replicas[s.leader_id].role = "Leader" /\ replicas[s.leader_id].epoch = s.epoch
NewerLeaders(s) == {r \in Ids : replicas[r].role = "Leader" /\ replicas[r].epoch > s.epoch}

Concerned(s) == IsVoter(s) \/ \E q \in Ids : replicas[q].role = "Leader" /\ s.replica_key.id \in Target(replicas[q])

Fetching(s) ==
  IF s.role # "Follower" \/ ~Concerned(s) THEN {}
  ELSE IF s.searching THEN NewerLeaders(s) \ {s.replica_key.id}
  ELSE IF LeadsStill(s) \/ IsVoter(s) THEN {s.leader_id} ELSE {}

IsLost(s) == s.role = "Follower" /\ ~IsVoter(s) /\ Concerned(s) /\ ~LeadsStill(s) /\ NewerLeaders(s) # {}

GivesUp(r, to) == IsLost(replicas[r])
Searches(r, timer) == timer = "fetch" /\ IsLost(replicas[r]) /\ ~replicas[r].searching

(***************************************************************************)
(* Who campaigns.                                                          *)
(***************************************************************************)
NobodyLeads == \A r \in Ids : replicas[r].role \notin {"Leader", "Candidate"}
Campaigners == Ids

\* After a hand-over: the voter with the lowest id among the others.
AfterHandOver(r, timer) ==
  LET s == replicas[r] IN
  /\ AllIsDelivered
  /\ \/ Searches(r, timer)
     \/ timer = "fetch" /\ IsVoter(s) /\ s.epoch < EpochLimit /\ NobodyLeads /\ r = Min(VoterIds(s) \ {s.leader_id})

\* At any moment.
Rivals(r, timer) ==
  LET s == replicas[r] IN
  /\ AtRest
  /\ \/ Searches(r, timer)
     \/ ElectionTimer(timer) /\ IsVoter(s) /\ s.epoch < EpochLimit /\ r \in Campaigners

\* Once the leader has crashed or handed over.
Successors(r, timer) == Rivals(r, timer) /\ (Searches(r, timer) \/ history.crashes > 0 \/ NobodyLeads)

LeaderCrashes(r) == replicas[r].role = "Leader" /\ replicas[r].epoch = 1 /\ history.crashes = 0

(***************************************************************************)
(* What clients ask for: one order of each set.  An assignment whose       *)
(* target is another than that of the one before it is a request, or an    *)
(* end.                                                                    *)
(***************************************************************************)
AnyTarget == {<<Ascending(ids)>> : ids \in SUBSET Ids \ {{}}}
AnyTargetOrNone == AnyTarget \cup {NoReplicas}

Turns(s) == Cardinality({i \in 2..Len(s.voters) : s.voters[i].target # s.voters[i - 1].target})

AsksOnce(r) == replicas[r].role = "Leader" /\ Turns(replicas[r]) = 0 /\ AllIsDelivered
AsksTwice(r) == replicas[r].role = "Leader" /\ Turns(replicas[r]) <= 1 /\ AtRest

Bounds == EpochsUpTo(EpochLimit)

(***************************************************************************)
(* Narrower bounds.                                                        *)
(***************************************************************************)
FourReplicas == 4
FromFirstTwo == {{1, 2}}
FromThree == {{1, 2, 3}}
OnlySecond == {2}
ReplacesSecond == {<<<<1, 3>>>>}
RemovesFirst == {<<<<2, 3>>>>}
Retargets == {<<<<1, 3>>>>, <<<<1, 2>>>>, <<<<2>>>>, NoReplicas}

(***************************************************************************)
(* Probes: each must be found violated.                                    *)
(***************************************************************************)
\* The plan {1, 2} to {1, 3} is at its end: everybody who votes knows that it is.
Ended(s) ==
  /\ Target(s) = NoTarget /\ VoterIds(s) = {1, 3}
  /\ s.high_watermark > s.voters[Len(s.voters)].offset
NoPlanEnds == ~(Ended(replicas[1]) /\ Ended(replicas[3]))

\* Replica 1 has handed over, the next leader has removed it and cleared the target.
NobodyRemovesTheLeader ==
  ~\E r \in Ids : LET s == replicas[r] IN
     /\ s.role = "Leader" /\ s.epoch = 2 /\ VoterIds(s) = {2, 3} /\ Target(s) = NoTarget
     /\ s.high_watermark = EndOffset(s)

\* The leader of epoch 2 has taken a step towards a target that was named in epoch 1.
NobodyResumes ==
  ~\E r \in Ids : LET s == replicas[r] IN
     /\ s.role = "Leader" /\ s.epoch = 2 /\ RecordAt(s, EndOffset(s) - 1).kind = "VoterAssignment"
     /\ \E i \in 1..Len(s.log) : s.log[i].epoch = 1 /\ TargetOf(s.log[i]) = Target(s) /\ Target(s) # NoTarget

\* A target is replaced by another while a step towards it is not committed.
NoRetargetInAStep ==
  [][\A r \in Ids : LET s == replicas[r]
                        after == replicas'[r]
                    IN ~(/\ Target(s) # NoTarget /\ Target(after) \notin {NoTarget, Target(s)}
                         /\ s.voters[Len(s.voters)].offset >= s.high_watermark
                         /\ ChangesAfter(s, s.high_watermark) # {})]_replicas
=============================================================================
