"""Hypothesis strategies for every event, effect and message, and a run of a world to take real lines from."""

import copy
import random
from collections.abc import Sequence
from functools import reduce
from types import NoneType
from typing import Any, get_args, get_origin, get_type_hints

from hypothesis import strategies as st

from kraft_reference.changes import AwaitingCatchUp, AwaitingCommit, AwaitingVersions, ChangeKind, Report, Requester
from kraft_reference.configuration import Configuration, ReplicaConfiguration, Timeouts
from kraft_reference.effects import Answer, Effect, Send
from kraft_reference.events import (
    AppendVoters,
    BeginQuorumEpochTimeout,
    CheckQuorumTimeout,
    ClientAppend,
    ElectionTimeout,
    Event,
    FetchTimeout,
    Poll,
    PollFetch,
    Receive,
    RequestTimeout,
    Shutdown,
)
from kraft_reference.identity import ReplicaKey, Target, VoterDetails, VoterSet
from kraft_reference.log import Snapshot, append, log_from
from kraft_reference.messages import Message, Reply, VoteResponse
from kraft_reference.outcome import Refusal
from kraft_reference.profile import PROFILES
from kraft_reference.records import SET_KINDS, Record, RecordKind
from kraft_reference.roles import Role
from kraft_reference.state import ReplicaState
from kraft_simulation.occurrence import (
    AnswerUnsupportedVersion,
    CrashPoint,
    NetworkEvent,
    Occurrence,
    message_id,
)
from kraft_simulation.world import ImpossibleMoveError, World
from kraft_traces.lines import Generator

JsonPath = tuple[str | int, ...]

IDS = (1, 2, 3)
GENERATOR = Generator("tests", "0", 7, "random moves")

# No surrogates: they are not text that UTF-8 can hold.
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
replica_ids = st.sampled_from(IDS)
key_ids = replica_ids | st.integers(0, 2**31 - 1)
int32 = st.integers(-(2**31), 2**31 - 1) | st.integers(0, 9)
int64 = st.integers(-(2**63), 2**63 - 1) | st.integers(0, 9)
counts = st.integers(0, 2**63 - 1) | st.integers(0, 9)
levels = st.integers(-(2**15), 2**15 - 1) | st.integers(0, 1)
known_levels = st.sampled_from((0, 1))
request_numbers = st.integers(0, 2**31 - 1)

NUMBERS: dict[str, st.SearchStrategy[int]] = {
    **dict.fromkeys(("source", "destination", "leader_id", "granted", "rejected"), replica_ids),
    **dict.fromkeys(("fetchers", "acknowledging_voters", "bootstrap_servers"), replica_ids),
    **dict.fromkeys(("epoch", "last_epoch", "diverging_epoch", "snapshot_epoch", "replicas", "announce_to"), int32),
    **dict.fromkeys(("correlation_id", "completed", "sequence", "time_ms", "timeout_ms", "duration_ms"), counts),
    **dict.fromkeys(("min_version", "max_version", "brokers_min", "brokers_max", "kraft_version"), levels),
    **dict.fromkeys(("version", "quorum_state_version"), known_levels),
    "request": request_numbers,
    "target": key_ids,
}
"""By the name of their field; the others have 64 bits."""

FIELDS: dict[Any, st.SearchStrategy[Any]] = {}
"""Values of fields of a name, and of a type, that are more than their parts."""


