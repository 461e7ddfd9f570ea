"""A replica's connections: which event of the model sends a request, and which requests it has given up before."""

from collections.abc import Iterable, Mapping

from kraft_kafka.agent.drafts import Draft
from kraft_kafka.agent.progress import Progress
from kraft_kafka.agent.raw import SendLine
from kraft_kafka.wire.decoding import Document

_FETCHES = ("FetchRequest", "FetchSnapshotRequest")
_CHANGE_RESPONSES = ("AddVoterResponse", "RemoveVoterResponse", "UpdateVoterResponse")


class Connections:
    """Requests that wait for a response in the trace."""

    def __init__(self, replica: int) -> None:
        """Begin without requests of this replica."""
        self._replica = replica
        self._is_searching = False
        """True if a failed request or a Fetch timeout has made it fetch from bootstrap servers."""
        self._waiting: dict[int, int] = {}
        """Kafka's correlation id, by the receiver."""

    def wait(self, destination: int, correlation_id: int) -> None:
        """Note a request."""
        self._waiting[destination] = correlation_id

    def resume(self, *, is_searching: bool) -> None:
        """Take what a checkpoint shows of an observer."""
        self._is_searching = is_searching

    def save(self) -> tuple[bool, dict[int, int]]:
        """Return the state."""
        return self._is_searching, dict(self._waiting)

    def restore(self, is_searching: bool, waiting: Mapping[int, int]) -> None:
        """Take the state that an earlier `save` has returned."""
        self._is_searching, self._waiting = is_searching, dict(waiting)

    def change_role(self) -> None:
        """Forget the search for a leader."""
        self._is_searching = False

    def receive(self, source: int, correlation_id: int, fields: Document) -> None:
        """Note a response."""
        if self._waiting.get(source) == correlation_id:
            del self._waiting[source]
        if fields["type"] == "FetchResponse" and fields["error"] == "NONE":
            self._is_searching = False
        if fields["type"] in _CHANGE_RESPONSES and fields["error"] != "NONE":
            self._is_searching = True

    def poll(self, now: Progress, line: SendLine, kind: str, destination: int) -> Draft:
        """Return the event that sends a request of this type, after the timeouts that precede it."""
        if now.open is not None and now.open is not now.moved and not now.open.is_data:
            # A handler sends it; the model does so in the next Poll.
            if destination in self._waiting:
                self._give_up(now, line, [destination])
            return now.event("Poll", line)
        now.settle(now.last_state)
        if kind in _FETCHES:
            self._give_up(now, line, self._waiting.keys())
            if line.destination < 0 and not self._is_searching and self._is_observer(now, destination):
                # Its Fetch timeout has expired, which changes no role.
                self._is_searching = True
                now.event("FetchTimeout", line).state = now.last_state
            now.sends = now.event("PollFetch", line, inputs={"destination": destination})
            return now.sends
        if destination in self._waiting:
            self._give_up(now, line, [destination])
        if now.sends is None or now.sends.event != "Poll":
            now.sends = now.event("Poll", line)
        return now.sends

    def _give_up(self, now: Progress, line: SendLine, destinations: Iterable[int]) -> None:
        """Add timeouts of requests, before the Poll in progress: it sends to all idle connections at once."""
        for destination in sorted(destinations):
            inputs = {"destination": destination}
            if now.sends is not None and now.sends.event == "Poll":
                timeout = Draft("RequestTimeout", line.time_us, input=inputs, place=now.place)
                now.insert_before(now.sends, timeout)
            else:
                timeout = now.event("RequestTimeout", line, inputs=inputs)
            timeout.state = now.last_state
            del self._waiting[destination]
            self._is_searching = True

    def _is_observer(self, now: Progress, destination: int) -> bool:
        """True for an observer that knows a leader other than the receiver of its Fetch."""
        state = now.last_state
        if state is None or state["role"] != "Follower" or state["leader_id"] == destination:
            return False
        return all(voter["id"] != self._replica for voter in state["voters"]["voters"])
