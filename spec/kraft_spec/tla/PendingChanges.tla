--------------------------- MODULE PendingChanges ---------------------------
(***************************************************************************)
(* An accepted voter change, up to the reply.  A leader has at most one,   *)
(* its pending_change.  VoterChanges.tla has the preconditions.  The       *)
(* phases and what the leader waits for in each:                           *)
(*                                                                         *)
(*   learn-versions  ApiVersions response of the new voter                 *)
(*   catch-up        Fetch of the new voter at the end of the log          *)
(*   commit          commit of the change's last record                    *)
(***************************************************************************)
EXTENDS Leadership

Client == -1                          \* requester of a change: an admin client, not a replica
Reassignment == -2                    \* requester of a change: none, it is a step of a reassignment

\* A change whose record is appended at once; an addition, which waits first.
ImmediateChange(kind, voter, requester, request, whenCommitted) ==
  [kind |-> kind, phase |-> "commit", voter |-> voter, endpoint |-> NoEndpoint, min_version |-> -1, max_version |-> -1,
   offset |-> -1, requester |-> requester, request |-> request, when_committed |-> whenCommitted]

Addition(voter, endpoint, requester, request, whenCommitted) ==
  [ImmediateChange("add", voter, requester, request, whenCommitted)
     EXCEPT !.phase = "learn-versions", !.endpoint = endpoint]

IsPending(s) == s.pending_change.kind # "none"

(***************************************************************************)
(* Answers: a client gets a Reply, which is not sent over the network, a   *)
(* replica gets the response to its request.                               *)
(* Rules: add-voter.leader-only, remove-voter.leader-only,                 *)
(* update-voter.leader-only                                                *)
(***************************************************************************)
AnswerTypes == [add |-> "AddVoterResponse", remove |-> "RemoveVoterResponse", update |-> "UpdateVoterResponse"]

ChangeAnswer(s, kind, requester, request, error) ==
  LET endpoint == IF config.sends_leader_endpoint[s.replica_key.id] THEN s.leader_endpoint ELSE NoEndpoint IN
  IF requester = Client
  THEN [type |-> "Reply", request |-> request, error |-> error, epoch |-> s.epoch, leader_id |-> s.leader_id,
        leader_endpoint |-> endpoint]
  ELSE [type |-> AnswerTypes[kind], source |-> s.replica_key.id, destination |-> requester, correlation_id |-> request,
        error |-> error,
        epoch |-> s.epoch, leader_id |-> s.leader_id, leader_endpoint |-> endpoint]

\* The outcome with the pending change ended, and its requester answered if there is one.
AnswerChange(out, error) ==
  LET change == out.state.pending_change IN
  [out EXCEPT !.state.pending_change = NoChange,
              !.sends = IF change.requester = Reassignment THEN @
                        ELSE Append(@, ChangeAnswer(out.state, change.kind, change.requester, change.request, error))]

\* The outcome without an addition whose record is not appended yet, because the target of the reassignment has changed.
\* Rules: reassign.cancel-by-new-target, add-voter.conditions-hold-at-append
AbandonAddition(out) ==
  IF IsPending(out.state) /\ out.state.pending_change.phase # "commit"
  THEN AnswerChange(out, "REASSIGNMENT_IN_PROGRESS") ELSE out

\* The outcome with these requests of clients that await their target answered.
\* Rules: reassign.request-success-after-commit, reassign.client-retries
AnswerClients(out, requests, error) ==
  LET s == out.state
      numbers == Ascending(requests)
  IN IF requests = {} THEN out
     ELSE [out EXCEPT !.state.awaited_targets = {a \in @ : a.request \notin requests},
                      !.sends = @ \o [n \in 1..Len(numbers) |-> ChangeAnswer(s, "", Client, numbers[n], error)]]

(***************************************************************************)
(* Appends.                                                                *)
(***************************************************************************)
\* The leader flushes before it counts its own log end.  A new voter set takes effect at once: a removed voter no longer
\* counts, and a new voter has not fetched or acknowledged yet.
\* Rules: voters.effective-on-append, voters.commit-by-new-set,
\*        add-voter.append-and-apply, remove-voter.append-and-apply, hw.majority, durable.flush-before-fetch,
\*        voters.begin-epoch-to-current-voters, reassign.begin-epoch-to-new-voter
AppendRecords(s, records) ==
  LET after == Flushed(Appended(s, records))
      same == {v.id : v \in Voters(s) \cap Voters(after)}
  IN WithHighWatermark(
       IF Voters(after) = Voters(s) THEN after
       ELSE [after EXCEPT !.fetchers = @ \cap same, !.acknowledging_voters = @ \cap same])

\* The outcome with the records of a change appended; the answer waits for their commit if the change says so.
\* Rules: add-voter.reply-after-commit, remove-voter.reply-after-commit, update-voter.reply-time,
\*        kraft-version.reply-after-commit, kraft-version.upgrade-atomic-batch
AppendChange(out, records, change) ==
  LET after == AppendRecords(out.state, records)
      committing == [change EXCEPT !.phase = "commit", !.offset = EndOffset(after) - 1]
      waiting == [out EXCEPT !.state = [after EXCEPT !.pending_change = committing]]
  IN IF change.when_committed THEN waiting ELSE AnswerChange(waiting, "NONE")

(***************************************************************************)
(* The answers that waited for the high watermark; then a removed leader   *)
(* resigns.                                                                *)
(* Rules: add-voter.reply-after-commit, remove-voter.reply-after-commit,   *)
(* remove-voter.leader-removal, reassign.request-success-after-commit      *)
(***************************************************************************)
ConcludeCommitted(out) ==
  LET s == out.state
      concluded == IF IsPending(s) /\ s.pending_change.phase = "commit" /\ s.high_watermark > s.pending_change.offset
                   THEN AnswerChange(out, "NONE") ELSE out
      committed == {a.request : a \in {b \in s.awaited_targets : s.high_watermark > b.offset}}
      answered == AnswerClients(concluded, committed, "NONE")
  IN IF RemovalIsCommitted(s)
     THEN [answered EXCEPT !.state = ToResigned(@, PreferredCandidates(@))]
     ELSE answered

\* Progress counts by replica key, not by id.  Rule: identity.could-become-voter
HasFetchedUpTo(s, voter, offset) == voter \in DOMAIN s.fetch_offsets /\ s.fetch_offsets[voter] >= offset

\* The outcome with the new voter added, if it has caught up: it has fetched up to the offset where the log ended when the
\* wait began.  The other preconditions still hold, because no other set can have been appended since the request.
\* Rules: add-voter.catch-up-first, add-voter.conditions-hold-at-append, add-voter.append-and-apply,
\*        identity.could-become-voter
AppendCaughtUp(out) ==
  LET s == out.state
      change == s.pending_change
      reported == VoterDetails(change.voter.id, change.endpoint, change.min_version, change.max_version)
      record == SetRecord(s, Voters(s) \cup {change.voter}, WithDetails(Details(s), reported))
  IN IF /\ change.kind # "none" /\ change.phase = "catch-up"
        /\ HasFetchedUpTo(s, change.voter, change.offset)
     THEN AppendChange(out, <<record>>, change)
     ELSE out

(***************************************************************************)
(* ApiVersions: the leader asks a new voter for its kraft.version range.   *)
(***************************************************************************)
\* Rule: add-voter.learn-versions
AwaitsVersionsOf(s) ==
  IF s.pending_change.kind # "none" /\ s.pending_change.phase = "learn-versions"
  THEN {s.pending_change.voter.id} \cap Ids ELSE {}

ApiVersionsRequest(s, to, corr) == [type |-> "ApiVersionsRequest", source |-> s.replica_key.id, destination |-> to,
                                    correlation_id |-> corr]

\* Rule: kraft-version.levels
AfterApiVersionsRequest(s, m) ==
  Outcome(s, <<[type |-> "ApiVersionsResponse", source |-> s.replica_key.id, destination |-> m.source,
                correlation_id |-> m.correlation_id,
                min_version |-> config.min_version[s.replica_key.id],
                max_version |-> config.max_version[s.replica_key.id]]>>)

\* Offset that the new voter has to have fetched before it is added.  Kafka adds one that was caught up within the hour.
\* Rule: add-voter.catch-up-first
CaughtUpOffset(s) == IF config.profile.lagging_voter = "added" THEN 0 ELSE EndOffset(s)

\* Rules: add-voter.learn-versions, add-voter.version-must-be-supported, add-voter.catch-up-first
AfterApiVersionsResponse(s, m) ==
  LET rest == FreeConnection(s, m)
      learned == [rest EXCEPT !.pending_change.phase = "catch-up", !.pending_change.min_version = m.min_version,
                              !.pending_change.max_version = m.max_version,
                              !.pending_change.offset = CaughtUpOffset(s)]
      lags == ~HasFetchedUpTo(s, s.pending_change.voter, CaughtUpOffset(s))
      finalized == FinalizedLevel(s)
  IN
  IF ~Correlated(s, m) THEN Ignored(s, "UNCORRELATED_RESPONSE")
  ELSE IF AwaitsVersionsOf(s) # {m.source} THEN Ignored(rest, "NO_CHANGE_WAITS")
  ELSE IF finalized < m.min_version \/ finalized > m.max_version THEN AnswerChange(Becomes(rest), "INVALID_REQUEST")
  ELSE IF lags /\ config.profile.lagging_voter # "awaited" THEN AnswerChange(Becomes(rest), "REQUEST_TIMED_OUT")
  ELSE AppendCaughtUp(Becomes(learned))

(***************************************************************************)
(* Timeout, and loss of leadership.                                        *)
(***************************************************************************)
\* An appended record stays in the log.  Rule: add-voter.timeout
AfterVoterChangeTimeout(s) == AnswerChange(Becomes(s), "REQUEST_TIMED_OUT")

\* True if this message answers the change.
Answers(sent, change) ==
  IF sent.type = "Reply" THEN change.requester = Client /\ sent.request = change.request
  ELSE /\ sent.type \in {"AddVoterResponse", "RemoveVoterResponse", "UpdateVoterResponse"}
       /\ sent.correlation_id = change.request

\* True if a leader leaves its role with requests unanswered.  Their records stay in the log, or are truncated.
\* Rules: add-voter.leader-change-leaves-outcome-open, reassign.client-retries
LeavesRequests(s, out) ==
  /\ s.role = "Leader" /\ out.state.role # "Leader"
  /\ IsPending(s) \/ s.awaited_targets # {}

\* Rule: add-voter.leader-change-leaves-outcome-open
WithLostLeadership(s, out) ==
  LET error == "NOT_LEADER_OR_FOLLOWER"
      change == s.pending_change
      open == /\ IsPending(s) /\ change.requester # Reassignment
              /\ \A i \in 1..Len(out.sends) : ~Answers(out.sends[i], change)
      sent == IF open
              THEN [out EXCEPT !.sends = Append(@, ChangeAnswer(out.state, change.kind, change.requester,
                                                                change.request, error))]
              ELSE out
      answered == {sent.sends[i].request : i \in {j \in 1..Len(sent.sends) : sent.sends[j].type = "Reply"}}
  IN AnswerClients(sent, {a.request : a \in s.awaited_targets} \ answered, error)
=============================================================================
