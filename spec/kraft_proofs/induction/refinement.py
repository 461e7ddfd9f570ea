"""Refinement by execution: maps each step of a run of replicas to steps of the proof, or reports both states.

`_mapped` maps a replica's state to the proof's: its epoch, its log, and the part of the log on disk.
The rest of the proof's state (which replica asked, granted, was elected, acknowledged, committed, applied) starts from
the proof's first state, and the proof's own actions update it.
`SEQUENCES` lists the actions of the proof for each action of KRaft.tla.
The replicas' states are those of the reference, which are the model's, as each line of a trace and each edge of the
model's graph confirms.
The changes of a step determine its actions, the proof's own guards decide whether they are possible, and the state
after the last of them must be that of the replica after the step.
"""

from collections.abc import Callable, Iterator, Mapping
from copy import copy
from itertools import chain
from typing import Any, Self

from kraft_proofs.induction import worlds
from kraft_proofs.induction.abstraction import SEQUENCES
from kraft_proofs.induction.beginnings import Beginning, remembered
from kraft_proofs.induction.interpreter import Interpreter, Step
from kraft_proofs.induction.worlds import Entry, Replica, Replicas
from kraft_reference.configuration import Configuration
from kraft_reference.durability import apply_durable
from kraft_reference.effects import Send
from kraft_reference.events import Crash, Receive, ReplaceDisk, Restart
from kraft_reference.identity import ReplicaKey, VoterSet, names
from kraft_reference.log import Log
from kraft_reference.messages import FetchResponse, FetchSnapshotResponse, Message, VoteRequest
from kraft_reference.records import SET_KINDS, Record
from kraft_reference.roles import Role
from kraft_reference.state import ReplicaState
from kraft_simulation.occurrence import Occurrence, message_id


class UnexplainedStepError(Exception):
    """No sequence of the proof's steps explains a step of the replicas; the message shows both states."""


class _NoSequenceError(Exception):
    """An attempt to explain a step fails; the text says where."""


