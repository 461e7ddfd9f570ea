"""What the machine proves of the inductive proof, and what a human must review: data, printed by the command."""

from typing import NamedTuple


class Checked(NamedTuple):
    """Something that a machine checks each time."""

    what: str
    how: str


class Reviewed(NamedTuple):
    """Something that a human must read and agree with, or know."""

    name: str
    """Permanent."""
    what: str
    where: str
    """What to read."""
    evidence: str = ""
    """What was executed about it; empty if nothing can be."""


CHECKED: tuple[Checked, ...] = (
    Checked(
        "The two facts about quorums follow from the definition of a majority, for sets of any size.",
        "obligations `quorums/...`: linear arithmetic over the regions of a Venn diagram, the one of the theorems",
    ),
    Checked(
        "The definition is that of the reference.",
        "a test asks the reference's own function for all sizes up to 1,000, and evaluates both facts with it for"
        " all sets of up to 7 replicas",
    ),
    Checked(
        "Every invariant holds at the start, and every action keeps it.",
        "obligations `start/INVARIANT` and `ACTION/INVARIANT`, each proved by Z3, in steps where there is a script",
    ),
    Checked(
        "State Machine Safety follows from the invariants, for what leaders commit and for what replicas apply.",
        "obligations `safety/committed-in-one-order` and `safety/state-machine-safety`",
    ),
    Checked(
        "The scripts forget no case.",
        "step `no-other-case` of each: that one of the cases applies is itself proved",
    ),
    Checked(
        "Both well-founded inductions are carried out.",
        "steps `some-counterexample` and `sizes-are-natural`; the rest is a contradiction from a least "
        "counterexample: the leader of the smallest epoch, or the entry committed by the oldest voters set",
    ),
    Checked(
        "Facts that scripts apply to terms are instances of the invariants.",
        "steps `INVARIANT, NAME`: generated from the invariant, and proved from it",
    ),
    Checked(
        "Z3 is not alone.",
        "`make cross-check`: cvc5 answers every exported obligation again",
    ),
    Checked(
        "The premises do not contradict each other, the proof fails when it should, and the invariants hold in runs.",
        "`kraft-spec prove premises`, `prove mutants` and `prove simulate`, which runs the same formulas",
    ),
    Checked(
        "Every action of the TLA+ model is accounted for.",
        "a test compares the list with `Next` of KRaft.tla: each is abstracted, or changes nothing for a stated reason",
    ),
    Checked(
        "Each whole step of the model's election actions, of ClientAppend and of the timers is a sequence of the "
        "proof's steps, for any number of replicas and logs of any length.",
        "`kraft-spec prove actions`: the TLA+ text is translated from SANY's tree; `--list` says which actions are "
        "executed only, and why",
    ),
    Checked(
        "Each edge of the model's enumerated graph, and each step of runs and scenarios, is a listed sequence of the "
        "proof's steps, by the proof's own guards; the states agree after it, and every invariant holds there.",
        "`python -m kraft_dev edges --refinement`, `kraft-spec prove refinement` and its `--scenario all`",
    ),
)

