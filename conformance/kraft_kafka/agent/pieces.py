"""Snapshots that a replica fetches in pieces: to the model, one request and one response with the whole snapshot."""

from collections.abc import Mapping

from kraft_kafka.agent.decoding import piece_of, snapshot_piece, snapshot_position
from kraft_kafka.agent.raw import RawMessage
from kraft_kafka.wire.decoding import Document


class Pieces:
    """Bytes of snapshots that a replica has fetched so far, by the peer."""

    def __init__(self) -> None:
        self._fetching: dict[int, tuple[Document, bytes]] = {}
        """The first request, and the bytes."""

    def save(self) -> dict[int, tuple[Document, bytes]]:
        """Return the state."""
        return dict(self._fetching)

    def restore(self, fetching: Mapping[int, tuple[Document, bytes]]) -> None:
        """Take the state that an earlier `save` has returned."""
        self._fetching = dict(fetching)

    def first_request(self, destination: int, raw: RawMessage) -> Document | None:
        """Return the first request, if this request continues it."""
        if destination in self._fetching and snapshot_position(raw) > 0:
            return self._fetching[destination][0]
        self._fetching.pop(destination, None)
        return None

    def add(self, source: int, request: Document, raw: RawMessage) -> bytes | None:
        """Add the piece of a response; return the whole snapshot, or None if pieces are missing."""
        piece = snapshot_piece(raw)
        if piece is None:
            return b""
        position, length, size = piece
        _, content = self._fetching.pop(source, (request, b""))
        if position != len(content):
            # Kafka refuses it.
            return b""
        content += piece_of(raw)
        if length == 0 or len(content) >= size:
            return content
        self._fetching[source] = (request, content)
        return None
