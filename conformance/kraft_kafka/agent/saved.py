"""State of the conversion of a replica's lines, between two events."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from kraft_kafka.wire.decoding import Document


class SavedProgress(Struct, frozen=True):
    """State of a `Progress` without events in progress, as JSON."""

    gap: str | None
    is_lost: bool
    log_end_offset: int
    endpoint: str | None
    base_offset: int
    clients: int
    upgraded: int | None
    election: tuple[int, int | None, tuple[int, str | None] | None] | None
    last_state: dict[str, Any] | None
    newest_us: int
    log: tuple[tuple[int, list[Document], int], ...]
    """Batches: base offset, records and size."""


class SavedConverter(Struct, frozen=True):
    """State of a `ReplicaEvents` between two events, as JSON."""

    progress: SavedProgress
    is_killed: bool
    resigns: bool
    requests: Mapping[int, tuple[Document, int | None, int]]
    sent: Mapping[int, tuple[Document, int] | None]
    searching: bool
    waiting: Mapping[int, int]
    fetching: Mapping[int, tuple[Document, bytes]]
    serving: Mapping[int, Document]
