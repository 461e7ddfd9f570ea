---------------------------- MODULE MCForgetting -----------------------------
(***************************************************************************)
(* Slice "forgetting": the whole history beside the one that a trace check *)
(* keeps (Forgetting.tla), and each property asked of both: the verdicts   *)
(* agree up to and with the first state that the whole one rejects.        *)
(*                                                                         *)
(* Bounds: two static voters at kraft.version 0.  Replica 1 has led the    *)
(* epochs 1 and 3, both logs stand on a snapshot, epoch 1 is left and two  *)
(* committed records are put away.  Both are stopped; each may get an      *)
(* empty disk before it starts again, and replica 2 may campaign below     *)
(* epoch 3.                                                                *)
(* Leaves out: crashes, records of clients, message loss, and whatever is  *)
(* not needed to come back.                                                *)
(***************************************************************************)
EXTENDS MCBounds, BothHistories

EpochLimit == 3

\* What is put away of the epochs is lost.
LosesEpochs(remembered, r, s) == [Forgetful(remembered, r, s) EXCEPT !.left = [e \in {} |-> 0]]
RememberWithoutEpochs(r, s, after, shown) ==
  history' = [kept |-> LosesEpochs(Kept!HistoryAfter(r, s, after, shown), r, s)] @@ HistoryAfter(r, s, after, shown)

(***************************************************************************)
(* The start.                                                              *)
(***************************************************************************)
TwoStatic == [Cluster(2, 2, 0) EXCEPT !.voters = {ReplicaKey(1, ""), ReplicaKey(2, "")}]

Records == <<Record(1, "LeaderChange", 1, {}), Record(1, "Data", 0, {}), Record(3, "LeaderChange", 1, {})>>
Led(end) == [leaders |-> {ReplicaKey(1, "A")}, end_offset |-> end, rewritten |-> FALSE]

Init ==
  LET Standing(r) ==
        LET new == NewReplica(TwoStatic.keys[r])
            logged == Appended(new, Records)
            based == Rebased(logged, SnapshotAt(logged, 2))
        IN [based EXCEPT !.epoch = 3, !.voted_key = TwoStatic.keys[1], !.leader_id = 1, !.flushed = 3]
      whole == [HistoryOf(Records) EXCEPT
                  !.crashes = 2, !.epochs = (1 :> Led(2)) @@ (3 :> Led(3)),
                  !.votes = [r \in Ids |-> [epoch |-> 3, candidates |-> {ReplicaKey(1, "A")}]]]
  IN
  /\ config = TwoStatic
  /\ replicas = [r \in 1..2 |-> Standing(r)]
  /\ network = {}
  /\ cuts = {}
  /\ history = [kept |-> [whole EXCEPT !.committed = CommittedFromOn(whole.committed, 2),
                                       !.epochs = 3 :> Led(3), !.left = 1 :> Led(2)]] @@ whole

(***************************************************************************)
(* Bounds.                                                                 *)
(***************************************************************************)
TimeOut(r, timer) == r = 2 /\ timer \in {"election", "fetch"} /\ replicas[r].epoch < EpochLimit /\ NobodyPollsOrFetches
NewDisk(r) == {Directories[r + 2]}
LosesItsDisk(r) == replicas[r].replica_key = config.keys[r]

StillSound == EpochsUpTo(EpochLimit) /\ WithLocalForm

(***************************************************************************)
(* Each property that reads the history, of both.                          *)
(***************************************************************************)
VerdictsAgree ==
  /\ ElectionSafety <=> Kept!ElectionSafety
  /\ VoteOncePerEpoch <=> Kept!VoteOncePerEpoch
  /\ OffsetEpochUnique <=> Kept!OffsetEpochUnique
  /\ LeaderCompleteness <=> Kept!LeaderCompleteness
  /\ CommittedNeverLost <=> Kept!CommittedNeverLost
  /\ StateMachineSafety <=> Kept!StateMachineSafety
  /\ ConfigFollowsLog <=> Kept!ConfigFollowsLog
  /\ OnePendingChange <=> Kept!OnePendingChange
  /\ ConfigOverlap <=> Kept!ConfigOverlap

LocalVerdictsAgreeAt(r) ==
  /\ LocalElectionSafety(r)' <=> Kept!LocalElectionSafety(r)'
  /\ LocalVoteOncePerEpoch(r)' <=> Kept!LocalVoteOncePerEpoch(r)'
  /\ LocalOffsetEpochUnique(r)' <=> Kept!LocalOffsetEpochUnique(r)'
  /\ LocalOnePendingChange(r)' <=> Kept!LocalOnePendingChange(r)'
  /\ LocalLeaderCompleteness(r) <=> Kept!LocalLeaderCompleteness(r)
  /\ LocalStateMachineSafety(r) <=> Kept!LocalStateMachineSafety(r)
  /\ LocalConfigFollowsLog(r) <=> Kept!LocalConfigFollowsLog(r)
  /\ LocalConfigOverlap(r) <=> Kept!LocalConfigOverlap(r)

LocalVerdictsAgree == [][\A r \in Ids : replicas'[r] = replicas[r] \/ LocalVerdictsAgreeAt(r)]_variables

(***************************************************************************)
(* Probes: their violations show that a property fails for which what was  *)
(* put away is needed.                                                     *)
(***************************************************************************)
ForgottenEpochIsNotLedAgain == Kept!ElectionSafety
ForgottenRecordIsNotReplaced ==
  \A r \in Ids : replicas[r].high_watermark > 0 /\ replicas[r].base.end_offset = 0 => Kept!CommittedNeverLost
=============================================================================
