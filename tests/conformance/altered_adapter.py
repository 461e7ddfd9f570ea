"""Adapter of the tests: the reference with hidden parts, other choices, violations, or faults as a program.

`python altered_adapter.py MODE...`: names of `MODES`, of `choices`, of `partition_choices` and of `fetching_adapter`,
some with a value, as `without-rule=hw.own-epoch`; or of what `_misbehaved` does with the bytes.
"""

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from random import Random

from msgspec import UNSET
from msgspec.structs import replace
from tests.conformance.choices import RIGHT, RIGHT_REQUESTS, WRONG, Change, Effects, Moment, each, elections, of_effects
from tests.conformance.fetching_adapter import RIGHT_FETCHES, WRONG_FETCHES, Fetching
from tests.conformance.partition_choices import OF_PARTITIONS

from kraft_conformance.protocol.messages import (
    ErrorReply,
    HelloReply,
    Observe,
    ObserveReply,
    Reply,
    Request,
    Reset,
    RestartReply,
    Software,
    Step,
    StepReply,
)
from kraft_conformance.protocol.parsing import encode, parse_request
from kraft_conformance.protocol.partitions import PartitionReset
from kraft_dev.mutants.showing import at_level
from kraft_mutants.replicas import mutated_replicas
from kraft_reference.durability import crash
from kraft_traces.alternatives.ordering import happens_before
from kraft_traces.effects import TracedFlushLog, TracedPersistQuorumState, TracedSend, TracedStartTimer
from kraft_traces.message_types import TracedVoteRequest, TracedVoteResponse
from kraft_traces.values import TracedKey

HARM = (
    "<script>alert(1)</script>&amp;\"'</style></svg>]]> # TODO `a|b`\\|c <!-- {{7*7}} {% x %} "
    "@octocat [link](javascript:alert(1)) \x1b[31mred\x07\u202eright-to-left\u2028next\n"
    "not ok 99 - forged\n1..2 \U0001f600"
)


def _hello(**fields: object) -> Change:
    return lambda _, reply: replace(reply, **fields) if isinstance(reply, HelloReply) else reply


def _says_otherwise(moment: Moment, reply: Reply) -> Reply:
    """Give the hello another name each time, or the given one."""
    inputs = moment.value or f"own-{os.getpid()}"
    return replace(reply, profile=inputs) if isinstance(reply, HelloReply) else reply


def _lists(field: str, default: str = "") -> Change:
    """Put the names of the value, such as `a+b`, into this field of the hello."""
    return lambda moment, reply: _hello(**{field: tuple((moment.value or default).split("+"))})(moment, reply)


def _misreads(moment: Moment, reply: Reply) -> Reply:
    """Show a replica that does not exist as the vote in the state and as the leader in Vote responses."""
    if isinstance(reply, ObserveReply):
        return replace(reply, state=replace(reply.state, voted_key=TracedKey(99, "U99")))
    return each(TracedSend, _of_nobody)(moment, reply)


def _of_nobody(_: Moment, sent: TracedSend) -> Effects:
    is_vote = isinstance(sent.message, TracedVoteResponse)
    return (TracedSend(replace(sent.message, leader_id=99)) if is_vote else sent,)


def _polled_again_at_once(moment: Moment, reply: Reply) -> Reply:
    """Ask for the next poll at once after every poll."""
    return replace(reply, poll_again_ms=0) if moment.event in ("Poll", "PollFetch") else reply


def _dies(moment: Moment, reply: Reply) -> Reply:
    """End the replica's process at the event of the mode's value."""
    if moment.event != moment.value or not isinstance(reply, StepReply):
        return reply
    moment.replica.state = crash(moment.before, moment.before.log.flushed)
    return replace(reply, effects=(), refusal=UNSET, died="IllegalStateException: no such vote")


def _without_field(moment: Moment, reply: Reply) -> Reply:
    if not isinstance(reply, ObserveReply):
        return reply
    name, _, part = moment.value.partition(".")
    hidden = replace(getattr(reply.state, name), **{part: UNSET}) if part else UNSET
    return replace(reply, state=replace(reply.state, **{name: hidden}))


