----------------------------- MODULE MCCombined ------------------------------
(***************************************************************************)
(* Slices "combined...": everything at once that the other slices about    *)
(* voters have one by one.  A voter is added and one is removed, in either *)
(* order, any one and also the leader; requests run out of time; a replica *)
(* crashes, at rest or after any prefix of the effects of any step, with   *)
(* any part of its unflushed tail lost, and starts again; another leader   *)
(* is elected, with Pre-Vote; a client appends.                            *)
(*                                                                         *)
(* Bounds: Size replicas at kraft.version 1, of which all but the last are *)
(* voters at first; starts from Stand in MCVoters; epochs up to            *)
(* EpochLimit; no log has more than MaxChanges changes of the voters, and  *)
(* more than one record of a client; one crash, of one of Crashers; the    *)
(* voters in Campaigners time out, not in the last epoch.                  *)
(* Leaves out: what is given up by a connection (network); an observer     *)
(* that does not hear of the next leader and looks for it, so that it is   *)
(* added in epoch 1 only (voters-disk-loss has both); snapshots, lost      *)
(* disks, check quorum and hand-over by shutdown (slices of their own).    *)
(*                                                                         *)
(* Reductions: 1, 2, 4 to 8 of MCBounds and MCVoters, three as follows and *)
(* one more.  combined-small-whole has none of them; a test compares it    *)
(* with combined-small.                                                    *)
(*                                                                         *)
(*   3 (fetch at once): a replica that may still crash fetches at any      *)
(*   time, because a Fetch flushes its log.  Nothing reads any more what   *)
(*   the others have flushed.  Where only leaders crash, all fetch at once *)
(*   (MCQuorumReassignment says why).                                      *)
(*                                                                         *)
(*   6 and 7 (AtRest, TellsNews), as in MCQuorumReassignment: a replica    *)
(*   that is asked for its versions is asked while it runs, and an         *)
(*   announcement without news that keeps the leader from asking is        *)
(*   delivered.                                                            *)
(*                                                                         *)
(*   7 again: an answer that refuses a vote, and only that, is not         *)
(*   delivered: it makes a Prospective give up, as its election timeout    *)
(*   does, and keeps a Candidate from asking others, whose answers may     *)
(*   never come.  The same for EndQuorumEpoch to a follower that would not *)
(*   change, and for its answer, which is for sending it again.            *)
(*                                                                         *)
(*  10. Restart at once: while a replica is down nothing else happens.     *)
(*   What it restarts as is read from its disk, which nobody else touches; *)
(*   and one that has restarted and hears nothing is to all others as one  *)
(*   that is down.                                                         *)
(***************************************************************************)
EXTENDS MCVoters

EpochLimit == 2
Size == 4
Behind == {Size}
Campaigners == 1..Size
Crashers == 1..Size
MaxChanges == 2

Init ==
  /\ config = [Joining(Size, Size - 1) EXCEPT !.pre_vote = [r \in 1..Size |-> "supported"]]
  /\ \E scene \in {Stand(Behind)} : Begins(scene)

(***************************************************************************)
(* Reductions.                                                             *)
(***************************************************************************)
MayStillCrash(r) == r \in Crashers /\ history.crashes = 0

IsBehind(r) ==
  LET s == replicas[r] IN
  \/ ~Runs(r)
  \/ s.role # "Follower" /\ SomethingIsDue(s)
  \/ FetchIsDue(s) /\ ~MayStillCrash(r)

NobodyIsBehind == \A r \in Ids : ~IsBehind(r)
AtRest == NobodyIsBehind /\ NobodyAsksVersions

KeepsBusy(m) ==
  /\ m.type \in {"BeginQuorumEpochRequest", "BeginQuorumEpochResponse"}
  /\ \/ m.destination \in AwaitsVersionsOf(replicas[m.source])
     \/ m.source \in AwaitsVersionsOf(replicas[m.destination])

