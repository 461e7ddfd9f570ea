"""Hypothesis strategies for every event, effect and message, and a run of a world to take real lines from."""

import copy
import random
from collections.abc import Sequence
from functools import reduce
from typing import Any

from hypothesis import strategies as st

from kraft_reference.changes import CLIENT, REASSIGNMENT, ChangeKind, ChangePhase, PendingChange, Report
from kraft_reference.cluster.occurrence import (
    AnswerUnsupportedVersion,
    CrashPoint,
    CutLink,
    DropMessage,
    DuplicateMessage,
    HealLink,
    NetworkEvent,
    Occurrence,
    message_id,
)
from kraft_reference.cluster.world import ImpossibleMoveError, World
from kraft_reference.configuration import Configuration, PreVoteSupport, ReplicaConfiguration, Timeouts
from kraft_reference.effects import (
    Answer,
    AppendRecords,
    Effect,
    FlushLog,
    PersistQuorumState,
    Send,
    StartTimer,
    Timer,
    TruncateLog,
    WriteSnapshot,
)
from kraft_reference.events import (
    AddVoter,
    AdvanceReassignment,
    AlterPartitionReassignments,
    AppendVoters,
    BeginQuorumEpochTimeout,
    CheckQuorumTimeout,
    ClientAppend,
    Crash,
    ElectionTimeout,
    Event,
    FetchTimeout,
    Poll,
    PollFetch,
    Receive,
    RemoveVoter,
    ReplaceDisk,
    RequestTimeout,
    Restart,
    Shutdown,
    TakeSnapshot,
    UpdateFeatures,
    VoterChangeTimeout,
)
from kraft_reference.identity import ReplicaKey, Target, VoterDetails, VoterSet
from kraft_reference.log import Snapshot, append, log_on
from kraft_reference.messages import (
    AddVoterRequest,
    AddVoterResponse,
    ApiVersionsRequest,
    ApiVersionsResponse,
    BeginQuorumEpochRequest,
    BeginQuorumEpochResponse,
    EndQuorumEpochRequest,
    EndQuorumEpochResponse,
    Error,
    FetchRequest,
    FetchResponse,
    FetchSnapshotRequest,
    FetchSnapshotResponse,
    Message,
    RemoveVoterRequest,
    RemoveVoterResponse,
    Reply,
    UpdateVoterRequest,
    UpdateVoterResponse,
    VoteRequest,
    VoteResponse,
)
from kraft_reference.outcome import Refusal
from kraft_reference.profile import PROFILES
from kraft_reference.records import SET_KINDS, Record, RecordKind
from kraft_reference.roles import Role
from kraft_reference.state import ReplicaState
from kraft_traces.lines import Generator

JsonPath = tuple[str | int, ...]

IDS = (1, 2, 3)
GENERATOR = Generator("tests", "0", 7, "random moves")

replica_ids = st.sampled_from(IDS)
int32 = st.integers(-(2**31), 2**31 - 1) | st.integers(0, 9)
int64 = st.integers(-(2**63), 2**63 - 1) | st.integers(0, 9)
counts = st.integers(0, 2**63 - 1) | st.integers(0, 9)
# No surrogates: they are not text that UTF-8 can hold.
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
keys = st.builds(ReplicaKey, replica_ids | st.integers(0, 2**31 - 1), st.none() | texts)
voter_sets: st.SearchStrategy[VoterSet] = st.frozensets(keys, max_size=4)
optional_text = st.none() | texts


levels = st.integers(-(2**15), 2**15 - 1) | st.integers(0, 1)
known_levels = st.sampled_from((0, 1))
request_numbers = st.integers(0, 2**31 - 1)
asked_keys = st.builds(ReplicaKey, int32, st.none() | texts)
voter_details = st.lists(
    st.builds(VoterDetails, replica_ids | st.integers(0, 2**31 - 1), texts, levels, levels),
    max_size=4,
    unique_by=lambda details: details.id,
).map(lambda some: tuple(sorted(some)))


targets: st.SearchStrategy[Target] = st.none() | st.frozensets(replica_ids | st.integers(0, 2**31 - 1), min_size=1)


def _record(
    epoch: int,
    kind: RecordKind,
    value: int,
    voters: VoterSet,
    details: tuple[VoterDetails, ...],
    level: int,
    target: Target,
) -> Record:
    if kind in SET_KINDS:
        return Record(epoch, kind, value, voters, details, target if kind is RecordKind.VOTER_ASSIGNMENT else None)
    return Record(epoch, kind, level if kind is RecordKind.KRAFT_VERSION else value)


