------------------------- MODULE QuorumReassignment -------------------------
(***************************************************************************)
(* Quorum reassignment (KIP-642): a target for the voter set, and the      *)
(* steps that the leader takes towards it.  The target stands in the       *)
(* newest VoterAssignment of the log.  The steps are the single-voter      *)
(* changes of VoterChanges.tla under the same conditions; nobody asked for *)
(* them, so nobody is answered.  The leader remembers nothing of the plan, *)
(* and so the next leader goes on with it.                                 *)
(***************************************************************************)
EXTENDS VoterChanges

(***************************************************************************)
(* What is asked: <<list>>, the ids that shall vote in the end, or         *)
(* NoReplicas, KIP-642's null, to stop at the voters that there are.       *)
(***************************************************************************)
NoReplicas == <<>>
Members(list) == {list[i] : i \in 1..Len(list)}

\* Controllers that are there, each once.  Rules: reassign.assignment-record, voters.never-empty
IsAssignment(list) == list # <<>> /\ Cardinality(Members(list)) = Len(list) /\ Members(list) \subseteq Ids

\* The offset of the assignment that set the target in force; later ones have repeated it.
SetAt(s) ==
  LET Differs(i) == s.voters[i].target # Target(s)
      others == {i \in 1..Len(s.voters) : Differs(i)}
  IN s.voters[IF others = {} THEN 1 ELSE Max(others) + 1].offset

\* A record of the newest voters, committed or not, with this target.
\* Rules: reassign.assignment-record, reassign.request-new-target, reassign.cancel-by-new-target
Assignment(s, target) ==
  LET newest == s.voters[Len(s.voters)]
  IN AssignmentOf(s.epoch, newest.voters, newest.details, target)

\* The outcome with a client that is answered when the record at this offset is committed.
\* Rules: reassign.request-success-after-commit, reassign.request-same-target
Awaited(out, request, offset) ==
  LET awaited == [request |-> request, offset |-> offset]
  IN ConcludeCommitted([out EXCEPT !.state.awaited_targets = {a \in @ : a.request # request} \cup {awaited}])

\* The record changes no voter, so it may follow a step that is not committed; its voter set includes that step.
\* Rules: reassign.request-leader-only, reassign.request-same-target, reassign.request-new-target,
\*        reassign.cancel-null, reassign.cancel-by-new-target, reassign.request-success-after-commit
AfterAlterPartitionReassignments(s, request, asked) ==
  LET Refuse(error, reason) == RefusedChange(s, "", Client, request, error, reason)
      target == IF asked = NoReplicas THEN NoTarget ELSE Members(asked[1])
      free == AbandonAddition(Becomes(s))
      after == AppendRecords(free.state, <<Assignment(free.state, target)>>)
  IN
  IF s.role # "Leader" THEN Refuse("NOT_LEADER_OR_FOLLOWER", "NOT_LEADER")
  ELSE IF FinalizedLevel(s) < 1 THEN Refuse("UNSUPPORTED_VERSION", "REQUEST_REFUSED")
  ELSE IF asked = NoReplicas /\ Target(s) = NoTarget
  THEN Refuse("NO_REASSIGNMENT_IN_PROGRESS", "REQUEST_REFUSED")
  ELSE IF asked # NoReplicas /\ ~IsAssignment(asked[1])
  THEN Refuse("INVALID_REPLICA_ASSIGNMENT", "REQUEST_REFUSED")
  ELSE IF target # NoTarget /\ target = Target(s) THEN Awaited(Becomes(s), request, SetAt(s))
  ELSE Awaited([free EXCEPT !.state = after], request, EndOffset(after) - 1)

(***************************************************************************)
(* The steps.                                                              *)
(***************************************************************************)
\* Rule: reassign.three-sets
RemovingVoters(s) == VoterIds(s) \ Target(s)
NewVoters(s) == Target(s) \ VoterIds(s)

\* Rule: reassign.add-or-remove-choice
AddsNext(s) == NewVoters(s) # {} /\ Cardinality(NewVoters(s)) >= Cardinality(RemovingVoters(s))

\* The newest assignment is committed, be it the one that set the target or the last step, and so is a record of the
\* leader's own epoch.  KIP-642 calls the latter unnecessary; what comes of that, the check reassign-resumed-too-early
\* shows.
\* Rules: reassign.commit-before-next-step, voters.epoch-committed-before-change, reassign.new-leader-resumes
MayAdvance(s) == s.role = "Leader" /\ Target(s) # NoTarget /\ ~IsBusy(s) /\ EpochIsCommitted(s) /\ SetIsCommitted(s)

\* The voters that the next step may add or remove; NoKey for a step that does neither, but ends the reassignment or hands
\* over.  A replica is added only after it has fetched, because the leader learns its directory id that way.  The leader
\* does not remove itself.
\* Rules: reassign.three-sets, reassign.add-or-remove-choice, reassign.single-member-steps, reassign.completion,
\*        reassign.leader-removed-last, reassign.leader-steps-down-before-own-removal, reassign.promotion-by-leader
NextSteps(s) ==
  LET others == {v \in Voters(s) : v.id \in RemovingVoters(s) \ {s.replica_key.id}} IN
  IF ~MayAdvance(s) THEN {}
  ELSE IF AddsNext(s) THEN {key \in DOMAIN s.fetch_offsets : key.id \in NewVoters(s) /\ key.directory_id # ""}
  ELSE IF others # {} THEN others ELSE {NoKey}

\* One step: add a voter as AddVoter does, remove one, hand over, or clear the target.
\* Rules: reassign.single-member-steps, reassign.commit-before-next-step, reassign.completion,
\*        reassign.leader-steps-down-before-own-removal, reassign.catch-up-before-add, reassign.add-or-remove-choice
AfterAdvanceReassignment(s, voter) ==
  IF voter = NoKey
  THEN IF RemovingVoters(s) # {} THEN Becomes(ToResigned(s, PreferredCandidates(s)))
       ELSE ConcludeCommitted(Becomes(AppendRecords(s, <<Assignment(s, NoTarget)>>)))
  ELSE IF voter.id \in NewVoters(s)
  THEN Becomes([s EXCEPT !.pending_change = Addition(voter, config.endpoints[voter.id], Reassignment, 0, TRUE)])
  ELSE ConcludeCommitted(AppendChange(Becomes(s), <<SetRecord(s, Voters(s) \ {voter}, Details(s))>>,
                          ImmediateChange("remove", voter, Reassignment, 0, TRUE)))
=============================================================================
