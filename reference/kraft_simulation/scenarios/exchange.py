"""Messages in a scenario: in-flight messages, and exchanges of request and response."""

from typing import Literal

from kraft_reference.effects import Send
from kraft_reference.events import Poll, PollFetch
from kraft_reference.messages import (
    ApiVersionsResponse,
    Error,
    FetchRequest,
    FetchSnapshotRequest,
    Message,
    Request,
    Response,
    VoteResponse,
)
from kraft_simulation.occurrence import Occurrence, message_id
from kraft_simulation.scenarios.stage import Stage

Answer = Literal["delivered", "held", "lost"]
"""Fate of a response: handled at once, kept for a later `deliver`, or lost."""


class Exchange(Stage):
    """A stage with verbs for single messages."""

    def deliver(self, identifier: str) -> Occurrence:
        """Deliver an in-flight message."""
        destination = int(identifier.split(".")[1])
        return self.do(lambda: self.world.deliver(identifier, self.draw(destination)))

    def handle(self, request: str, verdict: str, answer: Answer = "delivered") -> str:
        """Deliver a request and check its response's verdict; handle, keep or lose the response, and return its id."""
        message = self.world.in_flight[request].message
        occurrence = self.deliver(request)
        response = answer_to(message, occurrence)
        if response is None:
            self.fail(f"N{message.destination}", f"an answer to N{message.source}", "none")
        self.check(f"the answer of N{response.source} to N{response.destination}", verdict_of(response), verdict)
        identifier = message_id(occurrence.sequence, response)
        on_its_way = identifier in self.world.in_flight
        if answer == "delivered":
            self.deliver(identifier)
        elif answer == "lost" and on_its_way:
            self.do(lambda: self.world.drop(identifier))
        return identifier

    def outstanding(self, source: int, destination: int, kind: type[Request]) -> str:
        """Return the open request from `source` to `destination`; sent now if it is due."""
        in_flight = self._on_its_way(source, destination, kind)
        if in_flight is None:
            fetches = kind in (FetchRequest, FetchSnapshotRequest)
            self.happen(source, PollFetch(destination) if fetches else Poll())
            in_flight = self._on_its_way(source, destination, kind)
        if in_flight is None:
            self.fail(f"N{source}", f"a {kind.__name__} on its way to N{destination}", "none")
        return in_flight

    def _on_its_way(self, source: int, destination: int, kind: type[Request]) -> str | None:
        correlation_id = self.state(source).awaiting.get(destination)
        for identifier, message in self.world.messages(source, destination):
            if isinstance(message, kind) and message.correlation_id == correlation_id:
                return identifier
        return None


def answer_to(request: Message, occurrence: Occurrence) -> Response | None:
    """Return the response to a request among the messages that its receiver sent."""
    kind = type(request).__name__.removesuffix("Request") + "Response"
    for effect in occurrence.effects:
        if isinstance(effect, Send) and isinstance(effect.message, Response):
            sent = effect.message
            same = (sent.destination, sent.correlation_id) == (request.source, request.correlation_id)
            if same and type(sent).__name__ == kind:
                return sent
    return None


def verdict_of(response: Message) -> str:
    """Return the verdict of a response: `granted` or `refused` for a vote, else `ok` or the error."""
    assert isinstance(response, Response), "a request is answered by a response"
    if isinstance(response, ApiVersionsResponse) or response.error is Error.NONE:
        return _granted(response) if isinstance(response, VoteResponse) else "ok"
    return str(response.error)


def _granted(response: VoteResponse) -> str:
    return "granted" if response.granted else "refused"