REVIEWED: tuple[Reviewed, ...] = (
    Reviewed(
        "definitions",
        "Election Safety, Leader Completeness and State Machine Safety say what users of Kafka mean.",
        "`election-safety`, `leader-completeness` and `state-machine-safety` in invariants.py",
    ),
    Reviewed(
        "axioms",
        "The axioms are true of logs that are finite sequences, and of finite sets.",
        "axioms.py, 13 sentences on logs; counting.py, 6 on sizes",
        "`prove simulate` evaluates each in one of fifty states that it reaches",
    ),
    Reviewed(
        "rules-of-reasoning",
        "Three rules are not Z3's: something that exists may get a new name, what holds for all holds of a term, "
        "and a set of natural numbers that is not empty has a least one.",
        "instances.py and script.py, which also refuse a name that was used before",
        "cvc5 answers every step of every script again",
    ),
    Reviewed(
        "abstraction",
        "A step of the TLA+ model that neither an edge nor a run took is a sequence of the actions that the list names "
        "for it, too. Messages are gone: what they carried is in the part of the state that only grows.",
        "abstraction.py beside KRaft.tla",
        "every edge of the model's graph, every schedule, runs: `edges --refinement`, `prove refinement`",
    ),
    Reviewed(
        "translation",
        "The translation of TLA+ to Z3 says what TLA+ says, or leaves more open. Presumed, and not proved, of what an "
        "action reads: an answer that is matched to a request answers it (a grant is for the Candidate that counts "
        "it); no Pre-Vote is taken for a vote; at kraft.version 0 an id has one directory. How the network carries "
        "messages is not translated.",
        "translator.py and `read` in relation.py",
        "mutants of the model's text fail at the field that they are about: tests of `prove actions`",
    ),
    Reviewed(
        "candidate-syncs",
        "`stand` has the log on disk before a vote is asked for, and so have the model and the reference since the "
        "proof found the hole: without it a Candidate that crashes may ask again with a shorter log, and a voter that"
        " granted its vote grants it again without a look at the log, so that committed records are lost. The KIPs "
        "do not say that a Candidate syncs: another implementation has to be looked at.",
        "`stand` in actions.py, ToCandidate in Roles.tla, to_candidate in transitions.py, rules vote.repeat-grant, "
        "durable.restart.voted-self",
        "edges and runs: after each `stand` the log of the model, too, is on disk",
    ),
    Reviewed(
        "applied",
        "A replica applies what is below its high watermark: a leader's own count, the leader's high watermark as far"
        " as the follower's log goes, taken when that log agrees with the leader's, and a snapshot of the leader. That"
        " a state machine applies nothing else, and in the order of offsets, is not part of KRaft.",
        "`applied` in state.py, `learn-high-watermark` and `load-snapshot` in logs.py, rule hw.follower",
        "traces and edges: the high watermark of each step is the proof's",
    ),
    Reviewed(
        "cuts-are-durable",
        "What `truncate` cuts off and what `load-snapshot` replaces is gone from the disk in the same step; so it is in"
        " the model and the reference. A crash that brings records back that were cut off is not covered: an "
        "implementation has to cut durably before it goes on.",
        "`truncate` and `load-snapshot` in logs.py, Truncated in Definitions.tla, rule fetch.diverging.truncate",
        "edges: a crash after each durable effect of a step",
    ),
    Reviewed(
        "answers-match-requests",
        "What a follower truncates or replaces by a snapshot was answered to its last request, so that the answer"
        " knows all that the follower has of the leader's epoch.",
        "`answers-the-last-request` in logs.py, Correlated in Elections.tla",
        "edges and runs: no step needs an answer to an older request",
    ),
    Reviewed(
        "votes-by-key",
        "Votes and acknowledgements are of replica keys. The model counts grants by id, and relies on the voter "
        "key in the request and on matching answers to requests.",
        "CountVote in Elections.tla, rules vote.voter-key, prevote.response.correlate",
        "edges: each vote that the model counts is one of the proof's, by key",
    ),
    Reviewed(
        "same-bootstrap-sets",
        "All replicas were formatted with the same voters; a replica formatted with none stands for one that "
        "never asks for votes.",
        "`start` in theory.py, rule bootstrap.sets-must-be-equal",
        "`prove refinement --scenario s2b-lists-differ` is refused; `model voters-two-lists` finds two leaders",
    ),
    Reviewed(
        "repeated-sets",
        "A VotersRecord that repeats the set in force is a record like any other: at the start of an epoch, for "
        "an endpoint, and for kraft.version 1. At kraft.version 0 a voter's key is taken to be the one directory "
        "that its id ever had, and so the upgrade repeats the set.",
        "`is_voters_record` in symbols.py, rules kraft-version.upgrade-atomic-batch, "
        "update-voter.not-a-membership-change",
        "runs with more than one attempt at an upgrade, and with snapshots that are installed during a change: "
        "`prove refinement --workload upgrade`, `--workload snapshots`",
    ),
    Reviewed(
        "quorum-state-file",
        "Epoch, vote and leader are on disk before they show, and are never lost while the log is kept.",
        "rules durable.write-before-act, vote.persist-before-reply",
        "edges: a crash after each durable effect of a step",
    ),
    Reviewed(
        "kafka-4-restart",
        "Refuted under Apache Kafka's profiles (`prove induction --profile kafka-4`): `restart_precedence` = own-vote. "
        "A replica that follows does not restart as Candidate of that epoch (known-leader). With own-vote it does, and "
        "Election Safety is refuted: it leads the epoch a second time if it has become the only voter. If it has not, "
        "then a log with an entry of the epoch gets no vote of others, since a Vote request whose last epoch is its "
        "own is malformed; and with a log without one it is proved that nobody elects it (`--where-safe`).",
        "own_vote.py, AfterRestart in Durability.tla, rules durable.restart.voted-self, durable.restart.known-leader",
        "`prove induction --profile kafka-4`, `prove refinement --scenario own-vote-before-known-leader` "
        "(follows-nobody forbids stand-again), mutant `own-vote-before-known-leader`",
    ),
    Reviewed(
        "vote-of-version-0",
        "Refuted, not proved: at kraft.version 0 a restart forgets the directory id of its vote, so that a new disk "
        "under that id gets the vote again, without a look at its log. Records that all others have are lost; with the "
        "directory in the file they are not.",
        "rules durable.vote.v0-uuid-in-memory, vote.repeat-grant",
        "`kraft-spec scenario disk-loss --variant vote-for-the-id`, and `vote-for-the-disk`",
    ),
    Reviewed(
        "disk-lost-under-its-key",
        "A disk that is lost under its old key is refuted, not proved: `replace-disk` without `key-is-new`. This "
        "is every lost disk at kraft.version 0, and at level 1 of a set without directory ids.",
        "`key-is-new` of `replace-disk` in logs.py",
        "`prove refinement --scenario disk-loss` (the new disk's vote is another's), mutant "
        "`disk-lost-under-the-same-key`",
    ),
    Reviewed(
        "nothing-on-progress",
        "The proof is of safety alone: that a leader is elected in the end, liveness, is checked by the model.",
        "Liveness.tla",
    ),
)
