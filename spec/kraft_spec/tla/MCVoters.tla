------------------------------ MODULE MCVoters -------------------------------
(***************************************************************************)
(* What the slices about voter changes share: clusters at kraft.version 1  *)
(* with replicas that are no voters yet, a start in the middle, and four   *)
(* reductions beside those of MCBounds.                                    *)
(*                                                                         *)
(* Reductions.                                                             *)
(*                                                                         *)
(* 6. Versions at once (Rested, Delivered): an exchange of ApiVersions is  *)
(*    over before anything else happens.  It changes nothing at the        *)
(*    replica that is asked, its content is constant, and what it changes  *)
(*    at the leader is the phase of the pending change alone.  Until then  *)
(*    the change does nothing but refuse others, which is no step of the   *)
(*    model, and be given up, as if it had never been asked for.  So a     *)
(*    behaviour in which it takes long is one in which the client asked    *)
(*    later.  Not where the replica that is asked may be stopped.          *)
(*                                                                         *)
(* 7. No news (HasNews): a Fetch is not delivered while it would change    *)
(*    nothing at the leader and its answer nothing at the follower; the    *)
(*    request waits, as if sent and answered in vain some times before.    *)
(*    A later change of the follower that keeps its request open could     *)
(*    give such an answer an effect only by setting the fetched flag       *)
(*    again, which makes it refuse Pre-Votes; a Pre-Vote that is refused   *)
(*    does what one that is lost and an election timeout do.  The same for *)
(*    an announcement to a follower of its sender, and for the answer to   *)
(*    one, which only says that it need not be repeated: nothing repeats   *)
(*    it in these slices.  An open request of the leader to a voter keeps  *)
(*    it from nothing but ApiVersions to the same id, so this is not for   *)
(*    slices in which a voter is removed and its id is added again.        *)
(*                                                                         *)
(* 8. No credit (VIEW WithoutCredit): the field fetchers is read by the    *)
(*    check-quorum timer (off where this is used) and by the announcement, *)
(*    which is sent at once, when nobody can have fetched yet.             *)
(*                                                                         *)
(* 9. No Pre-Vote (WithoutPreVote): a replica whose timer fires is         *)
(*    Candidate at once.  A round of Pre-Votes changes no epoch, vote, log *)
(*    or voter set; it only decides whether a campaign follows.  So the    *)
(*    behaviours with it are found among those without, where followers    *)
(*    that fetch cannot keep a rival down.  What Pre-Vote itself does is   *)
(*    the matter of the slices election, stability and mixed; it is the    *)
(*    same whatever the voter set.                                         *)
(*                                                                         *)
(* Client events happen at leaders only: all other replicas, and a leader  *)
(* that refuses, answer the client and change nothing, which is no step of *)
(* the model.  All clients share one request number, which nothing reads   *)
(* but the answer.                                                         *)
(*                                                                         *)
(* Dead messages (reduction 4) stay dead: the three conditions are about   *)
(* the receiver's epoch, vote and leader, and voter changes touch none.    *)
(* DeadHaveNoEffect and DeadStayDead check it in each slice.               *)
(***************************************************************************)
EXTENDS MCBounds

WithoutPreVote(configuration) ==
  [configuration EXCEPT !.pre_vote = [r \in DOMAIN configuration.pre_vote |-> "unsupported"]]

\* Replicas 1..voters are formatted with the list of them, the others without one, at kraft.version 1.
Joining(size, voters) ==
  WithoutPreVote([Cluster(size, voters, 1)
                    EXCEPT !.initial_voters = [r \in 1..size |-> IF r <= voters THEN {NoKey} ELSE {}]])

(***************************************************************************)
(* A start in the middle: replica 1 leads epoch 1 with the votes of all    *)
(* voters, everything is replicated and committed, and everybody knows.    *)
(* The observers in behind know the leader and have fetched nothing.       *)
(* The check voters-standing-is-reached shows that behaviours from the     *)
(* first start lead here.                                                  *)
(***************************************************************************)
VotedForFirst(r) ==
  LET new == NewReplica(config.keys[r]) IN
  [new EXCEPT !.epoch = 1, !.voted_key = IF IsVoter(new) THEN config.keys[1] ELSE NoKey]

FirstLeads == Of(ToLeader, [VotedForFirst(1) EXCEPT !.role = "Candidate"])

FollowsFirst(r, records, highWatermark) ==
  LET Follows(s) == ToFollower(s, 1, 1, config.endpoints[1])
      Has(s) == [Flushed(s) EXCEPT !.fetched = TRUE, !.high_watermark = highWatermark]
      Fetches(s) == Appended(s, records)
      follower == Of(Follows, VotedForFirst(r))
  IN IF records = <<>> THEN follower ELSE Of(Has, Of(Fetches, follower))

StandWith(leads, behind) ==
  LET end == EndOffset(leads)
      fetching == {EntryOf(leads, config.keys[r]) : r \in Ids \ ({1} \cup behind)}
      leader == [leads EXCEPT !.acknowledging_voters = OtherIds(leads), !.high_watermark = end,
                              !.fetch_offsets = [k \in fetching |-> end]]
  IN [replicas |-> Each([r \in Ids |-> IF r = 1 THEN leader
                                       ELSE FollowsFirst(r, IF r \in behind THEN <<>> ELSE leads.log, end)]),
      history |-> [HistoryOf(leads.log)
                     EXCEPT !.epochs = 1 :> [leaders |-> {leads.replica_key}, end_offset |-> end, rewritten |-> FALSE],
                            !.votes = Each([r \in Ids |-> IF IsVoter(NewReplica(config.keys[r]))
                                                          THEN [epoch |-> 1, candidates |-> {leads.replica_key}]
                                                          ELSE NoVotes])]]

Stand(behind) == LET With(leads) == StandWith(leads, behind) IN Of(With, FirstLeads)

(***************************************************************************)
(* From there: the leader appends records, which only the holders fetch,   *)
(* and it does not learn that they did; and then another replica is        *)
(* elected in epoch 2 by these voters, who know.                           *)
(***************************************************************************)
AppendsFor(scene, records, holders) ==
  LET Appends(s) == AppendRecords(s, records)
      Fetches(s) == Flushed(Appended(s, records))
      leader == Of(Appends, scene.replicas[1])
  IN [replicas |-> Each([r \in Ids |-> IF r = 1 THEN leader
                                       ELSE IF r \in holders THEN Of(Fetches, scene.replicas[r])
                                       ELSE scene.replicas[r]]),
      history |-> [scene.history EXCEPT !.epochs[1].end_offset = EndOffset(leader)]]

SetOf(ids) ==
  LET keys == {config.keys[r] : r \in ids} IN VotersRecordOf(1, keys, FormattedDetails(keys))

NextLeads(scene, id, electors) ==
  LET key == scene.replicas[id].replica_key
      Votes(s) == [ToUnattached(s, 2, NoLeader) EXCEPT !.voted_key = key]
      Leads(s) == [ToLeader([s EXCEPT !.role = "Candidate"]) EXCEPT !.acknowledging_voters = electors]
      Follows(s) == ToFollower(s, 2, id, config.endpoints[id])
      Voted(r) == Of(Votes, scene.replicas[r])
      leader == Of(Leads, Voted(id))
  IN [replicas |-> Each([r \in Ids |-> IF r = id THEN leader
                                       ELSE IF r \in electors THEN Of(Follows, Voted(r))
                                       ELSE scene.replicas[r]]),
      history |-> [scene.history
                     EXCEPT !.epochs = 2 :> [leaders |-> {key}, end_offset |-> EndOffset(leader),
                                             rewritten |-> FALSE] @@ @,
                            !.votes = Each([r \in Ids |-> IF r \in electors \cup {id}
                                                          THEN [epoch |-> 2, candidates |-> {key}] ELSE @[r]])]]

\* A scene is to be bound by a quantifier over a singleton: that computes it once, as Of does.
Begins(scene) ==
  /\ replicas = scene.replicas
  /\ history = scene.history
  /\ network = {}
  /\ cuts = {}

(***************************************************************************)
(* Reductions 6 to 8.                                                      *)
(***************************************************************************)
VersionTypes == {"ApiVersionsRequest", "ApiVersionsResponse"}

IsDue(s) == (s.role # "Follower" /\ SomethingIsDue(s)) \/ FetchIsDue(s)

NobodyIsDue == \A r \in Ids : ~IsDue(replicas[r])
NobodyAsksVersions == \A m \in network : m.type \notin VersionTypes

\* Timers and clients wait for this.
Rested == NobodyIsDue /\ NobodyAsksVersions

\* A field that nothing in these slices reads.
Uncredited(s) == [s EXCEPT !.fetchers = {}]

TellsSender(sender, answer) ==
  /\ answer.correlation_id # 0
  /\ AfterFetchResponse(sender, answer).state # FreeConnection(sender, answer)

HasNews(m) ==
  LET s == replicas[m.destination] IN
  CASE m.type = "FetchRequest" ->
         LET out == AfterFetchRequest(s, m)
         IN Uncredited(out.state) # Uncredited(s) \/ TellsSender(replicas[m.source], out.sends[1])
    [] m.type = "BeginQuorumEpochRequest" ->
         LET out == AfterBeginQuorumEpochRequest(s, m)
         IN out.state # s \/ out.sends[1].error # "NONE" \/ out.sends[1].epoch # m.epoch
    [] m.type = "BeginQuorumEpochResponse" ->
         \/ m.error # "NONE"
         \/ [AfterBeginQuorumEpochResponse(s, m).state EXCEPT !.acknowledging_voters = {}]
              # [FreeConnection(s, m) EXCEPT !.acknowledging_voters = {}]
    [] OTHER -> TRUE

Delivered(r, types) ==
  {m \in Deliverable(r, types) : NobodyIsDue /\ (m.type \in VersionTypes \/ NobodyAsksVersions) /\ HasNews(m)}

WithoutCredit == <<[r \in Ids |-> Uncredited(replicas[r])], {m \in network : ~Dead(m)}, cuts, history>>

(***************************************************************************)
(* Switches.                                                               *)
(***************************************************************************)
NeverAdd(r, request, voter, endpoint, whenCommitted, sameCluster) == FALSE
NeverRemove(r, request, voter, sameCluster) == FALSE

\* A client asks the leader of epoch 1, or any.
AsksFirst(r) == r = 1 /\ replicas[r].role = "Leader" /\ Rested
AsksAny(r) == replicas[r].role = "Leader" /\ Rested

AsksSecond(r) == r = 2 /\ AsksAny(r)

\* Replica 3 votes and never fetches: any majority needs it or the records of the others.
ThirdOnlyVotes(s) == IF s.role = "Follower" /\ s.replica_key.id # 3 THEN {s.leader_id} ELSE {}

ElectionTimer(timer) == timer \in {"election", "fetch"}
=============================================================================
