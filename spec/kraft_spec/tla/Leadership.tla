---------------------------- MODULE Leadership -----------------------------
(***************************************************************************)
(* The announcement of a leader (BeginQuorumEpoch), check quorum, and the  *)
(* hand-over (EndQuorumEpoch).                                             *)
(***************************************************************************)
EXTENDS Elections

(***************************************************************************)
(* Check quorum, by the leader's own timer.                                *)
(***************************************************************************)
\* Rule: check-quorum.sole-voter
HasCheckQuorumTimer(s) == s.role = "Leader" /\ Others(s) # {}

\* Rules: check-quorum.resign, check-quorum.zombie-leader, check-quorum.frees-followers
AfterCheckQuorumTimeout(s) == Becomes(ToResigned(s, PreferredCandidates(s)))

\* A voter that fetches counts once in a period; a majority, with the leader, starts the next period.
\* Rules: check-quorum.resign, check-quorum.counts-keys, hw.leader-excluded
WithFetcher(s, entry) ==
  IF entry \notin Others(s) THEN s
  ELSE LET fetchers == {f \in s.fetchers \cup {entry.id} : f \in OtherIds(s)}
           present == Cardinality(fetchers) + (IF IsVoter(s) THEN 1 ELSE 0)
       IN [s EXCEPT !.fetchers = IF IsMajority(present, s) THEN {} ELSE fetchers]

\* Rule: state.leader.resigns
AfterShutdown(s) == Becomes(ToResigned(s, PreferredCandidates(s)))

\* A removed leader stays until the set without it is committed, because only it can commit that set; then it resigns.
\* Rule: remove-voter.leader-removal
RemovalIsCommitted(s) ==
  /\ s.role = "Leader" /\ ~IsVoter(s)
  /\ s.high_watermark > s.voters[Len(s.voters)].offset

(***************************************************************************)
(* BeginQuorumEpoch.                                                       *)
(***************************************************************************)
\* Rules: begin-quorum.on-election, begin-quorum.endpoint
BeginQuorumEpochRequest(s, voter, corr) ==
  [type |-> "BeginQuorumEpochRequest", source |-> s.replica_key.id, destination |-> voter.id, correlation_id |-> corr,
   epoch |-> s.epoch, voter_key |-> voter,
   leader_endpoint |-> IF config.sends_leader_endpoint[s.replica_key.id] THEN s.leader_endpoint ELSE NoEndpoint]

Response(type, s, m, error) ==
  [type |-> type, source |-> s.replica_key.id, destination |-> m.source, correlation_id |-> m.correlation_id,
   error |-> error,
   epoch |-> s.epoch, leader_id |-> s.leader_id,
   leader_endpoint |-> IF config.sends_leader_endpoint[s.replica_key.id] THEN s.leader_endpoint ELSE NoEndpoint]

\* The leader announces itself to every voter again.  Rule: begin-quorum.resend
AfterBeginQuorumEpochTimeout(s) == Becomes([s EXCEPT !.acknowledging_voters = {}])

\* Rules: begin-quorum.accept, begin-quorum.stale, begin-quorum.voter-key, begin-quorum.membership-not-checked,
\*        begin-quorum.no-fetch-credit, state.follower.larger-epoch-leader, state.prospective.discovers-leader
AfterBeginQuorumEpochRequest(s, m) ==
  LET Answer(after, error) == Outcome(after, <<Response("BeginQuorumEpochResponse", after, m, error)>>)
      learned == Learn(s, m.epoch, m.source, m.leader_endpoint)
      back == s.role = "Prospective" /\ s.epoch = m.epoch /\ s.leader_id = m.source
                /\ config.profile.prospective_announcement = "follower"
      \* Version 0 of the request has no endpoint; the replica keeps the one that it knows.
      endpoint == IF m.leader_endpoint = NoEndpoint THEN s.leader_endpoint ELSE m.leader_endpoint
      after == IF back THEN Follow(s, m.epoch, m.source, endpoint) ELSE learned
  IN
  IF m.epoch < s.epoch
  THEN [Answer(s, "FENCED_LEADER_EPOCH") EXCEPT !.reason = "STALE_EPOCH"]
  ELSE IF NamesSecondLeader(s, m.epoch, m.source)
  THEN [Answer(s, "INVALID_REQUEST") EXCEPT !.reason = "SECOND_LEADER_IN_EPOCH"]
  ELSE IF ~Addresses(m.voter_key, s.replica_key)
  THEN Answer(after, config.profile.voter_key_error)
  ELSE Answer(after, "NONE")

\* Rule: begin-quorum.response
AfterBeginQuorumEpochResponse(s, m) ==
  LET rest == FreeConnection(s, m)
      learned == Learn(rest, m.epoch, m.leader_id, m.leader_endpoint)
  IN
  IF ~Correlated(s, m) THEN Ignored(s, "UNCORRELATED_RESPONSE")
  ELSE IF m.epoch < s.epoch THEN Ignored(rest, "STALE_EPOCH")
  ELSE IF NamesSecondLeader(s, m.epoch, m.leader_id) THEN Ignored(rest, "SECOND_LEADER_IN_EPOCH")
  ELSE IF learned # rest THEN Becomes(learned)
  ELSE IF m.error # "NONE" THEN Ignored(rest, "ERROR_RESPONSE")
  ELSE Becomes([rest EXCEPT !.acknowledging_voters = @ \cup {m.source}])

(***************************************************************************)
(* EndQuorumEpoch.                                                         *)
(***************************************************************************)
\* Rule: end-quorum.send
EndQuorumEpochRequest(s, voter, corr) ==
  [type |-> "EndQuorumEpochRequest", source |-> s.replica_key.id, destination |-> voter.id, correlation_id |-> corr,
   epoch |-> s.epoch, preferred_candidates |-> s.preferred_candidates]

\* The position in preferred_candidates determines only the timer, which the model does not have.
\* Rules: end-quorum.handle, end-quorum.candidate-key, end-quorum.frees-followers, end-quorum.stale
AfterEndQuorumEpochRequest(s, m) ==
  LET Answer(after, error) == Outcome(after, <<Response("EndQuorumEpochResponse", after, m, error)>>)
      learned == Learn(s, m.epoch, m.source, NoEndpoint)
      after == IF learned.role = "Follower" /\ config.profile.end_quorum_fetched_flag = "cleared"
               THEN [learned EXCEPT !.fetched = FALSE] ELSE learned
  IN
  IF m.epoch < s.epoch
  THEN [Answer(s, "FENCED_LEADER_EPOCH") EXCEPT !.reason = "STALE_EPOCH"]
  ELSE IF NamesSecondLeader(s, m.epoch, m.source)
  THEN [Answer(s, "INVALID_REQUEST") EXCEPT !.reason = "SECOND_LEADER_IN_EPOCH"]
  ELSE Answer(after, "NONE")

\* Rules: end-quorum.stale, state.resigned.higher-epoch
AfterEndQuorumEpochResponse(s, m) == AfterBeginQuorumEpochResponse(s, m)
=============================================================================