def _forgets_beside_a_leader(_: Moment, reply: Reply) -> Reply:
    """Drop the vote from the file and the state when there is a leader, as before KIP-996."""
    if isinstance(reply, ObserveReply) and reply.state.leader_id is not None:
        return replace(reply, state=replace(reply.state, voted_key=None))
    if isinstance(reply, StepReply | RestartReply):
        return replace(
            reply,
            effects=tuple(
                [
                    replace(effect, voted_key=None)
                    if isinstance(effect, TracedPersistQuorumState) and effect.leader_id is not None
                    else effect
                    for effect in reply.effects
                ]
            ),
        )
    return reply


def _shows_epoch(moment: Moment, reply: Reply) -> Reply:
    """Show this epoch always."""
    if not isinstance(reply, ObserveReply):
        return reply
    return replace(reply, state=replace(reply.state, epoch=int(moment.value)))


def _grants(_: Moment, send: TracedSend) -> Effects:
    is_vote = isinstance(send.message, TracedVoteResponse)
    return (TracedSend(replace(send.message, granted=True)) if is_vote else send,)


def _written_last(_: Moment, effects: Effects) -> Effects:
    return sorted(effects, key=lambda effect: isinstance(effect, TracedPersistQuorumState))


def _never_restarts(moment: Moment, effects: Effects) -> Effects:
    """Start no election timer: in no step, or in those of an event."""
    is_meant = moment.event is not None and moment.value in ("", moment.event)
    return [effect for effect in effects if effect not in elections(effects)] if is_meant else effects


def _silent(moment: Moment, effects: Effects) -> Effects:
    return () if moment.event == moment.value else effects


def _waits_as_it_did(moment: Moment, effects: Effects) -> Effects:
    """Let a Candidate that lost wait for its current timer, as Kafka after 4.0.0 does."""
    alone = len(effects) == 1 and isinstance(effects[0], TracedStartTimer)
    return () if alone and moment.after.role == "Candidate" else effects


def _keeps_the_disk(moment: Moment, reply: Reply) -> Reply:
    """Keep the directory id of a vote at kraft.version 0, and do not write it at the start."""
    if isinstance(reply, RestartReply):
        kept = [effect for effect in reply.effects if not isinstance(effect, TracedPersistQuorumState)]
        return replace(reply, effects=tuple(kept))
    if not isinstance(reply, ObserveReply) or not isinstance(reply.state.voted_key, TracedKey):
        return reply
    return replace(reply, state=replace(reply.state, voted_key=TracedKey(reply.state.voted_key.id, moment.value)))


def _chance(moment: Moment) -> Random:
    return Random(f"{moment.value} {moment.request.id}")


def _shuffles(moment: Moment, effects: Effects) -> Effects:
    """Return the effects in a random allowed order."""
    left, made, chance = list(range(len(effects))), [], _chance(moment)
    pairs = happens_before(effects)
    while left:
        free = [place for place in left if not any(first in left for first, other in pairs if other == place)]
        made.append(chance.choice(free))
        left.remove(made[-1])
    return [effects[item] for item in made]


def _hides(moment: Moment, reply: Reply) -> Reply:
    """Omit every fifth optional field."""
    chance = _chance(moment)
    if isinstance(reply, ObserveReply):
        fields = [name for name in reply.state.__struct_fields__ if chance.random() < 0.2]
        return replace(reply, state=replace(reply.state, **dict.fromkeys(fields, UNSET)))
    if not isinstance(reply, StepReply | RestartReply):
        return reply
    effects = [
        TracedSend(replace(effect.message, source=UNSET, correlation_id=UNSET))
        if isinstance(effect, TracedSend) and chance.random() < 0.2
        else effect
        for effect in reply.effects
    ]
    return replace(reply, effects=tuple(effects), refusal=UNSET if chance.random() < 0.2 else reply.refusal)


