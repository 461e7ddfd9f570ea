----------------------------- MODULE TraceBatch -----------------------------
(***************************************************************************)
(* A whole recorded run as a constant, for a process of tlc2.TLC that      *)
(* walks through it: the usual way to check a trace.  The benchmark        *)
(* compares the checker with it; nothing else uses it.                     *)
(*                                                                         *)
(* A generated module, which extends this one, defines the constants.      *)
(* Each line is two steps: ReadLine binds the variable event, TakeNext     *)
(* takes the action and compares what is observed.  A line that is no step *)
(* of the model, or shows something else, is a deadlock; the end is none.   *)
(***************************************************************************)
EXTENDS Trace

CONSTANTS
  RecordedConfig,    \* the value of config
  RecordedLines,     \* <<[event, refused, ofNetwork, observation], ...>>
  Every              \* the whole invariants are checked after so many lines, and at the end

VARIABLE position    \* how many lines were taken

BatchInit ==
  /\ InitWith(RecordedConfig)
  /\ event = NoEvent /\ observed = <<"", <<>>>>
  /\ position = 0

AtEnd == position = Len(RecordedLines)

ReadLine ==
  /\ event.sequence = position
  /\ ~AtEnd
  /\ event' = RecordedLines[position + 1].event
  /\ UNCHANGED <<variables, observed, position>>

\* The action of the line or, if the model says that nothing may happen, its refusal.
LineStep(line) ==
  IF line.refused THEN ~(ENABLED TraceLine) /\ TraceRefuse ELSE TraceLine

TakeNext ==
  /\ event.sequence = position + 1
  /\ LET line == RecordedLines[position + 1] IN
       /\ LineStep(line)
       /\ IF line.ofNetwork THEN NetworkObservation' = line.observation ELSE Observation' = line.observation
  /\ position' = position + 1

EndOfTrace ==
  /\ event.sequence = position /\ AtEnd
  /\ UNCHANGED <<variables, event, observed, position>>

BatchNext == ReadLine \/ TakeNext \/ EndOfTrace

WholeInvariants == event.sequence = position /\ (AtEnd \/ position % Every = 0) => Invariants

LinesKeepProperties ==
  [][position' > position /\ ~RecordedLines[position'].ofNetwork => LineProperties]_position
=============================================================================
