-------------------------------- MODULE Sim ---------------------------------
(***************************************************************************)
(* Random behaviours (TLC -simulate) with every action of Next on.         *)
(*                                                                         *)
(* Bounds: three voters and an observer, replica 3 without Pre-Vote, at    *)
(* kraft.version 1; the epoch, the log length and the number of crashes    *)
(* are bounded so that behaviours do not drift away into elections or      *)
(* crashes alone.                                                          *)
(* Leaves out: voter changes and replaced disks that the rules of voter    *)
(* changes would forbid: a VotersRecord keeps replicas 1 to 3 as voters,   *)
(* and only the observer's disk is replaced.                               *)
(***************************************************************************)
EXTENDS MCBounds

EpochLimit == 6
LogLimit == 12
CrashLimit == 3

Init == InitWith([Cluster(4, 3, 1) EXCEPT !.pre_vote = <<"supported", "supported", "unsupported", "supported">>])

RestrainedTimeOut(r, timer) == replicas[r].epoch < EpochLimit
AppendsUpToBound(r) == EndOffset(replicas[r]) < LogLimit
CrashesUpToBound(r) == history.crashes < CrashLimit
ReplacesObserversDisk(r) == r = 4 /\ replicas[r].replica_key.directory_id # "new"
ChangesVoters(r) == AppendsUpToBound(r)

VotersKept == \A r \in Ids : {config.keys[i] : i \in 1..3} = Voters(replicas[r])

Bounds == EpochsUpTo(EpochLimit) /\ VotersKept
=============================================================================
