"""A vector in words: what it is about, how it begins, what happens, and what must come of it."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import UNSET

from kraft_conformance.runner.plain import plain
from kraft_spec.rules import load_registry
from kraft_traces.effects import TracedSend
from kraft_traces.message_types import TracedFetchResponse
from kraft_vectors.catalogue import AnyVector
from kraft_vectors.format import Course, Expected, Vector, VectorEvent, VectorStep
from kraft_vectors.profiles import provenance, shown_profile
from kraft_vectors.state_changes import changed_fields

_OUTPUT = re.compile(r"outputs\[(\d+)\]")
"""The position of an output, which is shown counted from 1."""


NOT_JUDGED = (
    "Judged: each output and change below, and that each other field of the state stays as it is.",
    "Not judged: the id of a message, its timeout_ms, how long a duration is that is more than 0, how far the log is "
    "synced beyond what is asked for, and correlation_id, cluster_id, version and details where they are left out; "
    "in how many portions something is written, what is written or started again, the order where (after) says none.",
)
"""What counts in every vector."""

FETCH_NOT_JUDGED = (
    "Nor, of an answer to a Fetch: when it comes while it has nothing for the fetcher, how many of the records it has "
    "(a batch stays whole), and whether a high watermark stands beside an error."
)
"""What counts where a Fetch is answered."""


def explained(vector: Vector) -> Iterator[str]:
    """The lines of an explanation."""
    requires = vector.requires
    injection = () if vector.history is not None else ("state_injection",)
    yield from headed(
        vector, (*requires.kips, f"kraft.version {requires.kraft_version}", *requires.features, *injection)
    )
    yield from NOT_JUDGED
    outputs = [one for step in vector.steps for one in step.outputs]
    if any(isinstance(one, TracedSend) and isinstance(one.message, TracedFetchResponse) for one in outputs):
        yield FETCH_NOT_JUDGED
    yield ""
    if vector.history is None:
        yield f"Replica {vector.replica} in a constructed state: {vector.constructed}"
    else:
        yield f"Replica {vector.replica} after {counted(len(vector.history), 'event')}:"
    for name, value in plain(vector.before.state).items():
        if value not in ([], None, False):
            yield f"  {name} {shown_value(value)}"
    for number, step in enumerate(vector.steps, 1):
        yield ""
        yield f"{number}. {happening(step)}"
        yield from _expected(step)
    for course in vector.courses or ():
        yield ""
        yield from _course(vector, course)


def headed(vector: AnyVector, needs: Sequence[str]) -> Iterator[str]:
    """What a vector of whichever subject is about, what it needs, and its rules."""
    yield vector.id
    yield f"  {vector.title}"
    yield f"  from {vector.source}; level {vector.level}"
    yield f"  needs {', '.join(needs)}; profile {' or '.join(map(shown_profile, vector.requires.profiles))}"
    if whence := provenance(vector.id):
        yield f"  {whence}"
    yield ""
    registry = load_registry()
    for rule_id in vector.rules:
        rule = registry[rule_id]
        yield f"{rule.level} {rule.id}: {rule.title}"
        yield f"  {rule.statement}"
    yield ""


def _course(vector: Vector, course: Course) -> Iterator[str]:
    """What else is right, at a replica that answers open decisions otherwise."""
    answers = " and ".join(f"{one.decision} {one.answer}" for one in course.choices)
    yield f"As right, with {answers}:"
    for reason in dict.fromkeys(one.reason for one in course.choices):
        yield f"   {reason}"
    before = plain(course.before)
    for name in changed_fields(course.before):
        yield f"   {name} is {shown_value(before[name])} at the beginning"
    for number, (step, expected) in enumerate(zip(vector.steps, course.steps, strict=True), 1):
        if any(getattr(step, name) != getattr(expected, name) for name in Expected.__struct_fields__):
            yield f"{number}. {happening(step)}"
            yield from _expected(expected)
    yield "   Every other step as above."


def happening(event: VectorEvent) -> str:
    """An event in a line."""
    words: list[str] = [event.event]
    if event.message is not UNSET:
        fields = plain(event.message)
        words.append(f"from {fields.pop('source')}:")
        hidden = ("type", "destination", "id", "cluster_id")
        words.append(shown_fields({name: value for name, value in fields.items() if name not in hidden}))
    if event.input is not UNSET:
        words.append(shown_fields(plain(event.input)))
    if event.crash is not UNSET:
        words.append(f"and dies after {event.crash.completed} of its writes and sends")
    return " ".join(words)


def _expected(step: VectorStep | Expected) -> Iterator[str]:
    for index, output in enumerate(step.outputs):
        fields = plain(output)
        kind, inner = fields.pop("kind"), fields.pop("message", None)
        if inner is not None:
            kind, to = f"Send {inner.pop('type')}", inner.pop("destination")
            kind = f"{kind} to {to}:"
            fields = {name: value for name, value in inner.items() if name not in ("source", "cluster_id")}
        if "duration_ms" in fields:
            # Of a duration only whether there is any is judged.
            fields["duration_ms"] = 0 if fields["duration_ms"] == 0 else "more than 0"
        if inner is not None:
            fields.pop("timeout_ms", None)
        first = [str(one + 1) for one, other in step.before if other == index]
        order = f" (after {', '.join(first)})" if first else ""
        yield f"   [{index + 1}] {kind} {shown_fields(fields)}{order}".rstrip()
    if step.refusal is not None:
        yield f"   refused: {step.refusal}"
    changes = plain(step.state)
    for name in changed_fields(step.state):
        yield f"   {name} becomes {shown_value(changes[name])}"
    if not changes:
        yield "   the state stays as it is"
    for allowed in step.may_send or ():
        request = plain(allowed.message)
        yield f"   may send {request['type']} to {request['destination']} as well: {allowed.reason}"
    for timer in step.may_start or ():
        yield f"   may start timer {timer.timer} as well: {timer.reason}"
    for one in step.latitude:
        values = "may be missing" if one.absent else f"may be {shown_value(list(one.any_of or ()))}"
        values = "may be anything" if one.free else values
        path = _OUTPUT.sub(lambda found: f"[{int(found.group(1)) + 1}]", one.path)
        yield f"   {path} {values}: {one.reason}"


def shown_fields(fields: dict[str, Any]) -> str:
    """Fields and their values in a line."""
    return ", ".join(f"{name} {shown_value(value)}" for name, value in fields.items())


def shown_value(value: Any) -> str:
    """A value as the texts write it: keys as `3-U3`, sets of keys as a list of them."""
    if isinstance(value, dict) and value.keys() == {"id", "directory_id"}:
        return f"{value['id']}" if value["directory_id"] is None else f"{value['id']}-{value['directory_id']}"
    if isinstance(value, list):
        return f"[{', '.join(map(shown_value, value))}]"
    if isinstance(value, dict):
        return f"({shown_fields(value)})"
    return value if isinstance(value, str) else json.dumps(value)


def counted(number: int, what: str) -> str:
    """A number and its noun."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