class Refinement:
    """Follows a run, with the proof's state in parallel to those of the replicas.

    Attributes:
        interpreter: The interpreter of the theory.
        world: The proof's state after the explained steps.
    """

    def __init__(
        self,
        interpreter: Interpreter,
        configuration: Configuration,
        states: Mapping[int, ReplicaState],
        identify: Callable[[int, Message], str] = message_id,
    ) -> None:
        """Begin with these replicas, freshly formatted or in the middle of a run that their logs record.

        Args:
            interpreter: The interpreter of the theory.
            configuration: Configuration of the cluster.
            states: State by replica id.
            identify: Returns the id of a message that an occurrence with this sequence sends.

        Raises:
            ValueError: the replicas were formatted with different voters or begin on a snapshot, which the proof does
                not cover; or an invariant does not hold at their beginning.
        """
        if any(
            replica.initial_voters not in (None, frozenset(), configuration.voters)
            for replica in configuration.replicas.values()
        ):
            raise ValueError("the replicas were formatted with different voters (bootstrap.sets-must-be-equal)")
        self.interpreter = interpreter
        self._identify = identify
        self._keys = {number: state.key for number, state in states.items()}
        # A voter key with another directory id is another replica, which has no state here.
        other_disks = sorted(key for key in configuration.voters if key.directory_id is not None)
        keys = dict.fromkeys((*self._keys.values(), *other_disks))
        self._numbers = {key: number for number, key in enumerate(keys, start=1)}
        self._states = dict(states)
        self._leaders_log: dict[str, Entry] = {}
        self._in_vain: set[tuple[Replica, int]] = set()
        numbers = tuple(self._numbers.values())
        self.world = interpreter.first(numbers, self._voters(configuration.voters), last_epoch=2**31)
        self._entries: dict[tuple[int, int], Entry] = {(0, 0): self.world.bootstrap}
        begins = {self._own(state): self._beginning(state) for state in states.values()}
        self.world = self.world._replace(values=remembered(self.world, begins, self._number))
        if broken := interpreter.broken(self.world):
            raise ValueError(f"the replicas begin with what the proof excludes: {', '.join(broken)}")

    def _beginning(self, state: ReplicaState) -> Beginning:
        if state.log.base.end_offset > 0:
            raise ValueError(f"replica {state.key} begins on a snapshot")
        log = self.world.bootstrap
        for record in state.log.records:
            log = log.followed_by(worlds.Record(record.epoch, self._changed_voters(log, record)))
            self._entries[log.offset, log.epoch] = log
        return Beginning(state, log, self._entry_at(state.log, state.log.flushed))

    def copy(self) -> Self:
        """Return a copy with the same past, to be continued independently."""
        other = copy(self)
        for name in ("_keys", "_numbers", "_states", "_leaders_log", "_entries"):
            setattr(other, name, dict(getattr(self, name)))
        other._in_vain = set(self._in_vain)
        return other

    def explain(self, occurrence: Occurrence) -> tuple[Step, ...]:
        """Return the steps of the proof for an event of the run; none for one outside of the proof.

        Raises:
            UnexplainedStepError: there are no such steps.
        """
        if occurrence.replica_id is None or occurrence.state is None:
            return ()
        before, after = self._states[occurrence.replica_id], occurrence.state
        self._states[occurrence.replica_id] = after
        name = event_name(occurrence)
        if _is_pre_vote(occurrence) and (after.epoch, after.voted_key) != (before.epoch, before.voted_key):
            self._in_vain.add((self._own(after), after.epoch))
        reasons = []
        for attempt in self._attempts(name, before, after, occurrence):
            world, entries = self.world, dict(self._entries)
            try:
                steps = tuple(attempt)
                self._check(name, steps, after, crashed=occurrence.crash is not None)
            except _NoSequenceError as failure:
                reasons.append(str(failure))
                self.world, self._entries = world, entries
                continue
            self._remember(occurrence, after)
            return steps
        raise UnexplainedStepError(self._describe_unexplained(occurrence, name, before, after, reasons))

    # Mapping of a step.

    def _attempts(
        self, name: str, before: ReplicaState, after: ReplicaState, occurrence: Occurrence
    ) -> Iterator[Iterator[Step]]:
        if occurrence.crash is None:
            yield self._steps(name, before, after, occurrence)
            return
        cut_short = _cut_short(before, occurrence)
        yield chain(self._steps(name, before, cut_short, occurrence), self._take_crash(after))
        yield chain(self._take_crash(after), self._steps(name, before._replace(log=after.log), after, occurrence))

    def _take_crash(self, after: ReplicaState) -> Iterator[Step]:
        yield self._take("crash", replica=self._own(after), kept=self._log_end(after.log))

    def _steps(self, name: str, before: ReplicaState, after: ReplicaState, occurrence: Occurrence) -> Iterator[Step]:
        if isinstance(occurrence.event, ReplaceDisk):
            yield self._replace_disk(after)
            return
        if isinstance(occurrence.event, Crash):
            yield from self._take_crash(after)
            return
        yield from self._read_election(before, after, occurrence)
        if isinstance(occurrence.event, Receive):
            message = occurrence.event.message
            if isinstance(message, FetchResponse | FetchSnapshotResponse):
                yield from self._read_follower_steps(before, after, self._leaders_log.get(occurrence.message_id or ""))
                return
        yield from self._read_leader_steps(before, after)
        if name == "PollFetch" and (before.leader_id or before.key.id) != before.key.id:
            yield self._take("acknowledge", replica=self._own(after), epoch=after.epoch)
        yield from self._read_sync(after)

    def _read_election(self, before: ReplicaState, after: ReplicaState, occurrence: Occurrence) -> Iterator[Step]:
        own, epoch = self._own(after), after.epoch
        voted = after.voted_key
        if voted is not None and before.voted_key is not None and after.epoch == before.epoch:
            # The file of version 0 does not store the directory id of the vote.  Rule: durable.fields-v0.
            voted = None if self._number(voted) == self._number(before.voted_key) else voted
        stands = voted is not None and names(voted, after.key)
        leader = after.leader_id if after.leader_id != after.key.id else None
        learned = leader is not None and (epoch, leader) != (before.epoch, before.leader_id)
        if voted is not None and not stands and not _is_pre_vote(occurrence):
            yield self._take("vote", voter=own, candidate=self._number(voted), epoch=epoch)
        elif epoch > before.epoch and not learned and not stands:
            yield self._take("learn-epoch", replica=own, epoch=epoch)
        if learned and leader is not None:
            yield self._take("learn-leader", replica=own, epoch=epoch, leader=self._leader_of(epoch, leader))
        if stands:
            yield self._take("stand", candidate=own, epoch=epoch)
        if isinstance(occurrence.event, Restart) and after.role in (Role.CANDIDATE, Role.LEADER) and not stands:
            yield self._take("stand-again", candidate=own, epoch=epoch)
        # Also for a replica that died before appending: its file names it as the leader.
        if after.leader_id == after.key.id and (before.epoch, before.leader_id) != (epoch, after.leader_id):
            yield self._take("become-leader", candidate=own, epoch=epoch, log=self._end(own))

    def _read_leader_steps(self, before: ReplicaState, after: ReplicaState) -> Iterator[Step]:
        """Yield the entries that a leader appended and committed."""
        own = self._own(after)
        old_end = before.log.end_offset
        # Commit by the old voter set; entries that need a new set are committed after its record.
        yield from self._read_commits(before, after, min(after.high_watermark, old_end), is_partial=True)
        for record in _added(before.log, after.log):
            log = self._end(own)
            entry = self.world.unwritten(log, record.epoch, self._changed_voters(log, record))
            yield self._take("append", entry, leader=own, epoch=record.epoch, entry=entry)
            self._entries[entry.offset, entry.epoch] = entry
        yield from self._read_commits(before, after, after.high_watermark)

    def _read_commits(
        self, before: ReplicaState, after: ReplicaState, high_watermark: int, is_partial: bool = False
    ) -> Iterator[Step]:
        """Yield the commits of entries of the leader's own epoch, up to an offset."""
        own = self._own(after)
        applied = {entry.offset for replica, entry in self.world.values["applied"] if replica == own}
        # A leader that is no longer a voter resigns in the step that commits its removal.
        if after.role not in (Role.LEADER, Role.RESIGNED) or high_watermark <= before.high_watermark:
            return
        for entry in _between(self._end(own), before.high_watermark, high_watermark):
            if entry.epoch != after.epoch or entry.offset in applied:
                continue
            arguments = {"leader": own, "epoch": after.epoch, "entry": entry}
            if is_partial and next(iter(self.interpreter.steps(self.world, "commit", **arguments)), None) is None:
                return
            yield self._take("commit", **arguments)

    def _read_follower_steps(self, before: ReplicaState, after: ReplicaState, answer: Entry | None) -> Iterator[Step]:
        """Yield the changes that a follower took over from its leader."""
        own = self._own(after)
        arguments: dict[str, Any] = {"replica": own, "epoch": after.epoch}
        arguments |= {} if answer is None else {"answer": answer}
        end = self._log_end(after.log)
        if after.log.base.end_offset > before.log.end_offset or (
            after.log.base != before.log.base and not after.log.records
        ):
            yield self._take("load-snapshot", **arguments, kept=end)
        elif after.log.end_offset < before.log.end_offset:
            yield self._take("truncate", **arguments, kept=end)
        elif after.log.end_offset > before.log.end_offset:
            yield self._take("fetch-records", **arguments, kept=end)
        if after.high_watermark > max(before.high_watermark, after.log.base.end_offset):
            first = max(before.high_watermark, after.log.base.end_offset)
            for entry in _between(self._end(own), first, after.high_watermark):
                yield self._take("learn-high-watermark", **arguments, kept=entry)
        yield from self._read_sync(after)

    def _read_sync(self, after: ReplicaState) -> Iterator[Step]:
        own, flushed = self._own(after), self._entry_at(after.log, after.log.flushed)
        if flushed not in self.world.values["flushed"][own].prefixes:
            yield self._take("sync", replica=own, kept=flushed)

    def _replace_disk(self, after: ReplicaState) -> Step:
        """Replace the proof's replica with this id by a new one."""
        number = len(self._numbers) + 1
        self._numbers[after.key] = number
        self._keys[after.key.id] = after.key
        values = {
            name: {**value, number: self.world.bootstrap if name != "epoch" else 0}
            if isinstance(value, dict)
            else value
            for name, value in self.world.values.items()
        }
        self.world = self.world._replace(replicas=(*self.world.replicas, number), values=values)
        return self._take("replace-disk", replica=number)

    # Steps of the proof.

    def _take(self, action: str, *unwritten: Entry, **fixed: Any) -> Step:
        """Take a step of the proof with these values of its action's parameters; search for the other values."""
        step = next(iter(self.interpreter.steps(self.world, action, *unwritten, **fixed)), None)
        if step is None:
            arguments = ", ".join(f"{name}={value}" for name, value in fixed.items())
            raise _NoSequenceError(f"{self._find_forbidding(action, unwritten, fixed)} forbids {action}({arguments})")
        self.world = self.interpreter.after(self.world, step)
        return step

    def _find_forbidding(self, action: str, unwritten: tuple[Entry, ...], fixed: Mapping[str, Any]) -> str:
        """Return the conjuncts of a guard that alone forbid the step."""
        theory = self.interpreter.theory
        conjuncts = []
        for conjunct in theory.action(action).guard:
            weaker = Interpreter(theory.with_action(theory.action(action).without(conjunct)))
            if any(True for _ in weaker.steps(self.world, action, *unwritten, **fixed)):
                conjuncts.append(conjunct)
        return " or ".join(conjuncts) or "the guard"

    def _check(self, name: str, steps: tuple[Step, ...], after: ReplicaState, crashed: bool) -> None:
        """Check that the steps are listed, and that the state after them is that of the replica."""
        listed = SEQUENCES.get(name, ())
        remaining = iter(listed)
        actions = [step.action for step in steps if not (crashed and step.action == "crash")]
        once = [action for number, action in enumerate(actions) if actions[number - 1 : number] != [action]]
        if not all(action in remaining for action in once):
            raise _NoSequenceError(
                f"{name} amounts to {' '.join(once)}, expected a part of {' '.join(listed) or 'nothing'}"
            )
        own, values = self._own(after), self.world.values
        proved = (values["epoch"][own], values["log_end"][own], values["flushed"][own])
        if proved != (expected := self._mapped(after)):
            raise _NoSequenceError(
                f"after {' '.join(map(str, steps)) or 'no step'} the proof has {proved}, expected {expected}"
            )
        self._check_memory(own, after)

    def _check_memory(self, own: Replica, after: ReplicaState) -> None:
        """Check that the proof's state includes the past that the replica stores."""
        values, epoch = self.world.values, after.epoch
        if after.role is Role.LEADER and not any((t, r) == (epoch, own) for t, r, _ in values["elected"]):
            raise _NoSequenceError(f"it leads epoch {epoch}, and the proof has not elected it")
        if after.role is Role.CANDIDATE and (own, epoch, self._end(own)) not in values["asked"]:
            raise _NoSequenceError(f"it is Candidate of epoch {epoch} with another log than the proof's")
        if after.leader_id not in (None, after.key.id) and (own, epoch) not in values["follows"]:
            raise _NoSequenceError(f"it knows the leader of epoch {epoch}, and the proof's replica does not")
        if after.high_watermark > after.log.base.end_offset:
            counted = next(entry for entry in self._end(own).prefixes if entry.offset == after.high_watermark)
            if not any(replica == own and counted in entry.prefixes for replica, entry in values["applied"]):
                raise _NoSequenceError(f"the proof has not committed its high watermark, {after.high_watermark}")
        voted = after.voted_key
        if voted is None or (own, epoch) in self._in_vain:
            return
        if (own, epoch, self._number(voted)) not in {(v, t, r) for v, t, r, _ in values["granted"]}:
            raise _NoSequenceError(f"it voted for {voted} in epoch {epoch}, and the proof's replica did not")

    def _mapped(self, state: ReplicaState) -> tuple[int, Entry, Entry]:
        return state.epoch, self._log_end(state.log), self._entry_at(state.log, state.log.flushed)

    def _remember(self, occurrence: Occurrence, after: ReplicaState) -> None:
        for effect in occurrence.effects:
            if isinstance(effect, Send) and isinstance(effect.message, FetchResponse | FetchSnapshotResponse):
                identifier = self._identify(occurrence.sequence, effect.message)
                self._leaders_log[identifier] = self._end(self._own(after))

    # Names and logs.

    def _own(self, state: ReplicaState) -> Replica:
        own: Replica = self._numbers[state.key]
        return own

    def _number(self, key: ReplicaKey) -> Replica:
        """Return the replica of a key; a key without a directory id is the replica with its id."""
        return self._numbers[key if key in self._numbers else self._keys[key.id]]

    def _voters(self, voters: VoterSet) -> Replicas:
        return frozenset(self._number(key) for key in voters)

    def _leader_of(self, epoch: int, leader_id: int) -> Replica:
        keys = {number: key for key, number in self._numbers.items()}
        leaders = (replica for elected, replica, _ in self.world.values["elected"] if elected == epoch)
        leader: Replica | None = next(leaders, None)
        if leader is None or keys[leader].id != leader_id:
            raise _NoSequenceError(
                f"it takes {leader_id} for the leader of epoch {epoch}, whom the proof has not elected"
            )
        return leader

    def _changed_voters(self, log: Entry, record: Record) -> Replicas | None:
        """Return the voter set of a record, if the record changes the voters."""
        if record.kind not in SET_KINDS:
            return None
        voters = self._voters(record.voters)
        return None if voters == log.newest.record.voters else voters

    def _end(self, own: Replica) -> Entry:
        end: Entry = self.world.values["log_end"][own]
        return end

    def _log_end(self, log: Log) -> Entry:
        return self._entry_at(log, log.end_offset)

    def _entry_at(self, log: Log, end_offset: int) -> Entry:
        """Return the proof's name for a log up to an offset."""
        entry = self._entries.get((end_offset, log.epoch_before(end_offset)))
        if entry is None:
            raise _NoSequenceError(f"nobody has appended the entry {(end_offset, log.epoch_before(end_offset))}")
        return entry

    def _describe_unexplained(
        self, occurrence: Occurrence, name: str, before: ReplicaState, after: ReplicaState, reasons: list[str]
    ) -> str:
        lines = [f"event {occurrence.sequence} {name} at replica {occurrence.replica_id} is no step of the proof:"]
        lines += [f"  {reason}" for reason in reasons]
        lines += [f"  before  {_describe(before)}", f"  after   {_describe(after)}"]
        own = self._own(before)
        of_replica = {name: value[own] for name, value in self.world.values.items() if isinstance(value, dict)}
        lines.append(f"  proof   {', '.join(f'{name} {value}' for name, value in of_replica.items())}")
        return "\n".join(lines)


