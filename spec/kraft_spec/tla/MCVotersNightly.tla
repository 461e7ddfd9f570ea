-------------------------- MODULE MCVotersNightly ----------------------------
(***************************************************************************)
(* Slice "voters-nightly": three voters and a joiner, two voter changes    *)
(* with a leader change in between, three epochs, one crash, after which   *)
(* the disk may be another.                                                *)
(*                                                                         *)
(* Bounds: kraft.version 1; starts in the state Stand of MCVoters; every   *)
(* replica times out, not in the last epoch; the clients ask any leader to *)
(* add 4 (or the new disk of 3) and to remove 3 (the old disk), and no log *)
(* holds more than two changes; one crash, at rest and after every prefix  *)
(* of effects; the disk of replica 3 alone may be replaced.                *)
(* Leaves out: client appends, snapshots, upgrades, check quorum and       *)
(* hand-over (slices of their own), network faults, and what the time      *)
(* limit cuts off: see the queue left.                                     *)
(* Reduction 2 of MCBounds alone: a replaced disk starts at epoch 0, so    *)
(* that no message is dead for good.                                       *)
(***************************************************************************)
EXTENDS MCVoters

EpochLimit == 3

Init == config = Joining(4, 3) /\ \E scene \in {Stand({4})} : Begins(scene)

Changing == {config.keys[3], config.keys[4]} \cup {k \in {replicas[3].replica_key} : k.directory_id = "new"}

\* One or two changes behind the set of the first records.
ChangesTwice(r) ==
  replicas[r].role = "Leader" /\ NobodyPolls /\ ~IsPending(replicas[r]) /\ Len(replicas[r].voters) <= 3

CrashesOnce(r) == history.crashes = 0
ThirdLosesItsDisk(r) == r = 3 /\ replicas[r].replica_key.directory_id # "new"

TimeOut(r, timer) == NobodyPolls /\ timer \in {"election", "fetch"} /\ replicas[r].epoch < EpochLimit

FollowsOrSearches(s) ==
  CASE s.role = "Follower" -> {s.leader_id}
    [] s.role = "Unattached" /\ s.replica_key.directory_id = "new" -> BootstrapServers(s)
    [] OTHER -> {}

AfterPollsAlive(r, types) ==
  {m \in network : m.destination = r /\ m.type \in types /\ NobodyPolls}

Bounds == EpochsUpTo(EpochLimit) /\ \A r \in Ids : Len(replicas[r].voters) <= 4
=============================================================================
