------------------------------ MODULE MCBroken ------------------------------
(***************************************************************************)
(* Protocols with one guard taken out, in the bounds of MCReplication.     *)
(* Each breaks the log in its own way, and for each there are three        *)
(* configurations: the whole invariants fail (...Whole), the local forms   *)
(* fail at the same depth (...Local), and on the state graph up to and     *)
(* with every first bad state no step that the local forms accept leads to *)
(* a state that the whole invariants reject (...Implies: LocalImplies).    *)
(***************************************************************************)
EXTENDS MCReplication

\* Without vote.log-check and prevote.request.log-check: any log will do for a leader.
AnyLogIsUpToDate(lastEpoch, endOffset, s) == TRUE

\* Without fetch.diverging.truncate: records are sent from the requested offset, whatever comes before.
AnyLogAgrees(s, offset, lastEpoch) == offset <= EndOffset(s)

StillSound == Bounds /\ WithLocalForm
=============================================================================
