"""A vector as a text to review: its rules, then Given, When and Then; a field with its default value is left out."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from textwrap import wrap

from msgspec.json import decode, encode

from kraft_partitions.decisions import PROFILES as PARTITION_PROFILES
from kraft_reference.profile import PROFILES
from kraft_spec.rules import load_registry
from kraft_vectors.catalogue import AnyVector
from kraft_vectors.format import Expected
from kraft_vectors.profiles import shown_profile
from kraft_vectors.texts import (
    KAFKA_TERMS,
    Fields,
    compacted,
    counted,
    default_details,
    default_endpoint,
    event_line,
    event_name,
    output_line,
    partition_name,
    partition_text,
    records_text,
    shown_fields,
    shown_value,
)

_WIDTH = 100
_FRESH: Fields = {
    "epoch": 0,
    "voted_key": None,
    "log_end_offset": 0,
    "last_epoch": 0,
    "flushed_offset": 0,
    "high_watermark": -1,
    "fetched": False,
    "searching": False,
    "log_start_offset": 0,
}
"""State of a replica that its operator has just formatted, beside what the cluster decides."""


def transcript(vector: AnyVector) -> str:
    """Return the text; the same vector gives the same text."""
    document: Fields = decode(encode(vector))
    is_partitions = vector.subject == "partitions"
    lines = [*_head(document, PARTITION_PROFILES if is_partitions else PROFILES), "", "Given"]
    lines += _controllers(document) if is_partitions else _replica(document)
    before = document["before"] if is_partitions else document["before"]["state"]
    for number, (step, state) in enumerate(_with_states(document["steps"], before), 1):
        lines += ["", f"When {number}. {event_line(step)}", "Then", *_outcome(step, state)]
    for course in document.get("courses", ()):
        lines += ["", *_alternative(document, course)]
    return "".join(f"{line}\n" for line in _wrapped(lines))


def _wrapped(lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        indent = " " * (len(line) - len(line.lstrip()) + 4)
        parts = wrap(line, _WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
        yield from parts or [""]


def _with_states(steps: Sequence[Fields], before: Fields) -> Iterator[tuple[Fields, Fields]]:
    """Yield each step with the state before it."""
    for step in steps:
        yield step, before
        changes = step["state"]
        if "partitions" in changes:
            rows = {partition_name(row["name"]): row for row in before["partitions"]}
            for row in changes["partitions"]:
                rows[partition_name(row["name"])] = {**rows[partition_name(row["name"])], **row}
            changes = {**changes, "partitions": list(rows.values())}
        before = {**before, **changes}


def _head(vector: Fields, profiles: Mapping[str, object]) -> Iterator[str]:
    requires, registry = vector["requires"], load_registry()
    yield vector["id"]
    yield vector["title"]
    yield f"{vector['source']}; observability level {vector['level']}"
    needs = [*requires["kips"]]
    needs += [f"kraft.version {requires['kraft_version']}"] if "kraft_version" in requires else []
    needs += requires["features"] if vector["history"] is not None else [*requires["features"], "state_injection"]
    yield f"needs {', '.join(needs)}"
    if set(requires["profiles"]) != set(profiles):
        yield f"only under {' or '.join(map(shown_profile, requires['profiles']))}"
    yield ""
    for rule_id in vector["rules"]:
        yield f"{registry[rule_id].level} {rule_id}: {registry[rule_id].title}"


# -------------------------------------------------------------------------------------------------------------
# Given.
# -------------------------------------------------------------------------------------------------------------


def _replica(vector: Fields) -> Iterator[str]:
    cluster, before = vector["cluster"], vector["before"]
    yield f"  voters {shown_value(cluster['voters'])}, kraft.version {cluster['kraft_version']}"
    profile = {} if cluster["profile"] == vector["requires"]["profiles"][0] else {"profile": cluster["profile"]}
    names = ("decisions", "cluster_id", "bootstrap_servers", "fetch_max_records", "timeouts")
    settings = profile | compacted({name: cluster[name] for name in names if name in cluster})
    if settings:
        yield f"  {shown_fields(settings)}"
    for replica in cluster["replicas"]:
        key = {"id": replica["id"], "directory_id": replica["directory_id"]}
        is_voter = key in cluster["voters"] or {"id": replica["id"], "directory_id": None} in cluster["voters"]
        usual = {"endpoint": default_endpoint(replica), "pre_vote": "supported", "endpoints": True}
        usual |= {"min_version": 0, "max_version": 1, "auto_join": False}
        unusual = {name: value for name, value in replica.items() if name not in key and usual.get(name) != value}
        if unusual or not is_voter:
            kind = "replica" if is_voter else "observer"
            yield f"  {kind} {shown_value(key)}{': ' if unusual else ''}{shown_fields(unusual)}"
    state, snapshot = before["state"], before["snapshot"]
    yield f"  replica {shown_value(state['replica_key'])} is {state['role']}{_history(vector)}"
    own = next(replica for replica in cluster["replicas"] if replica["id"] == vector["replica"])
    version, voters = cluster["kraft_version"], own.get("initial_voters", cluster["voters"])
    fresh = {
        **_FRESH,
        "replica_key": state["replica_key"],
        "role": state["role"],
        "voters": {"offset": -1, "voters": voters, "target": None},
        "kraft_version": version,
        "quorum_state_version": version,
    }
    changed = {name: value for name, value in state.items() if name not in fresh or fresh[name] != value}
    for name, value in compacted(changed).items():
        yield f"    {name} {shown_value(value)}"
    bootstrap = {"end_offset": 0, "epoch": 0, "kraft_version": version, "voters": voters, "target": None}
    if snapshot != bootstrap | {"details": default_details(voters, version)}:
        yield f"    snapshot {shown_fields(compacted(snapshot))}"
    if before["records"]:
        yield f"    log from {snapshot['end_offset']}: {records_text(before['records'])}"
    leading = {name: before[name] for name in ("epoch_start_offset", "preferred_candidates") if before[name]}
    if leading:
        yield f"    {shown_fields(leading)}"


def _controllers(vector: Fields) -> Iterator[str]:
    cluster, before = vector["cluster"], vector["before"]
    yield f"  brokers {shown_value(cluster['brokers'])}, controllers {shown_value(cluster['controllers'])}"
    yield f"  created with {shown_value(cluster['assignments'])}"
    if cluster["unclean_topics"]:
        yield f"  unclean leader election for topics {shown_value(cluster['unclean_topics'])}"
    if cluster["profile"] != vector["requires"]["profiles"][0]:
        yield f"  profile {cluster['profile']}"
    yield f"  controller {before['controller']}{_history(vector)}"
    for name, value in compacted(before).items():
        if name not in ("controller", "partitions") and (name, value) != ("alive", cluster["brokers"]):
            yield f"    {name} {shown_value(value)}"
    for partition in before["partitions"]:
        yield f"    {partition_text(partition)}"


def _history(vector: Fields) -> str:
    """Return the events of the history; consecutive events of a kind are grouped."""
    history: Sequence[Fields] | None = vector["history"]
    if history is None:
        return f", in a constructed state: {vector['constructed']}"
    kinds = []
    for kind, events in groupby(history, event_name):
        sources = [str(event["message"]["source"]) if "message" in event else "" for event in events]
        origin = f" from {', '.join(sources)}" if sources[0] else f" x{len(sources)}" if len(sources) > 1 else ""
        kinds.append(kind + origin)
    return f" after {counted(len(history), 'event')}{': ' if kinds else ''}{'; '.join(kinds)}"


# -------------------------------------------------------------------------------------------------------------
# When and Then.
# -------------------------------------------------------------------------------------------------------------


def _outcome(step: Fields, before: Fields) -> Iterator[str]:
    for position, output in enumerate(step["outputs"]):
        earlier = [str(first + 1) for first, second in step["before"] if second == position]
        order = f" (after {', '.join(earlier)})" if earlier else ""
        yield f"  [{position + 1}] {output_line(output)}{order}"
    if step["refusal"] is not None:
        yield f"  refused: {step['refusal']}"
    changes = list(_changes(step["state"], before))
    yield from (f"  {change}" for change in changes or ["state unchanged"])
    for request in step.get("may_send", ()):
        yield f"  or also {output_line({'kind': 'Send', **request})}: {request['reason']}"
    for timer in step.get("may_start", ()):
        yield f"  or also StartTimer {timer['timer']}: {timer['reason']}"
    for latitude in step["latitude"]:
        yield f"  or {_latitude(latitude)}: {latitude['reason']}"


def _changes(changes: Fields, before: Fields) -> Iterator[str]:
    for name, value in changes.items():
        if name != "partitions":
            yield f"{name} {shown_value(compacted(before[name]))} -> {shown_value(compacted(value))}"
            continue
        rows = {partition_name(row["name"]): row for row in before[name]}
        for row in value:
            label = partition_name(row["name"])
            for field in (field for field in row if field != "name"):
                old, new = shown_value(rows[label][field]), shown_value(row[field])
                yield f"{label} {KAFKA_TERMS.get(field, field)} {old} -> {new}"


def _latitude(latitude: Fields) -> str:
    if "path" in latitude:
        path = re.sub(r"outputs\[(\d+)\]", lambda place: f"[{int(place[1]) + 1}]", latitude["path"])
        if latitude.get("absent"):
            return f"without {path}"
        return f"any {path}" if latitude.get("free") else f"{path} {' or '.join(map(shown_value, latitude['any_of']))}"
    of = "" if latitude["partition"] is None else f" of {partition_name(latitude['partition'])}"
    values = "in any order" if latitude["any_order"] else " or ".join(map(str, latitude["any_of"]))
    return f"{latitude['field']}{of} {values}"


def _alternative(vector: Fields, course: Fields) -> Iterator[str]:
    """Yield the steps with another outcome under other settings of the open decisions."""
    choices = [f"{choice['decision']} {choice['answer']}" for choice in course["choices"]]
    yield f"Or, with {' and '.join(choices)}"
    yield from (f"  {reason}" for reason in dict.fromkeys(choice["reason"] for choice in course["choices"]))
    before = {**vector["before"]["state"], **course["before"]}
    yield from (f"  given {change}" for change in _changes(course["before"], vector["before"]["state"]))
    pairs = zip(vector["steps"], _with_states(course["steps"], before), strict=True)
    for number, (step, (expected, state)) in enumerate(pairs, 1):
        if any(step.get(name) != expected.get(name) for name in Expected.__struct_fields__):
            yield f"  Then {number}, after {event_name(step)}"
            yield from (f"  {line}" for line in _outcome(expected, state))
    yield "  every other step as above"
