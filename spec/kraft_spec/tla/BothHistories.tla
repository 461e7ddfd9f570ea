--------------------------- MODULE BothHistories ----------------------------
(***************************************************************************)
(* The whole history beside the one that a trace check keeps               *)
(* (Forgetting.tla): history.kept.                                         *)
(***************************************************************************)
EXTENDS Forgetting

\* The same properties, of what is kept.
Kept == INSTANCE Properties WITH history <- history.kept

RememberBoth(r, s, after, shown) ==
  history' = [kept |-> Forgetful(Kept!HistoryAfter(r, s, after, shown), r, s)] @@ HistoryAfter(r, s, after, shown)
=============================================================================