def _hostile(moment: Moment, reply: Reply) -> Reply:
    """Make violations of all kinds, with harmful texts."""
    if isinstance(reply, HelloReply):
        return replace(reply, implementation=Software(moment.value or HARM, HARM))
    if not isinstance(reply, StepReply):
        return reply
    effects = reply.effects
    match moment.event:
        case "HandleVoteRequest":
            # A field of another value, with a text; what was to be written first is written last.
            changed = [
                TracedSend(replace(effect.message, leader_endpoint=HARM))
                if isinstance(effect, TracedSend) and isinstance(effect.message, TracedVoteResponse)
                else effect
                for effect in effects
            ]
            return replace(reply, effects=tuple(_written_last(moment, changed)))
        case "Poll":
            # To one too few, and one that nobody expects.
            kept = effects[1:]
            requested = [effect.message for effect in effects if isinstance(effect, TracedSend)]
            if requested and isinstance(requested[0], TracedVoteRequest):
                kept += (TracedSend(replace(requested[0], destination=99)),)
            return replace(reply, effects=kept, refusal=UNSET)
        case "HandleBeginQuorumEpochRequest":
            return ErrorReply(id=reply.id, code="failed", detail=HARM)
        case "HandleEndQuorumEpochRequest":
            return ErrorReply(id=reply.id, code="unsupported", detail=HARM)
        case "Shutdown":
            print(HARM, file=sys.stderr, flush=True)
            os._exit(3)
    return reply


MODES: dict[str, Change] = {
    **RIGHT,
    **RIGHT_REQUESTS,
    **WRONG,
    **OF_PARTITIONS,
    "state": lambda _, reply: reply,
    "history": _hello(state_injection=False),
    "constructed": _hello(state_injection="constructed"),
    "wire": lambda _, reply: at_level(reply, "wire", injects=False),
    "effects": lambda _, reply: at_level(reply, "effects", injects=False),
    "without-field": _without_field,
    "shows-epoch": _shows_epoch,
    "polled-again-at-once": _polled_again_at_once,
    "dies": _dies,
    "unobserved": _lists("unobserved"),
    "subjects": _lists("subjects"),
    "misreads": _misreads,
    "unsupported": _lists("unsupported", "voter-changes+observers"),
    "kip-595-only": _hello(kip_levels={"KIP-595": "full"}),
    "without-pre-vote": _hello(kip_levels={"KIP-595": "full", "KIP-853": "full", "KIP-1186": "full"}),
    "forgets-votes-beside-a-leader": _forgets_beside_a_leader,
    "profile": _says_otherwise,
    "other-version": _hello(schema="kraft-adapter/2"),
    "grants-all": each(TracedSend, _grants),
    "sends-first": of_effects(_written_last),
    "votes-in-memory": each(TracedPersistQuorumState, lambda _, item: (replace(item, voted_key=None),)),
    "silent": of_effects(_silent),
    "never-syncs": each(TracedFlushLog, lambda _, __: ()),
    "keeps-the-disk-it-voted-for": _keeps_the_disk,
    "never-restarts": of_effects(_never_restarts),
    "waits-as-it-did": of_effects(_waits_as_it_did),
    "shuffles": of_effects(_shuffles),
    "hides": _hides,
    "hostile": _hostile,
}
"""Changes of each reply, by mode."""

ALL_RIGHT = (*RIGHT, *RIGHT_FETCHES)
PROGRAMS = (
    "without-rule", "kip-whatever-is-asked", "has-a-child", "floods-stderr", "forgets-little", "unasked",
    "unobservable", "hangs", "exits", "killed", "half-a-line", "oversized", "logs-to-stdout", "twice",
    "only-a-log-line", "truncated-json", "unknown-field", "other-id", "other-type", "refuses",
)  # fmt: skip
"""Modes that `main` applies to the whole program, or to the bytes of replies to steps."""


