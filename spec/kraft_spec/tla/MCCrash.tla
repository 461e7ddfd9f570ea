------------------------------ MODULE MCCrash -------------------------------
(***************************************************************************)
(* Slice "crash": a crash at rest and after every prefix of the effects of *)
(* every step, with any part of the unflushed tail lost, and the restart.  *)
(*                                                                         *)
(* Bounds: three voters at kraft.version 0; starts with replica 1 leader   *)
(* of epoch 1 (Elected in MCBounds); epochs up to 2; MaxCrashes crashes,   *)
(* of the replicas in Crashers only; only those in Campaigners time out;   *)
(* replica 3 votes and never fetches, so that any majority needs it or the *)
(* records of the other two; no client appends, so that an epoch has its   *)
(* first record only.                                                      *)
(* Leaves out: crashes and fetches of replica 3 (nightly); the loss of a   *)
(* whole disk (changes); network faults (network).                         *)
(* A replica that does not crash fetches at once, reduction 3 of MCBounds: *)
(* what it has flushed is never asked for.                                 *)
(***************************************************************************)
EXTENDS MCBounds

EpochLimit == 2
MaxCrashes == 2
Crashers == {1, 2}
AllCrash == {1, 2, 3}
Campaigners == {1, 2}

Init == Elected(ThreeVoters, 1)

\* From the first start: a vote of epoch 1 that a crash must not lose.  Then nobody fetches and one crash is enough.
InitFirst == InitWith(ThreeVoters)
SingleCrash == 1
FirstEpochOnly == 1

FirstTwoFetch(s) == IF s.role = "Follower" /\ s.replica_key.id # 3 THEN {s.leader_id} ELSE {}

NobodyIsDue == \A r \in Ids : ~PollIsDue(replicas[r]) /\ (r \in Crashers \/ ~FetchIsDue(replicas[r]))

AfterDue(r, types) == {m \in Deliverable(r, types) : NobodyIsDue}

TimeOut(r, timer) ==
  /\ timer \in {"election", "fetch"}
  /\ r \in Campaigners
  /\ replicas[r].epoch < EpochLimit
  /\ NobodyIsDue

CrashesUpToBound(r) == r \in Crashers /\ history.crashes < MaxCrashes

Bounds == EpochsUpTo(EpochLimit)
=============================================================================
