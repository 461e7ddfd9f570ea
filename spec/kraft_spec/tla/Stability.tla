----------------------------- MODULE Stability ------------------------------
(***************************************************************************)
(* NoNeedlessElection: while a Leader keeps a majority fetching, all       *)
(* voters support Pre-Vote and no replica already has a larger epoch, no   *)
(* replica raises its epoch.                                               *)
(*                                                                         *)
(* It speaks of time, which the model has not: that a leader keeps a       *)
(* majority fetching means that certain timers do not fire.  That is the   *)
(* constraint TimersOfAStableMajority, and a model in which the property   *)
(* holds must put it on MayTimeOut.  All other timers, all cuts, lost,     *)
(* late and reordered messages, and crashes outside the majority are free. *)
(***************************************************************************)
EXTENDS Properties

(***************************************************************************)
(* The timing assumption, about a leader and a majority with it in it.     *)
(* The followers of the majority fetch within their fetch timeout, and so  *)
(* the leader's check-quorum timer is always set anew before it fires.     *)
(***************************************************************************)
TimersOfAStableMajority(leader, majority, r, timer) ==
  /\ ~(r = leader /\ timer = "check-quorum")
  /\ ~(r \in majority \ {leader} /\ timer = "fetch")

(***************************************************************************)
(* The premise, as a state: the leader, its majority, the epochs.          *)
(***************************************************************************)
AllSupportPreVote == \A v \in config.voters : config.pre_vote[v.id] = "supported"

FetchingFrom(leader) ==
  {leader} \cup {r \in VoterIds(replicas[leader]) :
                   /\ replicas[r].role = "Follower"
                   /\ replicas[r].epoch = replicas[leader].epoch
                   /\ replicas[r].leader_id = leader
                   /\ replicas[r].fetched}

KeepsMajority(leader) ==
  /\ replicas[leader].role = "Leader"
  /\ IsMajority(Cardinality(FetchingFrom(leader)), replicas[leader])
  /\ \A r \in Ids : replicas[r].epoch <= replicas[leader].epoch

(***************************************************************************)
(* What may raise an epoch all the same.                                   *)
(***************************************************************************)
Raises(r) == replicas'[r].replica_key = replicas[r].replica_key /\ replicas'[r].epoch > replicas[r].epoch

\* A replica that lagged behind learns the epoch that the leader has; it does not nominate itself.
LearnsEpochOf(r, leader) ==
  replicas'[r].epoch = replicas[leader].epoch /\ replicas'[r].voted_key # replicas[r].replica_key

\* Rule: state.resigned.timeout
ResignedBump(r) ==
  /\ replicas[r].role = "Resigned"
  /\ replicas'[r].epoch = replicas[r].epoch + 1
  /\ replicas'[r].voted_key = NoKey

\* Rule: prevote.request.higher-epoch
PreVoteBump(r) ==
  /\ replicas'[r].voted_key = NoKey
  /\ \E m \in network : /\ m.type = "VoteRequest" /\ m.pre_vote
                        /\ m.destination = r /\ m.epoch = replicas'[r].epoch

NoNeedlessElection ==
  [][\A leader \in Ids :
       KeepsMajority(leader) =>
         \A r \in Ids : Raises(r) => LearnsEpochOf(r, leader) \/ ResignedBump(r) \/ PreVoteBump(r)
    ]_<<replicas, network>>
=============================================================================
