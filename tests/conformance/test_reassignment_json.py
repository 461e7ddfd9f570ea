"""Files in the format of kafka-reassign-partitions: what is read, and what is refused with the path of the field."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tests.conformance.partition_folder import TRACE, Captured, partitions, reassign, refused, six_brokers

from kraft_conformance.directories.reassignment_json import (
    QUORUM,
    ReassignmentFile,
    read_reassignment,
    reassignment_text,
)
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import CommandError
from kraft_reference.partitions.partition import Assignment, TopicPartition

FILE = "asked.json"
ROW = '{"topic":"A","partition":0,"replicas":[4,3,2]}'

BROKER = "a broker id, a whole number from 0 on"
TOPIC = "a topic name: letters, digits, '.', '_' and '-', at most 249"
NUMBER = "the number of a partition, from 0 on"


pytestmark = pytest.mark.usefixtures("elsewhere")


def rows(*texts: str) -> str:
    return f'{{"version":1,"partitions":[{",".join(texts)}]}}'


def row(**fields: object) -> str:
    return json.dumps({"topic": "A", "partition": 0, "replicas": [4, 3, 2]} | fields)


# ---------------------------------------------------------------------------------------------------------
# What is refused.
# ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        # The path of the field.
        (
            rows(ROW, row(partition=1), row(partition=2, replicas=[1, "x"])),
            f'partitions[2].replicas[1]: expected {BROKER}; found "x"',
        ),
        (rows(row(replicas=[1, -2])), f"partitions[0].replicas[1]: expected {BROKER}; found -2"),
        (rows(row(replicas=[1.0])), f"partitions[0].replicas[0]: expected {BROKER}; found 1.0"),
        (rows(row(replicas=[True])), f"partitions[0].replicas[0]: expected {BROKER}; found true"),
        (rows(row(replicas=[None])), f"partitions[0].replicas[0]: expected {BROKER}; found null"),
        (rows(row(replicas=[[1]])), f"partitions[0].replicas[0]: expected {BROKER}; found a list"),
        (rows(row(replicas=[2**31])), f"partitions[0].replicas[0]: expected {BROKER}; found 2147483648"),
        (rows(row(replicas=[int("9" * 40)])), f"partitions[0].replicas[0]: expected {BROKER}; found {'9' * 18}..."),
        (
            rows(row(replicas=[])),
            "partitions[0].replicas: expected a list of at least one broker id; found an empty list",
        ),
        (rows(row(replicas="1,2")), 'partitions[0].replicas: expected a list of at least one broker id; found "1,2"'),
        (rows(row(replicas=None)), "partitions[0].replicas: expected a list of at least one broker id; found null"),
        (rows(row(partition="0")), f'partitions[0].partition: expected {NUMBER}; found "0"'),
        (rows(row(partition=-1)), f"partitions[0].partition: expected {NUMBER}; found -1"),
        (rows(row(topic=7)), f"partitions[0].topic: expected {TOPIC}; found 7"),
        (rows(row(topic="")), f'partitions[0].topic: expected {TOPIC}; found ""'),
        (rows(row(topic="a\n")), f'partitions[0].topic: expected {TOPIC}; found "a\\n"'),
        (rows(row(topic="x" * 250)), f'partitions[0].topic: expected {TOPIC}; found "{"x" * 40}..."'),
        (rows(row(topic="\ud800")), f"partitions[0].topic: expected {TOPIC}; found"),
        (rows(row(log_dirs=["any"])), "partitions[0].log_dirs: expected as many as there are replicas, 3; found 1"),
        (
            rows(row(log_dirs="any")),
            'partitions[0].log_dirs: expected a list with a log directory for each replica; found "any"',
        ),
        (rows(row(log_dirs=["any", 1, "any"])), "partitions[0].log_dirs[1]: expected a path or 'any'; found 1"),
        (rows(row(log_dirs=["any", "", "any"])), "partitions[0].log_dirs[1]: expected a path or 'any'; found \"\""),
        (rows("7"), "partitions[0]: expected an object with topic, partition and replicas; found 7"),
        # What is missing.
        (
            rows('{"topic":"A","partition":0}'),
            "partitions[0].replicas: is missing, expected a list of at least one broker id",
        ),
        (rows("{}"), f"partitions[0].topic: is missing, expected {TOPIC}"),
        ("{}", "partitions: is missing, expected a list of at least one partition"),
        (rows(), "partitions: expected a list of at least one partition; found an empty list"),
        ('{"partitions":{}}', "partitions: expected a list of at least one partition; found an object"),
        (f"[{ROW}]", "expected an object with a list of partitions; found a list"),
        ("null", "expected an object with a list of partitions; found null"),
        # The version.
        (rows(ROW).replace('"version":1', '"version":2'), "version: expected 1; found 2"),
        (rows(ROW).replace('"version":1', '"version":"1"'), 'version: expected 1; found "1"'),
        (rows(ROW).replace('"version":1', '"version":1.0'), "version: expected 1; found 1.0"),
        (rows(ROW).replace('"version":1', '"version":true'), "version: expected 1; found true"),
        # Twice.
        (
            rows(row(replicas=[4, 3, 4])),
            "partitions[0].replicas[2]: expected each broker once; 4 is replicas[0] already",
        ),
        (rows(ROW, row(partition=1), ROW), "partitions[2]: expected each partition once; A-0 is partitions[0] already"),
        (
            rows(ROW.replace('"topic":"A"', '"topic":"B","topic":"A"')),
            'partitions[0].topic: expected once; the key "topic" is given twice',
        ),
        ('{"partitions":[1],"partitions":[2]}', 'partitions: expected once; the key "partitions" is given twice'),
        # The quorum has one partition.
        (
            rows(row(topic="__cluster_metadata", partition=1)),
            "partitions[0].partition: expected 0, as the quorum has one partition; found 1",
        ),
        # No JSON.
        ("", "asked.json:1: not JSON: Expecting value at column 1"),
        (
            '{"version": 1,\n "partitions": [\n  {"topic": "A" "partition": 0}]}',
            "asked.json:3: not JSON: Expecting ',' delimiter at column 17",
        ),
        (rows(ROW) + "x", "asked.json:1: not JSON: Extra data"),
        (rows(row(partition=float("nan"))), f"partitions[0].partition: expected {NUMBER}; found NaN"),
        (rows("[" * 100_000 + "]" * 100_000), "nested too deeply"),
        ('{"a":' * 100_000, "nested too deeply"),
    ],
)
def test_what_is_wrong_is_named_by_its_path(capsys: Captured, text: str, message: str) -> None:
    six_brokers()
    before = TRACE.read_bytes()
    Path(FILE).write_text(text)
    error = refused(capsys, "admin", "reassign", "run", "--reassignment-json-file", FILE, code=ExitCode.BAD_INPUT)
    assert error.startswith("asked.json:")
    assert message in error
    assert TRACE.read_bytes() == before


def test_what_is_no_text_is_refused(capsys: Captured) -> None:
    words = ("admin", "reassign", "plan", "--reassignment-json-file")
    Path(FILE).write_bytes(rows(ROW).encode("utf-16"))
    assert "asked.json:1: not UTF-8 text" in refused(capsys, *words, FILE, code=ExitCode.BAD_INPUT)
    Path(FILE).write_bytes(b'{"partitions":\n[{"topic":"\xff"}]}')
    assert "asked.json:2: not UTF-8 text" in refused(capsys, *words, FILE, code=ExitCode.BAD_INPUT)
    assert "nothing.json: No such file" in refused(capsys, *words, "nothing.json", code=ExitCode.NO_INPUT)
    assert ".: Is a directory" in refused(capsys, *words, ".", code=ExitCode.NO_INPUT)


# ---------------------------------------------------------------------------------------------------------
# What is read.
# ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "warnings"),
    [
        (rows(ROW), ()),
        ("\ufeff" + rows(ROW), ()),
        (rows(ROW).replace('"version":1,', ""), ()),
        (rows(row(log_dirs=["any", "any", "any"])), ()),
        (
            rows(row(log_dirs=["any", "/data/2", "any"])),
            ("partitions[0].log_dirs[1]: is not acted on: the brokers of the simulation have no log directories",),
        ),
        (rows(row(log_dir=["any"])), ("partitions[0].log_dir: is not read; did you mean log_dirs?",)),
        (rows(row(comment=1.5)), ("partitions[0].comment: is not read",)),
        (rows(ROW).replace('"version"', '"Version"'), ("Version: is not read; did you mean version?",)),
    ],
)
def test_what_kafka_reads_is_read(capsys: Captured, text: str, warnings: tuple[str, ...]) -> None:
    six_brokers()
    Path(FILE).write_text(text, encoding="utf-8")
    capsys.readouterr()
    assert reassign("run", "--reassignment-json-file", FILE) == ExitCode.CONFORMANT
    assert capsys.readouterr().err.splitlines() == [f"warning: {FILE}: {one}" for one in warnings]
    assert partitions(capsys)["A-0"] == "4,3,2 2,3,4 - - 4"


IDS = st.integers(0, 2**31 - 1)
TOPICS = st.from_regex(r"[A-Za-z0-9._-]{1,249}", fullmatch=True).filter(
    lambda name: name not in (".", "..", QUORUM.topic)
)
NAMES = st.builds(TopicPartition, TOPICS, IDS) | st.just(QUORUM)
TARGETS = st.dictionaries(NAMES, st.lists(IDS, min_size=1, max_size=5, unique=True).map(tuple), min_size=1, max_size=4)
FRESH = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def read(text: str) -> ReassignmentFile:
    Path(FILE).write_text(text, encoding="utf-8")
    return read_reassignment(Path(FILE))


@FRESH
@given(targets=TARGETS, indent=st.sampled_from([None, 0, 2]))
def test_a_file_that_is_written_is_read_back(targets: dict[TopicPartition, Assignment], indent: int | None) -> None:
    text = reassignment_text(targets)
    assert read(text) == ReassignmentFile(tuple(sorted(targets.items())))
    assert read(json.dumps(json.loads(text), indent=indent)) == ReassignmentFile(tuple(sorted(targets.items())))
    assert reassignment_text(dict(read(text).targets)) == text


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
FIELDS = ("version", "partitions", "topic", "partition", "replicas", "log_dirs")
SHAPED = st.fixed_dictionaries(
    {
        "partitions": st.lists(
            st.fixed_dictionaries(
                {},
                optional={
                    "topic": TOPICS | JSON,
                    "partition": IDS | JSON,
                    "replicas": st.lists(IDS | JSON, max_size=3) | JSON,
                    "log_dirs": JSON,
                    "": JSON,
                },
            )
            | JSON,
            max_size=3,
        )
        | JSON
    },
    optional={"version": st.just(1) | JSON, "more": JSON},
)


@FRESH
@given(document=SHAPED | JSON)
@example(document={"partitions": [{"topic": "A", "partition": 0, "replicas": [1], "log_dirs": [None]}]})
def test_any_document_is_read_or_refused_by_the_path_of_a_field(document: Any) -> None:
    problem = _problem(lambda: read(json.dumps(document)))
    if problem is None:
        targets = read(json.dumps(document)).targets
        assert [(one["topic"], one["partition"], tuple(one["replicas"])) for one in document["partitions"]] == [
            (*name, replicas) for name, replicas in targets
        ]
    else:
        assert problem.startswith(f"{FILE}: ")
        path = problem.removeprefix(f"{FILE}: ")
        assert path.startswith(("expected an object", *FIELDS)), "the first field that is wrong"


@FRESH
@given(text=st.text(max_size=30))
def test_any_text_is_read_or_refused(text: str) -> None:
    problem = _problem(lambda: read(text))
    assert problem is not None
    assert problem.startswith(f"{FILE}:")


def _problem(act: Callable[[], object]) -> str | None:
    try:
        act()
    except CommandError as error:
        return f"{error}" if error.code == ExitCode.BAD_INPUT else f"exit code {error.code}: {error}"
    return None
