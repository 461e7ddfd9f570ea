-------------------------- MODULE MCVotersOwnVote ----------------------------
(***************************************************************************)
(* Slices about a restart whose quorum state file names the leader of the  *)
(* epoch and holds a vote for the replica itself (scenario 50): the voters *)
(* set shrinks to that replica.                                            *)
(*                                                                         *)
(* voters-known-leader: the leader comes first, as in profile kip.         *)
(* voters-own-vote: the vote comes first, as in profile kafka-4, by the    *)
(* decision restart_precedence alone.                                      *)
(*                                                                         *)
(* Bounds: starts as Stand in MCVoters, except that replica 2 has voted    *)
(* for itself in epoch 1, which replica 1 won with the vote of 3, and that *)
(* 3 has been removed since: the set {1, 2} is committed.  Replica 1 is    *)
(* asked to remove itself; 2 crashes once, at rest and after every prefix  *)
(* of effects; 1 and 2 time out, not in the last epoch, which is 2; each   *)
(* leader appends one record of a client.                                  *)
(* Leaves out: whatever 3 does, network faults, check quorum.              *)
(* Reduction 2 of MCBounds alone.                                          *)
(***************************************************************************)
EXTENDS MCVoters

EpochLimit == 2
TheLeader == {config.keys[1]}

\* Replica 2 was a Candidate of epoch 1, too.
VotedForItself(scene) ==
  [scene EXCEPT !.replicas[2].voted_key = config.keys[2],
                !.history.votes[2] = [epoch |-> 1, candidates |-> {config.keys[2]}]]

WithoutThird ==
  LET Removes(leads) == AppendRecords(leads, <<SetOf({1, 2})>>)
      With(leads) == VotedForItself(StandWith(leads, {}))
  IN Of(With, Of(Removes, FirstLeads))

Starts(configuration) == config = configuration /\ \E scene \in {WithoutThird} : Begins(scene)

Init == Starts(Joining(3, 3))
InitOwnVote == Starts([Joining(3, 3) EXCEPT !.profile.restart_precedence = "own-vote"])

TimeOut(r, timer) == NobodyPolls /\ ElectionTimer(timer) /\ r # 3 /\ replicas[r].epoch < EpochLimit
SecondCrashesOnce(r) == r = 2 /\ history.crashes = 0
AppendsOne(r) ==
  /\ NobodyPolls
  /\ \A i \in 1..Len(replicas[r].log) : replicas[r].log[i].epoch = replicas[r].epoch => replicas[r].log[i].kind # "Data"
AsksOnce(r) == AsksFirst(r) /\ replicas[r].epoch = 1

FollowsOrSearches(s) ==
  CASE s.replica_key.id = 3 -> {}
    [] s.role = "Follower" -> {s.leader_id}
    [] s.role = "Unattached" -> BootstrapServers(s)
    [] OTHER -> {}

InFlightAfterPolls(r, types) == {m \in network : m.destination = r /\ r # 3 /\ m.type \in types /\ NobodyPolls}

Bounds == EpochsUpTo(EpochLimit)
=============================================================================
