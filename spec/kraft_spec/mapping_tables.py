"""The tables of `mapping`: which field of the model is which of the reference, and the form of its values.

The order of the fields of a message, an effect and a state is that of the operators of Observed.tla.
"""

from collections.abc import Mapping
from typing import NamedTuple

from kraft_reference import effects, events, messages
from kraft_reference.configuration import Configuration
from kraft_reference.profile import Profile
from kraft_spec.mapping_forms import (
    CHANGE,
    ERROR,
    ID_TUPLE,
    KEY,
    KEY_SET,
    KEYS,
    NAMED_KEY,
    OFFSETS,
    OPTIONAL_LIST,
    OPTIONAL_SNAPSHOT,
    PLAIN,
    RECORDS,
    REPLICA_ID,
    REPORTS,
    REQUESTS,
    ROLE,
    SET,
    SNAPSHOT,
    SNAPSHOT_ID,
    TEXT,
    VERSIONS_HISTORY,
    VOTERS_HISTORY,
    Form,
)


class Field(NamedTuple):
    """One name in the model, one in the reference, and the form of the values."""

    model: str
    reference: str
    form: Form


STATE: tuple[Field, ...] = (
    Field("key", "key", KEY),
    Field("role", "role", ROLE),
    Field("epoch", "epoch", PLAIN),
    Field("leader", "leader_id", REPLICA_ID),
    Field("endpoint", "leader_endpoint", TEXT),
    Field("voted", "voted_key", KEY),
    Field("base", "log.base", SNAPSHOT),
    Field("log", "log.records", RECORDS),
    Field("flushed", "log.flushed", PLAIN),
    Field("voters", "log.voters", VOTERS_HISTORY),
    Field("levels", "log.versions", VERSIONS_HISTORY),
    Field("highWatermark", "high_watermark", PLAIN),
    Field("granted", "granted", SET),
    Field("rejected", "rejected", SET),
    Field("fetched", "fetched", PLAIN),
    Field("searching", "searching", PLAIN),
    Field("epochStart", "epoch_start_offset", PLAIN),
    Field("offsets", "fetch_offsets", OFFSETS),
    Field("fetchers", "fetchers", SET),
    Field("acknowledged", "acknowledged", SET),
    Field("preferred", "preferred_candidates", KEYS),
    Field("awaiting", "awaiting", REQUESTS),
    Field("pending", "pending_change", CHANGE),
    Field("reports", "reports", REPORTS),
    Field("awaited", "awaited_targets", REQUESTS),
    Field("wanted", "wanted_snapshot", SNAPSHOT_ID),
    Field("fileVersion", "quorum_state_version", PLAIN),
    Field("moved", "moved_to", TEXT),
)
"""The state of a replica: `replicas[r]` and `ReplicaState`."""

_ENVELOPE = (
    Field("from", "source", PLAIN),
    Field("to", "destination", PLAIN),
    Field("corr", "correlation_id", PLAIN),
)
_TOLD = (
    Field("error", "error", ERROR),
    Field("epoch", "epoch", PLAIN),
    Field("leader", "leader_id", REPLICA_ID),
    Field("endpoint", "leader_endpoint", TEXT),
)
_ANSWER = (*_ENVELOPE, *_TOLD)