def _cut_short(before: ReplicaState, occurrence: Occurrence) -> ReplicaState:
    """Return the state at a crash within a step: its writes, and the high watermark that it had sent."""
    sent = [
        effect.message.high_watermark
        for effect in occurrence.effects
        if isinstance(effect, Send) and isinstance(effect.message, FetchResponse)
    ]
    middle = apply_durable(before, occurrence.effects)
    return middle._replace(high_watermark=max(before.high_watermark, *sent)) if sent else middle


def _is_pre_vote(occurrence: Occurrence) -> bool:
    """Return True if the event is a Pre-Vote request.

    Software that mistakes it for a standard vote records a vote for a replica that is no Candidate of the epoch and
    will stand for a later one. No replica counts that vote, so the proof omits it.

    Rule: prevote.response.flag-false.
    """
    event = occurrence.event
    return isinstance(event, Receive) and isinstance(event.message, VoteRequest) and event.message.pre_vote


def event_name(occurrence: Occurrence) -> str:
    """Return the action of KRaft.tla for an occurrence."""
    event = occurrence.event
    return f"Handle{type(event.message).__name__}" if isinstance(event, Receive) else type(event).__name__


def _describe(state: ReplicaState) -> str:
    log = state.log
    return (
        f"{state.role} epoch {state.epoch}, leader {state.leader_id}, voted {state.voted_key}, log "
        f"{log.start_offset}..{log.end_offset} of epoch {log.last_epoch}, flushed {log.flushed}, "
        f"high watermark {state.high_watermark}"
    )


def _added(before: Log, after: Log) -> tuple[Record, ...]:
    return after.between(before.end_offset, after.end_offset) if after.end_offset > before.end_offset else ()


def _between(log: Entry, low: int, high: int) -> list[Entry]:
    """Return the entries of a log with offsets above `low` and up to `high`, in ascending order."""
    return sorted((entry for entry in log.prefixes if low < entry.offset <= high), key=lambda entry: entry.offset)