TellsNews(m) ==
  LET s == replicas[m.destination] IN
  CASE m.type = "EndQuorumEpochRequest" ->
         LET out == AfterEndQuorumEpochRequest(s, m)
         IN out.state # s \/ out.sends[1].error # "NONE" \/ out.sends[1].epoch # m.epoch
    [] m.type = "EndQuorumEpochResponse" ->
         \/ m.error # "NONE"
         \/ [AfterEndQuorumEpochResponse(s, m).state EXCEPT !.acknowledging_voters = {}] # [FreeConnection(s, m) EXCEPT !.acknowledging_voters = {}]
    [] m.type = "VoteResponse" ->
         \/ m.granted
         \/ LET after == Learn(FreeConnection(s, m), m.epoch, m.leader_id, m.leader_endpoint) IN after # FreeConnection(s, m)
    [] OTHER -> HasNews(m) \/ KeepsBusy(m)

Arriving(r, types) ==
  {m \in Deliverable(r, types) : NobodyIsBehind /\ (m.type \in VersionTypes \/ NobodyAsksVersions) /\ TellsNews(m)}

(***************************************************************************)
(* Bounds.                                                                 *)
(***************************************************************************)
Asks(r) ==
  /\ replicas[r].role = "Leader" /\ ~IsPending(replicas[r])
  /\ Len(replicas[r].voters) <= MaxChanges + 1
AsksAtRest(r) == Asks(r) /\ AtRest

Appends(r) == \A i \in 1..Len(replicas[r].log) : replicas[r].log[i].kind # "Data"
AppendsAtRest(r) == Appends(r) /\ AtRest

TimeOut(r, timer) ==
  \/ ElectionTimer(timer) /\ r \in Campaigners /\ replicas[r].epoch < EpochLimit /\ IsVoter(replicas[r])
  \/ timer = "voter-change"
TimeOutAtRest(r, timer) == TimeOut(r, timer) /\ AtRest

Bounds == EpochsUpTo(EpochLimit) /\ \A r \in Ids : Len(replicas[r].voters) <= MaxChanges + 2

(***************************************************************************)
(* Narrower bounds.                                                        *)
(***************************************************************************)
Nobody == {}
Three == 3
OneChange == 1
OnlyFirst == {1}
OnlySecond == {2}
FirstTwo == {1, 2}
Second == {config.keys[2]}
All == {config.keys[r] : r \in Ids}
Leaders == {r \in Ids : replicas[r].role = "Leader"}

(***************************************************************************)
(* Probe: must be found violated.                                          *)
(***************************************************************************)
Sizes(s) == [i \in 1..Len(s.voters) |-> Cardinality(s.voters[i].voters)]
NotAllAtOnce ==
  (\A r \in Ids : Runs(r)) =>
    ~\E r \in Ids : LET s == replicas[r] IN
       /\ s.role = "Leader" /\ s.epoch = 2 /\ history.crashes = 1
       /\ \E q \in Ids \ {r} : history.votes[q] = [epoch |-> 2, candidates |-> {s.replica_key}]
       /\ \E i \in 3..Len(s.voters) : Sizes(s)[i] > Sizes(s)[i - 1]
       /\ \E i \in 3..Len(s.voters) : Sizes(s)[i] < Sizes(s)[i - 1]
       /\ s.high_watermark = EndOffset(s)

(***************************************************************************)
(* Without any reduction; and what the invariants can tell of a state: not *)
(* what says only whom a replica asks next, and one that is down counts as *)
(* what it will start as.                                                  *)
(***************************************************************************)
AnyInFlight(r, types) == {m \in network : m.destination = r /\ m.type \in types}

VisibleOf(r) ==
  LET s == IF Runs(r) THEN replicas[r] ELSE AfterRestart(replicas[r], NoEndpoint).state
  IN [s EXCEPT !.awaiting = {}, !.fetchers = {}, !.acknowledging_voters = {}, !.rejected = {}, !.granted = {}, !.flushed = 0,
               !.fetched = FALSE, !.preferred_candidates = <<>>]
Visible == <<[r \in Ids |-> VisibleOf(r)], history>>

\* Broken: without the log check.
AnyLogIsUpToDate(lastEpoch, endOffset, s) == TRUE
=============================================================================
