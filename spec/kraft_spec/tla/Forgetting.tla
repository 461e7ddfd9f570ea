----------------------------- MODULE Forgetting -----------------------------
(***************************************************************************)
(* The history of a run of any length, in memory that grows with its       *)
(* epochs and voter changes and not with its records.                      *)
(*                                                                         *)
(* What is put away can come back: a voter whose disk is replaced at       *)
(* kraft.version 0 is in epoch 0 again, with an empty log.  So nothing is  *)
(* lost that a property needs:                                             *)
(*                                                                         *)
(*   epochs     that every replica has left go to left, whole.  EpochEntry *)
(*              finds them there if somebody leads one of them once more.  *)
(*              The newest that was led stays, for LeaderCompleteness.     *)
(*   committed  records, except for the last, before where every replica   *)
(*              has a snapshot go to past: one entry where the epoch, the  *)
(*              voter set or the level changes, which says what a          *)
(*              snapshot from there on says.  That is all that a property  *)
(*              compares with a snapshot, and it gives the epoch of each   *)
(*              record, which tells it from any other at its offset.       *)
(*                                                                         *)
(* MCForgetting holds the verdicts of such a history to those of the whole *)
(* one.                                                                    *)
(***************************************************************************)
EXTENDS Properties

\* Do the committed records say something else from this one on?
IsNews(committed, offset) ==
  \/ EpochBefore(committed, offset + 1) # EpochBefore(committed, offset)
  \/ /\ RecordAt(committed, offset).kind \in SetKinds \cup {"KRaftVersion"}
     /\ [SnapshotAt(committed, offset + 1) EXCEPT !.end_offset = offset] # SnapshotAt(committed, offset)

\* An entry of past, with the fields of a snapshot and an offset as in the histories of voter sets and levels.
PastEntry(committed, offset) ==
  LET there == SnapshotAt(committed, offset + 1) IN
  [offset |-> offset, epoch |-> there.epoch, kraft_version |-> there.kraft_version,
   voters |-> there.voters, details |-> there.details, target |-> there.target]

CommittedFromOn(committed, end) ==
  LET before == [committed EXCEPT !.log = RecordsBetween(committed, committed.base.end_offset, end)]
      known == WithSetsAndLevels(before)
      news == SelectSeq([i \in 1..Len(before.log) |-> committed.base.end_offset + i - 1], LAMBDA o : IsNews(known, o))
  IN [base |-> SnapshotAt(known, end),
      log |-> RecordsBetween(committed, end, EndOffset(committed)),
      past |-> committed.past \o [n \in 1..Len(news) |-> PastEntry(known, news[n])]]

\* Where the log of committed records may begin, and the epochs that are at hand.
ForgottenUpTo(committed) == Smaller(Min({replicas'[q].base.end_offset : q \in Watched}), EndOffset(committed) - 1)
InUse(led) ==
  LET epoch == Min({replicas'[q].epoch : q \in Watched})
      used == {e \in led : e >= epoch}
  IN IF used = {} /\ led # {} THEN {Max(led)} ELSE used

Forgetful(remembered, r, s) ==
  LET committed == remembered.committed
      end == ForgottenUpTo(committed)
      led == DOMAIN remembered.epochs
      kept == InUse(led)
  IN IF replicas'[r].base.end_offset = s.base.end_offset /\ replicas'[r].epoch = s.epoch THEN remembered
     ELSE [remembered EXCEPT
             !.committed = IF end > committed.base.end_offset THEN CommittedFromOn(committed, end) ELSE committed,
             !.epochs = IF kept = led THEN @ ELSE [e \in kept |-> @[e]],
             !.left = IF kept = led THEN @ ELSE [e \in led \ kept |-> remembered.epochs[e]] @@ @]
=============================================================================
