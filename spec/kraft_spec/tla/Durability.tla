---------------------------- MODULE Durability -----------------------------
(***************************************************************************)
(* What is on disk, in which order an outcome reaches it, and what a       *)
(* restart makes of it.                                                    *)
(***************************************************************************)
EXTENDS Snapshots

\* A replica that does not run keeps its epoch, leader, vote and log, and nothing else.
Stopped(s) ==
  [Cleared(s) EXCEPT !.role = "Stopped", !.endpoint = NoEndpoint, !.highWatermark = Unknown, !.moved = NoEndpoint]

\* A crash loses any part of the log's unflushed tail, in whole batches; what was synced ended one, whatever it looks
\* like.
\* Rules: durable.flush-before-fetch, kraft-version.upgrade-atomic-batch
Crashed(s, kept) == [Stopped(Truncated(s, kept)) EXCEPT !.flushed = kept]
KeptAfterCrash(s) == {kept \in s.flushed .. EndOffset(s) : kept = s.flushed \/ ~TearsBatch(s, kept)}

(***************************************************************************)
(* The effects of an outcome, in the order in which they happen: quorum    *)
(* state, snapshot, log, flush, and only then the messages.  A snapshot    *)
(* makes durable what it is in place of.                                   *)
(* Rules: durable.write-before-act, vote.persist-before-reply,             *)
(* durable.soft-transitions, identity.voted-key-persisted                  *)
(***************************************************************************)
Quorum(s) == <<s.epoch, s.leader, s.voted>>

\* Rule: snapshot.control-records-first
HasNewBase(s, after) == after.base.end # s.base.end \/ after.base.epoch # s.base.epoch

