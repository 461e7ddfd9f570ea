"""When a replica of the model and one of the proof are in the same state, field by field; and what a message tells.

The proof remembers what the model's messages carry. So of a message that is read it is presumed (`read`) what is proved
of every message that is sent (`told`), but for what the network remembers and no state of a replica does: that an
answer belongs to the request for which its receiver still waits.
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

# The names that the two sides have for one thing.

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
"""What is true of replica keys, and of logs as sequences of records whose offset is their length."""

directory_of = z3.Function("directory_of", VOTERS, NUMBER, TEXT)
"""The directory id that a voters set has for an id: it has no id twice."""


class Past(NamedTuple):
    """What may be what a replica remembers of its past: one of each."""

    voted: tuple[Expression, ...]
    """The log for which it voted."""
    followed: tuple[tuple[Expression, Expression], ...]
    """The leader of its epoch, and the log that it was elected with."""
    led: tuple[Expression, ...]
    """The log with which it was elected itself."""
    applied: tuple[Expression, ...]
    """The entry up to which it applied its log."""

    def and_also(self, other: "Past") -> "Past":
        """This or the other."""
        return Past(*(mine + yours for mine, yours in zip(self, other, strict=True)))


KNOWN = Past(
    tuple(variables(ENTRY, "voted_log")),
    ((variables(REPLICA, "known_leader")[0], variables(ENTRY, "known_log")[0]),),
    tuple(variables(ENTRY, "led_log")),
    tuple(variables(ENTRY, "applied_entry")),
)
"""What a replica remembers before a step."""

(ASKED_LOG,) = variables(ENTRY, "asked_log")
"""With which the sender of a Vote request asked."""
TOLD = (variables(REPLICA, "told_leader")[0], variables(ENTRY, "told_log")[0])
"""The leader that a message names, and the log that it was elected with."""


def has_voted(s: Value) -> Formula:
    """Does the replica's state hold a vote?"""
    return s["voted_key"][0] != -1


def one_directory_at_version_0(s: Value) -> Formula:
    """Presumed: where a restart forgets the directory of a vote, its id has no other."""
    return Implies(And(s["quorum_state_version"] == 0, has_voted(s)), has_one_directory(s["voted_key"][0]))


def read(t: Translator, s: Value, m: Value | None, state: State) -> Mapping[str, Formula]:
    """What is presumed of the message that a replica in a state reads."""
    if m is None:
        return {}
    own, leader = replica_of(*s["replica_key"]), m.get("leader_id", m["source"])
    found = {"it is of another": And(m["source"] >= 0, m["source"] != s["replica_key"][0])}
    if "last_epoch" in m:
        key, ends = m["replica_key"], (epoch_of(ASKED_LOG) == m["last_epoch"], offset_of(ASKED_LOG) == m["end_offset"])
        asked = And(state.asked(replica_of(*key), m["epoch"], ASKED_LOG), *ends)
        takes = t.variables["config"]["pre_vote"].at(s["replica_key"][0]) == t.text("supported")
        found["its Candidate asked"] = Implies(Not(m["pre_vote"]), asked)
        found["its key"] = And(key[0] == m["source"], Implies(key[1] == t.text(""), has_one_directory(key[0])))
        found["no Pre-Vote is taken for a vote"] = Implies(m["pre_vote"], takes)
        return found
    if "epoch" in m and "replica_key" not in m:
        elected = And(state.elected(m["epoch"], *TOLD), id_of(TOLD[0]) == leader)
        found["its leader"] = Implies(leader != -1, elected)
    if "granted" in m:
        its_key = (m["source"], directory_of(in_force(state.log_end(own)), m["source"]))
        voted = state.granted(replica_of(*its_key), s["epoch"], own, state.log_end(own))
        counts = And(m["granted"], m["epoch"] == s["epoch"], s["role"] == t.text("Candidate"))
        found["it answers the request"] = Implies(And(counts, t.truth(t.call("Correlated", s, m))), voted)
    return found


def told(t: Translator, s: Value, m: Value, answered: Value | None, state: State, past: Past) -> Mapping[str, Formula]:
    """What must be true of a message that a replica sends, which is then in a state."""
    own, found = replica_of(*s["replica_key"]), dict[str, Formula]()
    if not isinstance(m, Mapping):
        return found
    if "leader_id" in m:
        elected = [And(state.elected(m["epoch"], r, f), id_of(r) == m["leader_id"]) for r, f in past.followed]
        itself = [And(state.elected(m["epoch"], own, f), id_of(own) == m["leader_id"]) for f in past.led]
        found["its leader"] = Implies(m["leader_id"] != -1, Or(*elected, *itself))
    if "granted" in m and answered is not None:
        asker = replica_of(*answered["replica_key"])
        voted = Or(*(state.granted(own, m["epoch"], asker, one) for one in past.voted))
        grants = And(m["type"] == t.text("VoteResponse"), m["granted"], Not(m["pre_vote"]))
        found["its vote"] = Implies(grants, voted)
    if "last_epoch" in m and "pre_vote" in m:
        log = state.log_end(own)
        ends = And(epoch_of(log) == m["last_epoch"], offset_of(log) == m["end_offset"])
        asks = And(m["type"] == t.text("VoteRequest"), Not(m["pre_vote"]))
        found["its Candidate"] = Implies(asks, And(state.asked(own, m["epoch"], log), ends))
    if "type" in m and "epoch" in m and "leader_id" not in m:
        announces = Or(*(m["type"] == t.text(f"{one}QuorumEpochRequest") for one in ("Begin", "End")))
        led = Or(*(state.elected(m["epoch"], own, f) for f in past.led))
        found["its sender led"] = Implies(announces, And(led, m["source"] == s["replica_key"][0]))
    return found


