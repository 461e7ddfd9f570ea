------------------------ MODULE MCQuorumReassignment -------------------------
EXTENDS MCVoters

EpochLimit == 2
Everybody == Ids
Campaigners == Everybody
AnyPlan(size) == {ids \in SUBSET (1..size) : ids # {}}
Starts == AnyPlan(3)
Leaders(ids) == {Min(ids)}

Planned(size, ids) ==
  WithoutPreVote([Cluster(size, size, 1)
                    EXCEPT !.voters = {<<r, Directories[r]>> : r \in ids},
                           !.initial = [r \in 1..size |-> IF r \in ids THEN {NoKey} ELSE {}],
                           !.bootstrap = 1..size])

VotedFor(leader, r) ==
  LET new == NewReplica(config.keys[r]) IN
  [new EXCEPT !.epoch = 1, !.voted = IF IsVoter(new) THEN config.keys[leader] ELSE NoKey]

FollowsAt(leads, r) ==
  LET leader == leads.key[1]
      Follows(s) == ToFollower(s, 1, leader, config.endpoints[leader])
      Has(s) == [Flushed(s) EXCEPT !.fetched = TRUE, !.highWatermark = EndOffset(leads)]
      Fetches(s) == Appended(s, leads.log)
      follower == Of(Follows, VotedFor(leader, r))
  IN Of(Has, Of(Fetches, follower))

StandsAt(leads) ==
  LET end == EndOffset(leads)
      id == leads.key[1]
      fetching == {config.keys[r] : r \in Ids \ {id}}
      leader == [leads EXCEPT !.acknowledged = OtherIds(leads), !.highWatermark = end,
                              !.offsets = [k \in fetching |-> end]]
  IN [replicas |-> Each([r \in Ids |-> IF r = id THEN leader ELSE FollowsAt(leads, r)]),
      history |-> [HistoryOf(leads.log)
                     EXCEPT !.epochs = 1 :> [leaders |-> {leads.key}, end |-> end, rewritten |-> FALSE],
                            !.votes = Each([r \in Ids |-> IF r \in VoterIds(leads)
                                                          THEN [epoch |-> 1, candidates |-> {leads.key}]
                                                          ELSE NoVotes])]]

StandAt(leader) == Of(StandsAt, Of(ToLeader, [VotedFor(leader, leader) EXCEPT !.role = "Candidate"]))

Size == 3
Init ==
  \E ids \in Starts :
    /\ config = Planned(Size, ids)
    /\ \E leader \in Leaders(ids) : \E scene \in {StandAt(leader)} : Begins(scene)

AnyTarget == {<<Ascending(ids)>> : ids \in SUBSET Ids \ {{}}}

TargetChanges(s) == Cardinality({i \in 2..Len(s.voters) : s.voters[i].target # s.voters[i - 1].target})

NobodyAsksRunning == \A m \in network : m.type \in VersionTypes => ~Runs(m.to)
RestedHere == NobodyIsDue /\ NobodyAsksRunning

AsksOnce(r) == replicas[r].role = "Leader" /\ RestedHere /\ TargetChanges(replicas[r]) = 0

LeadsStill(s) == s.leader # NoLeader /\ replicas[s.leader].role = "Leader" /\ replicas[s.leader].epoch = s.epoch
NewerLeaders(s) == {r \in Ids : replicas[r].role = "Leader" /\ replicas[r].epoch > s.epoch}

Fetching(s) ==
  IF s.role # "Follower" THEN {}
  ELSE IF s.searching THEN NewerLeaders(s) \ {s.key[1]}
  ELSE IF LeadsStill(s) \/ IsVoter(s) THEN {s.leader} ELSE {}

\* Who fetches is a voter, or shall be one.
Concerned(s) == IsVoter(s) \/ \E q \in Ids : replicas[q].role = "Leader" /\ s.key[1] \in Target(replicas[q])
FetchingConcerned(s) == IF Concerned(s) THEN Fetching(s) ELSE {}

GivesUp(r, to) ==
  LET s == replicas[r] IN s.role = "Follower" /\ ~IsVoter(s) /\ ~LeadsStill(s) /\ NewerLeaders(s) # {}

TimeOut(r, timer) ==
  LET s == replicas[r] IN
  /\ RestedHere
  /\ CASE timer = "fetch" /\ ~IsVoter(s) -> ~s.searching /\ ~LeadsStill(s) /\ NewerLeaders(s) # {}
       [] timer \in {"fetch", "election"} -> r \in Campaigners /\ s.epoch < EpochLimit
       [] OTHER -> FALSE

HandedOver(r, types) ==
  {m \in Deliverable(r, types) : NobodyIsDue /\ (m.type \in VersionTypes \/ NobodyAsksRunning) /\ HasNews(m)}

Advances(r, voter) == RestedHere /\ AdvanceReassignment(r, voter)

NobodyIsAnswered == \A m \in network : m.type # "FetchResponse"
Whole(r, types) ==
  {m \in HandedOver(r, types) : m.type = "FetchResponse" \/ NobodyIsAnswered}

News == {m \in network : Runs(m.to) /\ ~Dead(m) /\ HasNews(m)}
InOrder(r, types) ==
  IF \A m \in network : m.to # r \/ m.type \notin types THEN {}
  ELSE IF ~NobodyIsDue THEN {}
  ELSE LET news == News
           first == {m \in news : m.type # "FetchRequest"}
           next == CHOOSE m \in IF first = {} THEN news ELSE first : TRUE
       IN IF news = {} THEN {} ELSE {m \in {next} : m.to = r /\ m.type \in types}
AllIsQuiet == RestedHere /\ News = {}

NobodyLeads == \A r \in Ids : replicas[r].role \notin {"Leader", "Candidate"}
Calmly(r, timer) ==
  LET s == replicas[r] IN
  /\ timer = "fetch"
  /\ AllIsQuiet
  /\ IF IsVoter(s) THEN NobodyLeads /\ s.epoch < EpochLimit /\ r = Min(VoterIds(s) \ {s.leader})
     ELSE ~s.searching /\ ~LeadsStill(s) /\ NewerLeaders(s) # {} /\ Concerned(s)

AsksQuietly(r) == AsksOnce(r) /\ AllIsQuiet

Bounds == EpochsUpTo(EpochLimit)
LeaderCrashes(r) == replicas[r].role = "Leader" /\ replicas[r].epoch = 1 /\ history.crashes = 0
RivalsConcerned(r, timer) == TimeOut(r, timer) /\ Concerned(replicas[r])
RivalsOfCrashed(r, timer) ==
  /\ RivalsConcerned(r, timer)
  /\ history.crashes > 0 \/ ~IsVoter(replicas[r]) \/ NobodyLeads
AsksTwice(r) == replicas[r].role = "Leader" /\ RestedHere /\ TargetChanges(replicas[r]) <= 1
AnyTargetOrNone == AnyTarget \cup {NoReplicas}
One == 1
Three == 3
StartTwo == {{1, 2}}
StartThree == {{1, 2, 3}}
ReplaceSecond == {<<<<1, 3>>>>}
ReplaceFirst == {<<<<2, 3>>>>}
OnlyFirst == {<<<<1>>>>}
OnlySecond == {2}
OnlyThird == {3}

=============================================================================
