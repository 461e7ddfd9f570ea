------------------------------ MODULE MCBounds ------------------------------
(***************************************************************************)
(* What the model-checking slices share: small clusters, switches that are *)
(* off, and the reductions.  A slice is a module MC*.tla with one or more  *)
(* entries in the table of the checks, models/checks/*.toml, which say     *)
(* what TLC takes in place of operators: of switches of KRaft.tla, of      *)
(* whole actions that are closed, of InFlight and FetchTargets for the     *)
(* reductions below, and of the bounds of the slice itself.  Only a check  *)
(* that must find a violation replaces what the protocol does.             *)
(*                                                                         *)
(* Reductions.  None of them loses a state that an invariant could tell    *)
(* from one that is kept.                                                  *)
(*                                                                         *)
(* 1. No DropMessage where nothing waits for an absence: no guard of a     *)
(*    replica reads the network, so a message that is never delivered does *)
(*    what a lost one does.                                                *)
(*                                                                         *)
(* 2. Poll at once (AfterPolls): while a replica owes election requests,   *)
(*    nothing is delivered and no timer fires.  In one stay in a role the  *)
(*    content of such a request never changes, so one that was sent        *)
(*    earlier may be delivered whenever the later one is, or never.  The   *)
(*    states differ in awaiting and network only, which no invariant       *)
(*    reads.  Not with RequestTimeout or DuplicateMessage on, where        *)
(*    sending twice counts.                                                *)
(*                                                                         *)
(* 3. Fetch at once (AfterPollsAndFetches): the same for the Fetch of a    *)
(*    Follower, whose content (epoch, log end) stays until its answer      *)
(*    comes or the role ends.  A Fetch flushes the log, so this is for     *)
(*    slices without crashes, where nothing reads flushed.                 *)
(*                                                                         *)
(* 4. Dead messages: a request that its sender has forgotten, and that     *)
(*    would change nothing at its receiver now or later (its answer would  *)
(*    leave the network at once), is not delivered, and states that differ *)
(*    in dead messages count as one (VIEW WithoutTheDead).  TLC checks the *)
(*    two halves of the claim, DeadHaveNoEffect and DeadStayDead, in the   *)
(*    slices that use it.  Not with ReplaceDisk (the epoch starts anew),   *)
(*    not with the rule state.same-epoch-preserves off.                    *)
(*                                                                         *)
(* 5. Nobody reports (MayReport is off by default).  At kraft.version 0    *)
(*    each follower would send one UpdateVoter to each leader, in place of *)
(*    a Fetch.  All that a report changes is the leader's field reports,   *)
(*    which only UpdateFeatures reads (off by default, too), and the       *)
(*    follower's has_updated_leader, which decides whether to report again;*)
(*    for the connection and the clocks it is a Fetch that is not sent, or *)
(*    a response that teaches epoch and leader as any other does.  At      *)
(*    level 1 a report is due only where an endpoint has moved (MayMove,   *)
(*    off by default).  So without them no state of the other fields is    *)
(*    lost.  Slices about voter changes switch on what they need.          *)
(*                                                                         *)
(* No symmetry: keys carry ids, the lowest id is asked first and preferred *)
(* candidates are ordered by id, so the replicas are not interchangeable.  *)
(***************************************************************************)
EXTENDS LocalForms

(***************************************************************************)
(* Clusters.                                                               *)
(***************************************************************************)
KipProfile ==
  [observer_refusal |-> "expires", voter_key_error |-> "INVALID_REQUEST", prospective_announcement |-> "follower",
   end_quorum_fetched_flag |-> "cleared", diverging_fetch |-> "counts", restart_precedence |-> "known-leader",
   kraft_version_gate |-> "commit",
   leader_high_watermark |-> "kept", own_vote_at_restart |-> "candidate",
   voted_directory_at_version_0 |-> "forgotten", vote_of_lost_file |-> "spent",
   announcement_again |-> "when-idle", announced_to |-> "not-fetching",
   diverging_cut |-> "own-offset", unanswered_fetch |-> "leader-again",
   update_voter_credit |-> "none", report_at_version_0 |-> "noted", lagging_voter |-> "awaited"]

Profile == KipProfile

\* Other answers to open decisions: docs/decisions.md.
OpenDecisionsOtherwise ==
  [KipProfile EXCEPT !.leader_high_watermark = "unknown", !.own_vote_at_restart = "unattached",
                     !.end_quorum_fetched_flag = "kept", !.announcement_again = "by-timer",
                     !.announced_to = "all",
                     !.diverging_cut = "smaller-offset", !.unanswered_fetch = "servers-too"]

Directories == <<"A", "B", "C", "D", "E">>
Endpoints == <<"E1", "E2", "E3", "E4", "E5">>

\* Replicas 1..size, of which 1..voters are the voters, at the kraft.version level.
Cluster(size, voters, level) ==
  [endpoints |-> [r \in 1..size |-> Endpoints[r]],
   keys |-> [r \in 1..size |-> ReplicaKey(r, Directories[r])],
   voters |-> {ReplicaKey(r, Directories[r]) : r \in 1..voters},
   kraft_version |-> level,
   bootstrap_servers |-> {1},
   pre_vote |-> [r \in 1..size |-> "supported"],
   sends_leader_endpoint |-> [r \in 1..size |-> TRUE],
   min_version |-> [r \in 1..size |-> 0],
   max_version |-> [r \in 1..size |-> 1],
   initial_voters |-> [r \in 1..size |-> {NoKey}],
   auto_join |-> [r \in 1..size |-> FALSE],
   fetch_max_records |-> 0,
   profile |-> Profile]

\* Three voters at kraft.version 0, where an epoch starts with one record instead of three: the logs stay short.
ThreeVoters == Cluster(3, 3, 0)

(***************************************************************************)
(* Starts in the middle are computed by nested operators.  While it        *)
(* computes initial states TLC evaluates an argument anew at each place    *)
(* that names it, and the value of a function each time it is applied.     *)
(* These have theirs computed once: an operator of a value, and a          *)
(* function.                                                               *)
(***************************************************************************)
Of(Operator(_), argument) == CHOOSE result \in {Operator(value) : value \in {argument}} : TRUE
Each(function) == function @@ <<>>

(***************************************************************************)
(* A start in the middle: leader has won epoch 1 with the votes of all,    *)
(* its announcement is acknowledged, nobody has fetched yet, nothing is on *)
(* its way.  The slice MCElection reaches this state from the beginning    *)
(* (check elected-is-reached), so starting here only saves the way.        *)
(***************************************************************************)
Elected(configuration, leader) ==
  LET key == configuration.keys[leader]
      leads == Of(ToLeader, [NewReplica(key) EXCEPT !.role = "Candidate", !.epoch = 1, !.voted_key = key])
      Follows(r) ==
        LET new == NewReplica(configuration.keys[r])
            voted == [new EXCEPT !.epoch = 1, !.voted_key = IF IsVoter(new) THEN key ELSE NoKey]
        IN ToFollower(voted, 1, leader, configuration.endpoints[leader])
  IN
  /\ config = configuration
  /\ replicas = [r \in Ids |-> IF r = leader THEN [leads EXCEPT !.acknowledging_voters = OtherIds(leads)] ELSE Follows(r)]
  /\ network = {}
  /\ cuts = {}
  /\ history = [HistoryOf(SubSeq(leads.log, 1, Larger(0, leads.high_watermark)))
                  EXCEPT !.epochs = 1 :> [leaders |-> {key}, end_offset |-> EndOffset(leads), rewritten |-> FALSE],
                         !.votes = [r \in Ids |-> IF r \in VoterIds(leads) THEN [epoch |-> 1, candidates |-> {key}]
                                                  ELSE NoVotes]]

(***************************************************************************)
(* Switches that are off.                                                  *)
(***************************************************************************)
Never(r) == FALSE
NeverTo(r, to) == FALSE
NobodyFetches(s) == {}
FollowersFetch(s) == IF s.role = "Follower" THEN {s.leader_id} ELSE {}

\* Records that the replica wrote or copied in its own epoch.
RecordsOfOwnEpoch(r) ==
  Cardinality({i \in 1..Len(replicas[r].log) : replicas[r].log[i].epoch = replicas[r].epoch})

EpochsUpTo(last) == \A r \in Ids : replicas[r].epoch <= last

(***************************************************************************)
(* Reductions 2 to 4.                                                      *)
(***************************************************************************)
\* A replica that has voted in its epoch, or knows the leader, casts no vote in it any more.
HasDecided(s) == s.voted_key # NoKey \/ s.leader_id # NoLeader

\* Only requests that carry an epoch die.
Dead(m) ==
  /\ m.type \in {"VoteRequest", "BeginQuorumEpochRequest", "EndQuorumEpochRequest", "FetchRequest"}
  /\ m.correlation_id = 0
  /\ LET s == replicas[m.destination] IN
     \/ m.epoch < s.epoch
     \/ /\ m.epoch = s.epoch
        /\ CASE m.type = "VoteRequest" ->
                  \/ m.pre_vote /\ config.pre_vote[m.destination] # "ignored"
                  \/ HasDecided(s)
             [] m.type = "FetchRequest" -> s.role # "Leader" /\ s.leader_id # NoLeader
             [] m.type = "BeginQuorumEpochRequest" -> s.role # "Unattached" /\ s.leader_id = m.source
             [] OTHER -> FALSE

AfterRequest(s, m) ==
  CASE m.type = "VoteRequest" -> AfterVoteRequest(s, m)
    [] m.type = "FetchRequest" -> AfterFetchRequest(s, m)
    [] m.type = "BeginQuorumEpochRequest" -> AfterBeginQuorumEpochRequest(s, m)
    [] OTHER -> AfterEndQuorumEpochRequest(s, m)

\* A repeated announcement brings a Prospective back to its leader, as its election timeout does.
DeadHaveNoEffect ==
  \A m \in network :
    Dead(m) /\ Runs(m.destination) =>
      LET s == replicas[m.destination]
          after == AfterRequest(s, m).state
      IN after = s \/ (s.role = "Prospective" /\ after = LosePreVote(s))

DeadStayDead == [][\A m \in network : Dead(m) /\ m \in network' => Dead(m)']_variables

WithoutTheDead == <<config, replicas, {m \in network : ~Dead(m)}, cuts, history>>

Deliverable(r, types) ==
  {m \in network : m.destination = r /\ m.type \in types /\ <<m.source, m.destination>> \notin cuts /\ ~Dead(m)}

PollIsDue(s) == s.role \in {"Prospective", "Candidate", "Leader", "Resigned"} /\ Due(s) # {}
FetchIsDue(s) == s.role = "Follower" /\ ~s.searching /\ s.awaiting = {} /\ FetchTargets(s) # {}

NobodyPolls == \A r \in Ids : ~PollIsDue(replicas[r])
NobodyPollsOrFetches == \A r \in Ids : ~PollIsDue(replicas[r]) /\ ~FetchIsDue(replicas[r])

AfterPolls(r, types) == {m \in Deliverable(r, types) : NobodyPolls}
AfterPollsAndFetches(r, types) == {m \in Deliverable(r, types) : NobodyPollsOrFetches}

(***************************************************************************)
(* Probe: its violation shows that the state of Elected is reached.        *)
(***************************************************************************)
NobodyElectedQuietly ==
  ~(/\ \A m \in network : Dead(m)
    /\ replicas[1].role = "Leader" /\ replicas[1].epoch = 1 /\ replicas[1].acknowledging_voters = OtherIds(replicas[1])
    /\ \A r \in Ids \ {1} : replicas[r].role = "Follower" /\ replicas[r].voted_key = replicas[1].replica_key)
=============================================================================
