"""Snapshots that a replica fetches in pieces: to the model, one request and one response with the whole snapshot.

The fetcher sends the first request, and handles the last response; the leader handles the request when it serves the
last piece, and until then it is on its way.
"""

from collections.abc import Mapping

from kraft_kafka.agent.decoding import piece_of, snapshot_piece, snapshot_position
from kraft_kafka.agent.raw import RawMessage
from kraft_kafka.wire.decoding import Document


class Pieces:
    """Snapshots of which a replica has fetched or served some pieces."""

    def __init__(self) -> None:
        self._fetching: dict[int, tuple[Document, bytes]] = {}
        """The first request, and the bytes so far, by the peer."""
        self._serving: dict[int, Document] = {}
        """The first request as it was received, by the fetcher."""

    def save(self) -> tuple[dict[int, tuple[Document, bytes]], dict[int, Document]]:
        """Return the state: what is fetched, and what is served."""
        return dict(self._fetching), dict(self._serving)

    def restore(self, fetching: Mapping[int, tuple[Document, bytes]], serving: Mapping[int, Document]) -> None:
        """Take the state that an earlier `save` has returned."""
        self._fetching, self._serving = dict(fetching), dict(serving)

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

    def first_received(self, request: Document, raw: RawMessage) -> Document:
        """Return the first request that a received one continues; itself, if it asks for the first piece."""
        source = request["source"]
        if source not in self._serving or snapshot_position(raw) == 0:
            self._serving[source] = request
        return self._serving[source]


def is_continued(fields: Document, raw: RawMessage) -> bool:
    """True for a FetchSnapshot response after which its receiver asks for another piece."""
    is_piece = fields["type"] == "FetchSnapshotResponse" and fields["error"] == "NONE"
    piece = snapshot_piece(raw) if is_piece else None
    return piece is not None and 0 < piece[1] < piece[2] - piece[0]
