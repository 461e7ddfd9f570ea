---------------------------- MODULE VoterChanges ----------------------------
(***************************************************************************)
(* Preconditions of AddVoter, RemoveVoter, UpdateVoter and UpdateFeatures, *)
(* and the error for each; the requests that a voter or a joining replica  *)
(* sends for itself.  PendingChanges.tla has accepted changes.             *)
(*                                                                         *)
(* The preconditions are tested in a fixed order; the first that fails     *)
(* determines the error.  They keep an invariant: voter sets that can      *)
(* decide at the same time differ by at most one voter, so any majority of *)
(* one has a voter in common with any of the other (ConfigOverlap).        *)
(***************************************************************************)
EXTENDS Replication

(***************************************************************************)
(* Preconditions.                                                          *)
(***************************************************************************)
\* The error that answers a request, and the reason that a trace records.
RefusedWith(error, reason) == [error |-> error, reason |-> reason]
NotRefused == RefusedWith("", "")

\* The leader has committed a record of its own epoch.  Otherwise two sets can decide at once.  Leader 1 of {1, 2, 3, 4}
\* appends {1, 2, 3} and stops before anyone has it.  Leader 2 of the next epoch appends {1, 2, 3, 4, 5} and commits it with
\* 4 and 5.  Replica 1 returns, and wins with the vote of 3, a majority of its set {1, 2, 3}: what is committed is lost.
\* Rule: voters.epoch-committed-before-change
EpochIsCommitted(s) == s.high_watermark > s.epoch_start_offset

\* The newest voter set is committed; a set of the base is.  Rule: voters.one-change-at-a-time
SetIsCommitted(s) ==
  LET offset == s.voters[Len(s.voters)].offset IN offset < s.base.end_offset \/ s.high_watermark > offset

\* Rule: voters.one-change-at-a-time
IsBusy(s) == s.pending_change.kind # "none"

\* True if a directory id or endpoint is present and not empty; "(empty)" is the empty text, which only other software sends.
IsText(text) == text \notin {"", "(empty)"}
IsNamedWell(key) == key.id >= 0 /\ IsText(key.directory_id)

\* The preconditions of AddVoter and RemoveVoter alike.  A busy leader answers REQUEST_TIMED_OUT, because clients retry
\* after that error.
\* Rules: add-voter.check-order, remove-voter.check-order, add-voter.leader-only, remove-voter.leader-only,
\*        add-voter.well-formed, add-voter.unsupported-version, voters.static-set-at-version-0,
\*        bootstrap.same-cluster-id, reassign.single-member-steps
MembershipError(s, sameCluster, wellFormed) ==
  IF ~sameCluster THEN RefusedWith("INCONSISTENT_CLUSTER_ID", "FOREIGN_CLUSTER")
  ELSE IF s.role # "Leader" THEN RefusedWith("NOT_LEADER_OR_FOLLOWER", "NOT_LEADER")
  ELSE IF ~wellFormed THEN RefusedWith("INVALID_REQUEST", "MALFORMED_REQUEST")
  ELSE IF Target(s) # NoTarget THEN RefusedWith("REASSIGNMENT_IN_PROGRESS", "REQUEST_REFUSED")
  ELSE IF IsBusy(s) \/ ~EpochIsCommitted(s) THEN RefusedWith("REQUEST_TIMED_OUT", "REQUEST_REFUSED")
  ELSE IF FinalizedLevel(s) < 1 THEN RefusedWith("UNSUPPORTED_VERSION", "REQUEST_REFUSED")
  ELSE IF ~SetIsCommitted(s) THEN RefusedWith("REQUEST_TIMED_OUT", "REQUEST_REFUSED")
  ELSE NotRefused

RefusedChange(s, kind, requester, request, error, reason) ==
  [Outcome(s, <<ChangeAnswer(s, kind, requester, request, error)>>) EXCEPT !.reason = reason]

