"""Correspondence between the states of a replica in the model and in the proof, field by field, and of messages.

The proof's state contains the content of the model's messages. So the facts proved of every sent message (`told`) are
assumed of every received message (`read`), together with what only the network knows: that a response belongs to the
pending request of its receiver.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import z3
from z3 import And, Implies, Not, Or

from kraft_proofs.induction.state import State
from kraft_proofs.induction.symbols import (
    ENTRY,
    NUMBER,
    QUORUM,
    REPLICA,
    TRUTH,
    VOTERS,
    Expression,
    Formula,
    bootstrap,
    epoch_of,
    forall,
    in_force,
    is_voters_record,
    majority,
    member,
    offset_of,
    prefix,
    variables,
    voters_record,
)
from kraft_proofs.translation.translator import Counted, Translator
from kraft_proofs.translation.values import TEXT, Set, Value, sequence
from kraft_spec.mapping_forms import ModelKey

# Functions that map between both sides.

replica_of = z3.Function("replica_of", NUMBER, TEXT, REPLICA)
id_of = z3.Function("id_of", REPLICA, NUMBER)
has_one_directory = z3.Function("has_one_directory", NUMBER, TRUTH)
cut = z3.Function("cut", ENTRY, NUMBER, ENTRY)
extended = z3.Function("extended", ENTRY, NUMBER, ENTRY)

_i, _j, _t, _o = variables(NUMBER, "i j t o")
_d, _c = (z3.Const(name, TEXT) for name in "dc")
_x, _y, _f = variables(ENTRY, "x y f")
_v, _r = variables(REPLICA, "v r")

VOCABULARY: Mapping[str, Formula] = {
    "a-key-has-its-id": forall((_i, _d), id_of(replica_of(_i, _d)) == _i, replica_of(_i, _d)),
    "a-key-is-one-replica": forall(
        (_i, _d, _j, _c),
        Implies(replica_of(_i, _d) == replica_of(_j, _c), And(_i == _j, Or(_d == _c, has_one_directory(_i)))),
        (replica_of(_i, _d), replica_of(_j, _c)),
    ),
    "one-directory-one-replica": forall(
        (_i, _d, _c),
        Implies(has_one_directory(_i), replica_of(_i, _d) == replica_of(_i, _c)),
        (replica_of(_i, _d), replica_of(_i, _c)),
    ),
    "the-empty-log-ends-at-0": offset_of(bootstrap) == 0,
    "a-cut-is-a-prefix": forall(
        (_x, _o),
        Implies(And(_o >= 0, _o <= offset_of(_x)), And(prefix(cut(_x, _o), _x), offset_of(cut(_x, _o)) == _o)),
        cut(_x, _o),
    ),
    "a-prefix-is-a-cut": forall((_x, _y), Implies(prefix(_x, _y), cut(_y, offset_of(_x)) == _x), prefix(_x, _y)),
    "a-log-can-be-extended": forall(
        (_x, _t),
        Implies(
            _t >= 0,
            And(
                prefix(_x, extended(_x, _t)),
                _x != extended(_x, _t),
                epoch_of(extended(_x, _t)) == _t,
                offset_of(extended(_x, _t)) == offset_of(_x) + 1,
                Not(is_voters_record(extended(_x, _t))),
                voters_record(extended(_x, _t)) == voters_record(_x),
            ),
        ),
        extended(_x, _t),
    ),
    "by-one-record": forall(
        (_x, _t, _y),
        Implies(prefix(_y, extended(_x, _t)), Or(_y == extended(_x, _t), prefix(_y, _x))),
        prefix(_y, extended(_x, _t)),
    ),
}
"""Axioms of replica keys, and of logs as sequences of records whose offset is their length."""

directory_of = z3.Function("directory_of", VOTERS, NUMBER, TEXT)
"""Directory id of an id in a voter set, which has no id twice."""


class Past(NamedTuple):
    """Candidates for the facts of a replica's past, of which at least one holds."""

    voted: tuple[Expression, ...]
    """Log for which it voted."""
    followed: tuple[tuple[Expression, Expression], ...]
    """Leader of its epoch, and the log that it was elected with."""
    led: tuple[Expression, ...]
    """Log with which it was elected itself."""
    applied: tuple[Expression, ...]
    """Entry up to which it applied its log."""

    def and_also(self, other: "Past") -> "Past":
        """Return the candidates of both."""
        return Past(*(mine + yours for mine, yours in zip(self, other, strict=True)))