records = st.builds(
    _record, int32, st.sampled_from(RecordKind), int64, voter_sets, voter_details, known_levels, targets
)
# The log before it and up to three records after it have offsets of 64 bits as well.
log_starts = st.integers(-(2**63) + 1, 2**63 - 4) | st.integers(0, 9)
snapshots = st.builds(Snapshot, log_starts, int32, known_levels, voter_sets, voter_details, targets)
record_tuples = st.lists(records, max_size=3).map(tuple)
errors = st.sampled_from(Error)


def messages(source: st.SearchStrategy[int], destination: st.SearchStrategy[int]) -> st.SearchStrategy[Message]:
    """Messages of every type between these replicas."""
    head = (source, destination, counts)
    told = (errors, int32, st.none() | replica_ids, optional_text)
    return st.one_of(
        st.builds(VoteRequest, *head, int32, keys, st.none() | keys, int32, int64, st.booleans(), optional_text),
        st.builds(VoteResponse, *head, *told, st.booleans(), st.booleans()),
        st.builds(BeginQuorumEpochRequest, *head, int32, st.none() | keys, optional_text, optional_text),
        st.builds(BeginQuorumEpochResponse, *head, *told),
        st.builds(EndQuorumEpochRequest, *head, int32, st.lists(keys, max_size=3).map(tuple), optional_text),
        st.builds(EndQuorumEpochResponse, *head, *told),
        st.builds(FetchRequest, *head, int32, keys, int64, int32, optional_text),
        st.builds(FetchResponse, *head, *told, int64, int32, int64, record_tuples, int64, int32),
        st.builds(FetchSnapshotRequest, *head, int32, keys, int64, int32, optional_text),
        st.builds(FetchSnapshotResponse, *head, *told, st.none() | snapshots),
        st.builds(ApiVersionsRequest, *head),
        st.builds(ApiVersionsResponse, *head, levels, levels),
        st.builds(AddVoterRequest, *head, asked_keys, optional_text, counts, st.booleans(), optional_text),
        st.builds(AddVoterResponse, *head, *told),
        st.builds(RemoveVoterRequest, *head, asked_keys, optional_text),
        st.builds(RemoveVoterResponse, *head, *told),
        st.builds(UpdateVoterRequest, *head, int32, asked_keys, optional_text, levels, levels, optional_text),
        st.builds(UpdateVoterResponse, *head, *told),
    )


def effects(replica: int) -> st.SearchStrategy[tuple[Effect, ...]]:
    """Effects of every kind at a replica, with at most one message and one answer to a change to each receiver."""
    any_effect: st.SearchStrategy[Effect] = st.one_of(
        st.builds(PersistQuorumState, int32, st.none() | replica_ids, st.none() | keys, known_levels),
        st.builds(WriteSnapshot, snapshots, st.booleans()),
        st.builds(TruncateLog, int64),
        st.builds(AppendRecords, int64, record_tuples),
        st.builds(FlushLog, int64),
        st.builds(Send, messages(st.just(replica), replica_ids)),
        st.builds(Answer, st.builds(Reply, request_numbers, errors, int32, st.none() | replica_ids, optional_text)),
        st.builds(StartTimer, st.sampled_from(Timer), counts),
    )
    return st.lists(
        any_effect,
        max_size=4,
        # Everything but a Send is distinct by being itself.
        unique_by=lambda effect: message_id(1, effect.message) if isinstance(effect, Send) else id(effect),
    ).map(tuple)


def replica_events(replica: int) -> st.SearchStrategy[Event]:
    """Every event that can happen at a replica."""
    return st.one_of(
        st.sampled_from(
            (
                ElectionTimeout(),
                FetchTimeout(),
                CheckQuorumTimeout(),
                BeginQuorumEpochTimeout(),
                VoterChangeTimeout(),
                Poll(),
                Shutdown(),
            )
        ),
        st.builds(RequestTimeout, replica_ids),
        st.builds(PollFetch, replica_ids),
        st.builds(ClientAppend, int64),
        st.builds(AppendVoters, voter_sets.filter(bool)),
        st.builds(AddVoter, request_numbers, asked_keys, optional_text, counts, st.booleans(), optional_text),
        st.builds(RemoveVoter, request_numbers, asked_keys, optional_text),
        st.builds(UpdateFeatures, request_numbers, levels, levels, levels),
        st.builds(AlterPartitionReassignments, request_numbers, st.none() | st.lists(int32, max_size=4).map(tuple)),
        st.builds(AdvanceReassignment, st.none() | keys),
        st.builds(TakeSnapshot, int64),
        st.builds(Restart, optional_text),
        st.builds(Crash, int64),
        st.builds(ReplaceDisk, texts),
        st.builds(Receive, messages(replica_ids, st.just(replica))),
    )


