-------------------------- MODULE DivergenceTable ---------------------------
(***************************************************************************)
(* What the model says of every small log, with a snapshot and without,    *)
(* and of every log end or diverging answer that it may be compared with.  *)
(***************************************************************************)
EXTENDS Replication

Init == config \in {[profile |-> [diverging_cut |-> cut]] : cut \in {"own-offset", "smaller-offset"}} /\ replicas = 0 /\ network = 0 /\ cuts = 0 /\ history = 0
Next == UNCHANGED variables

Longest == 4
Epochs == 1..3

Logs == {log \in UNION {[1..length -> Epochs] : length \in 0..Longest} :
           \A i \in 2..Len(log) : log[i - 1] <= log[i]}

\* Those of its records that are not in a snapshot of so many.
Standing(log, start) ==
  [base |-> [end_offset |-> start, epoch |-> IF start = 0 THEN 0 ELSE log[start]],
   log |-> [i \in 1..(Len(log) - start) |-> [epoch |-> log[start + i]]]]

Row(log, start, epoch, offset) ==
  LET s == Standing(log, start)
      end == EndOfEpoch(s, epoch)
  IN <<config.profile.diverging_cut, log, start, epoch, offset, end.epoch, end.offset, Agrees(s, offset, epoch), NeedsSnapshot(s, offset, epoch),
       UpToDate(epoch, offset, s), TruncationOffset(s, [diverging_epoch |-> epoch, diverging_end_offset |-> offset])>>

Table == UNION {{Row(log, start, epoch, offset) :
                   start \in 0..Len(log), epoch \in 0..4, offset \in 0..(Longest + 1)} : log \in Logs}
=============================================================================
