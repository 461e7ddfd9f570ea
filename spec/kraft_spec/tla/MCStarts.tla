------------------------------ MODULE MCStarts -------------------------------
(***************************************************************************)
(* Is a start in the middle reached from the first one?  Goal is such a    *)
(* start, as kraft_dev.starts has it from the slice and searches for it.   *)
(*                                                                         *)
(* The protocol is as it is, whatever the slice that starts there takes    *)
(* out of it.  Only the way is narrow: nothing happens that the goal shows *)
(* never to have happened (OnTheWay), messages come one at a time, in an   *)
(* order that TLC's order of values gives, or are lost, and timers, clients*)
(* and operators wait until none with news is on its way.                  *)
(*                                                                         *)
(* There: every replica is as in the goal, but for what it waits for and   *)
(* whom it has seen in this period of check quorum, which are free again   *)
(* soon (RequestTimeout, WithFetcher).  Messages that are left may be      *)
(* lost, and links cut, at any time.                                       *)
(***************************************************************************)
EXTENDS MCVoters, BothHistories

CONSTANT Goal

KeepsBoth == "kept" \in DOMAIN Goal.history

Init ==
  /\ config = Goal.config
  /\ replicas = [r \in Ids |-> AfterRestart(NewReplica(config.keys[r]), NoEndpoint).state]
  /\ network = {}
  /\ cuts = {}
  /\ history = IF KeepsBoth THEN [kept |-> NewHistory] @@ NewHistory ELSE NewHistory

RememberAsGoal(r, s, after, shown) ==
  IF KeepsBoth THEN RememberBoth(r, s, after, shown) ELSE history' = HistoryAfter(r, s, after, shown)

Plain(s) == [Uncredited(s) EXCEPT !.awaiting = {}]

There ==
  /\ \A r \in Ids : Plain(replicas[r]) = Plain(Goal.replicas[r])
  /\ history = Goal.history

(***************************************************************************)
(* The way.                                                                *)
(***************************************************************************)
RecordsOnTheWay(s, goal) ==
  /\ EndOffset(s) <= EndOffset(goal)
  /\ \A o \in Larger(s.base.end_offset, goal.base.end_offset)..(EndOffset(s) - 1) : RecordAt(s, o) = RecordAt(goal, o)

\* A disk that is replaced later may have been anywhere.
HasItsDisk(r) == replicas[r].replica_key = Goal.replicas[r].replica_key

IsOnTheWay(s, goal) ==
  /\ s.epoch <= goal.epoch
  /\ s.epoch = goal.epoch => s.voted_key \in {NoKey, goal.voted_key} /\ s.leader_id \in {NoLeader, goal.leader_id}
  /\ RecordsOnTheWay(s, goal)
  \* Without a leader there is nothing more to learn.
  /\ s.epoch = goal.epoch /\ goal.leader_id = NoLeader =>
       EndOffset(s) = EndOffset(goal) /\ s.high_watermark >= goal.high_watermark
  /\ s.high_watermark <= IF goal.high_watermark = Unknown THEN EndOffset(Goal.history.committed) ELSE goal.high_watermark
  /\ s.role = "Leader" /\ goal.role = "Leader" /\ s.epoch = goal.epoch =>
       /\ s.acknowledging_voters \subseteq goal.acknowledging_voters
       /\ \A key \in DOMAIN s.fetch_offsets :
            key \in DOMAIN goal.fetch_offsets /\ s.fetch_offsets[key] <= goal.fetch_offsets[key]

\* The leader has not yet heard of replica r what the goal says it has.
StillOwes(r, leader) ==
  LET s == replicas[leader]
      goal == Goal.replicas[leader]
      key == Goal.replicas[r].replica_key
  IN /\ goal.role = "Leader" /\ key \in DOMAIN goal.fetch_offsets
     /\ ~(/\ s.role = "Leader" /\ s.epoch = goal.epoch
           /\ key \in DOMAIN s.fetch_offsets /\ s.fetch_offsets[key] = goal.fetch_offsets[key])

OnTheWay ==
  /\ \A r \in Ids : HasItsDisk(r) => IsOnTheWay(replicas[r], Goal.replicas[r])
  /\ \A r \in Ids : \A leader \in Ids \ {r} :
       StillOwes(r, leader) => /\ replicas[r].epoch <= Goal.replicas[leader].epoch
                               /\ Goal.replicas[r].role = "Stopped" => Runs(r)
  /\ history.crashes <= Goal.history.crashes
  /\ EndOffset(history.committed) <= EndOffset(Goal.history.committed)
  /\ \A e \in DOMAIN history.epochs :
       e \in DOMAIN Goal.history.epochs /\ history.epochs[e].leaders \subseteq Goal.history.epochs[e].leaders
  /\ \A r \in Ids :
       LET votes == history.votes[r]
           goal == Goal.history.votes[r]
       IN HasItsDisk(r) =>
            votes.epoch <= goal.epoch /\ (votes.epoch = goal.epoch => votes.candidates \subseteq goal.candidates)

(***************************************************************************)
(* The network.                                                            *)
(***************************************************************************)
News ==
  {m \in network : /\ Runs(m.destination) /\ ~Dead(m)
                   /\ m.type \in {"BeginQuorumEpochRequest", "BeginQuorumEpochResponse"} \/ HasNews(m)}
\* A replica that is there keeps nobody waiting: what it would send next is not part of the goal.
NobodyIsBehind == \A r \in Ids : IsDue(replicas[r]) => Plain(replicas[r]) = Plain(Goal.replicas[r])
Rests == NobodyIsBehind /\ News = {}

AfterMessage(s, m) ==
  CASE m.type = "VoteRequest" -> AfterVoteRequest(s, m).state
    [] m.type = "VoteResponse" -> AfterVoteResponse(s, m).state
    [] m.type = "BeginQuorumEpochRequest" -> AfterBeginQuorumEpochRequest(s, m).state
    [] m.type = "BeginQuorumEpochResponse" -> AfterBeginQuorumEpochResponse(s, m).state
    [] m.type = "FetchRequest" -> AfterFetchRequest(s, m).state
    [] m.type = "FetchResponse" -> AfterFetchResponse(s, m).state
    [] OTHER -> s

\* A replica that searches, and that the goal shows to have heard of an epoch, asks one that knows it.
AsksWrongOne(m) ==
  LET s == replicas[m.source]
      epoch == Goal.replicas[m.source].epoch
  IN /\ m.type = "FetchRequest" /\ s.searching /\ replicas[m.destination].epoch < epoch
     /\ \E r \in BootstrapServers(s) : Runs(r) /\ replicas[r].epoch = epoch

\* The next message arrives if its receiver is on its way then, and is lost if not.  Who knows the leader votes no more.
Asking == {m \in News : m.type = "VoteRequest"}
IsNext(m) == NobodyIsBehind /\ m = CHOOSE first \in (IF Asking = {} THEN News ELSE Asking) : TRUE
Arrives(m) ==
  /\ ~AsksWrongOne(m)
  /\ ~HasItsDisk(m.destination) \/ IsOnTheWay(AfterMessage(replicas[m.destination], m), Goal.replicas[m.destination])

InLine(r, types) == {m \in News : m.destination = r /\ m.type \in types /\ IsNext(m) /\ Arrives(m)}

LosesNext(m) ==
  /\ m \in News /\ IsNext(m) /\ ~Arrives(m)
  /\ network' = network \ {m}
  /\ UNCHANGED <<config, replicas, cuts, history>>

GivesUp(r, to) ==
  /\ Rests /\ Plain(replicas[r]) # Plain(Goal.replicas[r])
  /\ ~\E m \in network : m.correlation_id # 0 /\ {m.source, m.destination} = {r, to}

Asked(s) ==
  CASE s.role = "Follower" -> IF s.searching THEN BootstrapServers(s) \cup {s.leader_id} ELSE {s.leader_id}
    [] s.role = "Unattached" -> {r \in BootstrapServers(s) : ~IsVoter(s) /\ replicas[r].leader_id # NoLeader}
    [] OTHER -> {}

(***************************************************************************)
(* Timers, clients and operators: what the goal shows to have happened.    *)
(***************************************************************************)
\* A replica that knows an epoch alone has it from a round of another.
TellsEpoch(r, q) ==
  LET goal == Goal.replicas[q] IN
  /\ goal.role = "Unattached" /\ goal.voted_key = NoKey /\ goal.leader_id = NoLeader
  /\ replicas[q].epoch < goal.epoch /\ replicas[r].epoch = goal.epoch /\ IsVoter(replicas[r])

\* A replica that campaigned; one that a Pre-Vote was asked of; one that is in a round.  A campaign that nobody wins
\* beside a leader needs a Pre-Vote of one that has lost the leader too.
MayTime(r, timer) ==
  LET s == replicas[r]
      goal == Goal.replicas[r]
      key == goal.replica_key
      candidate == goal.epoch > s.epoch /\ goal.voted_key = key
  IN \/ ElectionTimer(timer) /\ \E q \in Ids : TellsEpoch(r, q)
     \/ ElectionTimer(timer) /\ candidate /\ goal.leader_id = NoLeader /\ \E q \in Ids : replicas[q].role = "Prospective"
     \/ /\ Rests
        /\ \/ timer = "voter-change"
           \/ /\ ElectionTimer(timer)
              /\ \/ \E e \in DOMAIN Goal.history.epochs : e > s.epoch /\ key \in Goal.history.epochs[e].leaders
                 \/ candidate
                 \/ s.fetched /\ (~goal.fetched \/ \E q \in Ids : Goal.replicas[q].epoch > s.epoch)
                 \/ goal.role = "Prospective" /\ goal.epoch = s.epoch

\* Of what is under a snapshot the committed records tell.
NextRecord(r) ==
  LET end == EndOffset(replicas[r]) IN
  RecordAt(IF end < Goal.replicas[r].base.end_offset THEN Goal.history.committed ELSE Goal.replicas[r], end)
HasNextRecord(r) == EndOffset(replicas[r]) < EndOffset(Goal.replicas[r])
AppendsNext(r) == Rests /\ HasNextRecord(r) /\ NextRecord(r).kind = "Data"
AppendsNextSet(r) == Rests /\ HasNextRecord(r) /\ NextRecord(r).kind = "Voters"
AssignsNext(r) == Rests /\ HasNextRecord(r) /\ NextRecord(r).kind = "VoterAssignment"
Targets == {<<Ascending(ids)>> : ids \in UNION {{TargetOf(Goal.replicas[r].log[i]) : i \in 1..Len(Goal.replicas[r].log)} : r \in Ids} \ {{}}}

\* A replica that has started again knows nothing to be committed.  One that stays down crashes where the goal has it.
CrashesNow(r) ==
  /\ Rests /\ history.crashes < Goal.history.crashes /\ Goal.replicas[r].high_watermark = Unknown
  /\ Goal.replicas[r].role = "Stopped" /\ HasItsDisk(r) =>
       Plain(Crashed(replicas[r], EndOffset(replicas[r]))) = Plain(Goal.replicas[r])
GetsNewDisk(r) == ~HasItsDisk(r)
LeadsAgain(r) == \E e \in DOMAIN Goal.history.epochs : e > replicas[r].epoch /\ replicas[r].replica_key \in Goal.history.epochs[e].leaders
ShutsDownNow(r) == Rests /\ (Goal.replicas[r].role = "Resigned" \/ LeadsAgain(r))
TakesSnapshot(r, end) == Rests /\ Goal.replicas[r].base.end_offset = end
=============================================================================
