----------------------------- MODULE Elections -----------------------------
(***************************************************************************)
(* Timeouts that start elections, Pre-Vote and Vote.  An operator After... *)
(* maps a replica's state, and the message, to an outcome.                 *)
(***************************************************************************)
EXTENDS Roles

\* Rules: state.unattached.entry-timer, observer.states, observer.never-nominates
HasElectionTimer(s) ==
  \/ s.role \in {"Prospective", "Candidate", "Resigned"}
  \/ s.role = "Unattached" /\ IsVoter(s)

\* Before KIP-996 a Resigned voter became Candidate of the next epoch.  Rule: state.resigned.timeout
StandsAgain(s) == IsVoter(s) /\ LacksPreVote(s)

\* Rules: state.unattached.election-timeout, state.prospective.lost.no-leader, state.candidate.election-timeout,
\*        state.candidate.lost, state.resigned.timeout
AfterElectionTimeout(s) ==
  CASE s.role = "Unattached"  -> Becomes(ToProspective(s))
    [] s.role = "Prospective" -> Becomes(LosePreVote(s))
    [] s.role = "Candidate"   -> Becomes(ToProspective(s))
    [] s.role = "Resigned" /\ StandsAgain(s)  -> Becomes(ToCandidate(s))
    [] s.role = "Resigned" /\ ~StandsAgain(s) -> Becomes(ToUnattached(s, s.epoch + 1, NoLeader))

\* A voter starts a Pre-Vote; an observer only fetches from the bootstrap servers as well.
\* Rules: state.follower.fetch-timeout, observer.fetch-timeout, prevote.follower.refusal-expires,
\*        observer.becomes-voter, voters.self-added-may-campaign, remove-voter.removed-node-becomes-observer,
\*        observer.never-nominates, identity.observer-definition
AfterFetchTimeout(s) ==
  IF IsVoter(s) THEN Becomes(ToProspective(s))
  ELSE Becomes([s EXCEPT !.searching = @ \/ config.profile.observer_refusal # "timer-unused",
                         !.fetched = @ /\ config.profile.observer_refusal # "expires"])

(***************************************************************************)
(* Requests.                                                               *)
(***************************************************************************)
\* Prospective and Candidate send requests to the voters that have not responded, as long as they can win.
\* Rules: prevote.request.recipients, prevote.request.contents, vote.request.contents, state.candidate.lost
CanStillWin(s) == IsMajority(Cardinality(Voters(s)) - Cardinality(s.rejected), s)

VoteRequest(s, voter, corr) ==
  [type |-> "VoteRequest", source |-> s.replica_key.id, destination |-> voter.id, correlation_id |-> corr,
   epoch |-> s.epoch, replica_key |-> s.replica_key, voter_key |-> voter,
   last_epoch |-> LastEpoch(s), end_offset |-> EndOffset(s), pre_vote |-> s.role = "Prospective"]

VoteResponse(s, m, granted, error, preVote) ==
  [type |-> "VoteResponse", source |-> s.replica_key.id, destination |-> m.source, correlation_id |-> m.correlation_id,
   error |-> error,
   epoch |-> s.epoch, leader_id |-> s.leader_id,
   leader_endpoint |-> IF config.sends_leader_endpoint[s.replica_key.id] THEN s.leader_endpoint ELSE NoEndpoint,
   granted |-> granted, pre_vote |-> preVote]

\* Rules: prevote.leader.rejects, prevote.unattached.grants, prevote.prospective.grants, prevote.candidate.grants,
\*        prevote.resigned.grants, prevote.follower.rejects-after-fetch, prevote.follower.grants-before-fetch,
\*        prevote.grant.multiple, prevote.observer.answers, prevote.request.log-check,
\*        voters.removed-voter-must-not-disrupt
GrantsPreVote(s, m) ==
  /\ s.role # "Leader"
  /\ s.role = "Follower" => ~s.fetched
  /\ UpToDate(m.last_epoch, m.end_offset, s)

\* Rules: vote.decision-order, vote.once-per-epoch, vote.repeat-grant, vote.known-leader.rejects, vote.log-check,
\*        vote.follower.rejects, vote.candidate.rejects, vote.leader.rejects, vote.resigned.rejects,
\*        vote.membership-not-checked, reassign.votes-from-non-voters, vote.unsupported-version
GrantsVote(s, m) ==
  /\ s.role \in {"Unattached", "Prospective"}
  /\ IF s.voted_key # NoKey THEN Names(s.voted_key, m.replica_key)
     ELSE IF s.leader_id # NoLeader THEN FALSE
     ELSE UpToDate(m.last_epoch, m.end_offset, s)

\* Rules: state.prospective.add-vote, vote.persist-before-reply, identity.voted-key-persisted,
\*        durable.vote.v0-uuid-in-memory
WithVote(s, key) ==
  IF s.voted_key # NoKey THEN s
  ELSE IF s.role = "Prospective" THEN [Prospective(s) EXCEPT !.voted_key = key]
  ELSE [s EXCEPT !.voted_key = key]

\* Rules: prevote.request.check-order, prevote.request.stale-epoch, prevote.request.higher-epoch,
\*        prevote.request.last-epoch-bound, prevote.grant.no-side-effects, prevote.reply.contents,
\*        vote.request.stale-epoch, vote.request.higher-epoch, vote.voter-key, vote.inconsistent-voter-set-gone,
\*        identity.addressed-to-key
AfterVoteRequest(s, m) ==
  LET preVote == m.pre_vote /\ config.pre_vote[s.replica_key.id] = "supported"
      Refuse(after, error) == Outcome(after, <<VoteResponse(after, m, FALSE, error, preVote)>>)
      now == IF m.epoch > s.epoch THEN ToUnattached(s, m.epoch, NoLeader) ELSE s
  IN
  IF m.last_epoch > m.epoch \/ (~preVote /\ m.last_epoch = m.epoch)
  THEN [Refuse(s, "INVALID_REQUEST") EXCEPT !.reason = "MALFORMED_REQUEST"]
  ELSE IF m.epoch < s.epoch
  THEN [Refuse(s, "FENCED_LEADER_EPOCH") EXCEPT !.reason = "STALE_EPOCH"]
  ELSE IF ~Addresses(m.voter_key, s.replica_key)
  THEN Refuse(now, config.profile.voter_key_error)
  ELSE IF preVote
  THEN Outcome(now, <<VoteResponse(now, m, GrantsPreVote(now, m), "NONE", TRUE)>>)
  ELSE IF GrantsVote(now, m)
  THEN Outcome(WithVote(now, m.replica_key), <<VoteResponse(WithVote(now, m.replica_key), m, TRUE, "NONE", FALSE)>>)
  ELSE Refuse(now, "NONE")

(***************************************************************************)
(* Responses.                                                              *)
(***************************************************************************)
\* True if a response matches an outstanding request.  This is tested before its epoch is compared: a replica that has
\* changed its role since, or restarted, must not count a vote that was granted to its former role.
\* Rules: prevote.response.correlate, prevote.response.ignored-when-candidate, vote.response.late
Correlated(s, m) == OutstandingRequest(m.source, m.correlation_id) \in s.awaiting

\* A Follower asks the bootstrap servers, too, after a request to its leader got no response, or an error.
\* Rule: fetch.who-fetches
LooksElsewhere(s, to) == s.role = "Follower" /\ s.leader_id = to /\ config.profile.unanswered_fetch = "servers-too"

\* The state after a response has freed the connection to its sender.
FreeConnection(s, m) == [s EXCEPT !.awaiting = {a \in @ : a.destination # m.source}]

\* Rules: prevote.response.majority, prevote.response.rejected, vote.response.counting, state.candidate.lost,
\*        state.prospective.to-candidate, state.candidate.to-leader, state.voters-set.own-majority
CountVote(s, m) ==
  LET fresh == m.source \in VoterIds(s) /\ m.source \notin s.granted \cup s.rejected
      counted == IF ~fresh THEN s
                 ELSE IF m.granted THEN [s EXCEPT !.granted = @ \cup {m.source}]
                 ELSE [s EXCEPT !.rejected = @ \cup {m.source}]
  IN CASE s.role = "Candidate"   -> LeaderIfMajority(counted)
       [] s.role = "Prospective" ->
            IF IsMajority(Cardinality(counted.granted), s) THEN ToCandidate(counted)
            ELSE IF CanStillWin(counted) THEN counted
            ELSE LosePreVote(counted)

\* In this order: correlation, epoch and leader, support for Pre-Vote, the count of votes.
\* Rules: prevote.response.epoch-first, prevote.response.leader-wins-over-grant, prevote.response.flag-false,
\*        prevote.unsupported-version, prevote.unsupported-version.after-majority, state.prospective.discovers-leader,
\*        state.candidate.leader-equal-epoch, prevote.response.correlate, vote.response.late
AfterVoteResponse(s, m) ==
  LET rest == FreeConnection(s, m)
      learned == Learn(rest, m.epoch, m.leader_id, m.leader_endpoint)
  IN
  IF ~Correlated(s, m)
  THEN Ignored(s, "UNCORRELATED_RESPONSE")
  ELSE IF m.error = "UNSUPPORTED_VERSION"
  THEN IF s.role = "Prospective"
       THEN Becomes(ToCandidate(rest)) ELSE Ignored(rest, "NO_PRE_VOTE_ROUND")
  ELSE IF m.epoch < s.epoch
  THEN Ignored(rest, "STALE_EPOCH")
  ELSE IF NamesSecondLeader(s, m.epoch, m.leader_id)
  THEN Ignored(rest, "SECOND_LEADER_IN_EPOCH")
  ELSE IF learned # rest
  THEN Becomes(learned)
  ELSE IF s.role = "Prospective" /\ ~m.pre_vote
  THEN Becomes(ToCandidate(rest))
  ELSE IF m.error # "NONE"
  THEN Ignored(rest, "ERROR_RESPONSE")
  ELSE IF s.role \in {"Prospective", "Candidate"}
  THEN Becomes(CountVote(rest, m))
  ELSE Ignored(rest, "ELECTION_IS_OVER")
=============================================================================
