"""The words of the protocol: how much an implementation shows, and what it need not have."""

from typing import Literal, get_args

from kraft_reference.effects import Timer
from kraft_traces.message_types import TRACED_MESSAGES
from kraft_traces.state_types import TracedState

Level = Literal["wire", "effects", "state"]
"""How much is shown, each with what stands before it: messages; writes and timers; the fields of the state."""

LEVELS: tuple[Level, ...] = get_args(Level)
"""From the least to the most."""

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
"""What an implementation need not have; a vector that needs it is then `unsupported`."""

FEATURES: tuple[Feature, ...] = get_args(Feature)

Subject = Literal["replica", "partitions"]
"""What is tested: a replica of the quorum, or the controllers that reassign partitions."""

SUBJECTS: tuple[Subject, ...] = get_args(Subject)

Kip = Literal["KIP-455", "KIP-595", "KIP-642", "KIP-853", "KIP-996", "KIP-1186"]
"""The KIPs that a vector may need."""

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
"""What cannot be without a KIP."""


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
"""The kinds of effects that are shown from the level `effects` on."""

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
"""What an adapter may say that it never shows: a kind of effects, one timer, one field of the state or of a message."""


def shows(observability: Level, level: Level) -> bool:
    """Does an implementation that shows `observability` show what a vector of this level is about?"""
    return LEVELS.index(observability) >= LEVELS.index(level)
