"""Vocabulary of the protocol: observability levels, features, subjects, KIPs."""

from typing import Literal, get_args

from kraft_reference.effects import Timer
from kraft_traces.message_types import TRACED_MESSAGES
from kraft_traces.state_types import TracedState

Level = Literal["wire", "effects", "state"]
"""Observability: messages; also writes and timers; also the fields of the state."""

LEVELS: tuple[Level, ...] = get_args(Level)
"""Observability levels, lowest first."""

Feature = Literal[
    "observers",
    "crash-in-step",
    "snapshots",
    "disk-replacement",
    "voter-changes",
    "append-voters",
    "voters-records",
    "auto-join",
    "kraft-version-upgrade",
    "quorum-reassignment",
    "fetch-limit",
    "old-znode",
    "unclean-election",
]
"""Optional features; a vector that needs a missing one is `unsupported`."""

FEATURES: tuple[Feature, ...] = get_args(Feature)

Subject = Literal["replica", "partitions"]
"""Subject of a test: a replica of the quorum, or the controllers that reassign partitions."""

SUBJECTS: tuple[Subject, ...] = get_args(Subject)

Kip = Literal["KIP-455", "KIP-595", "KIP-642", "KIP-853", "KIP-996", "KIP-1186"]
"""KIPs that a vector may need."""

KIPS: tuple[Kip, ...] = get_args(Kip)

FEATURES_OF_KIPS: dict[Kip, tuple[Feature, ...]] = {
    "KIP-642": ("quorum-reassignment",),
    "KIP-853": (
        "append-voters",
        "auto-join",
        "disk-replacement",
        "kraft-version-upgrade",
        "quorum-reassignment",
        "snapshots",
        "voter-changes",
        "voters-records",
    ),
    "KIP-1186": ("auto-join",),
}
"""Features that need a KIP."""


WriteOrTimer = Literal[
    "PersistQuorumState",
    "WriteSnapshot",
    "TruncateLog",
    "AppendRecords",
    "FlushLog",
    "StartTimer",
    "StorePartitions",
    "StoreReassignPartitions",
]
"""Kinds of effects that are observable from level `effects` on."""

UNOBSERVED: tuple[str, ...] = (
    *get_args(WriteOrTimer),
    *[f"StartTimer.{timer}" for timer in Timer],
    *[f"state.{name}" for name in TracedState.__struct_fields__],
    *[
        f"{kind}.{name}"
        for kind, message in TRACED_MESSAGES.items()
        for name in message.__struct_fields__
        if name not in ("id", "source", "destination")
    ],
)
"""Names that an adapter may declare hidden: kinds of effects, timers, fields of the state or of a message."""


def shows(observability: Level, level: Level) -> bool:
    """True if an implementation with this observability can be judged by a vector of this level."""
    return LEVELS.index(observability) >= LEVELS.index(level)
