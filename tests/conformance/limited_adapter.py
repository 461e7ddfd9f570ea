"""Adapters for the tests: the reference that shows less, does something else, or misbehaves as a program.

`python limited_adapter.py MODE [VALUE]`; see `MODES`.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from kraft_conformance.adapters.reference import ReferenceAdapter
from kraft_conformance.adapters.showing import at_level
from kraft_conformance.protocol.features import Level
from kraft_conformance.protocol.messages import (
    HelloReply,
    Observe,
    ObserveReply,
    Reply,
    Request,
    Reset,
    RestartReply,
    Step,
    StepReply,
)
from kraft_conformance.protocol.parsing import encoded, parse_request
from kraft_reference.effects import Timer
from kraft_spec.experiments import replicas_without
from kraft_traces.effects import (
    TracedAppendRecords,
    TracedEffect,
    TracedFlushLog,
    TracedPersistQuorumState,
    TracedSend,
    TracedStartTimer,
    TracedTruncateLog,
)
from kraft_traces.message_types import TracedVoteResponse
from kraft_traces.values import TracedKey

VALUE = sys.argv[2] if len(sys.argv) > 2 else ""

Change = Callable[[Request, Reply], Reply]


def hello(**fields: object) -> Change:
    """Another hello."""
    return lambda _, reply: replace(reply, **fields) if isinstance(reply, HelloReply) else reply


def _showing(level: Level) -> Change:
    return lambda _, reply: at_level(reply, level, injects=False)


def _without_field(_: Request, reply: Reply) -> Reply:
    return replace(reply, state=replace(reply.state, **{VALUE: UNSET})) if isinstance(reply, ObserveReply) else reply


def _grants_all(_: Request, reply: Reply) -> Reply:
    """Every vote is granted."""
    if not isinstance(reply, StepReply):
        return reply
    effects = tuple(
        TracedSend(replace(effect.message, granted=True))
        if isinstance(effect, TracedSend) and isinstance(effect.message, TracedVoteResponse)
        else effect
        for effect in reply.effects
    )
    return replace(reply, effects=effects)


def _sends_first(_: Request, reply: Reply) -> Reply:
    """What is written is written after the sends."""
    if not isinstance(reply, StepReply):
        return reply
    return replace(
        reply, effects=tuple(sorted(reply.effects, key=lambda one: isinstance(one, TracedPersistQuorumState)))
    )


def _never_syncs(_: Request, reply: Reply) -> Reply:
    if not isinstance(reply, StepReply):
        return reply
    return replace(reply, effects=tuple(one for one in reply.effects if not isinstance(one, TracedFlushLog)))


def _syncs_at_once(_: Request, reply: Reply) -> Reply:
    """Every append is synced; to be right, `flushed_offset` would follow, so that the state is not shown."""
    reply = at_level(reply, "effects", injects=False)
    if not isinstance(reply, StepReply | RestartReply):
        return reply
    effects: list[TracedEffect] = []
    for effect in reply.effects:
        if isinstance(effect, TracedAppendRecords):
            effects += [effect, TracedFlushLog(effect.base_offset + len(effect.records))]
        elif not isinstance(effect, TracedFlushLog):
            effects.append(effect)
    return replace(reply, effects=tuple(effects))


def _never_restarts(_: Request, reply: Reply) -> Reply:
    """No election timer is started."""
    if not isinstance(reply, StepReply):
        return reply
    kept = [one for one in reply.effects if not (isinstance(one, TracedStartTimer) and one.timer is Timer.ELECTION)]
    return replace(reply, effects=tuple(kept))


def _keeps_the_disk(_: Request, reply: Reply) -> Reply:
    """The directory id of a vote is remembered at kraft.version 0 too, and so not written when it starts."""
    if isinstance(reply, RestartReply):
        return replace(
            reply, effects=tuple(one for one in reply.effects if not isinstance(one, TracedPersistQuorumState))
        )
    if not isinstance(reply, ObserveReply) or not isinstance(reply.state.voted_key, TracedKey):
        return reply
    return replace(reply, state=replace(reply.state, voted_key=TracedKey(reply.state.voted_key.id, VALUE)))


def _first(kind: type[TracedEffect], wrong: Callable[[Any], TracedEffect]) -> Change:
    """Before each write of a kind another one."""

    def change(_: Request, reply: Reply) -> Reply:
        if not isinstance(reply, StepReply):
            return reply
        pairs = [(wrong(one), one) if isinstance(one, kind) else (one,) for one in reply.effects]
        return replace(reply, effects=tuple([one for pair in pairs for one in pair]))

    return change


def _writes_again(_: Request, reply: Reply) -> Reply:
    """At the end of a step everything is written once more."""
    if not isinstance(reply, StepReply):
        return reply
    durable = (TracedPersistQuorumState, TracedFlushLog)
    return replace(reply, effects=(*reply.effects, *[one for one in reply.effects if isinstance(one, durable)]))


def _another_hello(_: Request, reply: Reply) -> Reply:
    """Each process says another hello."""
    return replace(reply, profile=f"own-{os.getpid()}") if isinstance(reply, HelloReply) else reply


MODES: dict[str, Change] = {
    "cuts-all-first": _first(TracedTruncateLog, lambda one: TracedTruncateLog(0)),
    "votes-for-another-first": _first(
        TracedPersistQuorumState, lambda one: replace(one, epoch=one.epoch + 5, voted_key=TracedKey(9, "U9"))
    ),
    "appends-elsewhere-first": _first(TracedAppendRecords, lambda one: replace(one, base_offset=0)),
    "syncs-what-it-cuts": _first(TracedTruncateLog, lambda one: TracedFlushLog(one.end_offset + 1)),
    "writes-again": _writes_again,
    "another-hello": _another_hello,
    "plain": lambda _, reply: reply,
    "wire": _showing("wire"),
    "effects": _showing("effects"),
    "history": hello(state_injection=False),
    "without-field": _without_field,
    "unsupported": hello(unsupported=("voter-changes", "observers")),
    "kip-595-only": hello(kip_levels={"KIP-595": "full"}),
    "raft": hello(profile="raft"),
    "other-version": hello(schema="kraft-adapter/2"),
    "grants-all": _grants_all,
    "sends-first": _sends_first,
    "never-syncs": _never_syncs,
    "keeps-the-disk-it-voted-for": _keeps_the_disk,
    "never-restarts": _never_restarts,
    "syncs-at-once": _syncs_at_once,
}
"""What is made of each reply."""


def _misbehave(mode: str, request: Request, line: bytes) -> bytes:
    """Other bytes for the reply to the first step."""
    if mode == "unobservable" and isinstance(request, Observe):
        return b'{"type":"error","id":%d,"code":"unsupported","detail":"not today"}\n' % request.id
    if not isinstance(request, Step):
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
            return b'{"type":"error","id":%d,"code":"%s","detail":"no such thing here"}\n' % (
                request.id,
                VALUE.encode(),
            )
    return line


def main() -> None:
    """Answer like the reference, except for what the mode says."""
    mode = sys.argv[1]
    adapter = ReferenceAdapter(make_replica=replicas_without((VALUE,) if mode == "without-rule" else ()))
    change = MODES.get(mode, MODES["plain"])
    if mode == "has-a-child":
        with open(VALUE, "w") as file:
            file.write(str(subprocess.Popen(["sleep", "3600"]).pid))
    if mode == "floods-stderr":
        sys.stderr.write("x" * 1_000_000)
    resets = 0
    for number, raw in enumerate(sys.stdin.buffer, 1):
        request = parse_request(raw, number)
        resets += isinstance(request, Reset)
        if mode == "forgets-little" and resets > 1:
            adapter.make_replica = replicas_without(("prevote.follower.rejects-after-fetch",))
        reply = adapter.answer(request)
        if isinstance(request, Reset) and mode == "unasked":
            sys.stdout.buffer.write(b"one line too many\n")
        sys.stdout.buffer.write(_misbehave(mode, request, encoded(change(request, reply))))
        sys.stdout.buffer.flush()
    if mode in ("stays", "has-a-child"):
        time.sleep(3600)


if __name__ == "__main__":
    main()
