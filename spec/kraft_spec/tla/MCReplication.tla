--------------------------- MODULE MCReplication ----------------------------
(***************************************************************************)
(* Slice "replication": appends, Fetch, the high watermark; a second       *)
(* leader whose log the first one's diverges from, and truncation.         *)
(*                                                                         *)
(* Bounds: three voters at kraft.version 0; starts with replica 1 leader   *)
(* of epoch 1, its announcement acknowledged and nothing fetched yet       *)
(* (Elected in MCBounds: the slice election reaches that state); epochs up *)
(* to 2; only the replicas in Campaigners may time out, not in the last    *)
(* epoch; a leader appends at most RecordsPerEpoch records in its epoch,    *)
(* the start of the epoch included, and while its log is below LogLimit.   *)
(* Leaves out: Fetch of replicas that know no leader (network); check      *)
(* quorum and hand-over (handover); faults (network, crash).  A third      *)
(* epoch, needed for a leader that finds an old uncommitted record of its  *)
(* own, is in the nightly configuration.                                   *)
(***************************************************************************)
EXTENDS MCBounds

EpochLimit == 2
ThreeEpochs == 3
RecordsPerEpoch == 2
LogLimit == 3
LongLogs == 6
OneRecord == 1
Campaigners == {2}
AllCampaign == {1, 2, 3}

Init == Elected(ThreeVoters, 1)

TimeOutAnyTime(r, timer) ==
  /\ timer \in {"election", "fetch"}
  /\ r \in Campaigners
  /\ replicas[r].epoch < EpochLimit
TimeOut(r, timer) == TimeOutAnyTime(r, timer) /\ NobodyPollsOrFetches

AppendsAnyTime(r) ==
  /\ RecordsOfOwnEpoch(r) < RecordsPerEpoch
  /\ EndOffset(replicas[r]) < LogLimit
AppendsUpToBound(r) == AppendsAnyTime(r) /\ NobodyPollsOrFetches

Bounds == EpochsUpTo(EpochLimit)

(***************************************************************************)
(* Slices replication-small and -small-whole: the second has none of the   *)
(* reductions 2 to 4 of MCBounds, and reaches the same states, as far as   *)
(* an invariant can tell them apart (a test compares).                     *)
(***************************************************************************)
OnlyThird == {3}
FirstTwoFetch(s) == IF s.role = "Follower" /\ s.replica_key.id # 3 THEN {s.leader_id} ELSE {}
AnyInFlight(r, types) == {m \in network : m.destination = r /\ m.type \in types}
Visible == <<[r \in Ids |-> [replicas[r] EXCEPT !.awaiting = {}, !.flushed = 0]], history>>
=============================================================================
