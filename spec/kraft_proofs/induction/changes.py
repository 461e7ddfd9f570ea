"""Changes of a theory on purpose.

A change is a string. Most omit a condition; those with a formula of their own have a name in `NAMED`.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

from z3 import And, Implies, Or

from kraft_proofs.induction.actions import Action, candidate, epoch, leader, log, quorum, replica, voter
from kraft_proofs.induction.state import State
from kraft_proofs.induction.symbols import (
    ENTRY,
    REPLICA,
    Formula,
    bootstrap,
    epoch_of,
    exists,
    forall,
    is_voters_record,
    majority,
    neighbours,
    offset_of,
    prefix,
    previous_voters_record,
    variables,
    voters_of,
    voters_record,
)
from kraft_proofs.induction.theory import Theory, theory
from kraft_proofs.induction.worlds import Meaning, Replicas, keys
from kraft_reference.profile import KAFKA_4
from kraft_reference.state import is_majority

Change: TypeAlias = Callable[[Theory], Theory]

_c, _d, _g, _f = variables(ENTRY, "c d g f")
(_r,) = variables(REPLICA, "r")


def changed(about: Theory, changes: Iterable[str]) -> Theory:
    """Return the theory with changes, applied in order.

    Args:
        about: The theory.
        changes: `without ACTION/CONDITION` omits a condition of a guard, and `without axiom/NAME` a fact about the
            vocabulary; with `unchanged ACTION/FUNCTION` the action leaves that function of the state unchanged. Any
            other change is a name in `NAMED`.

    Raises:
        KeyError: there is nothing of that name.
    """
    for change in changes:
        verb, _, what = change.partition(" ")
        of, _, name = what.partition("/")
        if verb == "without" and of == "axiom":
            kept = {axiom.name: axiom for axiom in about.axioms}
            del kept[name]
            about = about._replace(axioms=tuple(kept.values()))
        elif verb == "without":
            about = about.with_action(about.action(of).without(name))
        elif verb == "unchanged":
            action = about.action(of)
            same = action.after.updated(**{name: about.before._asdict()[name]})
            about = about.with_action(action._replace(after=same))
        else:
            about = NAMED[change](about)
    return about


def other_invariant(about: Theory, name: str, formula: Callable[[State], Formula]) -> Theory:
    """Return the theory with another formula for an invariant."""
    invariants = (each._replace(formula=formula) if each.name == name else each for each in about.invariants)
    return about._replace(invariants=tuple(invariants))


def _replace_condition(of: str, formula: Callable[[State], Formula]) -> Change:
    """Return a change that replaces a condition, `ACTION/CONDITION`, of an action's guard."""
    name, _, condition = of.partition("/")

    def change(about: Theory) -> Theory:
        action = about.action(name)
        return about.with_action(action._replace(guard={**action.guard, condition: formula(about.before)}))

    return change


def _change_in_another_epoch(s: State) -> Formula:
    """Return `one-voter-change-at-a-time` without the requirement that both entries are of one epoch."""
    previous = previous_voters_record(_c)
    committed_before = exists(
        (_d, _g),
        And(s.committed(_d, _g), voters_record(_g) == previous, prefix(previous, _d), prefix(_d, _c), _d != _c),
    )
    return forall(
        (_c,),
        Implies(
            And(s.written(_c), is_voters_record(_c), _c != bootstrap),
            And(neighbours(voters_of(previous), voters_of(_c)), committed_before),
        ),
    )


def _is_up_to_date_or_repeated(s: State) -> Formula:
    own = s.log_end(voter)
    return Or(
        epoch_of(own) < epoch_of(log),
        And(epoch_of(own) == epoch_of(log), offset_of(own) <= offset_of(log)),
        exists((_f,), s.granted(voter, epoch, candidate, _f)),
    )


def _acknowledges_older_entries(about: Theory) -> Theory:
    s, action = about.before, about.action("acknowledge")
    own = s.log_end(replica)
    after = action.after.updated(
        acknowledged=lambda r, e: Or(s.acknowledged(r, e), And(r == replica, prefix(e, own), e != bootstrap))
    )
    return about.with_action(action._replace(after=after))


def _loses_its_disk(about: Theory) -> Theory:
    after = about.before.setting(replica, epoch=0, log_end=bootstrap, flushed=bootstrap)
    sentence = "A replica starts with an empty disk under the replica key that it had."
    return about.with_action(Action("lose-disk", sentence, (replica,), {}, after))


NAMED: Mapping[str, Change] = {
    "a change is committed in any epoch": lambda about: other_invariant(
        about, "one-voter-change-at-a-time", _change_in_another_epoch
    ),
    "commits count by the set before": _replace_condition(
        "commit/majority-of-own-voters",
        lambda s: majority(quorum, voters_of(previous_voters_record(voters_record(s.log_end(leader))))),
    ),
    "commits count by the first set": _replace_condition(
        "commit/majority-of-own-voters", lambda s: majority(quorum, voters_of(bootstrap))
    ),
    "votes count by the first set": _replace_condition(
        "become-leader/majority-of-own-voters", lambda s: majority(quorum, voters_of(bootstrap))
    ),
    "votes look at the offset alone": _replace_condition(
        "vote/log-is-up-to-date", lambda s: offset_of(s.log_end(voter)) <= offset_of(log)
    ),
    "votes are for any log of the Candidate": _replace_condition(
        "vote/no-other-vote", lambda s: forall((_r, _f), Implies(s.granted(voter, epoch, _r, _f), _r == candidate))
    ),
    "votes are repeated": _replace_condition("vote/log-is-up-to-date", _is_up_to_date_or_repeated),
    "restarts as Kafka 4": lambda _: theory(KAFKA_4),
    "stands in its own epoch": _replace_condition("stand/epoch-is-new", lambda s: s.epoch(candidate) <= epoch),
    "acknowledges older entries": _acknowledges_older_entries,
    "acknowledges in a past epoch": _replace_condition("acknowledge/follows", lambda s: s.follows(replica, epoch)),
    "loses its disk": _loses_its_disk,
}


def _at_least_half(chosen: Replicas, voters: Replicas) -> bool:
    number = len(chosen & voters)
    return is_majority(number, keys(voters)) or 2 * number == len(voters) > 0


OTHER_MEANINGS: Mapping[str, Mapping[str, Meaning]] = {
    "without axiom/majorities-of-one-set": {
        "majority": Meaning("At least half of the voters of a set that is not empty.", _at_least_half),
        "neighbours": Meaning("None are: there are no voter changes.", lambda a, b: False),
    },
    "without axiom/majorities-of-neighbours": {
        "neighbours": Meaning("At most two replicas are in one set only.", lambda a, b: len(a ^ b) <= 2),
    },
}
"""Alternative meanings of symbols for which all axioms hold except the omitted one."""
