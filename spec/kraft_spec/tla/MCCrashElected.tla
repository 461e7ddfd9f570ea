--------------------------- MODULE MCCrashElected ---------------------------
(***************************************************************************)
(* Every leader dies in the step that elects it, after any prefix of its   *)
(* effects, before anybody has heard of it.  It has led its epoch all the  *)
(* same: voters that vote twice are found out, though no two leaders ever  *)
(* run.                                                                    *)
(*                                                                         *)
(* Bounds and what is left out: as crash-first in MCCrash, which has every *)
(* rule in force.                                                          *)
(***************************************************************************)
EXTENDS MCCrash

DiesIfElected(r, consumed, out) ==
  IF out.state.role # "Leader" THEN Step(r, consumed, out)
  ELSE \E done \in 1..EffectCount(r, out) :
         \E kept \in KeptAfterCrash(OnDiskAfter(replicas[r], out.state, done)) : CrashAfter(r, consumed, out, done, kept)

\* Without vote.once-per-epoch.
GrantsAgain(s, m) == UpToDate(m.last_epoch, m.end_offset, s)
=============================================================================