(***************************************************************************)
(* AddVoter and RemoveVoter.  The requester is a replica or Client.        *)
(***************************************************************************)
\* Rules: add-voter.check-order, add-voter.duplicate-id, auto-join.uses-the-ordinary-rpcs,
\*        voters.at-most-one-difference, add-voter.leader-only, add-voter.conditions-hold-at-append
AfterAddVoter(s, requester, request, voter, endpoint, whenCommitted, sameCluster) ==
  LET failed == MembershipError(s, sameCluster, IsNamedWell(voter) /\ IsText(endpoint))
      Refuse(error, reason) == RefusedChange(s, "add", requester, request, error, reason)
  IN
  IF failed # NotRefused THEN Refuse(failed.error, failed.reason)
  ELSE IF voter.id \in VoterIds(s) THEN Refuse("DUPLICATE_VOTER", "REQUEST_REFUSED")
  ELSE Becomes([s EXCEPT !.pending_change = Addition(voter, endpoint, requester, request, whenCommitted)])

\* The leader can be removed, the last voter cannot.
\* Rules: remove-voter.check-order, remove-voter.exact-key, remove-voter.append-and-apply, voters.never-empty,
\*        remove-voter.leader-removal, voters.at-most-one-difference, remove-voter.leader-only
AfterRemoveVoter(s, requester, request, voter, sameCluster) ==
  LET failed == MembershipError(s, sameCluster, IsNamedWell(voter))
      Refuse(error, reason) == RefusedChange(s, "remove", requester, request, error, reason)
      record == SetRecord(s, Voters(s) \ {voter}, Details(s))
  IN
  IF failed # NotRefused THEN Refuse(failed.error, failed.reason)
  ELSE IF voter \notin Voters(s) \/ Voters(s) = {voter} THEN Refuse("VOTER_NOT_FOUND", "REQUEST_REFUSED")
  ELSE LET change == ImmediateChange("remove", voter, requester, request, TRUE)
       IN ConcludeCommitted(AppendChange(Becomes(s), <<record>>, change))

\* The same requests from a joining replica.
AfterAddVoterRequest(s, m) == AfterAddVoter(s, m.source, m.correlation_id, m.voter, m.endpoint, m.when_committed, TRUE)
AfterRemoveVoterRequest(s, m) == AfterRemoveVoter(s, m.source, m.correlation_id, m.voter, TRUE)

(***************************************************************************)
(* UpdateVoter: new details of a voter; the voters stay the same.          *)
(***************************************************************************)
\* What a voter reports of itself.
Report(key, details) ==
  [key |-> key, endpoint |-> details.endpoint, min_version |-> details.min_version, max_version |-> details.max_version]