def built(kind: Any, **overrides: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Values of a type of the reference, with the fields that it declares."""
    fields_by_name = {**FIELDS, **overrides}
    hints = get_type_hints(kind).items()
    return st.builds(
        kind, **{name: fields_by_name[name] if name in fields_by_name else _values(name, hint) for name, hint in hints}
    )


def _values(name: str, hint: Any) -> st.SearchStrategy[Any]:
    inside = get_args(hint)
    if hint in FIELDS:
        return FIELDS[hint]
    if inside[1:] == (NoneType,):
        return st.none() | _values(name, inside[0])
    if get_origin(hint) is tuple:
        return st.lists(_values(name, inside[0]), max_size=3).map(tuple)
    if get_origin(hint) is frozenset:
        return st.frozensets(_values(name, inside[0]), max_size=4)
    if hint is int:
        return NUMBERS.get(name, int64)
    return texts if hint is str else st.from_type(hint)


keys = FIELDS[ReplicaKey] = built(ReplicaKey, id=key_ids)
voter_sets: st.SearchStrategy[VoterSet] = st.frozensets(keys, max_size=4)
voter_details = FIELDS[tuple[VoterDetails, ...]] = st.lists(
    built(VoterDetails, id=key_ids), max_size=4, unique_by=lambda details: details.id
).map(lambda some: tuple(sorted(some)))
targets: st.SearchStrategy[Target] = st.none() | st.frozensets(key_ids, min_size=1)


@st.composite
def _records(draw: st.DrawFn) -> Record:
    epoch, kind = draw(int32), draw(st.sampled_from(RecordKind))
    if kind not in SET_KINDS:
        return Record(epoch, kind, draw(known_levels if kind is RecordKind.KRAFT_VERSION else int64))
    target = draw(targets) if kind is RecordKind.VOTER_ASSIGNMENT else None
    return Record(epoch, kind, draw(int64), draw(voter_sets), draw(voter_details), target)


FIELDS[Record] = _records()
record_tuples = _values("records", tuple[Record, ...])
# The log before it and up to three records after it have offsets of 64 bits as well.
log_starts = st.integers(-(2**63) + 1, 2**63 - 4) | st.integers(0, 9)
snapshots = FIELDS[Snapshot] = built(Snapshot, end_offset=log_starts, kraft_version=known_levels, target=targets)
requesters = st.none() | st.builds(Requester, st.none() | replica_ids, counts, st.booleans())
new_voters = st.tuples(keys, texts, levels, levels).map(lambda voter: (voter[0], VoterDetails(voter[0].id, *voter[1:])))
changes = (
    st.builds(AwaitingVersions, keys, texts, requesters)
    | st.builds(
        lambda new, end, requester: AwaitingCatchUp(new[0], new[1], end, requester), new_voters, int64, requesters
    )
    | st.builds(
        lambda new, at, by: AwaitingCommit(ChangeKind.ADD, new[0], at, by, new[1]), new_voters, int64, requesters
    )
    | st.builds(AwaitingCommit, st.sampled_from(list(ChangeKind)[1:]), st.none() | keys, int64, requesters, st.none())
)
reports = st.lists(built(Report), max_size=3, unique_by=lambda report: report.key.id).map(tuple)


def messages(source: st.SearchStrategy[int], destination: st.SearchStrategy[int]) -> st.SearchStrategy[Message]:
    """Messages of every type between these replicas."""
    ends = {"source": source, "destination": destination}
    return st.one_of(*(built(kind, **ends) for kind in get_args(Message)))


def effects(replica: int) -> st.SearchStrategy[tuple[Effect, ...]]:
    """Effects of every kind at a replica, with at most one message and one answer to a change to each receiver."""
    overrides = {Send: {"message": messages(st.just(replica), replica_ids)}, Answer: {"reply": built(Reply)}}
    return st.lists(
        st.one_of(*(built(kind, **overrides.get(kind, {})) for kind in get_args(Effect))),
        max_size=4,
        # Everything but a Send is distinct by being itself.
        unique_by=lambda effect: message_id(1, effect.message) if isinstance(effect, Send) else id(effect),
    ).map(tuple)


def replica_events(replica: int) -> st.SearchStrategy[Event]:
    """Every event that can happen at a replica."""
    overrides: dict[Any, dict[str, st.SearchStrategy[Any]]] = {
        Receive: {"message": messages(replica_ids, st.just(replica))},
        AppendVoters: {"voters": voter_sets.filter(bool)},
    }
    bare = [kind() for kind in get_args(Event) if not get_type_hints(kind)]
    kinds = (built(kind, **overrides.get(kind, {})) for kind in get_args(Event) if get_type_hints(kind))
    return st.one_of(st.sampled_from(bare), *kinds)


message_ids = FIELDS["message_id"] = st.builds(
    lambda sequence, receiver, kind: f"{sequence}.{receiver}{kind}",
    st.integers(1, 10**6),
    replica_ids,
    st.sampled_from(("", ".change")),
)


network_events = st.one_of(*(built(kind) for kind in get_args(NetworkEvent)))


@st.composite
def states(draw: st.DrawFn, replica: int) -> ReplicaState:
    """Any state as far as a trace shows it."""
    log = append(log_from(draw(snapshots)), draw(record_tuples))
    updated = draw(st.booleans())
    # A Follower whose leader has accepted its UpdateVoter, or any role.
    role = {"role": st.just(Role.FOLLOWER), "leader_id": replica_ids} if updated else {}
    state: ReplicaState = draw(
        built(
            ReplicaState,
            key=st.just(ReplicaKey(replica, f"A{replica}")),
            log=st.integers(log.start_offset, log.end_offset).map(lambda flushed: log._replace(flushed=flushed)),
            fetch_offsets=st.dictionaries(keys, int64, max_size=3),
            awaiting=st.dictionaries(replica_ids, counts),
            pending_change=st.none() | changes,
            reports=reports,
            awaited_targets=st.dictionaries(request_numbers, int64, max_size=3),
            wanted_snapshot=st.none() | st.tuples(counts, int32),
            has_updated_leader=st.just(updated),
            epoch_start_offset=st.just(0),
            preferred_candidates=st.just(()),
            **role,
        )
    )
    # In a trace, one field has the acknowledging voters and the Follower's accepted UpdateVoter.
    announces = state.role in (Role.LEADER, Role.RESIGNED)
    return state if announces else state._replace(acknowledging_voters=frozenset())


@st.composite
def occurrences(draw: st.DrawFn, sequence: int | None = None) -> Occurrence:
    """Any occurrence by itself."""
    sequence = draw(st.integers(1, 2**63 - 1)) if sequence is None else sequence
    if draw(st.booleans()):
        event = draw(network_events)
        answer = built(VoteResponse, source=replica_ids, destination=replica_ids)
        answered = draw(answer) if isinstance(event, AnswerUnsupportedVersion) else None
        return Occurrence(sequence, draw(counts), event, None, answer=answered)
    replica = draw(replica_ids)
    happened = draw(replica_events(replica))
    return Occurrence(
        sequence,
        draw(counts),
        happened,
        replica,
        draw(message_ids) if isinstance(happened, Receive) else None,
        draw(effects(replica)),
        draw(st.none() | st.sampled_from(Refusal)),
        draw(st.none() | built(CrashPoint)),
        draw(states(replica)),
    )


@st.composite
def configurations(draw: st.DrawFn) -> Configuration:
    """Any cluster that a header can describe."""
    voter_sets = st.lists(built(ReplicaKey, id=replica_ids), unique_by=lambda key: key.id).map(frozenset)

    def replica(replica_id: int) -> st.SearchStrategy[ReplicaConfiguration]:
        # No other replica's disk has the id.
        directory = st.none() | texts.map(lambda text: f"{replica_id}{text}")
        return built(
            ReplicaConfiguration,
            key=st.builds(ReplicaKey, st.just(replica_id), directory),
            initial_voters=st.none() | voter_sets,
        )

    configuration: Configuration = draw(
        built(
            Configuration,
            replicas=st.fixed_dictionaries({replica_id: replica(replica_id) for replica_id in IDS}),
            voters=voter_sets,
            bootstrap_servers=st.lists(replica_ids, unique=True).map(tuple),
            fetch_max_records=st.integers(0, 2**31 - 1),
            profile=st.sampled_from(tuple(PROFILES.values())),
            timeouts=st.builds(Timeouts, *[counts] * 6),
        )
    )
    return configuration


def cluster(unsupported: int | None = None) -> Configuration:
    """Three voters; the one named speaks no Pre-Vote."""
    return Configuration(
        replicas={
            replica_id: ReplicaConfiguration(
                ReplicaKey(replica_id, f"A{replica_id}"),
                f"replica-{replica_id}:9093",
                "unsupported" if replica_id == unsupported else "supported",
            )
            for replica_id in IDS
        },
        voters=frozenset(ReplicaKey(replica_id, f"A{replica_id}") for replica_id in IDS),
        bootstrap_servers=IDS,
        fetch_max_records=4,
    )


def random_run(configuration: Configuration, seed: int, steps: int) -> list[Occurrence]:
    """Random moves in a world: elections, replication, crashes, faults of the network."""
    world, chance = World(configuration), random.Random(seed)
    happened: list[Occurrence] = []
    while len(happened) < steps:
        world.time_ms += chance.randrange(20)
        try:
            happened.append(_random_move(world, chance))
        except ImpossibleMoveError:
            continue
    return happened


def _random_move(world: World, chance: random.Random) -> Occurrence:
    replica = chance.choice(IDS)
    draw = world.draw(chance.randrange(1000, 2000), chance.randrange(1000))
    on_their_way = list(world.in_flight) or ["none"]
    identifier = chance.choice(on_their_way)
    leader = world.state(replica).leader_id
    move = chance.choices(range(14), (30, 20, 15, 3, 2, 2, 1, 1, 4, 2, 2, 2, 1, 1))[0]
    match move:
        case 0:
            crash = CrashPoint(chance.randrange(3), world.state(replica).log.flushed) if chance.random() < 0.1 else None
            return world.deliver(identifier, draw, crash)
        case 1:
            return world.happen(replica, Poll(), draw)
        case 2:
            return world.happen(replica, PollFetch(chance.choice(IDS) if leader is None else leader), draw)
        case 3:
            return world.happen(replica, RequestTimeout(chance.choice(IDS)), draw)
        case 4:
            return world.happen(replica, ElectionTimeout(), draw)
        case 5:
            return world.happen(replica, FetchTimeout(), draw)
        case 6:
            event = chance.choice((CheckQuorumTimeout(), BeginQuorumEpochTimeout(), Shutdown()))
            return world.happen(replica, event, draw)
        case 7:
            return world.crash(replica)
        case 8:
            return world.restart(replica, draw)
        case 9:
            return world.happen(replica, ClientAppend(world.sequence), draw)
        case 10:
            return world.drop(identifier)
        case 11:
            return world.duplicate(identifier)
        case 12:
            return world.answer_unsupported_version(identifier)
        case _:
            source, destination = chance.sample(IDS, 2)
            cut = (source, destination) in world.cuts
            return world.heal(source, destination) if cut else world.cut(source, destination)


def paths(value: object, path: JsonPath = ()) -> list[JsonPath]:
    """Path of a value in a JSON document."""
    found_paths: list[JsonPath] = []
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in pairs:
        found_paths += [(*path, key), *paths(inner, (*path, key))]
    return found_paths


def altered_anywhere(document: Any, values: Sequence[object], data: st.DataObject) -> Any:
    """A copy of a JSON document that lacks something, or has one of these values in its place."""
    altered = copy.deepcopy(document)
    *way, last = data.draw(st.sampled_from(paths(document)))
    owner = reduce(lambda inside, key: inside[key], way, altered)
    if data.draw(st.booleans()):
        del owner[last]
    else:
        owner[last] = data.draw(st.sampled_from(values))
    return altered
