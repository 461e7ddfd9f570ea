---------------------------- MODULE MCStability -----------------------------
(***************************************************************************)
(* Slice "stability": NoNeedlessElection, and the variants in which it     *)
(* must fail: nobody supports Pre-Vote; followers that have fetched do not *)
(* refuse.                                                                 *)
(*                                                                         *)
(* Replica 1 leads epoch 1 and replica 2 fetches from it; replica 3 is     *)
(* anything that can be outside of such a majority: a follower that has    *)
(* not fetched, behind by an epoch; with Pre-Vote also in a round of that, *)
(* or without a leader.                                                    *)
(* The timers are those of TimersOfAStableMajority; everything else is     *)
(* free for replica 3: its timers, cuts of its links, one crash.           *)
(* KeptMajority shows that the premise holds in every state, so that the   *)
(* property is not true for want of a stable leader.                       *)
(*                                                                         *)
(* Bounds: three voters at kraft.version 0; epochs up to 1 (a step that    *)
(* raises one above is judged, and not followed); at most MaxCrashes       *)
(* crashes of replica 3; at most one cut at a time, of a link of replica 3 *)
(* in one direction.                                                       *)
(* Leaves out: a leader that was Resigned in an earlier epoch (no slice);  *)
(* appends, which change nothing for elections but the log check.          *)
(***************************************************************************)
EXTENDS MCBounds, Stability

MaxCrashes == 1
TwoCrashes == 2
NoCrashes == 0
Leading == 1
StableMajority == {1, 2}

Start(configuration) ==
  LET keys == configuration.keys
      voted(r) == [NewReplica(keys[r]) EXCEPT !.epoch = 1, !.voted_key = keys[1]]
      leads == ToLeader([voted(1) EXCEPT !.role = "Candidate"])
      fetching == [ToFollower(voted(2), 1, 1, configuration.endpoints[1])
                     EXCEPT !.fetched = TRUE, !.log = leads.log, !.flushed = leads.flushed]
      new == NewReplica(keys[3])
      follower == ToFollower([new EXCEPT !.epoch = 1], 1, 1, configuration.endpoints[1])
      behind == ToUnattached(new, 0, NoLeader)
      rounds == {Prospective(follower),                       \* in a round of its own
                 Prospective(behind),
                 ToUnattached(new, 1, NoLeader)}              \* knows the epoch from a round of 2, not the leader
      outside == {follower, behind} \cup (IF configuration.pre_vote[3] = "supported" THEN rounds ELSE {})
  IN
  /\ config = configuration
  /\ \E third \in outside :
       replicas = <<[leads EXCEPT !.acknowledging_voters = IF third.leader_id = 1 THEN {2, 3} ELSE {2},
                                  !.fetch_offsets = keys[2] :> 0], fetching, third>>
  /\ network = {}
  /\ cuts = {}
  /\ history = [NewHistory EXCEPT
                  !.epochs = 1 :> [leaders |-> {keys[1]}, end_offset |-> EndOffset(leads), rewritten |-> FALSE],
                  !.votes = [r \in Ids |-> IF r = 3 THEN NoVotes ELSE [epoch |-> 1, candidates |-> {keys[1]}]]]

Init == Start(ThreeVoters)
InitWithoutPreVote == Start([ThreeVoters EXCEPT !.pre_vote = [r \in 1..3 |-> "unsupported"]])

TimeOut(r, timer) ==
  /\ TimersOfAStableMajority(Leading, StableMajority, r, timer)
  /\ timer # "begin-quorum-epoch"
  /\ NobodyPolls

OutsideMayCrash(r) == r \notin StableMajority /\ history.crashes < MaxCrashes
OutsideMayBeCut(from, to) == 3 \in {from, to} /\ cuts = {}
OutsideMayBeCutOffAtWill(from, to) == 3 \in {from, to}

KeptMajority == KeepsMajority(Leading) /\ StableMajority \subseteq FetchingFrom(Leading) /\ AllSupportPreVote

Bounds == EpochsUpTo(1)
=============================================================================
