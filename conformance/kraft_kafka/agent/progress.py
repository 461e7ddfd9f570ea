"""Events of a replica in progress: the agent's lines of one event come one after the other."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from kraft_kafka.agent.drafts import Begin, Draft, State, without_log
from kraft_kafka.agent.saved import SavedProgress
from kraft_kafka.agent.written_log import WrittenLog
from kraft_kafka.wire.decoding import Document
from kraft_kafka.wire.log_records import Batch


class Progress:
    """Events of a replica so far, and those that the next lines may still belong to."""

    def __init__(self) -> None:
        self.events: list[Draft] = []
        self.place = ""
        """File and number of the present line."""
        self.gap: str | None = None
        """Reason why events before the next one may be missing."""
        self.is_lost = False
        """True from missing lines on, until a line shows the whole state."""
        self.first: Begin | None = None
        """Line from which on the replica is observed, until an event follows."""
        self.log_end_offset = 0
        """Log end offset of the last line that shows it."""
        self.endpoint: str | None = None
        """Own endpoint."""
        self.log = WrittenLog()
        self.base_offset = 0
        """Offset before which the trace has no log of the replica."""
        self.election: tuple[object, ...] | None = None
        """Content of the quorum state file: epoch, leader and vote."""
        self.clients = 0
        """Number of requests of clients so far."""
        self.resume: Begin | None = None
        """Line with the whole state before the next event."""
        self._newest_us = 0
        """Time of the newest event; 0 before the first."""
        self.begin()

    def begin(self) -> None:
        """Forget the events in progress of an earlier process."""
        self.open: Draft | None = None
        """Event to which the lines belong."""
        self.pending: Draft | None = None
        """Handled event whose control records the next pollCurrentState appends."""
        self.handled: Draft | None = None
        """Handled event that was pending until the same pollCurrentState appended a client's record."""
        self.expired: Draft | None = None
        """Handled event like `pending`, if its voter change has expired within the same pollCurrentState."""
        self.moved: Draft | None = None
        """Timeout of the present pollCurrentState."""
        self.sends: Draft | None = None
        """Poll of the present pollCurrentState."""
        self.has_grown = False
        """True if control records were appended since the pending event was handled."""
        self.upgraded: int | None = None
        """End of the records of an upgrade of kraft.version that is not committed yet."""
        self.last_state: State = None
        self.refused: list[Document] = []
        """Responses to waiting Fetches, which a leader completes before it changes its role."""
        self.fetched: tuple[Batch, ...] = ()
        """Batches of the Fetch response in progress."""

    def event(self, name: str, line: Any, message: Document | None = None, inputs: Document | None = None) -> Draft:
        """Begin an event."""
        leads = self._leads(name)
        draft = Draft(
            name, line.time_us, message, inputs, gap=self.gap, begin=self.first, leads=leads, place=self.place
        )
        self.events.append(draft)
        draft.resume = None if draft.begin is not None else self.resume
        self.gap = self.first = self.resume = None
        self._newest_us = line.time_us
        return draft

    def _leads(self, name: str) -> bool:
        return name == "Poll" and self.last_state is not None and self.last_state["role"] == "Leader"

    def add(self, line: Any, effect: Document) -> None:
        """Add an effect to the event in progress, or to a Poll."""
        target = self.open or self.pending
        if target is not None and (target.is_data or target.appends) and _is_empty_fetch_response(effect):
            self._answer_before(target, line, effect)
            return
        is_of_hidden = target is not None and target.is_hidden and effect["kind"] in ("Send", "Answer")
        if target is None or is_of_hidden:
            # The response to an earlier request, whose wait is over.
            target = self.event("Poll", line)
            target.state = self.last_state
        target.effects.append(effect)

    def _answer_before(self, target: Draft, line: Any, effect: Document) -> None:
        """Answer a Fetch whose wait is over before the records that are being appended.

        Another thread than the one that appends answers it, from the log without these records.
        """
        place = self._place_of(target)
        while target.is_data and place and self.events[place - 1].is_data and not self.events[place - 1].sends:
            place -= 1
        after = self.events[place]
        leads = self._leads("Poll")
        answer = Draft("Poll", min(after.time_us, line.time_us), effects=[effect], leads=leads, place=self.place)
        self.insert_before(after, answer)

    def answer_before_append(self, target: Draft, line: Any) -> None:
        """Answer Fetches whose wait is over, and that an event in progress has answered, before it appends records."""
        empty = [effect for effect in target.effects if _is_empty_fetch_response(effect) and not target.answers(effect)]
        target.effects = [effect for effect in target.effects if all(effect is not other for other in empty)]
        for effect in empty:
            self._answer_before(target, line, effect)

    def withdraw(self) -> None:
        """Remove the event in progress: the replica does not handle its request."""
        if self.open is None or not any(draft is self.open for draft in self.events):
            return
        self.events = [draft for draft in self.events if draft is not self.open]
        self.gap, self.first = self.open.gap, self.open.begin
        self.open = replace(self.open, is_hidden=True)

    def move_behind_data(self, handled: Draft, line: Any) -> None:
        """Move a handled event behind the clients' records that were queued before its control record.

        The leader appends them first.  So to the model the clients came before the handled message.  An event that has
        appended records before them stays, such as the vote that made it the leader.
        """
        if any(effect["kind"] == "AppendRecords" for effect in handled.effects):
            return
        data = self.events[self._place_of(handled) + 1 :]
        if not data or not all(draft.is_data for draft in data):
            return
        self.answer_before_append(handled, line)
        place = self._place_of(handled)
        data[0].gap, handled.gap = handled.gap, None
        data[0].begin, handled.begin = handled.begin, None
        data[0].resume, handled.resume = handled.resume, None
        self.events[place:] = [*data, handled]
        data[-1].state = handled.state and without_log(handled.state)
        self.pending, self.handled, self.open = handled, None, None

    def replace_log(self, line: Any, end_offset: int) -> None:
        """Add a TakeSnapshot, because a leader serves this snapshot while its log still has the records before its end.

        Kafka does so at a Fetch from offset 0.  To the model a snapshot replaces these records, here from now on.
        """
        self.base_offset = end_offset
        target = self.open or self.pending
        draft = Draft("TakeSnapshot", line.time_us, input={"end_offset": end_offset}, place=self.place)
        draft.has_hidden_effects = True
        draft.state = self.last_state = self.last_state and with_base(self.last_state, end_offset)
        if target is None:
            self.events.append(draft)
        else:
            self.insert_before(target, draft)

    def insert_before(self, after: Draft, draft: Draft) -> None:
        """Insert an event before another one, with the gap or the checkpoint that precedes it."""
        draft.gap, after.gap = after.gap, None
        draft.begin, after.begin = after.begin, None
        draft.resume, after.resume = after.resume, None
        self.events.insert(self._place_of(after), draft)

    def _place_of(self, draft: Draft) -> int:
        return next(index for index, other in enumerate(self.events) if other is draft)

    @property
    def is_quiet(self) -> bool:
        """True if no event is in progress or waits for later lines."""
        busy = (self.open, self.pending, self.handled, self.expired, self.moved, self.sends, self.first, self.resume)
        return not (self.events or self.refused or any(it is not None for it in busy))

    def save(self) -> SavedProgress:
        """Return the state, of which `is_quiet` is true."""
        last_state = None if self.last_state is None else dict(self.last_state)
        election: Any = self.election
        places = (self.gap, self.is_lost, self.log_end_offset, self.endpoint, self.base_offset)
        return SavedProgress(
            *places, self.clients, self.upgraded, election, last_state, self._newest_us, self.log.save()
        )

    def restore(self, saved: SavedProgress) -> None:
        """Take the state that an earlier `save` has returned."""
        self.gap, self.is_lost, self.log_end_offset = saved.gap, saved.is_lost, saved.log_end_offset
        self.endpoint, self.base_offset, self.election = saved.endpoint, saved.base_offset, saved.election
        self.clients, self.upgraded = saved.clients, saved.upgraded
        self.last_state, self._newest_us = saved.last_state, saved.newest_us
        self.log.restore(saved.log)

    def drain(self, *, is_over: bool = False) -> list[Draft]:
        """Remove the events that no later line can change, and return them; all, if no line follows.

        An answer may still come before the clients' records that were appended last.
        """
        if is_over:
            drained, self.events = self.events, []
            return drained
        busy = (self.open, self.pending, self.handled, self.expired, self.moved, self.sends)
        end = next(
            (at for at, draft in enumerate(self.events) if any(draft is other for other in busy)), len(self.events)
        )
        while end and (last := self.events[end - 1]).is_data and not (last.sends and last.is_synced):
            end -= 1
        drained, self.events = self.events[:end], self.events[end:]
        return drained

    def lose(self, reason: str) -> None:
        """Forget the events in progress, because lines are missing that may belong to them."""
        unsure = [draft for draft in (self.open, self.pending, self.moved, self.sends) if draft is not None]
        # Of a leader's batch, records whose sync is missing are unsure, too.
        unsure += [draft for draft in self.events if draft.is_data and not draft.is_synced]
        self.events = [draft for draft in self.events if all(draft is not other for other in unsure)]
        self.open = self.pending = self.handled = self.expired = self.moved = self.sends = None
        self.gap, self.is_lost, self.first, self.resume = reason, True, None, None

    def observe(self, first: Begin) -> None:
        """Go on from a line that shows the whole state."""
        if self.gap is not None:
            # The gap is before the line, so an event before it has the mark.
            time_us = self._newest_us or first.line.time_us
            self.events.append(Draft("Poll", time_us, gap=self.gap, place=self.place))
        self.gap, self.is_lost, self.first = None, False, first

    def next_client(self) -> int:
        """Return the number of the next request of a client."""
        self.clients += 1
        return self.clients

    def settle(self, state: State) -> None:
        """End the events in progress: this is the state after them."""
        if self.refused and self._newest_us:
            if not self.events:
                self.events.append(Draft("Poll", self._newest_us, place=self.place))
            self.events[-1].effects += self.refused
        self.refused = []
        if self.expired is not None and self.has_grown:
            # Of the state between the two events nothing is observed.
            self.expired.state = None
        if self.pending is not None and (self.has_grown or self.pending.state is None):
            self.pending.state = state
        for draft in (self.moved, self.open if self.open is not None and self.open.is_data else None):
            if draft is not None:
                draft.state = state
        if self.open is not None and self.open.event == "VoterChangeTimeout":
            self.open.state = state
        if self.upgraded is not None and state is not None and "high_watermark" in state:
            self._conclude_upgrade(self.upgraded, state)
        self.pending = self.handled = self.expired = self.moved = self.open = None
        self.has_grown = False

    def _conclude_upgrade(self, end_offset: int, state: Mapping[str, Any]) -> None:
        """Hide the effects of the event with which a client's upgrade of kraft.version ends.

        The model's leader answers the client then; Kafka's answers when it has queued the records.
        """
        if state["role"] == "Leader" and state["high_watermark"] < end_offset:
            return
        for draft in (self.moved, self.open, self.pending):
            if draft is not None:
                draft.has_hidden_effects = True
        self.upgraded = None

    def remember(self, changed: State) -> None:
        """Take the fields of a line that differ from the state before."""
        if not changed:
            return
        before = dict(self.last_state or {})
        if "role" in changed:
            before.pop("fetched", None)
        self.last_state = with_base({**before, **changed}, self.base_offset)
        self.log_end_offset = self.last_state["log_end_offset"]


def with_base(state: Mapping[str, Any], offset: int) -> Document:
    """Return a state of a log that the trace has from this offset on, as if a snapshot replaced the records before."""
    voters = {**state["voters"], "offset": max(state["voters"]["offset"], offset - 1)}
    return {**state, "log_start_offset": max(state["log_start_offset"], offset), "voters": voters}


def _is_empty_fetch_response(effect: Document) -> bool:
    message = effect.get("message", {})
    return message.get("type") == "FetchResponse" and message["error"] == "NONE" and not message["records"]