KNOWN = Past(
    tuple(variables(ENTRY, "voted_log")),
    ((variables(REPLICA, "known_leader")[0], variables(ENTRY, "known_log")[0]),),
    tuple(variables(ENTRY, "led_log")),
    tuple(variables(ENTRY, "applied_entry")),
)
"""Past of a replica before a step."""

(ASKED_LOG,) = variables(ENTRY, "asked_log")
"""Log of the sender of a Vote request."""
TOLD = (variables(REPLICA, "told_leader")[0], variables(ENTRY, "told_log")[0])
"""Leader in a message, and the log that it was elected with."""


def has_voted(s: Value) -> Formula:
    """State that the replica's state contains a vote."""
    return s["voted_key"].id != -1


def one_directory_at_version_0(s: Value) -> Formula:
    """Return the assumption that an id has no other directory if a restart forgets the directory of its vote."""
    return Implies(And(s["quorum_state_version"] == 0, has_voted(s)), has_one_directory(s["voted_key"].id))


def read(t: Translator, s: Value, m: Value | None, state: State) -> Mapping[str, Formula]:
    """Return the assumptions about the message that a replica handles."""
    if m is None:
        return {}
    own, leader = replica_of(*s["replica_key"]), m.get("leader_id", m["source"])
    assumed = {"it is of another": And(m["source"] >= 0, m["source"] != s["replica_key"].id)}
    if "last_epoch" in m:
        key, ends = m["replica_key"], (epoch_of(ASKED_LOG) == m["last_epoch"], offset_of(ASKED_LOG) == m["end_offset"])
        was_asked = And(state.asked(replica_of(*key), m["epoch"], ASKED_LOG), *ends)
        takes = t.variables["config"]["pre_vote"].at(s["replica_key"].id) == t.text("supported")
        assumed["its Candidate asked"] = Implies(Not(m["pre_vote"]), was_asked)
        assumed["its key"] = And(
            key.id == m["source"], Implies(key.directory_id == t.text(""), has_one_directory(key.id))
        )
        assumed["no Pre-Vote is taken for a vote"] = Implies(m["pre_vote"], takes)
        return assumed
    if "epoch" in m and "replica_key" not in m:
        elected = And(state.elected(m["epoch"], *TOLD), id_of(TOLD[0]) == leader)
        assumed["its leader"] = Implies(leader != -1, elected)
    if "granted" in m:
        its_key = ModelKey(m["source"], directory_of(in_force(state.log_end(own)), m["source"]))
        voted = state.granted(replica_of(*its_key), s["epoch"], own, state.log_end(own))
        counts = And(m["granted"], m["epoch"] == s["epoch"], s["role"] == t.text("Candidate"))
        assumed["it answers the request"] = Implies(And(counts, t.truth(t.call("Correlated", s, m))), voted)
    return assumed


def told(t: Translator, s: Value, m: Value, answered: Value | None, state: State, past: Past) -> Mapping[str, Formula]:
    """Return the facts to prove about a message that a replica sends, in the state after the step."""
    own, facts = replica_of(*s["replica_key"]), dict[str, Formula]()
    if not isinstance(m, Mapping):
        return facts
    if "leader_id" in m:
        elected = [And(state.elected(m["epoch"], r, f), id_of(r) == m["leader_id"]) for r, f in past.followed]
        itself = [And(state.elected(m["epoch"], own, f), id_of(own) == m["leader_id"]) for f in past.led]
        facts["its leader"] = Implies(m["leader_id"] != -1, Or(*elected, *itself))
    if "granted" in m and answered is not None:
        asker = replica_of(*answered["replica_key"])
        voted = Or(*(state.granted(own, m["epoch"], asker, log) for log in past.voted))
        grants = And(m["type"] == t.text("VoteResponse"), m["granted"], Not(m["pre_vote"]))
        facts["its vote"] = Implies(grants, voted)
    if "last_epoch" in m and "pre_vote" in m:
        log = state.log_end(own)
        ends = And(epoch_of(log) == m["last_epoch"], offset_of(log) == m["end_offset"])
        asks = And(m["type"] == t.text("VoteRequest"), Not(m["pre_vote"]))
        facts["its Candidate"] = Implies(asks, And(state.asked(own, m["epoch"], log), ends))
    if "type" in m and "epoch" in m and "leader_id" not in m:
        announces = Or(*(m["type"] == t.text(f"{kind}QuorumEpochRequest") for kind in ("Begin", "End")))
        led = Or(*(state.elected(m["epoch"], own, f) for f in past.led))
        facts["its sender led"] = Implies(announces, And(led, m["source"] == s["replica_key"].id))
    return facts


