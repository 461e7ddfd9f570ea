"""Obligations that each action of the model is a sequence of steps of the proof, case by case.

A case is a sequence of the proof's steps for the action, selected by its changes. In each case the guard of every step
must hold in its state, and the two replicas must be in the same state after the last step.
For each step of the proof, the other replicas must not change (`others/...`).
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
"""Invariants that suffice for most obligations."""

_PLAIN = tuple(invariant.name for invariant in INVARIANTS if "(exists" not in invariant.formula(any_state()).sexpr())
"""Invariants without existential quantifiers: together the others can create new terms without end."""

_ALWAYS = {**{axiom.name: axiom.formula for axiom in AXIOMS}, **VOCABULARY}

Goal: TypeAlias = tuple[str, Mapping[str, Formula], Formula]


class Link(NamedTuple):
    """A step of the proof, taken if the condition holds; its other parameters are arbitrary.

    Condition and parameters are terms of the proof's state before the step.
    """

    action: str
    condition: Callable[[State], Formula]
    given: Callable[[State], Mapping[Expression, Expression]]


class Case(NamedTuple):
    """Some steps of the proof, and the facts after them."""

    steps: tuple[str, ...]
    known: Mapping[str, Formula]
    state: State


def chain(acted: Acted) -> tuple[Link, ...]:
    """Return the possible steps of an action in order, determined by its changes as in `refinement`."""
    t, s, after = acted.translator, acted.before, acted.after
    own, own_id, epoch, leader = replica_of(*s["replica_key"]), s["replica_key"].id, after["epoch"], after["leader_id"]
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
    # A removed leader resigns in the step that commits its removal, and forgets the start of its epoch.
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
        # The record changes no voters, so any high watermark is allowed.
        any_watermark = {variable: variable for variable in (actions.watermark, actions.watermark_log)}
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
    """Return the obligations of an action: `ACTION/STEPS/guard of STEP/...`, `ACTION/STEPS/FIELD`.

    Its translator cannot be used afterwards.
    """
    t, sides, before = acted.translator, Sides(acted.translator), any_state()
    premises = {
        "the action is possible": acted.guard,
        "one directory at version 0": one_directory_at_version_0(acted.before),
    }
    premises |= {f"before, {part}": formula for part, formula in sides.same(acted.before, before, KNOWN).items()}
    premises |= {f"of the message, {part}": fact for part, fact in read(t, acted.before, acted.message, before).items()}
    goals = list(_split_cases(acted, sides, chain(acted), Case((), premises, before)))
    always = dict(_ALWAYS)
    always |= {f"made up {number}": fact for number, fact in enumerate(t.facts, start=1)}
    always |= {**sides.facts(), "strings differ": z3.Distinct(*t.texts.values())}
    # No action here changes the voters: first prove that every set used for counting is the one in force.
    first, *other_names = sides.names()
    same = {f"{name} is in force": name == first for name in other_names}
    listed = [
        (f"voters/{name}", {**always, "the action is possible": acted.guard}, goal) for name, goal in same.items()
    ]
    listed += [(name, {**always, **same, **facts}, goal) for name, facts, goal in goals]
    t.forget()
    return tuple(
        Obligation(f"{acted.name}/{name}", facts, goal, tuple(_list_attempts(facts, "majority" in name)))
        for name, facts, goal in listed
    )


def _split_cases(acted: Acted, sides: Sides, links: tuple[Link, ...], case: Case) -> Iterator[Goal]:
    of_state = {f"{invariant.name}, {len(case.steps)}": invariant.formula(case.state) for invariant in INVARIANTS}
    if "become-leader" in case.steps:
        # The leader is new, so Z3 has no term to match yet: instantiate its invariant.
        own, epoch = replica_of(*acted.before["replica_key"]), acted.after["epoch"]
        every = of_state[f"leader-has-its-epoch, {len(case.steps)}"]
        of_it = z3.substitute_vars(every.body(), any_state().log_end(own), own, epoch)
        of_state[f"it has its epoch, {len(case.steps)}"] = of_it
    if not links:
        yield from _final_goals(acted, sides, case._replace(known={**case.known, **of_state}))
        return
    link, *tail = links
    condition = link.condition(case.state)
    plain = z3.Solver()
    plain.set("rlimit", LIMIT)
    plain.set("ctrl_c", False)
    plain.add(*(formula for formula in (*case.known.values(), *acted.translator.facts) if not has_quantifier(formula)))
    plain.add(z3.Distinct(*acted.translator.texts.values()))
    for name, way in ((f"no {link.action}, {len(tail)}", Not(condition)), (f"{link.action}, {len(tail)}", condition)):
        if plain.check(way) == z3.unsat:
            continue
        facts = {**case.known, name: way}
        if way is condition:
            action = at(_MAKE[link.action](case.state), link.given(case.state), case.state)
            steps = (*case.steps, link.action)
            for part, guard in _join_conjuncts(action).items():
                yield f"{' '.join(steps)}/guard of {link.action}/{part}", {**facts, **of_state}, guard
            yield from _split_cases(acted, sides, tuple(tail), Case(steps, {**facts, **of_state}, action.after))
        else:
            yield from _split_cases(acted, sides, tuple(tail), case._replace(known=facts))


def _final_goals(acted: Acted, sides: Sides, case: Case) -> Iterator[Goal]:
    """Yield the goals that the two replicas are in the same state, and that the facts of sent messages hold."""
    title, own = " ".join(case.steps) or "nothing", replica_of(*acted.before["replica_key"])
    log, watermark = any_state().log_end(own), cut(case.state.log_end(own), acted.after["high_watermark"])
    past = KNOWN.and_also(Past((ASKED_LOG, log), (TOLD,), (log,), (watermark,)))
    facts = dict(case.known)
    for part, goal in sides.same(acted.after, case.state, past).items():
        yield f"{title}/{part}", dict(facts), goal
        # Already proved, so goals of later fields may use it.
        facts[f"after, {part}"] = goal
    sends, place = sequence(acted.sends), z3.Int("place")
    is_place, message = And(place >= 1, place <= sends.length), sends.at(place)
    for part, goal in told(acted.translator, acted.after, message, acted.message, case.state, past).items():
        yield f"{title}/sent, {part}", facts, Implies(is_place, goal)


def at(action: Action, values: Mapping[Expression, Expression], before: State) -> Action:
    """Return an action with these values of its parameters; the others are arbitrary."""
    pairs = list(values.items())

    def after(name: str) -> Any:
        changed = getattr(action.after, name)
        if changed is getattr(before, name):
            return changed
        # Fresh constants: arguments of the function may contain the parameters of the next action.
        places = [z3.FreshConst(sort) for sort in FUNCTIONS[name].arguments]
        value = z3.substitute(changed(*places), *pairs)
        return lambda *where: z3.substitute(value, *zip(places, where, strict=True))

    guard = {name: z3.substitute(conjunct, *pairs) for name, conjunct in action.guard.items()}
    free = tuple(p for p in action.parameters if not any(p.eq(fixed) for fixed in values))
    return action._replace(parameters=free, guard=guard, after=State(**{name: after(name) for name in State._fields}))


def _join_conjuncts(action: Action) -> Mapping[str, Formula]:
    """Return the conjuncts of the guard, with those about remaining parameters joined into one."""
    together = {name: part for name, part in action.guard.items() if any(_mentions(part, p) for p in action.parameters)}
    if not together:
        return action.guard
    joined = exists(action.parameters, And(*together.values()))
    return {name: part for name, part in action.guard.items() if name not in together} | {" ".join(together): joined}


def _mentions(formula: Formula, constant: Expression) -> bool:
    return not z3.substitute(formula, (constant, z3.FreshConst(constant.sort()))).eq(formula)


def has_quantifier(formula: Formula) -> bool:
    """Return True if the formula has a quantifier."""
    goal = z3.Goal()
    goal.add(formula)
    return bool(z3.Probe("has-quantifiers")(goal))


def _list_attempts(facts: Mapping[str, Formula], counts: bool) -> Iterator[tuple[str, ...]]:
    """Yield premises to try: those about the step alone, then with the axioms, then with more and more invariants.

    Args:
        facts: All facts.
        counts: True if the goal needs majorities.
    """
    invariants = [invariant.name for invariant in INVARIANTS]
    last = max((fact.rpartition(", ")[2] for fact in facts if fact.partition(",")[0] in invariants), default="")
    served = [fact for fact in facts if counts or not fact.startswith("quorum ")]
    yield tuple(fact for fact in served if fact.partition(",")[0] not in (*invariants, *_ALWAYS))
    for chosen, when in (
        ((), ""),
        (["leader-has-its-epoch"], last),
        (_KNOWN_FIRST, ""),
        (_PLAIN, last),
        (invariants, ""),
    ):
        yield tuple(
            fact
            for fact in served
            if (name := fact.partition(",")[0]) not in invariants or (name in chosen and fact.endswith(when))
        )


def others() -> tuple[Obligation, ...]:
    """State that no step of the proof changes another replica than its own, and that history only grows."""
    before, replica = any_state(), z3.Const("another", REPLICA)
    results = []
    for make in _MAKE.values():
        action = make(before)
        actor = next(parameter for parameter in action.parameters if parameter.sort() == REPLICA)
        same = []
        for name, signature in FUNCTIONS.items():
            places = [z3.Const(f"given_{number}", sort) for number, sort in enumerate(signature.arguments)]
            old, new = getattr(before, name)(*places), getattr(action.after, name)(*places)
            if z3.is_bool(old):
                same.append(forall(tuple(places), Implies(old, new)))
            for number, place in enumerate(places):
                # The receiver of a vote does not change its state.
                if place.sort() == REPLICA and (name, number) != ("granted", 2):
                    same.append(forall(tuple(places), Implies(And(place == replica, replica != actor), old == new)))
        results.append(Obligation(f"others/{action.name}", dict(action.guard), And(*same), ((),)))
    return tuple(results)


LIMIT = 10 * WORK_LIMIT
"""Z3's resource units for each attempt."""