class Altered(Fetching):
    """The reference with these modes in order; the order of effects and hidden parts come last."""

    _LAST = ("shuffles", "hides", "state", "history", "effects", "wire")

    def __init__(self, *modes: str, changes: Sequence[Change] = ()) -> None:
        """`changes` are additional changes."""
        named = [(name, value) for name, _, value in (mode.partition("=") for mode in modes)]
        if unknown := {name for name, _ in named} - {*MODES, *RIGHT_FETCHES, *WRONG_FETCHES, *PROGRAMS}:
            raise ValueError(f"no such modes: {unknown}")
        left_out = [value for name, value in named if name == "without-rule"]
        super().__init__(frozenset(modes), make_replica=mutated_replicas(left_out))
        self._is_kip = "kip-whatever-is-asked" in modes
        ordered = sorted(named, key=lambda name: self._LAST.index(name[0]) if name[0] in self._LAST else -1)
        self._changes = [(MODES[name], value) for name, value in ordered if name in MODES]
        self._changes += [(change, "") for change in changes]

    def answer(self, request: Request) -> Reply:
        """Handle a request."""
        if self._is_kip and isinstance(request, Reset | PartitionReset):
            request = replace(request, cluster=replace(request.cluster, profile="kip"))
        before = None if self._replica is None else self._replica.state
        reply = super().answer(request)
        for change, value in self._changes:
            reply = change(Moment(request, before, self._replica, value), reply)  # type: ignore[arg-type]
        return reply


def _misbehaved(mode: str, value: str, request: Request, line: bytes) -> bytes:
    """Return other bytes for the reply to a step."""
    if mode == "unobservable" and isinstance(request, Observe):
        return b'{"type":"error","id":%d,"code":"unsupported","detail":"not today"}\n' % request.id
    if not isinstance(request, Step) or value not in ("", "failed", "unsupported", request.event):
        return line
    match mode:
        case "hangs":
            time.sleep(3600)
        case "exits":
            print("panicked at 'index out of bounds'", file=sys.stderr)
            os._exit(101)
        case "killed":
            os.abort()
        case "half-a-line":
            sys.stdout.buffer.write(line[:10])
            sys.stdout.flush()
            time.sleep(3600)
        case "oversized":
            return b'{"type":"step","id":2,"effects":[],"refusal":null' + b" " * (17 * 1024 * 1024) + b"}\n"
        case "logs-to-stdout":
            return b"INFO became Candidate\n" + line
        case "twice":
            return line + line
        case "only-a-log-line":
            return b"INFO became Candidate\n"
        case "truncated-json":
            return line.rstrip()[:-1] + b"\n"
        case "unknown-field":
            return line.replace(b'"effects"', b'"efects"')
        case "other-id":
            return line.replace(b'"id":', b'"id":1', 1)
        case "other-type":
            return b'{"type":"reset","id":%d}\n' % request.id
        case "refuses":
            text = (request.id, value.encode())
            return b'{"type":"error","id":%d,"code":"%s","detail":"no such thing here"}\n' % text
    return line


def main() -> None:
    """Handle requests until standard input ends."""
    adapter = Altered(*sys.argv[1:])
    mode, _, value = sys.argv[1].partition("=")
    if mode == "has-a-child":
        with open(value, "w") as file:
            file.write(str(subprocess.Popen(["sleep", "3600"]).pid))
    if mode == "floods-stderr":
        sys.stderr.write("x" * 1_000_000)
    resets = 0
    for number, raw in enumerate(sys.stdin.buffer, 1):
        request = parse_request(raw, number)
        resets += isinstance(request, Reset)
        if mode == "forgets-little" and resets > 1:
            adapter.make_replica = mutated_replicas(("prevote.follower.rejects-after-fetch",))
        reply = adapter.answer(request)
        if isinstance(request, Reset) and mode == "unasked":
            sys.stdout.buffer.write(b"one line too many\n")
        sys.stdout.buffer.write(_misbehaved(mode, value, request, encode(reply)))
        sys.stdout.buffer.flush()
    if mode == "has-a-child":
        time.sleep(3600)


if __name__ == "__main__":
    main()