def _any(formulas: Iterable[Formula]) -> Formula:
    return Or(*formulas)


class Sides:
    """What the replica of the model and that of the proof have in common."""

    def __init__(self, translator: Translator) -> None:
        self._translator = translator
        self._voters: dict[int, tuple[Set, Expression]] = {}
        self._quorums: dict[tuple[int, int], tuple[Expression, Formula]] = {}

    def voters(self, members: Set) -> Expression:
        """The proof's name for a voters set of the model."""
        key = self._translator.key(members)
        if key not in self._voters:
            self._voters[key] = (members, z3.Const(f"voters_{len(self._voters)}", VOTERS))
        return self._voters[key][1]

    def names(self) -> tuple[Expression, ...]:
        """The names that were given; that of the first set, which is in force before the step, first."""
        return tuple(name for _, name in self._voters.values())

    def facts(self) -> Mapping[str, Formula]:
        """What names and majorities are: the same members are one set, and more than half of them a majority."""
        t, found = self._translator, dict[str, Formula]()
        for number, voters in t.compared:
            name = self.voters(voters)
            for counted in [one for one in t.counted.values() if one.number.eq(number)]:
                quorum = f"quorum {counted.number} of {name}"
                found[quorum] = self._majority(counted, voters, name, t.count(voters), z3.Const(quorum, QUORUM))
        i, d = z3.Int("id"), z3.Const("directory", TEXT)
        (first, its_name), *others = self._voters.values()
        for other, name in others:
            same = forall((i, d), first.has((i, d)) == other.has((i, d)))
            found[f"{name}, {its_name}"] = Implies(same, name == its_name)
        return found

    def _majority(
        self, counted: Counted, voters: Set, name: Expression, size: Expression, quorum: Expression
    ) -> Formula:
        """More than half of the voters, by their keys or ids, are a majority of the set, and a quorum.

        No id is twice in a voters set (see `same`), so that as many replicas are in the quorum.
        """
        by_id = isinstance(counted.members.shape, z3.SortRef)

        def entry(number: Expression) -> Value:
            return (number, directory_of(name, number))

        i, d = z3.Int("id"), z3.Const("directory", TEXT)
        one = i if by_id else (i, d)
        among = forall((i, d), Implies(counted.members.has(one), voters.has(entry(i) if by_id else one)))
        its_key = entry(id_of(_v))
        is_counted = counted.members.has(its_key[0] if by_id else its_key)
        of_it = And(is_counted, voters.has(its_key), _v == replica_of(*its_key))
        return Implies(
            And(2 * counted.number > size, among),
            And(majority(quorum, name), forall((_v,), Implies(member(_v, quorum), of_it), member(_v, quorum))),
        )

    def same(self, s: Value, state: State, past: Past) -> Mapping[str, Formula]:
        """The model's replica is in the state that the proof's is in; by the field that is compared."""
        t = self._translator
        own = replica_of(*s["replica_key"])
        log, epoch, end = state.log_end(own), s["epoch"], t.call("EndOffset", s)
        base, own_id = s["base"]["end_offset"], s["replica_key"][0]
        voted, leader = s["voted_key"], s["leader_id"]
        of_other = And(leader != -1, leader != own_id)
        voters = t.call("Voters", s)
        name = self.voters(voters)
        i, d = z3.Int("id"), z3.Const("directory", TEXT)

        def is_in(*roles: str) -> Formula:
            return Or(*(s["role"] == t.text(one) for one in roles))

        def entry(number: Expression) -> Value:
            return (number, directory_of(name, number))

        campaigns, leads, start = is_in("Candidate", "Prospective"), is_in("Leader"), s["epoch_start_offset"]
        watermark, at = s["high_watermark"], cut(log, _o)
        offsets = s["fetch_offsets"]
        has_told, told = offsets.domain.has((i, d)), offsets.at((i, d))
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
                forall((i, d), Implies(voters.has((i, d)), d == directory_of(name, i)), voters.has((i, d))),
                forall((i,), Implies(voters.has((i, t.text(""))), has_one_directory(i)), voters.has((i, t.text("")))),
            ),
            "flushed": (state.flushed(own) == cut(log, s["flushed"]), base <= s["flushed"], s["flushed"] <= end),
            "voted_key": (
                forall(
                    (_r, _f),
                    Implies(state.granted(own, epoch, _r, _f), And(has_voted(s), _r == replica_of(*voted))),
                    state.granted(own, epoch, _r, _f),
                ),
                Implies(has_voted(s), _any(state.granted(own, epoch, replica_of(*voted), one) for one in past.voted)),
                Implies(And(has_voted(s), voted[1] == t.text("")), has_one_directory(voted[0])),
            ),
            "leader_id": (
                state.follows(own, epoch) == of_other,
                Implies(of_other, _any(And(state.elected(epoch, r, f), id_of(r) == leader) for r, f in past.followed)),
                Implies(leader == own_id, _any(state.elected(epoch, own, one) for one in past.led)),
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
                Implies(leads, forall((i, d), Implies(has_told, told <= end), told, has_told)),
                Implies(
                    leads,
                    forall(
                        (i, d, _x),
                        Implies(
                            And(has_told, prefix(_x, log), start < offset_of(_x), offset_of(_x) <= told),
                            state.acknowledged(replica_of(i, d), _x),
                        ),
                        (told, prefix(_x, log)),
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
            field if not number else f"{field} {number + 1}": one
            for field, formulas in listed.items()
            for number, one in enumerate(formulas)
        }
