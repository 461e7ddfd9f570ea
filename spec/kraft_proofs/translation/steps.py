"""Each action of the model as steps of the proof: what must be proved of it, case by case.

A case is which steps of the proof the action amounts to; what it changed says which. In each case it is proved that
the guard of every step holds where it is taken, and that the two replicas are in the same state after the last one.
That nothing changes of the replicas beside the one that acts is proved for each step of the proof (`others/...`).
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

import z3
from z3 import And, Implies, Not, Or

from kraft_proofs.induction import actions, logs
from kraft_proofs.induction.actions import Action
from kraft_proofs.induction.axioms import ALL as AXIOMS
from kraft_proofs.induction.invariants import INVARIANTS
from kraft_proofs.induction.prover import WORK_LIMIT, Obligation
from kraft_proofs.induction.state import FUNCTIONS, State, any_state
from kraft_proofs.induction.symbols import REPLICA, Expression, Formula, exists, forall
from kraft_proofs.translation.acting import Acted
from kraft_proofs.translation.relation import (
    ASKED_LOG,
    KNOWN,
    TOLD,
    VOCABULARY,
    Past,
    Sides,
    cut,
    extended,
    has_voted,
    one_directory_at_version_0,
    read,
    replica_of,
    told,
)
from kraft_proofs.translation.values import sequence

_MAKE = {make(any_state()).name: make for make in (*actions.ALL, *logs.ALL)}
_KNOWN_FIRST = (
    "log-ends-written",
    "candidate-log-is-older",
    "one-log-per-candidacy",
    "votes-were-asked-for",
    "vote-once-per-epoch",
    "leader-has-majority",
    "follower-has-leader",
)
"""The invariants that serve for most obligations."""

_PLAIN = tuple(one.name for one in INVARIANTS if "(exists" not in one.formula(any_state()).sexpr())
"""Those that do not say that something exists: the others together can name new things without end."""

_ALWAYS = {**{one.name: one.formula for one in AXIOMS}, **VOCABULARY}

Goal: TypeAlias = tuple[str, Mapping[str, Formula], Formula]


class Link(NamedTuple):
    """A step of the proof, if the condition holds; parameters that are not given are any that serve.

    Both are said of the proof's state before the step.
    """

    action: str
    condition: Callable[[State], Formula]
    given: Callable[[State], Mapping[Expression, Expression]]


class Case(NamedTuple):
    """Some steps of the proof, and what is known after them."""

    steps: tuple[str, ...]
    known: Mapping[str, Formula]
    state: State


def chain(acted: Acted) -> tuple[Link, ...]:
    """The steps that an action may amount to, in their order: read off what it changed, as in `refinement`."""
    t, s, after = acted.translator, acted.before, acted.after
    own, own_id, epoch, leader = replica_of(*s["replica_key"]), s["replica_key"][0], after["epoch"], after["leader_id"]
    is_later = epoch != s["epoch"]
    votes = And(has_voted(after), Or(is_later, Not(has_voted(s))))
    stands = And(has_voted(after), is_later, t.truth(t.call("Names", after["voted_key"], s["replica_key"])))
    learns = And(leader != -1, leader != own_id, Or(is_later, leader != s["leader_id"]))
    leads, was, end = after["role"] == t.text("Leader"), s["role"], t.call("EndOffset", after)
    again = And(
        was == t.text("Stopped"), Or(leads, after["role"] == t.text("Candidate")), Not(is_later), has_voted(after)
    )
    elected = And(leads, was != t.text("Leader"))
    watermark = after["high_watermark"]
    # Who is removed resigns in the step that commits it, and forgets where its epoch began.
    start = z3.If(elected, after["epoch_start_offset"], s["epoch_start_offset"])
    led = Or(leads, was == t.text("Leader"))
    counts = And(led, watermark > start, Or(elected, watermark != s["high_watermark"]))
    first = sequence(acted.sends).at(z3.IntVal(1))
    fetches = t.equal(first["type"], t.text("FetchRequest")) if isinstance(first, Mapping) else z3.BoolVal(False)
    led_with = z3.If(elected, any_state().log_end(own), KNOWN.led[0])
    of_candidate = {actions.candidate: own, actions.epoch: epoch}
    of_leader = {actions.leader: own, actions.epoch: epoch, actions.log: led_with}
    of_replica = {actions.replica: own, actions.epoch: epoch}

    def appended(state: State) -> Mapping[Expression, Expression]:
        # It changes no voters, so that any high watermark does.
        any_watermark = {one: one for one in (actions.watermark, actions.watermark_log)}
        return {**of_leader, actions.entry: extended(state.log_end(own), epoch), **any_watermark}

    def counted(state: State) -> Mapping[Expression, Expression]:
        return {**of_leader, actions.entry: cut(state.log_end(own), watermark)}

    of_vote = {actions.voter: own, actions.candidate: replica_of(*after["voted_key"]), actions.epoch: epoch}

    def append(number: int) -> Link:
        return Link("append", lambda _: And(led, t.call("EndOffset", s) + number <= end), appended)

    return (
        Link("vote", lambda _: And(votes, Not(stands)), lambda _: {**of_vote, actions.log: ASKED_LOG}),
        Link("learn-epoch", lambda _: And(is_later, Not(learns), Not(votes)), lambda _: of_replica),
        Link("learn-leader", lambda _: learns, lambda _: {**of_replica, actions.leader: TOLD[0], actions.log: TOLD[1]}),
        Link("stand", lambda _: stands, lambda _: of_candidate),
        Link("stand-again", lambda _: again, lambda _: of_candidate),
        Link("become-leader", lambda _: elected, lambda state: {**of_candidate, actions.log: state.log_end(own)}),
        *map(append, (1, 2, 3)),
        Link("commit", lambda _: counts, counted),
        Link("acknowledge", lambda _: And(fetches, leader != -1, leader != own_id), lambda _: of_replica),
        Link(
            "sync",
            lambda _: And(fetches, Or(leader == -1, leader == own_id)),
            lambda state: {actions.replica: own, actions.kept: cut(state.log_end(own), after["flushed"])},
        ),
    )


def obligations(acted: Acted) -> tuple[Obligation, ...]:
    """What must be proved of an action: `ACTION/STEPS/guard of STEP/...`, `ACTION/STEPS/FIELD`.

    Its translator is of no use for anything else afterwards.
    """
    t, sides, before = acted.translator, Sides(acted.translator), any_state()
    known = {
        "the action is possible": acted.guard,
        "one directory at version 0": one_directory_at_version_0(acted.before),
    }
    known |= {f"before, {part}": one for part, one in sides.same(acted.before, before, KNOWN).items()}
    known |= {f"of the message, {part}": one for part, one in read(t, acted.before, acted.message, before).items()}
    goals = list(_of_cases(acted, sides, chain(acted), Case((), known, before)))
    always = dict(_ALWAYS)
    always |= {f"made up {number}": one for number, one in enumerate(t.facts, start=1)}
    always |= {**sides.facts(), "strings differ": z3.Distinct(*t.texts.values())}
    # No action here changes who votes: that every set which it counts by is the one in force is proved first.
    first, *other_names = sides.names()
    same = {f"{one} is in force": one == first for one in other_names}
    listed = [(f"voters/{name}", {**always, "the action is possible": acted.guard}, one) for name, one in same.items()]
    listed += [(name, {**always, **same, **facts}, goal) for name, facts, goal in goals]
    t.forget()
    return tuple(
        Obligation(f"{acted.name}/{name}", facts, goal, tuple(_attempts(facts, "majority" in name)))
        for name, facts, goal in listed
    )


def _of_cases(acted: Acted, sides: Sides, links: tuple[Link, ...], case: Case) -> Iterator[Goal]:
    of_state = {f"{one.name}, {len(case.steps)}": one.formula(case.state) for one in INVARIANTS}
    if "become-leader" in case.steps:
        # The leader is new: no term is there yet that Z3 would match.
        own, epoch = replica_of(*acted.before["replica_key"]), acted.after["epoch"]
        every = of_state[f"leader-has-its-epoch, {len(case.steps)}"]
        of_it = z3.substitute_vars(every.body(), any_state().log_end(own), own, epoch)
        of_state[f"it has its epoch, {len(case.steps)}"] = of_it
    if not links:
        yield from _at_the_end(acted, sides, case._replace(known={**case.known, **of_state}))
        return
    link, *rest = links
    condition = link.condition(case.state)
    plain = z3.Solver()
    plain.set("rlimit", LIMIT)
    plain.set("ctrl_c", False)
    plain.add(*(one for one in (*case.known.values(), *acted.translator.facts) if not has_quantifier(one)))
    plain.add(z3.Distinct(*acted.translator.texts.values()))
    for name, one in ((f"no {link.action}, {len(rest)}", Not(condition)), (f"{link.action}, {len(rest)}", condition)):
        if plain.check(one) == z3.unsat:
            continue
        known = {**case.known, name: one}
        if one is condition:
            action = at(_MAKE[link.action](case.state), link.given(case.state), case.state)
            steps = (*case.steps, link.action)
            for part, guard in _joined(action).items():
                yield f"{' '.join(steps)}/guard of {link.action}/{part}", {**known, **of_state}, guard
            yield from _of_cases(acted, sides, tuple(rest), Case(steps, {**known, **of_state}, action.after))
        else:
            yield from _of_cases(acted, sides, tuple(rest), case._replace(known=known))


def _at_the_end(acted: Acted, sides: Sides, case: Case) -> Iterator[Goal]:
    """The two replicas are in the same state, and what is sent is true."""
    title, own = " ".join(case.steps) or "nothing", replica_of(*acted.before["replica_key"])
    log, watermark = any_state().log_end(own), cut(case.state.log_end(own), acted.after["high_watermark"])
    past = KNOWN.and_also(Past((ASKED_LOG, log), (TOLD,), (log,), (watermark,)))
    known = dict(case.known)
    for part, one in sides.same(acted.after, case.state, past).items():
        yield f"{title}/{part}", dict(known), one
        # It is proved, so that the fields after it may use it.
        known[f"after, {part}"] = one
    sends, place = sequence(acted.sends), z3.Int("place")
    is_place, message = And(place >= 1, place <= sends.length), sends.at(place)
    for part, one in told(acted.translator, acted.after, message, acted.message, case.state, past).items():
        yield f"{title}/sent, {part}", known, Implies(is_place, one)


def at(action: Action, given: Mapping[Expression, Expression], before: State) -> Action:
    """An action with these values of its parameters; those that are left are any that serve."""
    pairs = list(given.items())

    def after(name: str) -> Any:
        changed = getattr(action.after, name)
        if changed is getattr(before, name):
            return changed
        # Places of its own: what the function is asked of may have the parameters of the next action in it.
        places = [z3.FreshConst(sort) for sort in FUNCTIONS[name].arguments]
        value = z3.substitute(changed(*places), *pairs)
        return lambda *where: z3.substitute(value, *zip(places, where, strict=True))

    guard = {name: z3.substitute(one, *pairs) for name, one in action.guard.items()}
    left = tuple(one for one in action.parameters if not any(one.eq(known) for known in given))
    return action._replace(parameters=left, guard=guard, after=State(**{name: after(name) for name in State._fields}))


def _joined(action: Action) -> Mapping[str, Formula]:
    """The conjuncts of the guard, in one those about parameters that are not given."""
    together = {name: one for name, one in action.guard.items() if any(_mentions(one, p) for p in action.parameters)}
    if not together:
        return action.guard
    joined = exists(action.parameters, And(*together.values()))
    return {name: one for name, one in action.guard.items() if name not in together} | {" ".join(together): joined}


def _mentions(formula: Formula, constant: Expression) -> bool:
    return not z3.substitute(formula, (constant, z3.FreshConst(constant.sort()))).eq(formula)


def has_quantifier(formula: Formula) -> bool:
    """Does the formula say something of all, or of some?"""
    goal = z3.Goal()
    goal.add(formula)
    return bool(z3.Probe("has-quantifiers")(goal))


def _attempts(facts: Mapping[str, Formula], counts: bool) -> Iterator[tuple[str, ...]]:
    """Premises to try: what is said of the step alone, the axioms too, and with them more and more invariants.

    Args:
        facts: All that is known.
        counts: Whether it takes majorities.
    """
    invariants = [one.name for one in INVARIANTS]
    last = max((one.rpartition(", ")[2] for one in facts if one.partition(",")[0] in invariants), default="")
    served = [one for one in facts if counts or not one.startswith("quorum ")]
    yield tuple(one for one in served if one.partition(",")[0] not in (*invariants, *_ALWAYS))
    for chosen, when in (
        ((), ""),
        (["leader-has-its-epoch"], last),
        (_KNOWN_FIRST, ""),
        (_PLAIN, last),
        (invariants, ""),
    ):
        yield tuple(
            one
            for one in served
            if (name := one.partition(",")[0]) not in invariants or (name in chosen and one.endswith(when))
        )


def others() -> tuple[Obligation, ...]:
    """No step of the proof changes another replica than its own, and what is remembered only grows."""
    before, replica = any_state(), z3.Const("another", REPLICA)
    found = []
    for make in _MAKE.values():
        action = make(before)
        actor = next(one for one in action.parameters if one.sort() == REPLICA)
        same = []
        for name, signature in FUNCTIONS.items():
            given = [z3.Const(f"given_{number}", sort) for number, sort in enumerate(signature.arguments)]
            old, new = getattr(before, name)(*given), getattr(action.after, name)(*given)
            if z3.is_bool(old):
                same.append(forall(tuple(given), Implies(old, new)))
            for number, one in enumerate(given):
                # Whom a vote is for is no state of theirs.
                if one.sort() == REPLICA and (name, number) != ("granted", 2):
                    same.append(forall(tuple(given), Implies(And(one == replica, replica != actor), old == new)))
        found.append(Obligation(f"others/{action.name}", dict(action.guard), And(*same), ((),)))
    return tuple(found)


LIMIT = 10 * WORK_LIMIT
"""Z3's resource units for an attempt at one of these."""
