"""Proof scripts: the three obligations that quorums carry, and two that go faster in steps."""

from z3 import And, Implies, Not, Or

from kraft_spec.proofs.induction.actions import candidate, entry, epoch, leader, log, voter, watermark, watermark_log
from kraft_spec.proofs.induction.cases import CHANGES, ORDER, SETS, Sides, by_cases, written_records
from kraft_spec.proofs.induction.instances import Counterexamples
from kraft_spec.proofs.induction.invariants import overtaken
from kraft_spec.proofs.induction.prover import Obligation
from kraft_spec.proofs.induction.script import Facts, Script
from kraft_spec.proofs.induction.state import State
from kraft_spec.proofs.induction.symbols import (
    ENTRY,
    NUMBER,
    REPLICA,
    Formula,
    bootstrap,
    epoch_of,
    forall,
    is_voters_record,
    offset_of,
    prefix,
    previous_voters_record,
    variables,
    voters_record,
)

_e, _g, _f = variables(ENTRY, "e g f")
(_r,) = variables(REPLICA, "r")
(_t,) = variables(NUMBER, "t")


def complete(s: State) -> Formula:
    """The new leader has all entries committed in earlier epochs."""
    return forall((_e, _g), Implies(And(s.committed(_e, _g), epoch_of(_e) < epoch), prefix(_e, log)))


def only_leader(s: State) -> Formula:
    """Nobody else was elected in the new leader's epoch."""
    return forall((_r, _f), Implies(s.elected(epoch, _r, _f), And(_r == candidate, _f == log)))


def kept_by_later_leaders(s: State) -> Formula:
    """Leaders elected after the epoch of the entry that is committed have it."""
    return forall((_t, _r, _f), Implies(And(s.elected(_t, _r, _f), epoch_of(entry) < _t), prefix(entry, _f)))


def new_leader_is_complete(s: State, name: str, facts: Facts, goal: Formula) -> tuple[Obligation, ...]:
    """Proof of `complete`.

    The counterexample is one whose entry was committed by the oldest voters set: this is the induction on voters sets.
    """
    script = Script(name, facts, goal)
    lacking = Counterexamples(
        (_e, _g),
        lambda e, g: And(s.committed(e, g), epoch_of(e) < epoch, Not(prefix(e, log))),
        lambda _, g: offset_of(voters_record(g)),
    )
    lost, committer = script.least(lacking, "offsets-natural").named
    script.apply("committed-by-majority", (lost, committer), "lost")
    script.have(
        "setting",
        And(
            written_records(s, log, committer),
            epoch_of(log) < epoch,
            prefix(lost, committer),
            epoch_of(lost) == epoch_of(committer),
            epoch_of(lost) < epoch,
            Not(prefix(lost, log)),
        ),
        ("counterexample committed-by-majority,lost stood candidate-log-is-older logs-have-no-gaps in-force-is-in-log"),
    )
    overlap = (
        "majority-of-own-voters majority-voted counterexample committed-by-majority,lost "
        "votes-respect-acknowledged leader-completeness"
    )
    return by_cases(
        script,
        Sides(log, committer, overlap, "none-smaller", "committed-in-one-order counterexample"),
    )


def new_leader_is_the_only_one(s: State, name: str, facts: Facts, goal: Formula) -> tuple[Obligation, ...]:
    """Proof of `only_leader`."""
    script = Script(name, facts, goal)
    others = Counterexamples(
        (_r, _f), lambda r, f: And(s.elected(epoch, r, f), Or(r != candidate, f != log)), lambda _, f: offset_of(f)
    )
    rival, rivals_log = script.some(others)
    script.apply("leader-has-majority", (epoch, rival, rivals_log), "rival")
    script.have(
        "setting",
        And(written_records(s, log, rivals_log), epoch_of(log) < epoch, epoch_of(rivals_log) < epoch),
        ("counterexample leader-has-majority,rival stood candidate-log-is-older logs-have-no-gaps in-force-is-in-log"),
    )
    # A leader of the epoch has the log that it was elected with, or entries of the epoch after it.
    overlap = (
        "majority-of-own-voters majority-voted counterexample leader-has-majority,rival vote-once-per-epoch "
        "leader-has-its-epoch same-epoch same-log setting"
    )
    return by_cases(
        script,
        Sides(log, rivals_log, overlap, "new-leader-is-complete", "leader-completeness counterexample"),
    )