def _any(formulas: Iterable[Formula]) -> Formula:
    return Or(*formulas)


class Sides:
    """Common names of the model's replica and the proof's replica."""

    def __init__(self, translator: Translator) -> None:
        self._translator = translator
        self._voters: dict[int, tuple[Set, Expression]] = {}
        self._quorums: dict[tuple[int, int], tuple[Expression, Formula]] = {}

    def voters(self, members: Set) -> Expression:
        """Return the proof's name for a voter set of the model."""
        key = self._translator.key(members)
        if key not in self._voters:
            self._voters[key] = (members, z3.Const(f"voters_{len(self._voters)}", VOTERS))
        return self._voters[key][1]

    def names(self) -> tuple[Expression, ...]:
        """Return these names; the first is of the set in force before the step."""
        return tuple(name for _, name in self._voters.values())

    def facts(self) -> Mapping[str, Formula]:
        """Return the facts about names and majorities: equal members are one set, more than half of them a majority."""
        t, facts = self._translator, dict[str, Formula]()
        for number, voters in t.compared:
            name = self.voters(voters)
            for counted in [counted_set for counted_set in t.counted.values() if counted_set.number.eq(number)]:
                quorum = f"quorum {counted.number} of {name}"
                facts[quorum] = self._majority(counted, voters, name, t.count(voters), z3.Const(quorum, QUORUM))
        i, d = z3.Int("id"), z3.Const("directory", TEXT)
        (first, its_name), *later_sets = self._voters.values()
        for other, name in later_sets:
            same = forall((i, d), first.has(ModelKey(i, d)) == other.has(ModelKey(i, d)))
            facts[f"{name}, {its_name}"] = Implies(same, name == its_name)
        return facts

    def _majority(
        self, counted: Counted, voters: Set, name: Expression, size: Expression, quorum: Expression
    ) -> Formula:
        """State that more than half of the voters, by key or id, are a majority of the set, and a quorum.

        A voter set has no id twice (see `same`), so the quorum has as many replicas.
        """
        by_id = isinstance(counted.members.shape, z3.SortRef)

        def entry(number: Expression) -> Value:
            return ModelKey(number, directory_of(name, number))

        i, d = z3.Int("id"), z3.Const("directory", TEXT)
        key_or_id = i if by_id else ModelKey(i, d)
        among = forall((i, d), Implies(counted.members.has(key_or_id), voters.has(entry(i) if by_id else key_or_id)))
        its_key = entry(id_of(_v))
        is_counted = counted.members.has(its_key.id if by_id else its_key)
        of_it = And(is_counted, voters.has(its_key), _v == replica_of(*its_key))
        return Implies(
            And(2 * counted.number > size, among),
            And(majority(quorum, name), forall((_v,), Implies(member(_v, quorum), of_it), member(_v, quorum))),
        )

    def same(self, s: Value, state: State, past: Past) -> Mapping[str, Formula]:
        """State that the model's replica and the proof's replica are in the same state, by compared field."""
        t = self._translator
        own = replica_of(*s["replica_key"])
        log, epoch, end = state.log_end(own), s["epoch"], t.call("EndOffset", s)
        base, own_id = s["base"]["end_offset"], s["replica_key"].id
        voted, leader = s["voted_key"], s["leader_id"]
        of_other = And(leader != -1, leader != own_id)
        voters = t.call("Voters", s)
        name = self.voters(voters)
        i, d = z3.Int("id"), z3.Const("directory", TEXT)

        def is_in(*roles: str) -> Formula:
            return Or(*(s["role"] == t.text(role) for role in roles))

        def entry(number: Expression) -> Value:
            return ModelKey(number, directory_of(name, number))

        campaigns, leads, start = is_in("Candidate", "Prospective"), is_in("Leader"), s["epoch_start_offset"]
        watermark, at = s["high_watermark"], cut(log, _o)
        offsets = s["fetch_offsets"]
        has_told, told_offset = offsets.domain.has(ModelKey(i, d)), offsets.at(ModelKey(i, d))
        has_no_directory = voters.has(ModelKey(i, t.text("")))
        of_epoch = And(epoch_of(at) == epoch, state.acknowledged(own, at))
        listed: Mapping[str, tuple[Formula, ...]] = {
            "epoch": (state.epoch(own) == epoch, epoch >= 0),
            "log": (
                And(offset_of(log) == end, base >= 0, sequence(s["log"]).length >= 0),
                epoch_of(log) == t.call("LastEpoch", s),
                forall(
                    (_o,),
                    Implies(And(base <= _o, _o <= end), epoch_of(at) == t.call("EpochBefore", s, _o)),
                    at,
                ),
            ),
            "voters": (
                in_force(log) == name,
                forall(
                    (i, d), Implies(voters.has(ModelKey(i, d)), d == directory_of(name, i)), voters.has(ModelKey(i, d))
                ),
                forall((i,), Implies(has_no_directory, has_one_directory(i)), has_no_directory),
            ),
            "flushed": (state.flushed(own) == cut(log, s["flushed"]), base <= s["flushed"], s["flushed"] <= end),
            "voted_key": (
                forall(
                    (_r, _f),
                    Implies(state.granted(own, epoch, _r, _f), And(has_voted(s), _r == replica_of(*voted))),
                    state.granted(own, epoch, _r, _f),
                ),
                Implies(has_voted(s), _any(state.granted(own, epoch, replica_of(*voted), f) for f in past.voted)),
                Implies(And(has_voted(s), voted.directory_id == t.text("")), has_one_directory(voted.id)),
            ),
            "leader_id": (
                state.follows(own, epoch) == of_other,
                Implies(of_other, _any(And(state.elected(epoch, r, f), id_of(r) == leader) for r, f in past.followed)),
                Implies(leader == own_id, _any(state.elected(epoch, own, f) for f in past.led)),
                forall((_f,), Implies(state.elected(epoch, own, _f), leader == own_id), state.elected(epoch, own, _f)),
                Implies(is_in("Leader", "Resigned"), leader == own_id),
            ),
            "role": (Implies(is_in("Candidate"), And(state.asked(own, epoch, log), leader == -1)),),
            "granted": (
                Implies(campaigns, voters.has(entry(own_id))),
                Implies(campaigns, replica_of(*entry(own_id)) == own),
                Implies(campaigns, forall((i,), Implies(s["granted"].has(i), voters.has(entry(i))))),
                Implies(
                    is_in("Candidate"),
                    forall((i,), Implies(s["granted"].has(i), state.granted(replica_of(*entry(i)), epoch, own, log))),
                ),
            ),
            "epoch_start_offset": (
                Implies(leads, And(base <= start, start <= end)),
                Implies(leads, forall((_o,), Implies(And(start < _o, _o <= end), of_epoch), at)),
            ),
            "fetch_offsets": (
                Implies(leads, forall((i, d), Implies(has_told, told_offset <= end), told_offset, has_told)),
                Implies(
                    leads,
                    forall(
                        (i, d, _x),
                        Implies(
                            And(has_told, prefix(_x, log), start < offset_of(_x), offset_of(_x) <= told_offset),
                            state.acknowledged(replica_of(i, d), _x),
                        ),
                        (told_offset, prefix(_x, log)),
                        (has_told, prefix(_x, log)),
                    ),
                ),
            ),
            "high_watermark": (
                watermark <= end,
                Implies(
                    watermark > base,
                    _any(And(state.applied(own, x), prefix(cut(log, watermark), x)) for x in past.applied),
                ),
            ),
        }
        return {
            field if not number else f"{field} {number + 1}": formula
            for field, formulas in listed.items()
            for number, formula in enumerate(formulas)
        }
