-------------------------- MODULE MCCrashCandidate --------------------------
(***************************************************************************)
(* Slice: what a Candidate was granted votes for, and a crash.  Replica 1  *)
(* has led epoch 1 and committed a record with replica 2; replica 3 has    *)
(* fetched the record and not synced it; replica 1 is down and stays down. *)
(* Replicas 2 and 3 campaign, and replica 3 crashes once: at rest and      *)
(* after every prefix of the effects of every step.                        *)
(***************************************************************************)
EXTENDS MCCrash

ThirdCrashes == {3}
Survivors == {2, 3}

\* The crash of replica 1, and one of replica 3.
CrashesInAll == 2

FirstStaysDown(r, endpoint) == r # 1 /\ endpoint = NoEndpoint

\* Replica 1 leads, its first record and one of a client are in its log, and replica 2 has fetched both.
Committing ==
  LET key == ThreeVoters.keys[1]
      Extended(s) == Flushed(Appended(s, <<Record(1, "Data", 0, {})>>))
      FetchedUpTo(s, v) == IF v.id = 2 THEN EndOffset(s) ELSE EndOffset(s) - 1
      Fetched(s) == WithHighWatermark([s EXCEPT !.fetch_offsets = Each([v \in Others(s) |-> FetchedUpTo(s, v)])])
      voted == [NewReplica(key) EXCEPT !.role = "Candidate", !.epoch = 1, !.voted_key = key]
  IN Of(Fetched, Of(Extended, Of(ToLeader, voted)))

\* A follower with the log of the leader, of which it has synced the records before flushed, and knows them committed.
FollowerOf(leads, r, flushed) ==
  LET voted == [NewReplica(ThreeVoters.keys[r]) EXCEPT !.epoch = 1, !.voted_key = leads.replica_key]
      Following(s) == [ToFollower(s, 1, 1, leads.leader_endpoint) EXCEPT !.fetched = TRUE, !.flushed = flushed,
                                                                                !.high_watermark = flushed]
  IN Of(Following, Appended(voted, leads.log))

Unsynced ==
  LET After(leads) ==
        [replicas |-> <<Crashed(leads, EndOffset(leads)), FollowerOf(leads, 2, EndOffset(leads)),
                        FollowerOf(leads, 3, EndOffset(leads) - 1)>>,
         history |-> [HistoryOf(SubSeq(leads.log, 1, leads.high_watermark))
                        EXCEPT !.epochs = 1 :> [leaders |-> {leads.replica_key}, end_offset |-> EndOffset(leads),
                                                rewritten |-> FALSE],
                               !.votes = Each([r \in 1..3 |-> [epoch |-> 1, candidates |-> {leads.replica_key}]]),
                               !.crashes = 1]]
  IN Of(After, Committing)

InitUnsynced ==
  /\ config = ThreeVoters
  /\ \E scene \in {Unsynced} : replicas = scene.replicas /\ history = scene.history
  /\ network = {}
  /\ cuts = {}
=============================================================================