DurableEffects(s, after) ==
     (IF Quorum(after) # Quorum(s) THEN <<"PersistQuorumState">> ELSE <<>>)
  \o IF HasNewBase(s, after) THEN <<"WriteSnapshot">>
     ELSE    (IF EndOffset(after) < EndOffset(s) THEN <<"Truncate">> ELSE <<>>)
          \o (IF EndOffset(after) > EndOffset(s) THEN <<"Append">> ELSE <<>>)
          \o (IF after.flushed > s.flushed THEN <<"Flush">> ELSE <<>>)

(***************************************************************************)
(* What every outcome comes to, whatever the event was, before it becomes  *)
(* a step: the quorum state file is written in the version that fits the   *)
(* newest level, and the requester of a change that a leader leaves behind *)
(* is told so.                                                             *)
(* Rules: durable.version-by-kraft, kraft-version.finalized-when,          *)
(* add-voter.leader-change-leaves-outcome-open, reassign.client-retries    *)
(***************************************************************************)
Concluded(s, out) ==
  LET told == IF LeavesRequests(s, out) THEN ToldOfLostLeadership(s, out) ELSE out
  IN IF out.state.fileVersion = Level(out.state) \/ Quorum(out.state) = Quorum(s) THEN told
     ELSE [told EXCEPT !.state.fileVersion = Level(out.state)]

\* What a replica has on disk when only the first done effects happened.
Reached(s, after, done) ==
  LET effects == DurableEffects(s, after)
      Done(effect) == \E i \in 1..Least(done, Len(effects)) : effects[i] = effect
      persisted == IF Done("PersistQuorumState")
                   THEN [s EXCEPT !.epoch = after.epoch, !.leader = after.leader, !.voted = after.voted,
                                  !.fileVersion = after.fileVersion]
                   ELSE s
      written == IF Done("Truncate") \/ Done("Append")
                 THEN [persisted EXCEPT !.log = after.log, !.voters = after.voters, !.levels = after.levels,
                                        !.flushed = Least(@, EndOffset(after))]
                 ELSE persisted
  IN IF Done("WriteSnapshot")
     THEN [persisted EXCEPT !.base = after.base, !.log = after.log, !.voters = after.voters, !.levels = after.levels,
                            !.flushed = after.flushed]
     ELSE IF Done("Flush") THEN [written EXCEPT !.flushed = after.flushed] ELSE written

\* The messages that left before the crash.
Left(s, out, done) ==
  LET durable == Len(DurableEffects(s, out.state)) IN
  IF done <= durable THEN <<>> ELSE SubSeq(out.sends, 1, done - durable)

(***************************************************************************)
(* Restart, listening at an endpoint of its own choice or where the        *)
(* configuration says (NoEndpoint).                                        *)
(* Rules: durable.restart.was-leader, durable.restart.voted-self,          *)
(* durable.restart.known-leader, durable.restart.log-epoch,                *)
(* durable.vote.v0-uuid-in-memory, durable.fields-v0, durable.fields-v1,   *)
(* durable.version-by-kraft, identity.voted-uuid-volatile-at-version-0,    *)
(* update-voter.when-sent                                                  *)
(***************************************************************************)
AfterRestart(s, endpoint) ==
  LET forgets == s.fileVersion = 0 /\ config.decisions.votedDirectoryAtVersion0 = "forgotten"
      read == [s EXCEPT !.voted = IF forgets THEN <<@[1], "">> ELSE @, !.moved = endpoint]
      id == s.key[1]
      ownVote == read.voted # NoKey /\ Names(read.voted, s.key)
      known == EndpointOf(s, s.leader, NoEndpoint)
      nominated == ownVote /\ IsVoter(s)
                     /\ (s.leader = NoLeader \/ config.decisions.restartPrecedence = "own-vote")
  IN
  IF LastEpoch(s) > s.epoch                           \* the file was lost: its vote counts as spent
  THEN Becomes([ToUnattached(read, LastEpoch(s), NoLeader) EXCEPT
                  !.voted = IF config.decisions.voteOfLostFile = "spent" THEN s.key ELSE NoKey])
  ELSE IF s.leader = id
  THEN Becomes([ToResigned(read, <<>>) EXCEPT !.endpoint = OwnEndpoint(read)])
  ELSE IF nominated /\ s.leader = NoLeader /\ config.decisions.ownVoteAtRestart = "prospective"
  THEN Becomes(ToProspective(read))
  ELSE IF nominated /\ (s.leader # NoLeader \/ config.decisions.ownVoteAtRestart = "candidate")
  THEN Becomes(LeaderIfMajority([read EXCEPT !.role = "Candidate", !.leader = NoLeader, !.granted = {id}]))
  ELSE IF s.leader # NoLeader /\ known # NoEndpoint
  THEN Becomes([read EXCEPT !.role = "Follower", !.endpoint = known])
  ELSE Becomes([read EXCEPT !.role = "Unattached"])

(***************************************************************************)
(* A replica as it is formatted, with the list that it was given; a disk   *)
(* that replaces another is given none at level 1, or it would bring back  *)
(* an old one.                                                             *)
(* Rules: identity.directory-id-at-format, bootstrap.standalone,           *)
(* bootstrap.multi-voter, bootstrap.no-list-means-observer                 *)
(***************************************************************************)
FormattedWith(key, voters) ==
  LET base == Checkpoint(voters) IN
  [key |-> key, role |-> "Stopped", epoch |-> 0, leader |-> NoLeader, endpoint |-> NoEndpoint, voted |-> NoKey,
   log |-> <<>>, flushed |-> 0, base |-> base, voters |-> BaseVoters(base), levels |-> BaseLevels(base),
   highWatermark |-> Unknown, fileVersion |-> base.level, moved |-> NoEndpoint,
   granted |-> {}, rejected |-> {}, fetched |-> FALSE, searching |-> FALSE,
   epochStart |-> 0, offsets |-> NoOffsets, fetchers |-> {}, acknowledged |-> {}, preferred |-> <<>>, awaiting |-> {},
   pending |-> NoChange, reports |-> {}, awaited |-> {}, wanted |-> NoSnapshotId]

\* {NoKey} stands for the voters of the cluster.  Rule: bootstrap.sets-must-be-equal
InitialVoters(id) == IF config.initial[id] = {NoKey} THEN config.voters ELSE config.initial[id]

NewReplica(key) == FormattedWith(key, InitialVoters(key[1]))
EmptyReplica(key) == FormattedWith(key, IF config.kraftVersion = 0 THEN config.voters ELSE {})
=============================================================================