MESSAGES: Mapping[type[messages.Message], tuple[Field, ...]] = {
    messages.VoteRequest: (
        *_ENVELOPE,
        Field("epoch", "epoch", PLAIN),
        Field("key", "replica_key", KEY),
        Field("voterKey", "voter_key", KEY),
        Field("lastEpoch", "last_epoch", PLAIN),
        Field("endOffset", "end_offset", PLAIN),
        Field("preVote", "pre_vote", PLAIN),
    ),
    messages.VoteResponse: (*_ANSWER, Field("granted", "granted", PLAIN), Field("preVote", "pre_vote", PLAIN)),
    messages.BeginQuorumEpochRequest: (
        *_ENVELOPE,
        Field("epoch", "epoch", PLAIN),
        Field("voterKey", "voter_key", KEY),
        Field("endpoint", "leader_endpoint", TEXT),
    ),
    messages.BeginQuorumEpochResponse: _ANSWER,
    messages.EndQuorumEpochRequest: (
        *_ENVELOPE,
        Field("epoch", "epoch", PLAIN),
        Field("preferred", "preferred_candidates", KEYS),
    ),
    messages.EndQuorumEpochResponse: _ANSWER,
    messages.FetchRequest: (
        *_ENVELOPE,
        Field("epoch", "epoch", PLAIN),
        Field("key", "replica_key", KEY),
        Field("offset", "fetch_offset", PLAIN),
        Field("lastEpoch", "last_epoch", PLAIN),
    ),
    messages.FetchResponse: (
        *_ANSWER,
        Field("highWatermark", "high_watermark", PLAIN),
        Field("divergingEpoch", "diverging_epoch", PLAIN),
        Field("divergingOffset", "diverging_end_offset", PLAIN),
        Field("records", "records", RECORDS),
        Field("snapshotEnd", "snapshot_end_offset", PLAIN),
        Field("snapshotEpoch", "snapshot_epoch", PLAIN),
    ),
    messages.FetchSnapshotRequest: (
        *_ENVELOPE,
        Field("epoch", "epoch", PLAIN),
        Field("key", "replica_key", KEY),
        Field("snapshotEnd", "snapshot_end_offset", PLAIN),
        Field("snapshotEpoch", "snapshot_epoch", PLAIN),
    ),
    messages.FetchSnapshotResponse: (*_ANSWER, Field("snapshot", "snapshot", OPTIONAL_SNAPSHOT)),
    messages.ApiVersionsRequest: _ENVELOPE,
    messages.ApiVersionsResponse: (
        *_ENVELOPE,
        Field("min", "min_version", PLAIN),
        Field("max", "max_version", PLAIN),
    ),
    messages.AddVoterRequest: (
        *_ENVELOPE,
        Field("voter", "voter", NAMED_KEY),
        Field("endpoint", "endpoint", TEXT),
        Field("whenCommitted", "when_committed", PLAIN),
    ),
    messages.AddVoterResponse: _ANSWER,
    messages.RemoveVoterRequest: (*_ENVELOPE, Field("voter", "voter", NAMED_KEY)),
    messages.RemoveVoterResponse: _ANSWER,
    messages.UpdateVoterRequest: (
        *_ENVELOPE,
        Field("epoch", "epoch", PLAIN),
        Field("voter", "voter", NAMED_KEY),
        Field("endpoint", "endpoint", TEXT),
        Field("min", "min_version", PLAIN),
        Field("max", "max_version", PLAIN),
    ),
    messages.UpdateVoterResponse: _ANSWER,
}
"""The messages, each field in the order of `ObservedMessage`; the field `type` is the name of the class."""

REPLY: tuple[Field, ...] = (Field("request", "request", PLAIN), *_TOLD)
"""The answer to a client, which never enters the network: a `Reply` among the sends."""

SAME_CLUSTER = "sameCluster"
"""In the model, whether a client's request names no other cluster; the reference has its `cluster_id`."""

_CLUSTER = Field(SAME_CLUSTER, "cluster_id", PLAIN)

EVENTS: Mapping[type[events.Event], tuple[Field, ...]] = {
    **dict.fromkeys((events.ElectionTimeout, events.FetchTimeout, events.CheckQuorumTimeout), ()),
    **dict.fromkeys((events.BeginQuorumEpochTimeout, events.VoterChangeTimeout, events.Poll, events.Shutdown), ()),
    events.RequestTimeout: (Field("destination", "destination", PLAIN),),
    events.PollFetch: (Field("destination", "destination", PLAIN),),
    events.ClientAppend: (Field("value", "value", PLAIN),),
    events.AppendVoters: (Field("voters", "voters", KEY_SET),),
    events.AddVoter: (
        Field("request", "request", PLAIN),
        Field("voter", "voter", NAMED_KEY),
        Field("endpoint", "endpoint", TEXT),
        Field("whenCommitted", "when_committed", PLAIN),
        _CLUSTER,
    ),
    events.RemoveVoter: (Field("request", "request", PLAIN), Field("voter", "voter", NAMED_KEY), _CLUSTER),
    events.UpdateFeatures: (
        Field("request", "request", PLAIN),
        Field("level", "kraft_version", PLAIN),
        Field("brokersMin", "brokers_min", PLAIN),
        Field("brokersMax", "brokers_max", PLAIN),
    ),
    events.AlterPartitionReassignments: (
        Field("request", "request", PLAIN),
        Field("replicas", "replicas", OPTIONAL_LIST),
    ),
    events.AdvanceReassignment: (Field("voter", "chosen", KEY),),
    events.TakeSnapshot: (Field("end", "end_offset", PLAIN),),
    events.Restart: (Field("endpoint", "endpoint", TEXT),),
    events.Crash: (Field("kept", "log_end_offset", PLAIN),),
    events.ReplaceDisk: (Field("directory", "directory_id", TEXT),),
}
"""What an event adds to its name and its replica; `Receive` is `Handle` and the type of its message."""

