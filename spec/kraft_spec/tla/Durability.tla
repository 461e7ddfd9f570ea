---------------------------- MODULE Durability -----------------------------
(***************************************************************************)
(* What is on disk, in which order an outcome reaches it, and what a       *)
(* restart makes of it.                                                    *)
(***************************************************************************)
EXTENDS Replication

\* A replica that does not run keeps its epoch, leader, vote and log, and nothing else.
Stopped(s) ==
  [Cleared(s) EXCEPT !.role = "Stopped", !.endpoint = NoEndpoint, !.highWatermark = Unknown]

\* A crash loses any part of the log's unflushed tail.  Rule: durable.flush-before-fetch
Crashed(s, kept) == [Stopped(Truncated(s, kept)) EXCEPT !.flushed = kept]
KeptAfterCrash(s) == s.flushed .. EndOffset(s.log)

(***************************************************************************)
(* The effects of an outcome, in the order in which they happen: quorum    *)
(* state, log, flush, and only then the messages.                          *)
(* Rules: durable.write-before-act, vote.persist-before-reply,             *)
(* durable.soft-transitions                                                *)
(***************************************************************************)
Quorum(s) == <<s.epoch, s.leader, s.voted>>

DurableEffects(s, after) ==
     (IF Quorum(after) # Quorum(s) THEN <<"PersistQuorumState">> ELSE <<>>)
  \o (IF EndOffset(after.log) < EndOffset(s.log) THEN <<"Truncate">> ELSE <<>>)
  \o (IF EndOffset(after.log) > EndOffset(s.log) THEN <<"Append">> ELSE <<>>)
  \o (IF after.flushed > s.flushed THEN <<"Flush">> ELSE <<>>)

\* What a replica has on disk when only the first done effects happened.
Reached(s, after, done) ==
  LET effects == DurableEffects(s, after)
      Done(effect) == \E i \in 1..Least(done, Len(effects)) : effects[i] = effect
      persisted == IF Done("PersistQuorumState")
                   THEN [s EXCEPT !.epoch = after.epoch, !.leader = after.leader, !.voted = after.voted] ELSE s
      written == IF Done("Truncate") \/ Done("Append")
                 THEN [persisted EXCEPT !.log = after.log, !.voters = after.voters,
                                        !.flushed = Least(@, EndOffset(after.log))]
                 ELSE persisted
  IN IF Done("Flush") THEN [written EXCEPT !.flushed = after.flushed] ELSE written

\* The messages that left before the crash.
Left(s, out, done) ==
  LET durable == Len(DurableEffects(s, out.state)) IN
  IF done <= durable THEN <<>> ELSE SubSeq(out.sends, 1, done - durable)

(***************************************************************************)
(* Restart.                                                                *)
(* Rules: durable.restart.was-leader, durable.restart.voted-self,          *)
(* durable.restart.known-leader, durable.restart.log-epoch,                *)
(* durable.vote.v0-uuid-in-memory, durable.fields-v0, durable.fields-v1,   *)
(* durable.version-by-kraft                                                *)
(***************************************************************************)
AfterRestart(s) ==
  LET read == [s EXCEPT !.voted = IF config.kraftVersion = 0 THEN <<@[1], "">> ELSE @]
      id == s.key[1]
      ownVote == read.voted # NoKey /\ Names(read.voted, s.key)
      endpoint == EndpointOf(s, s.leader, NoEndpoint)
      candidate == ownVote /\ IsVoter(s)
                     /\ (s.leader = NoLeader \/ config.decisions.restartPrecedence = "own-vote")
  IN
  IF LastEpoch(s.log) > s.epoch                       \* the file was lost: its vote counts as spent
  THEN Becomes([ToUnattached(read, LastEpoch(s.log), NoLeader) EXCEPT !.voted = s.key])
  ELSE IF s.leader = id
  THEN Becomes([ToResigned(read, <<>>) EXCEPT !.endpoint = config.endpoints[id]])
  ELSE IF candidate
  THEN Becomes(LeaderIfMajority([read EXCEPT !.role = "Candidate", !.leader = NoLeader, !.granted = {id}]))
  ELSE IF s.leader # NoLeader /\ endpoint # NoEndpoint
  THEN Becomes([read EXCEPT !.role = "Follower", !.endpoint = endpoint])
  ELSE Becomes([read EXCEPT !.role = "Unattached"])

\* A replica as it is formatted.
NewReplica(key) ==
  [key |-> key, role |-> "Stopped", epoch |-> 0, leader |-> NoLeader, endpoint |-> NoEndpoint, voted |-> NoKey,
   log |-> <<>>, flushed |-> 0, voters |-> BaseVoters, highWatermark |-> Unknown,
   granted |-> {}, rejected |-> {}, fetched |-> FALSE, searching |-> FALSE,
   epochStart |-> 0, offsets |-> NoOffsets, fetchers |-> {}, acknowledged |-> {}, preferred |-> <<>>, awaiting |-> {}]
=============================================================================
