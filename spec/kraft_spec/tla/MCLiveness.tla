----------------------------- MODULE MCLiveness ------------------------------
(***************************************************************************)
(* Slice "liveness": three voters after the faults, with every set of cut  *)
(* one-way links that leaves two of them connected both ways.              *)
(*                                                                         *)
(* Starts: replica 1 leads epoch 1 and the others have fetched everything  *)
(* (AllHaveFetched); or all have just started for the first time           *)
(* (FirstStart).  The links fail at that moment and stay as they are.      *)
(*                                                                         *)
(* Bounds: none on epochs or logs.  The state space is finite because the  *)
(* protocol comes to rest: each round that is won gives a leader, and a    *)
(* leader that is followed stays; appends end with the first.  No VIEW, no *)
(* CONSTRAINT, no symmetry, no reduction of MCBounds.                      *)
(* Leaves out: BeginQuorumEpochTimeout (the links lose all or nothing, so  *)
(* a repeated announcement fares as the first), restarts, voter changes    *)
(* (MCLivenessScenes starts in the middle of two).                         *)
(***************************************************************************)
EXTENDS MCBounds, Liveness

(***************************************************************************)
(* Links.                                                                  *)
(***************************************************************************)
Links == {<<a, b>> \in Cast \X Cast : a # b}
BothWaysOf(pairs) == pairs \cup {<<link[2], link[1]>> : link \in pairs}

\* All sets of cut links that leave a majority, two of three, connected both ways.
AnyCuts == {lost \in SUBSET Links : \E link \in Links : BothWaysOf({link}) \cap lost = {}}
\* Those among them in which a link works both ways or not at all.
WholeCuts == {lost \in AnyCuts : lost = BothWaysOf(lost)}
\* The leader is cut off: in both directions, or in one.
LeaderIsCutOff == {BothWaysOf({<<1, 2>>, <<1, 3>>})}
LeaderIsHalfCutOff == {{<<1, 2>>, <<1, 3>>}, {<<2, 1>>, <<3, 1>>}}

NoCuts == {{}}

Lost == WholeCuts

(***************************************************************************)
(* States in the middle.  config is bound before.                          *)
(***************************************************************************)
Voted(r, leader) == [NewReplica(config.keys[r]) EXCEPT !.epoch = 1, !.voted_key = config.keys[leader]]

\* The leader of epoch 1 that has appended more to the records of the start of its epoch.
LeaderOf(id, more) ==
  LET Announced(before, s) == [s EXCEPT !.acknowledging_voters = OtherIds(before) \cap OtherIds(s)]
      Extended(s) == Announced(s, Appended(s, more))
  IN Of(Flushed, Of(Extended, Of(ToLeader, [Voted(id, id) EXCEPT !.role = "Candidate"])))

\* A follower that has fetched the first end records.
FollowerOf(leads, id, end) ==
  LET leader == leads.replica_key.id
      new == NewReplica(config.keys[id])
      voted == IF IsVoter(new) THEN Voted(id, leader) ELSE [new EXCEPT !.epoch = 1]
      Following(s) == [ToFollower(s, 1, leader, config.endpoints[leader]) EXCEPT !.fetched = TRUE]
      Fetched(s) == Appended(s, SubSeq(leads.log, 1, end))
  IN Of(Flushed, Of(Fetched, Of(Following, voted)))

\* The leader as it knows these followers, and the high watermark that everybody knows.
Knowing(states, leader, end) ==
  LET Knows(each) ==
        [r \in DOMAIN each |->
           IF r # leader THEN [each[r] EXCEPT !.high_watermark = Smaller(end, EndOffset(each[r]))]
           ELSE [each[r] EXCEPT !.high_watermark = end,
                                !.fetch_offsets = Each([v \in {EntryOf(each[r], each[q].replica_key) : q \in DOMAIN each \ {r}}
                                                          |-> Smaller(end, EndOffset(each[v.id]))])]]
  IN Each(Of(Knows, Each(states)))

EpochOne(leads, end) ==
  [HistoryOf(SubSeq(leads.log, 1, end))
     EXCEPT !.epochs = 1 :> [leaders |-> {leads.replica_key}, end_offset |-> EndOffset(leads), rewritten |-> FALSE],
            !.votes = [r \in Ids |-> IF \E v \in config.voters : v.id = r
                                     THEN [epoch |-> 1, candidates |-> {leads.replica_key}] ELSE NoVotes]]

(***************************************************************************)
(* Starts.                                                                 *)
(***************************************************************************)
Voters3 == [ThreeVoters EXCEPT !.bootstrap_servers = {}]

AllHaveFetched ==
  /\ config = Voters3
  /\ LET leads == LeaderOf(1, <<>>)
         end == EndOffset(leads)
     IN /\ replicas = Knowing([r \in Ids |-> IF r = 1 THEN leads ELSE FollowerOf(leads, r, end)], 1, end)
        /\ history = EpochOne(leads, end)
  /\ network = {}
  /\ cuts \in Lost

FirstStart ==
  /\ config = Voters3
  /\ replicas = [r \in Ids |-> AfterRestart(NewReplica(config.keys[r]), NoEndpoint).state]
  /\ network = {}
  /\ cuts \in Lost
  /\ history = NewHistory

\* Everybody has a record of epoch 1 that is not committed yet, and the leader is cut off.
UncommittedRecord ==
  /\ config = Voters3
  /\ LET leads == LeaderOf(1, <<Record(1, "Data", 0, {})>>)
         end == EndOffset(leads)
     IN /\ replicas = Knowing([r \in Ids |-> IF r = 1 THEN leads ELSE FollowerOf(leads, r, end)], 1, end - 1)
        /\ history = EpochOne(leads, end - 1)
  /\ network = {}
  /\ cuts \in Lost

\* The leader, which alone has its last record, and replica 3 are down; the leader starts again, the other does not.
LeaderIsDown ==
  /\ config = Voters3
  /\ LET leads == LeaderOf(1, <<Record(1, "Data", 0, {})>>)
         end == EndOffset(leads)
         known == Knowing([r \in Ids |-> IF r = 1 THEN leads ELSE FollowerOf(leads, r, end - 1)], 1, end - 1)
     IN /\ replicas = [known EXCEPT ![1] = Stopped(@), ![3] = Stopped(@)]
        /\ history = [EpochOne(leads, end - 1) EXCEPT !.crashes = 2]
  /\ network = {}
  /\ cuts = {}

FirstRestarts(r, endpoint) == r = 1 /\ endpoint = NoEndpoint

(***************************************************************************)
(* Switches.                                                               *)
(***************************************************************************)
\* One append, by a leader that has no client's record yet.
AppendsOnce(r) == Quiet /\ \A i \in 1..Len(replicas[r].log) : replicas[r].log[i].kind # "Data"

\* Without state.resigned.timeout.
StaysResigned(s) == s.role \in {"Prospective", "Candidate"} \/ (s.role = "Unattached" /\ IsVoter(s))

\* Without state.leader.start-of-epoch.
NoRecords(s) == <<>>

(***************************************************************************)
(* The four things that Timely asks are all needed: without one of them,   *)
(* elections need not end.  No cycle of states shows that, because epochs  *)
(* only grow.  What is found is an epoch in which everything is as in the  *)
(* one before, with another leader or none; that the same can happen again *)
(* from there, each timer in its turn, is an argument and no check.        *)
(***************************************************************************)
AlthoughServed(r, timer) == IF timer = "fetch" THEN Quiet ELSE Timely(r, timer)
AlthoughFollowed(r, timer) == IF timer = "check-quorum" THEN Quiet ELSE Timely(r, timer)
ElectionAtAnyInstant(r, timer) == r # 1 /\ (timer = "election" \/ Timely(r, timer))
CheckQuorumAtAnyInstant(r, timer) == IF timer = "check-quorum" THEN InNeed(r, timer) ELSE Timely(r, timer)

\* As AllHaveFetched begins: one leads, the others have its whole log and know that it is committed.
IsSettled(leader) ==
  /\ replicas[leader].role = "Leader"
  /\ \A r \in OtherIds(replicas[leader]) :
       /\ FetchesFrom(r, leader)
       /\ replicas[r].log = replicas[leader].log
       /\ replicas[r].high_watermark = EndOffset(replicas[leader])

NeverSettlesAgain == \A leader \in Ids : IsSettled(leader) => replicas[leader].epoch = 1

\* The two that reach each other ask for Pre-Votes in epoch 2 as they did in epoch 1: each has voted for itself between.
BothLost ==
  \A r \in {2, 3} : LET s == replicas[r]
                     IN s.role = "Prospective" /\ s.epoch = 2 /\ s.voted_key = s.replica_key

NeverBothLost == ~BothLost

\* Of the two that reach each other one was elected in epoch 2 and one in epoch 3, and it leads no longer.
NeverResignsAgain == cuts \in LeaderIsCutOff => \A r \in {2, 3} : replicas[r].epoch = 3 => replicas[r].role # "Resigned"

(***************************************************************************)
(* Probes: each must be found violated, so that no premise is never met    *)
(* and no start is without a behaviour that is fair.                       *)
(***************************************************************************)
NeverLed == ~SomeoneLeads
NeverZombie == \A r \in Ids : ~Zombie(r)
NeverRefused == \A a \in Ids : \A b \in Ids : ~(Couple(a, b) /\ Refuses(a, b))
NeverFair == <>[](network # network)
NeverRestarts == ~Runs(1)

=============================================================================