EFFECTS: Mapping[type[effects.DurableEffect], tuple[str, tuple[Field, ...]]] = {
    effects.PersistQuorumState: (
        "PersistQuorumState",
        (
            Field("epoch", "epoch", PLAIN),
            Field("leader", "leader_id", REPLICA_ID),
            Field("voted", "voted_key", KEY),
            Field("fileVersion", "version", PLAIN),
        ),
    ),
    effects.WriteSnapshot: (
        "WriteSnapshot",
        (Field("snapshot", "snapshot", SNAPSHOT), Field("replacesLog", "replaces_log", PLAIN)),
    ),
    effects.TruncateLog: ("Truncate", (Field("end", "end_offset", PLAIN),)),
    effects.AppendRecords: ("Append", (Field("base", "base_offset", PLAIN), Field("records", "records", RECORDS))),
    effects.FlushLog: ("Flush", (Field("end", "end_offset", PLAIN),)),
}
"""The durable effects: the name in the model, and the fields in the order of `ObservedEffect`."""

CLUSTER: tuple[Field, ...] = (
    Field("voters", "voters", KEY_SET),
    Field("kraftVersion", "kraft_version", PLAIN),
    Field("bootstrap", "bootstrap_servers", ID_TUPLE),
    Field("fetchMaxRecords", "fetch_max_records", PLAIN),
)
"""What `config` says of the whole cluster."""

REPLICAS: tuple[Field, ...] = (
    Field("endpoints", "endpoint", TEXT),
    Field("keys", "key", KEY),
    Field("preVote", "pre_vote", PLAIN),
    Field("speaksEndpoints", "speaks_endpoints", PLAIN),
    Field("minVersion", "min_version", PLAIN),
    Field("maxVersion", "max_version", PLAIN),
    Field("initial", "initial_voters", KEY_SET),
    Field("autoJoin", "auto_join", PLAIN),
)
"""What `config` says of each replica: functions of the replica id.

Of a replica that was formatted with the voters of the cluster `initial` has those, the reference None."""

DECISIONS: tuple[Field, ...] = (
    Field("observerRefusal", "observer_refusal", PLAIN),
    Field("voterKeyError", "voter_key_error", PLAIN),
    Field("prospectiveAnnouncement", "prospective_announcement", PLAIN),
    Field("endQuorumFetchedFlag", "end_quorum_fetched_flag", PLAIN),
    Field("divergingFetch", "diverging_fetch", PLAIN),
    Field("restartPrecedence", "restart_precedence", PLAIN),
    Field("kraftVersionGate", "kraft_version_gate", PLAIN),
    Field("voteOfNonVoter", "vote_of_non_voter", PLAIN),
    Field("leaderHighWatermark", "leader_high_watermark", PLAIN),
    Field("ownVoteAtRestart", "own_vote_at_restart", PLAIN),
    Field("votedDirectoryAtVersion0", "voted_directory_at_version_0", PLAIN),
    Field("voteOfLostFile", "vote_of_lost_file", PLAIN),
    Field("announcementAgain", "announcement_again", PLAIN),
    Field("divergingCut", "diverging_cut", PLAIN),
)
"""`config.decisions`: the answers of a profile."""

NOT_IN_THE_MODEL: Mapping[type, Mapping[str, str]] = {
    Configuration: {"cluster_id": "all messages are of one cluster", "timeouts": "the model has no clock"},
    Profile: {"name": "the answers count", "resigned_metric": "the model has no metrics"},
    **{
        request: {"cluster_id": "all messages are of one cluster; a request takes it from the configuration"}
        for request in messages.REQUESTS
        if request is not messages.ApiVersionsRequest
    },
    messages.AddVoterRequest: {
        "cluster_id": "all messages are of one cluster; a request takes it from the configuration",
        "timeout_ms": "the model has no clock",
    },
    events.AddVoter: {"timeout_ms": "the model has no clock"},
}
"""Fields of the reference that no table has, and why."""
