"""Whatever a line shows is looked at: a value of it that is altered makes the line wrong."""

import copy
import json
from functools import reduce
from random import Random
from typing import Any

from tests.spec.own_process import in_own_process
from tests.traces.strategies import JsonPath, paths

from kraft_dev.partition_workload import random_configuration, random_run
from kraft_traces.errors import TraceError
from kraft_traces.partitions.checker import check_partition_reader
from kraft_traces.partitions.encode import encode_trace
from kraft_traces.partitions.reader import partition_trace_of_bytes

SEEDS = range(3)
EVENTS = 30
ALTERATIONS = 20
"""Of each run."""


def others(value: object) -> list[object]:
    """Other values of about the same type."""
    match value:
        case bool():
            return [not value]
        case int():
            return [value + 1, value - 1, None]
        case None:
            return [1, "REQUEST_REFUSED"]
        case str():
            return ["NOT_CONTROLLER", "NOTHING_DUE", "A"]
        case [first, *rest]:
            return [[first, first, *rest], rest, [*rest, first]]
        case []:
            return [[1]]
        case _:
            return []


def accepted_alterations() -> tuple[int, list[tuple[int, int, JsonPath, object]]]:
    """Return the number of tried alterations of recorded fields, and those that were accepted; reordered sets apart."""
    tried, accepted = 0, []
    for seed in SEEDS:
        configuration = random_configuration(seed)
        texts = list(encode_trace(configuration, random_run(configuration, seed, EVENTS), seed))
        random = Random(f"alterations {seed}")
        for _ in range(ALTERATIONS):
            number = random.randrange(1, len(texts))
            altered = json.loads(texts[number])
            candidates = [place for place in paths(altered) if place[0] in ("effects", "refusal", "state")]
            place = random.choice(candidates)
            value = reduce(lambda inside, key: inside[key], place, altered)
            other = random.choice(others(value) or [None])
            if other == value or _is_another_order(place, value, other):
                continue
            _put(altered, place, other)
            lines = [*texts[:number], json.dumps(altered).encode() + b"\n"]
            tried += 1
            if _rejected_line(b"".join(lines)) != number + 1:
                accepted.append((seed, number, place, other))
    return tried, accepted


def _rejected_line(trace: bytes) -> int | None:
    """The line that the reader or the model does not take; None if there is none."""
    try:
        rejection = check_partition_reader(partition_trace_of_bytes(trace)).rejection
        return None if rejection is None else rejection.line
    except TraceError as error:
        return error.line_number


def _put(line: Any, place: JsonPath, value: object) -> None:
    for key in place[:-1]:
        line = line[key]
    line[place[-1]] = copy.deepcopy(value)


def _is_another_order(place: JsonPath, value: object, other: object) -> bool:
    """The order of notifications, and that of listed partitions, is open."""
    if place[-1] not in ("effects", "reassignments") or not isinstance(value, list) or not isinstance(other, list):
        return False
    return sorted(map(str, value)) == sorted(map(str, other))


def test_what_a_line_shows_cannot_be_altered() -> None:
    tried, accepted = in_own_process(accepted_alterations)
    assert accepted == []
    assert tried > 40
