------------------------------- MODULE Probes -------------------------------
(***************************************************************************)
(* The model for a random walk that counts what it reaches: every action   *)
(* of Next, with a label that says why an event was ignored, what was      *)
(* done and sent, and whether the replica died in the step.                *)
(*                                                                         *)
(* Probes.cfg overrides Step, CrashAfter and Receive by operators that do  *)
(* the same and set the label.  Where there is nothing to say of a step,   *)
(* the variables are left open, and the walk reads that as nothing.        *)
(*                                                                         *)
(* Nothing here is checked: some of the clusters are set up so that the    *)
(* protocol breaks, because a few answers are only given then.             *)
(***************************************************************************)
EXTENDS MCVoters, Observed

VARIABLES
  label,     \* what the step says of itself
  arrived    \* <<type, error, preVote>> of the message that arrived

Sent(messages) ==
  {<<messages[i].type, IF "error" \in DOMAIN messages[i] THEN messages[i].error ELSE "">> : i \in 1..Len(messages)}

Done(s, out, done) ==
  LET effects == DurableEffects(s, out.state) IN {effects[i] : i \in 1..Smaller(done, Len(effects))}

Label(r, consumed, out, done, died) ==
  LET s == replicas[r]
      sent == IF died THEN SentBeforeCrash(s, out, done) ELSE out.sends
  IN [reason |-> out.reason, sent |-> Sent(sent), done |-> Done(s, out, done), died |-> died,
      consumed |-> consumed # {}, changing |-> IsPending(s) \/ IsPending(out.state),
      moved |-> ~Runs(r) /\ out.state.moved_to # NoEndpoint]

ProbeStep(r, consumed, out) ==
  /\ replicas' = [replicas EXCEPT ![r] = out.state]
  /\ Transmit(r, consumed, out.state, out.sends)
  /\ Remember(r, replicas[r], out.state, out.state)
  /\ UNCHANGED <<config, cuts>>
  /\ label' = Label(r, consumed, out, EffectCount(r, out), FALSE)

ProbeCrashAfter(r, consumed, out, done, kept) ==
  LET s == replicas[r]
      reached == OnDiskAfter(s, out.state, done)
      after == Crashed(reached, kept)
  IN /\ kept \in KeptAfterCrash(reached)
     /\ replicas' = [replicas EXCEPT ![r] = after]
     /\ Transmit(r, consumed, after, SentBeforeCrash(s, out, done))
     /\ Remember(r, s, after, IF SentBeforeCrash(s, out, done) = <<>> THEN after ELSE out.state)
     /\ UNCHANGED <<config, cuts>>
     /\ label' = Label(r, consumed, out, done, TRUE)

ProbeReceive(r, m, out) ==
  /\ \/ Take(r, {m}, out)
     \/ MayDuplicate(m) /\ Take(r, {}, out)
  /\ arrived' = <<m.type, IF "error" \in DOMAIN m THEN m.error ELSE "", "pre_vote" \in DOMAIN m /\ m.pre_vote>>

(***************************************************************************)
(* What the walk reads in a state.                                         *)
(***************************************************************************)
Brief(s) == <<s.role, s.epoch, s.leader_id, s.voted_key, s.replica_key>>

\* Who changed, before and after.
Changed == {<<Brief(replicas[r]), Brief(replicas'[r])>> : r \in {q \in Ids : Brief(replicas'[q]) # Brief(replicas[q])}}

\* Begins the walk where voters change?
VotersChangeHere == EndOffset(history.committed) > 0

OnTheirWay == {<<m.type, IF "error" \in DOMAIN m THEN m.error ELSE "">> : m \in network}

\* Why a replica would refuse what no action of Next lets happen at it; Trace.tla says so of a line.  These are the
\* conditions of the actions: ENABLED would try every outcome.
RefusedIn(r) ==
  LET s == replicas[r] IN
  {RefusalReason(name, r) : name \in
     (IF HasElectionTimer(s) THEN {} ELSE {"ElectionTimeout"})
       \cup (IF IsPending(s) THEN {} ELSE {"VoterChangeTimeout"})
       \cup (IF Runs(r) /\ SomethingIsDue(s) THEN {} ELSE {"Poll"})
       \cup (IF s.role = "Leader" /\ MayAppendSet(s, Voters(s)) THEN {} ELSE {"AppendVoters"})
       \cup (IF NextSteps(s) = {} THEN {"AdvanceReassignment"} ELSE {})
       \cup (IF CanTakeSnapshot(s, EndOffset(s)) THEN {} ELSE {"TakeSnapshot"})
       \cup (IF Runs(r) THEN {"Restart"} ELSE {})} \ {""}

Refused == UNION {RefusedIn(r) : r \in Ids}

(***************************************************************************)
(* Where walks start.                                                      *)
(***************************************************************************)
Kafka4Decisions ==
  [observer_refusal |-> "lasts", voter_key_error |-> "INVALID_VOTER_KEY", prospective_announcement |-> "stays",
   end_quorum_fetched_flag |-> "kept", diverging_fetch |-> "ignored", restart_precedence |-> "own-vote",
   kraft_version_gate |-> "append", vote_of_non_voter |-> "by-log",
   leader_high_watermark |-> "kept", own_vote_at_restart |-> "candidate",
   voted_directory_at_version_0 |-> "forgotten", vote_of_lost_file |-> "spent",
   announcement_again |-> "when-idle", diverging_cut |-> "own-offset"]

\* Lists that reassignments ask for: good ones, where there are so many replicas, and bad ones.
\* Everybody else answers and stays as it is, which would be most of a walk.
Leads(r) == replicas[r].role = "Leader"
AnyList == {NoReplicas, <<<<>>>>, <<<<1>>>>, <<<<2, 3>>>>, <<<<3, 2, 1>>>>, <<<<2, 4>>>>}

Clusters ==
  {Cluster(1, 1, 1),
   [Cluster(4, 3, 1) EXCEPT !.pre_vote = <<"supported", "supported", "unsupported", "supported">>],
   [Cluster(4, 3, 1) EXCEPT !.decisions.vote_of_non_voter = "refuse-and-campaign"],
   [Cluster(4, 3, 1) EXCEPT !.decisions = Kafka4Decisions,
                           !.pre_vote = <<"supported", "ignored", "supported", "supported">>],
   \* Old software: a leader outside the voters set cannot say where it is.
   [Cluster(4, 3, 1) EXCEPT !.speaks_endpoints = [r \in 1..4 |-> FALSE], !.fetch_max_records = 1],
   \* Static voters whose disks are replaced: they vote twice in an epoch.
   [Cluster(3, 3, 0) EXCEPT !.keys = [r \in 1..3 |-> <<r, "">>], !.voters = {<<r, "">> : r \in 1..3}],
   [Cluster(3, 3, 0) EXCEPT !.pre_vote = <<"supported", "unsupported", "unsupported">>]}

\* The operator lost the quorum state file of replica 2, which has a record of epoch 1.
FileLost ==
  LET configuration == Cluster(3, 3, 0)
      lost == [NewReplica(configuration.keys[2]) EXCEPT !.log = <<Record(1, "LeaderChange", 1, {})>>, !.flushed = 1]
  IN /\ config = configuration
     /\ replicas = [r \in 1..3 |-> IF r = 2 THEN lost ELSE AfterRestart(NewReplica(configuration.keys[r]), NoEndpoint).state]
     /\ network = {} /\ cuts = {}
     /\ history = [NewHistory EXCEPT !.epochs = 1 :> [leaders |-> {}, end_offset |-> 1, rewritten |-> FALSE],
                                     !.crashes = 1]

NothingHappened ==
  [reason |-> "", sent |-> {}, done |-> {}, died |-> FALSE, consumed |-> FALSE, changing |-> FALSE, moved |-> FALSE]
NothingArrived == <<"", "", FALSE>>

Leading(configuration, r, epoch) ==
  LET key == configuration.keys[r] IN
  ToLeader([NewReplica(key) EXCEPT !.role = "Candidate", !.epoch = epoch, !.voted_key = key])

StartWith(configuration, states, messages) ==
  /\ config = configuration
  /\ replicas = [r \in Ids |-> IF r \in DOMAIN states THEN states[r]
                               ELSE AfterRestart(NewReplica(configuration.keys[r]), NoEndpoint).state]
  /\ network = messages /\ cuts = {}
  /\ history = NewHistory

\* Replica 4 leads epoch 2, is no voter, and its software does not say where it is.
SilentLeader == [Cluster(4, 3, 0) EXCEPT !.speaks_endpoints = [r \in 1..4 |-> FALSE], !.bootstrap_servers = {4}]
LeaderNowhere == StartWith(SilentLeader, 4 :> Leading(SilentLeader, 4, 2), {})

\* Its announcement meets replica 1 in each role.
Announcement(endpoint) ==
  [type |-> "BeginQuorumEpochRequest", source |-> 4, destination |-> 1, correlation_id |-> 0, epoch |-> 2,
   voter_key |-> <<1, "A">>,
   leader_endpoint |-> endpoint]

InRole(role, epoch) ==
  LET new == [NewReplica(<<1, "A">>) EXCEPT !.role = "Unattached", !.epoch = epoch]
  IN CASE role = "Unattached" -> new
       [] role = "Prospective" -> Prospective(new)
       [] role = "Candidate" -> [Prospective(new) EXCEPT !.role = "Candidate", !.voted_key = <<1, "A">>]
       [] role = "Leader" -> Leading(SilentLeader, 1, epoch)
       [] role = "Resigned" -> ToResigned(Leading(SilentLeader, 1, epoch), <<>>)
       [] role = "Follower" -> ToFollower(new, epoch, 2, "E2")

AnnouncedTo(role, epoch, endpoint) ==
  StartWith(SilentLeader, 1 :> InRole(role, epoch) @@ 4 :> Leading(SilentLeader, 4, 2), {Announcement(endpoint)})

\* The last vote comes when the election is over.
LateVote ==
  \E configuration \in {Cluster(3, 3, 0)} :
    StartWith(configuration, 1 :> Leading(configuration, 1, 1),
              {[type |-> "VoteResponse", source |-> 3, destination |-> 1, correlation_id |-> 1, error |-> "NONE",
                epoch |-> 1,
                leader_id |-> NoLeader, leader_endpoint |-> NoEndpoint, granted |-> TRUE, pre_vote |-> FALSE]})

\* It is for the disk that replica 1 had before.
AnnouncedToAnother ==
  \E configuration \in {[SilentLeader EXCEPT !.decisions = Kafka4Decisions]} :
    StartWith(configuration, 4 :> Leading(configuration, 4, 2),
              {[Announcement("E4") EXCEPT !.voter_key = <<1, "before">>]})

\* A candidate of epoch 2 asks it for its vote.
Ballot ==
  [type |-> "VoteRequest", source |-> 3, destination |-> 1, correlation_id |-> 0, epoch |-> 2,
   replica_key |-> <<3, "C">>, voter_key |-> <<1, "A">>,
   last_epoch |-> 0, end_offset |-> 0, pre_vote |-> FALSE]

Announced ==
  \E endpoint \in {"", "E4"} :
    \/ \E role \in RoleNames : AnnouncedTo(role, 1, endpoint)
    \/ \E role \in {"Unattached", "Prospective", "Candidate"} : AnnouncedTo(role, 2, endpoint)

Asked == \E role \in RoleNames : \E epoch \in 1..2 : StartWith(SilentLeader, 1 :> InRole(role, epoch), {Ballot})

\* Two leaders of one epoch; the first has committed what the second does not have, and the second says so to a follower
\* that does.
TwoLeaders ==
  \E configuration \in {Cluster(3, 3, 0)} :
    /\ config = configuration
    /\ \E first \in {Leading(configuration, 1, 1)} :
       \E second \in {Leading(configuration, 3, 2)} :
       \E new \in {ToFollower([NewReplica(configuration.keys[2]) EXCEPT !.epoch = 2], 2, 3, "E3")} :
       \E follower \in {[new EXCEPT !.log = <<Record(1, "LeaderChange", 1, {}), Record(1, "Data", 0, {})>>,
                                   !.flushed = 2, !.high_watermark = 2, !.awaiting = {<<3, 1>>}]} :
         StartWith(configuration, 1 :> [first EXCEPT !.epoch = 2] @@ 2 :> follower @@ 3 :> second,
                   {AfterFetchRequest(second, FetchRequest(follower, 3, 1)).sends[1]})

\* A leader is the last that its target removes.
HandingOver ==
  \E configuration \in {Cluster(3, 3, 0)} :
    /\ config = configuration
    /\ \E leads \in {Leading(configuration, 1, 1)} :
       \E leader \in {AppendRecords(leads, <<AssignmentOf(1, Voters(leads), {}, {2, 3})>>)} :
         StartWith(configuration, 1 :> [leader EXCEPT !.high_watermark = EndOffset(leader)], {})

\* A candidate whom replica 1 knows for no voter asks it for its vote, and it campaigns itself.
NonVoterAsks ==
  \E configuration \in {[SilentLeader EXCEPT !.decisions.vote_of_non_voter = "refuse-and-campaign"]} :
    StartWith(configuration, 1 :> InRole("Unattached", 2), {[Ballot EXCEPT !.source = 4, !.replica_key = <<4, "D">>]})

\* A leader has removed itself, and the only voter that is left says that it has the record.
Removing ==
  \E configuration \in {Cluster(3, 3, 0)} :
    /\ config = configuration
    /\ \E leads \in {Leading(configuration, 1, 1)} :
       \E leader \in {AppendRecords(leads, <<Record(1, "Voters", 0, {<<2, "B">>})>>)} :
       \E new \in {ToFollower([NewReplica(configuration.keys[2]) EXCEPT !.epoch = 1], 1, 1, "E1")} :
       \E follower \in {Flushed(Appended(new, leader.log))} :
         StartWith(configuration, 1 :> leader @@ 2 :> follower, {FetchRequest(follower, 1, 0)})

(***************************************************************************)
(* Where voters change: the start of MCVoters, whose scenes these are.     *)
(* TLC evaluates a definition wherever it is used, a bound variable once.  *)
(***************************************************************************)
AllJoin(configuration) == [configuration EXCEPT !.auto_join = [r \in DOMAIN @ |-> TRUE]]

\* Replica 1 leads, and all that was ever written is committed; the observers in behind have fetched nothing.
Standing(configuration, behind, BeginsWith(_)) ==
  /\ config = configuration
  /\ \E voted \in {VotedForFirst(1)} :
     \E leads \in {ToLeader([voted EXCEPT !.role = "Candidate"])} :
     \E end \in {EndOffset(leads)} :
     \E followers \in {[r \in Ids \ {1} |-> FollowsFirst(r, IF r \in behind THEN <<>> ELSE leads.log, end)]} :
     \E fetching \in {{EntryOf(leads, config.keys[r]) : r \in Ids \ ({1} \cup behind)}} :
     \E leader \in {[leads EXCEPT !.acknowledged = OtherIds(leads), !.high_watermark = end,
                                 !.fetch_offsets = [k \in fetching |-> end]]} :
     \E remembered \in {HistoryOf(leads.log)} :
       BeginsWith([replicas |-> [r \in Ids |-> IF r = 1 THEN leader ELSE followers[r]],
                   history |-> [remembered EXCEPT !.epochs = 1 :> [leaders |-> {leads.replica_key}, end_offset |-> end,
                                                                   rewritten |-> FALSE]]])

\* With replica 3 on a new disk.
OnNewDisk(scene) ==
  \E empty \in {EmptyReplica(<<3, "new">>)} :
    Begins([scene EXCEPT !.replicas[3] = AfterRestart(empty, NoEndpoint).state, !.history.crashes = 1])

\* The leader has a snapshot of all that replica 4 has nothing of.
WithSnapshot(scene) ==
  [scene EXCEPT !.replicas[1] = AfterTakeSnapshot(scene.replicas[1], EndOffset(scene.replicas[1])).state]

LeaderHasSnapshot(scene) == Begins(WithSnapshot(scene))

\* These messages are on their way, and replica r waits for an answer of to.
Waiting(scene, messages, r, to) ==
  /\ replicas = [scene.replicas EXCEPT ![r] = [@ EXCEPT !.awaiting = {<<to, 1>>}]]
  /\ history = scene.history
  /\ network = messages
  /\ cuts = {}

\* Replica 4 wants another snapshot than the one that the leader has: it asked for an older one, or the leader sends
\* another.
WantsAnother(scene) == [scene EXCEPT !.replicas[4] = [@ EXCEPT !.fetched = TRUE, !.wanted_snapshot = <<1, 1>>]]

OldSnapshot(scene) ==
  \E wanting \in {WantsAnother(WithSnapshot(scene))} :
    LET leader == wanting.replicas[1]
        asked == FetchSnapshotRequest(wanting.replicas[4], 1, 1)
        newest == [asked EXCEPT !.snapshot_end_offset = leader.base.end_offset, !.snapshot_epoch = leader.base.epoch]
    IN \E message \in {asked, AfterFetchSnapshotRequest(leader, newest).sends[1]} :
         Waiting(wanting, {message}, 4, 1)

\* The leader waits for versions that it does not need any more: the time of the change is over.
VersionsTooLate(scene) ==
  LET asked == ApiVersionsRequest(scene.replicas[1], 4, 1)
  IN Waiting(scene, {AfterApiVersionsRequest(scene.replicas[4], asked).sends[1]}, 1, 4)

\* Replica 3 has lost its disk and asks to be removed as what it was, or is answered.
Leaves(scene) ==
  LET asked == RemoveVoterRequest(scene.replicas[3], config.keys[3], 1)
      refused == ChangeAnswer(scene.replicas[1], "remove", 3, 1, "REQUEST_TIMED_OUT")
  IN \E message \in {asked, refused} : Waiting(scene, {message}, 3, 1)

StaticVoters == [Cluster(3, 3, 0) EXCEPT !.voters = {<<r, "">> : r \in 1..3}]
OldController == [Joining(4, 3) EXCEPT !.max_version = <<1, 1, 1, 0>>]

Changing ==
  \/ Standing(Joining(4, 3), {}, Begins)
  \/ Standing(OldController, {}, Begins)
  \/ Standing(AllJoin(Joining(3, 2)), {}, Begins)
  \/ Standing(AllJoin(Joining(3, 3)), {}, OnNewDisk)
  \/ Standing(StaticVoters, {}, Begins)
  \/ Standing([StaticVoters EXCEPT !.decisions = Kafka4Decisions], {}, Begins)
  \/ Standing(Joining(4, 3), {4}, LeaderHasSnapshot)
  \/ Standing(Joining(4, 3), {4}, OldSnapshot)
  \/ Standing(Joining(4, 3), {}, VersionsTooLate)
  \/ Standing(AllJoin(Joining(3, 3)), {}, Leaves)

Init ==
  /\ label = NothingHappened
  /\ arrived = NothingArrived
  /\ \/ \E configuration \in Clusters : InitWith(configuration) \/ Elected(configuration, 1)
     \/ FileLost
     \/ LeaderNowhere
     \/ Announced
     \/ AnnouncedToAnother
     \/ LateVote
     \/ Asked
     \/ TwoLeaders
     \/ Removing
     \/ HandingOver
     \/ NonVoterAsks
     \/ Changing

(***************************************************************************)
(* Bounds, and the switches that are off by default.                       *)
(***************************************************************************)
Always(r) == TRUE
AlwaysAt(r, place) == TRUE

Bounds ==
  /\ EpochsUpTo(8)
  /\ Cardinality(network) <= 10
  /\ \A r \in Ids : EndOffset(replicas[r]) <= 10
=============================================================================
