"""Two obligations that go faster in steps: a vote, and a new VotersRecord."""

from z3 import And, Implies, Or

from kraft_spec.proofs.induction.actions import entry, epoch, leader, log, voter, watermark, watermark_log
from kraft_spec.proofs.induction.cases import CHANGES, ORDER, SETS
from kraft_spec.proofs.induction.invariants import overtaken
from kraft_spec.proofs.induction.prover import Obligation
from kraft_spec.proofs.induction.script import Facts, Script
from kraft_spec.proofs.induction.state import State
from kraft_spec.proofs.induction.symbols import (
    ENTRY,
    Formula,
    bootstrap,
    epoch_of,
    forall,
    is_voters_record,
    prefix,
    previous_voters_record,
    variables,
    voters_record,
)

(_e,) = variables(ENTRY, "e")


def voter_compares_logs(s: State, name: str, facts: Facts, goal: Formula) -> tuple[Obligation, ...]:
    """A vote goes only to a log that has what the voter acknowledged, or a leader in between lacks that."""
    script = Script(name, facts, goal)
    own = s.log_end(voter)
    script.have(
        "voter-has-what-it-acknowledged",
        forall(
            (_e,),
            Implies(
                And(s.acknowledged(voter, _e), epoch_of(_e) < epoch),
                Or(prefix(_e, own), overtaken(s, _e, epoch, itself=False)),
            ),
        ),
        (
            "acknowledged-is-kept",
            "acknowledged-is-kept-to-vote",
            "log-ends-written",
            "prefix-transitive",
            "epoch-not-stale",
            "knows-no-leader",
        ),
    )
    script.have(
        "voters-log-is-in-the-candidates",
        Implies(epoch_of(own) == epoch_of(log), prefix(own, log)),
        (*ORDER, "log-matching", "log-ends-written", "candidate-log-is-older", "was-asked", "log-is-up-to-date"),
    )
    return script.contradiction(
        (
            *ORDER,
            "denied",
            "was-asked",
            "log-is-up-to-date",
            "voter-has-what-it-acknowledged",
            "voters-log-is-in-the-candidates",
            "votes-respect-acknowledged",
            "candidate-log-is-older",
            "log-ends-written",
            "logs-have-no-gaps",
            "epochs-ascend",
            "entries-have-leaders",
        )
    )


def voters_change_one_at_a_time(s: State, name: str, facts: Facts, goal: Formula) -> tuple[Obligation, ...]:
    """A new VotersRecord follows one that was committed by its own set, in the same epoch."""
    script = Script(name, facts, goal)
    own = s.log_end(leader)
    changes = is_voters_record(entry)
    script.have(
        "previous-is-the-one-in-force",
        Implies(changes, And(entry != bootstrap, previous_voters_record(entry) == voters_record(own))),
        (*ORDER, *SETS, "bootstrap-written", "entry-is-new", "after-the-log-end", "next-entry"),
    )
    script.have(
        "watermark-is-in-the-log",
        Implies(changes, And(prefix(watermark, own), prefix(watermark, watermark_log), prefix(watermark_log, own))),
        (
            *ORDER,
            "leads",
            "same-epoch",
            "has-high-watermark",
            "epoch-is-committed",
            "committed-by-majority",
            "leader-has-its-epoch",
            "logs-have-no-gaps",
        ),
    )
    script.have(
        "watermark-counted-by-the-set-in-force",
        Implies(changes, voters_record(watermark_log) == voters_record(own)),
        (*ORDER, *SETS, "watermark-is-in-the-log", "voters-set-is-committed"),
    )
    return script.contradiction(
        (
            *ORDER,
            "denied",
            CHANGES,
            "has-high-watermark",
            "epoch-is-committed",
            "voters-set-is-committed",
            "one-voter-differs",
            "entry-is-new",
            "entry-of-the-epoch",
            "after-the-log-end",
            "previous-is-the-one-in-force",
            "watermark-is-in-the-log",
            "watermark-counted-by-the-set-in-force",
        )
    )