WithReport(reports, report) == {known \in reports : known.key.id # report.key.id} \cup {report}

\* Rules: update-voter.check-order, update-voter.leader-only, update-voter.not-a-membership-change,
\*        update-voter.range-must-include-finalized, update-voter.in-memory-at-version-0, update-voter.reply-time,
\*        identity.directory-id-never-silently-replaced, check-quorum.counts-keys
AfterUpdateVoterRequest(s, m) ==
  LET Answer(after, error, reason) ==
        [Outcome(after, <<ChangeAnswer(after, "update", m.source, m.correlation_id, error)>>) EXCEPT !.reason = reason]
      finalized == FinalizedLevel(s)
      named == {v \in Voters(s) : Names(v, m.voter)}
      keys == (Voters(s) \ named) \cup {m.voter}
      details == WithDetails(Details(s), VoterDetails(m.voter.id, m.endpoint, m.min_version, m.max_version))
      change == ImmediateChange("update", m.voter, m.source, m.correlation_id, FALSE)
      seen == IF config.profile.update_voter_credit = "fetch" THEN WithFetcher(s, EntryOf(s, m.voter)) ELSE s
  IN
  IF m.epoch < s.epoch THEN Answer(s, "FENCED_LEADER_EPOCH", "STALE_EPOCH")
  ELSE IF m.epoch > s.epoch THEN Answer(s, "UNKNOWN_LEADER_EPOCH", "UNKNOWN_EPOCH")
  ELSE IF s.role # "Leader" THEN Answer(s, "NOT_LEADER_OR_FOLLOWER", "NOT_LEADER")
  ELSE IF ~IsNamedWell(m.voter) \/ ~IsText(m.endpoint) \/ m.min_version < 0 \/ m.min_version > m.max_version
  THEN Answer(s, "INVALID_REQUEST", "MALFORMED_REQUEST")
  ELSE IF IsBusy(s) \/ ~EpochIsCommitted(s) \/ ~SetIsCommitted(s) THEN Answer(s, "REQUEST_TIMED_OUT", "REQUEST_REFUSED")
  ELSE IF Level(s) = 0 /\ config.profile.report_at_version_0 = "refused"
  THEN Answer(s, "UNSUPPORTED_VERSION", "REQUEST_REFUSED")
  ELSE IF finalized < m.min_version \/ finalized > m.max_version THEN Answer(s, "INVALID_REQUEST", "REQUEST_REFUSED")
  ELSE IF named = {} THEN Answer(s, "VOTER_NOT_FOUND", "REQUEST_REFUSED")
  ELSE IF Level(s) = 0
  THEN Answer([seen EXCEPT !.reports = WithReport(@, Report(m.voter, m))], "NONE", "")
  ELSE IF keys = Voters(s) /\ details = Details(s) THEN Answer(seen, "NONE", "")
  ELSE ConcludeCommitted(AppendChange(Becomes(seen), <<SetRecord(s, keys, details)>>, change))

(***************************************************************************)
(* UpdateFeatures: kraft.version from 0 to 1, with the voter set in the    *)
(* same batch.  The controller knows the brokers' range of versions, the   *)
(* replica does not.                                                       *)
(* Rules: kraft-version.upgrade-atomic-batch,                              *)
(* kraft-version.upgrade-needs-all-voters,                                 *)
(* kraft-version.upgrade-needs-all-observers, kraft-version.no-downgrade   *)
(***************************************************************************)
\* The reports of the voters, with the leader's own.
KnownReports(s) == WithReport(s.reports, Report(s.replica_key, OwnDetails(s)))

CanUpgrade(s, level, brokersMin, brokersMax) ==
  /\ Level(s) = 0 /\ level = 1
  /\ brokersMin <= level /\ level <= brokersMax
  /\ LET known == KnownReports(s) IN
     \A v \in Voters(s) : \E report \in known :
       report.key.directory_id # "" /\ Names(v, report.key) /\ report.min_version <= level /\ level <= report.max_version

AfterUpdateFeatures(s, request, level, brokersMin, brokersMax) ==
  LET Answer(error, reason) == RefusedChange(s, "upgrade", Client, request, error, reason)
      reports == {report \in KnownReports(s) : report.key.id \in VoterIds(s)}
      keys == {report.key : report \in reports}
      details == {VoterDetails(report.key.id, report.endpoint, report.min_version, report.max_version) : report \in reports}
  IN
  IF s.role # "Leader" THEN Answer("NOT_LEADER_OR_FOLLOWER", "NOT_LEADER")
  ELSE IF IsBusy(s) \/ ~EpochIsCommitted(s) \/ ~SetIsCommitted(s) THEN Answer("REQUEST_TIMED_OUT", "REQUEST_REFUSED")
  ELSE IF level = Level(s) THEN Answer("NONE", "")
  ELSE IF ~CanUpgrade(s, level, brokersMin, brokersMax) THEN Answer("INVALID_UPDATE_VERSION", "REQUEST_REFUSED")
  ELSE ConcludeCommitted(AppendChange(Becomes(s), <<Record(s.epoch, "KRaftVersion", level, {}),
                                        SetRecord(s, keys, details)>>,
                          ImmediateChange("upgrade", NoKey, Client, request, TRUE)))

(***************************************************************************)
(* A voter set that is appended without a request, same preconditions.     *)
(***************************************************************************)
\* Rule: voters.at-most-one-difference
IsOneStep(before, after) == Cardinality((before \ after) \cup (after \ before)) <= 1

\* Rules: voters.at-most-one-difference, voters.one-change-at-a-time, voters.epoch-committed-before-change,
\*        add-voter.duplicate-id, kraft-version.record-gate
MayAppendSet(s, voters) ==
  /\ Level(s) >= 1
  /\ Cardinality({v.id : v \in voters}) = Cardinality(voters)
  /\ Target(s) = NoTarget /\ ~IsBusy(s) /\ EpochIsCommitted(s) /\ SetIsCommitted(s)
  /\ IsOneStep(Voters(s), voters)

\* A voter keeps its details; a new voter has those of the configuration.
AfterAppendVoters(s, voters) ==
  LET new == FormattedDetails(voters)
      details == {d \in new : DetailsOf(s, d.id) = {}} \cup UNION {DetailsOf(s, d.id) : d \in new}
  IN ConcludeCommitted(Becomes(AppendRecords(s, <<SetRecord(s, voters, details)>>)))

(***************************************************************************)
(* The requests that a follower sends for itself in place of a Fetch, once *)
(* it has fetched and so knows the voter set: {} or a set of one.          *)
(***************************************************************************)
AddVoterRequest(s, corr) ==
  [type |-> "AddVoterRequest", source |-> s.replica_key.id, destination |-> s.leader_id, correlation_id |-> corr,
   voter |-> s.replica_key, endpoint |-> OwnEndpoint(s), when_committed |-> FALSE]

RemoveVoterRequest(s, voter, corr) ==
  [type |-> "RemoveVoterRequest", source |-> s.replica_key.id, destination |-> s.leader_id, correlation_id |-> corr,
   voter |-> voter]

UpdateVoterRequest(s, corr) ==
  LET own == OwnDetails(s) IN
  [type |-> "UpdateVoterRequest", source |-> s.replica_key.id, destination |-> s.leader_id, correlation_id |-> corr,
   epoch |-> s.epoch, voter |-> s.replica_key, endpoint |-> own.endpoint,
   min_version |-> own.min_version, max_version |-> own.max_version]

\* The replica first removes the voter with its id and an older directory, then adds itself, also after its removal.
\* Rules: auto-join.enabled-by-config, auto-join.remove-stale-self-first, auto-join.add-self,
\*        auto-join.stop-before-removal
JoinRequest(s, corr) ==
  LET stale == {v \in Voters(s) : v.id = s.replica_key.id} IN
  IF \/ ~config.auto_join[s.replica_key.id]
     \/ Level(s) < 1 \/ s.replica_key.directory_id = "" \/ Voters(s) = {} \/ IsVoter(s)
  THEN {}
  ELSE IF stale # {} THEN {RemoveVoterRequest(s, v, corr) : v \in stale}
  ELSE {AddVoterRequest(s, corr)}

\* Due until this leader acknowledges it; at kraft.version 1 only if the voter set has other details.
\* Rules: update-voter.when-sent, update-voter.in-memory-at-version-0
ReportRequest(s, corr) ==
  IF \/ s.has_updated_leader \/ ~IsVoter(s) \/ s.replica_key.directory_id = ""
     \/ Level(s) >= 1 /\ DetailsOf(s, s.replica_key.id) = {OwnDetails(s)}
     \/ Level(s) = 0 /\ config.profile.report_at_version_0 = "refused"
  THEN {} ELSE {UpdateVoterRequest(s, corr)}

DueReport(s, corr) ==
  IF s.role # "Follower" \/ ~s.fetched \/ s.awaiting # {} THEN {}
  ELSE LET join == IF s.searching THEN {} ELSE JoinRequest(s, corr) IN IF join # {} THEN join ELSE ReportRequest(s, corr)

\* The replica learns epoch and leader; its own log shows whether a request to join was granted.
\* Rules: update-voter.when-sent, add-voter.reply-after-commit, auto-join.add-self, fetch.response.common
AfterChangeResponse(s, m) ==
  LET rest == FreeConnection(s, m)
      learned == Learn(rest, m.epoch, m.leader_id, m.leader_endpoint)
  IN
  IF ~Correlated(s, m) THEN Ignored(s, "UNCORRELATED_RESPONSE")
  ELSE IF m.epoch < s.epoch THEN Ignored(rest, "STALE_EPOCH")
  ELSE IF NamesSecondLeader(s, m.epoch, m.leader_id) THEN Ignored(rest, "SECOND_LEADER_IN_EPOCH")
  ELSE IF learned # rest THEN Becomes(learned)
  ELSE IF m.error # "NONE"
  THEN Ignored([rest EXCEPT !.searching = @ \/ LooksElsewhere(s, m.source)], "ERROR_RESPONSE")
  ELSE IF m.type = "UpdateVoterResponse" /\ s.role = "Follower" /\ s.leader_id = m.source
  THEN Becomes([rest EXCEPT !.has_updated_leader = TRUE])
  ELSE Becomes(rest)
=============================================================================