message_ids = st.builds(
    lambda sequence, receiver, kind: f"{sequence}.{receiver}{kind}",
    st.integers(1, 10**6),
    replica_ids,
    st.sampled_from(("", ".change")),
)
network_events: st.SearchStrategy[NetworkEvent] = st.one_of(
    st.builds(DropMessage, message_ids),
    st.builds(DuplicateMessage, message_ids),
    st.builds(AnswerUnsupportedVersion, message_ids),
    st.builds(CutLink, replica_ids, replica_ids),
    st.builds(HealLink, replica_ids, replica_ids),
)


@st.composite
def states(draw: st.DrawFn, replica: int) -> ReplicaState:
    """Any state as far as a trace shows it."""
    log = append(log_on(draw(snapshots)), draw(record_tuples))
    return ReplicaState(
        ReplicaKey(replica, f"A{replica}"),
        draw(st.sampled_from(Role)),
        draw(int32),
        draw(st.none() | replica_ids),
        draw(optional_text),
        draw(st.none() | keys),
        log._replace(flushed=log.start_offset + draw(st.integers(0, len(log.records)))),
        draw(int64),
        draw(known_levels),
        draw(optional_text),
        draw(st.frozensets(replica_ids)),
        draw(st.frozensets(replica_ids)),
        draw(st.booleans()),
        draw(st.booleans()),
        fetch_offsets=draw(st.dictionaries(keys, int64, max_size=3)),
        fetchers=draw(st.frozensets(replica_ids)),
        acknowledged=draw(st.frozensets(replica_ids)),
        awaiting=draw(st.dictionaries(replica_ids, counts)),
        pending_change=draw(st.none() | changes),
        reports=draw(reports),
        awaited_targets=draw(st.dictionaries(request_numbers, int64, max_size=3)),
        wanted_snapshot=draw(st.none() | st.tuples(counts, int32)),
    )


changes = st.builds(
    PendingChange,
    st.sampled_from(ChangeKind),
    st.sampled_from(ChangePhase),
    st.none() | keys,
    optional_text,
    levels,
    levels,
    int64,
    st.sampled_from((CLIENT, REASSIGNMENT)) | replica_ids,
    counts,
    st.booleans(),
)
reports = st.lists(
    st.builds(Report, keys, texts, levels, levels), max_size=3, unique_by=lambda report: report.key.id
).map(tuple)


@st.composite
def occurrences(draw: st.DrawFn, sequence: int | None = None) -> Occurrence:
    """Any occurrence by itself."""
    sequence = draw(st.integers(1, 2**63 - 1)) if sequence is None else sequence
    time_ms = draw(counts)
    if draw(st.booleans()):
        event = draw(network_events)
        answer = None
        if isinstance(event, AnswerUnsupportedVersion):
            told = (errors, int32, st.none() | replica_ids, optional_text)
            answer = draw(
                st.builds(VoteResponse, replica_ids, replica_ids, counts, *told, st.booleans(), st.booleans())
            )
        return Occurrence(sequence, time_ms, event, None, answer=answer)
    replica = draw(replica_ids)
    happened = draw(replica_events(replica))
    return Occurrence(
        sequence,
        time_ms,
        happened,
        replica,
        draw(message_ids) if isinstance(happened, Receive) else None,
        draw(effects(replica)),
        draw(st.none() | st.sampled_from(Refusal)),
        draw(st.none() | st.builds(CrashPoint, counts, int64)),
        draw(states(replica)),
    )


def _directory_ids(replica_id: int) -> st.SearchStrategy[str | None]:
    """None, or an id that no other replica's disk has."""
    return st.none() | texts.map(lambda text: f"{replica_id}{text}")


@st.composite
def configurations(draw: st.DrawFn) -> Configuration:
    """Any cluster that a header can describe."""
    replicas = {
        replica_id: ReplicaConfiguration(
            ReplicaKey(replica_id, draw(_directory_ids(replica_id))),
            draw(texts),
            draw(st.sampled_from(_PRE_VOTES)),
            draw(st.booleans()),
            draw(levels),
            draw(levels),
            draw(st.none() | voter_sets),
            draw(st.booleans()),
        )
        for replica_id in IDS
    }
    return Configuration(
        replicas=replicas,
        voters=draw(st.frozensets(st.builds(ReplicaKey, replica_ids, optional_text))),
        kraft_version=1 if draw(st.booleans()) else 0,
        bootstrap_servers=tuple(draw(st.lists(replica_ids, unique=True))),
        cluster_id=draw(texts),
        fetch_max_records=draw(st.integers(0, 2**31 - 1)),
        profile=draw(st.sampled_from(tuple(PROFILES.values()))),
        timeouts=draw(st.builds(Timeouts, *[counts] * 6)),
    )


_PRE_VOTES: tuple[PreVoteSupport, ...] = ("supported", "unsupported", "ignored")


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
    """Where something stands in a JSON document."""
    found: list[JsonPath] = []
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in pairs:
        found += [(*path, key), *paths(inner, (*path, key))]
    return found


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