def later_leaders_keep_it(s: State, name: str, facts: Facts, goal: Formula) -> tuple[Obligation, ...]:
    """Proof of `kept_by_later_leaders`.

    The counterexample is the leader of the smallest epoch: this is the induction on epochs.
    """
    script = Script(name, facts, goal)
    own = s.log_end(leader)
    lacking = Counterexamples(
        (_t, _r, _f),
        lambda t, r, f: And(s.elected(t, r, f), epoch_of(entry) < t, Not(prefix(entry, f))),
        lambda t, *_: t,
    )
    later, elected, its_log = script.least(lacking, "leader-has-majority candidate-log-is-older epochs-natural").named
    script.apply("leader-has-majority", (later, elected, its_log), "later")
    script.have(
        "log-end-is-of-the-epoch",
        epoch_of(own) == epoch,
        f"{ORDER} leads same-epoch entry-in-its-log entry-of-the-epoch log-ends-written epochs-ascend",
    )
    script.have(
        "setting",
        And(
            written_records(s, its_log, own),
            epoch_of(its_log) < later,
            prefix(entry, own),
            s.written(entry),
            entry != bootstrap,
            epoch_of(entry) == epoch,
            epoch_of(own) == epoch,
            epoch < later,
            Not(prefix(entry, its_log)),
        ),
        (
            f"{ORDER} counterexample leader-has-majority,later leader-has-majority log-end-is-of-the-epoch leads "
            "same-epoch entry-in-its-log entry-of-the-epoch candidate-log-is-older log-ends-written "
            "logs-have-no-gaps in-force-is-in-log"
        ),
    )
    script.have(
        "committed-earlier-is-in-its-log",
        forall((_e, _g), Implies(And(s.committed(_e, _g), epoch_of(_e) < epoch), prefix(_e, entry))),
        "setting leads leader-completeness entries-have-leaders prefix-transitive",
    )
    script.have(
        "committed-later-has-the-entry",
        forall(
            (_e, _g),
            Implies(And(s.committed(_e, _g), prefix(_e, its_log), epoch < epoch_of(_e)), prefix(entry, _e)),
        ),
        (
            "setting none-smaller entries-have-leaders committed-by-majority epochs-ascend logs-have-no-gaps "
            "prefix-transitive"
        ),
    )
    script.have(
        "committed-in-later-log-is-comparable",
        forall(
            (_e, _g), Implies(And(s.committed(_e, _g), prefix(_e, its_log)), Or(prefix(_e, entry), prefix(entry, _e)))
        ),
        (
            "setting committed-earlier-is-in-its-log committed-later-has-the-entry log-matching "
            "committed-by-majority logs-have-no-gaps"
        ),
    )
    overlap = (
        "majority-of-own-voters majority-acknowledged counterexample leader-has-majority,later "
        "votes-respect-acknowledged none-smaller election-safety"
    )
    return by_cases(
        script,
        Sides(
            its_log,
            own,
            overlap,
            "leader-completeness counterexample",
            "committed-in-later-log-is-comparable",
        ),
    )


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
            "acknowledged-is-kept acknowledged-is-kept-to-vote log-ends-written prefix-transitive "
            "epoch-not-stale knows-no-leader"
        ),
    )
    script.have(
        "voters-log-is-in-the-candidates",
        Implies(epoch_of(own) == epoch_of(log), prefix(own, log)),
        f"{ORDER} log-matching log-ends-written candidate-log-is-older was-asked log-is-up-to-date",
    )
    return script.contradiction(
        f"{ORDER} denied was-asked log-is-up-to-date voter-has-what-it-acknowledged "
        "voters-log-is-in-the-candidates votes-respect-acknowledged candidate-log-is-older log-ends-written "
        "logs-have-no-gaps epochs-ascend entries-have-leaders"
    )


def voters_change_one_at_a_time(s: State, name: str, facts: Facts, goal: Formula) -> tuple[Obligation, ...]:
    """A new VotersRecord follows one that was committed by its own set, in the same epoch."""
    script = Script(name, facts, goal)
    own = s.log_end(leader)
    changes = is_voters_record(entry)
    script.have(
        "previous-is-the-one-in-force",
        Implies(changes, And(entry != bootstrap, previous_voters_record(entry) == voters_record(own))),
        f"{ORDER} {SETS} bootstrap-written entry-is-new after-the-log-end next-entry",
    )
    script.have(
        "watermark-is-in-the-log",
        Implies(changes, And(prefix(watermark, own), prefix(watermark, watermark_log), prefix(watermark_log, own))),
        (
            f"{ORDER} leads same-epoch has-high-watermark epoch-is-committed committed-by-majority "
            "leader-has-its-epoch logs-have-no-gaps"
        ),
    )
    script.have(
        "watermark-counted-by-the-set-in-force",
        Implies(changes, voters_record(watermark_log) == voters_record(own)),
        f"{ORDER} {SETS} watermark-is-in-the-log voters-set-is-committed",
    )
    return script.contradiction(
        f"{ORDER} denied {CHANGES} has-high-watermark epoch-is-committed voters-set-is-committed "
        "one-voter-differs entry-is-new entry-of-the-epoch after-the-log-end previous-is-the-one-in-force "
        "watermark-is-in-the-log watermark-counted-by-the-set-in-force"
    )
