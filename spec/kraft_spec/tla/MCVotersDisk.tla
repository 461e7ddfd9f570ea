---------------------------- MODULE MCVotersDisk -----------------------------
(***************************************************************************)
(* Slices about a disk that was lost at kraft.version 1.                   *)
(***************************************************************************)
EXTENDS MCVoters

Nobody == {}
EpochLimit == 2
Campaigners == {2}
Both == {<<3, "C">>, <<3, "new">>}

\* Replica 3 has just started with an empty disk.
Replaced(scene) ==
  [scene EXCEPT !.replicas[3] = AfterRestart(EmptyReplica(<<3, "new">>), NoEndpoint).state,
                !.history.votes[3] = NoVotes, !.history.crashes = 1]

Init == config = Joining(3, 3) /\ \E stand \in {Stand({})} : \E scene \in {Replaced(stand)} : Begins(scene)

FollowsOrSearches(s) ==
  CASE s.role = "Follower" -> {s.leader}
    [] s.role = "Unattached" /\ s.key[2] = "new" -> BootstrapServers(s)
    [] OTHER -> {}

TimeOut(r, timer) == Rested /\ ElectionTimer(timer) /\ r \in Campaigners /\ replicas[r].epoch < EpochLimit

\* Probe: must be found violated.
NobodyReturns ==
  ~\E r \in Ids : LET s == replicas[r] IN
     /\ s.role = "Leader" /\ <<3, "new">> \in Voters(s)
     /\ s.highWatermark > s.voters[Len(s.voters)].offset

Bounds == EpochsUpTo(EpochLimit)
=============================================================================
