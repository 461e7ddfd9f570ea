"""`kraft-spec validate`: how much was compared, what may be required of that, and the files that are traces."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.commands import Captured, block, output

from kraft_cli.cli import main
from kraft_conformance.exit_codes import ExitCode
from kraft_dev.samples import sample_folder

SMALL = block("trace-format", '{"kind":"header"')
NAMES = ("kind", "sequence", "replica", "event")


pytestmark = pytest.mark.usefixtures("elsewhere")


def names_alone() -> str:
    lines: list[dict[str, Any]] = [json.loads(line) for line in SMALL.splitlines()]
    kept = [{k: v for k, v in line.items() if k in NAMES} if line["kind"] == "event" else line for line in lines]
    return "".join(json.dumps(line) + "\n" for line in kept)


def test_a_verdict_says_how_much_was_compared(capsys: Captured) -> None:
    Path("small.jsonl").write_text(SMALL)
    Path("names.jsonl").write_text(names_alone())
    whole, partitions = (str(sample_folder() / name) for name in ("chaos.jsonl", "partition-normal.jsonl"))
    code, text = output(capsys, "validate", "small.jsonl", "names.jsonl", whole, partitions)
    assert code == ExitCode.CONFORMANT
    judged = "  judged: 4 of 18 properties, each on 50 % of its events or more"
    absent = "  not judged, for want of fields: TypeOk, NotFollowerOfSelf, OffsetEpochUnique and 11 more"
    assert text.splitlines() == [
        "small.jsonl: accepted, 4 events, compared: partial",
        judged,
        absent,
        "names.jsonl: accepted, 4 events, compared: names only",
        "  judged: 0 of 18 properties",
        f"{whole}: accepted, 371 events, compared: complete",
        f"{partitions}: accepted, 7 events, compared: complete",
    ]
    assert len(judged) <= 80
    _, text = output(capsys, "validate", "small.jsonl", "names.jsonl", whole, partitions, "--json")
    small, names, complete, of_partitions = (verdict["compared"] for verdict in json.loads(text))
    assert small["properties"]["ElectionSafety"] == {"shown": 3, "events": 4}
    assert small["properties"]["VoteOncePerEpoch"] == {"shown": 2, "events": 4}
    assert small["fields"]["state.role"] == {"shown": 3, "events": 4}
    assert small["groups"]["writes"] == {"shown": 0, "events": 4}
    assert names["properties"]["ElectionSafety"] == {"shown": 0, "events": 4}
    assert complete["groups"]["message"] == {"shown": 148, "events": 148}
    assert of_partitions["properties"]["CancelRestores"] == {"shown": 7, "events": 7}


@pytest.mark.parametrize(
    ("right", "wrong", "text"),
    [
        (
            '"epoch":1,"voted_key":{"id":1,"directory_id":"A"}',
            '"epoch":1,"voted_key":null',
            "  related rules  state.same",
        ),
        ('"role":"Candidate"', '"role":"Candidate","log_end_offset":5', "  event's rules  prevote.response."),
    ],
)
def test_rules_that_follow_from_nothing_are_said_to_be_the_actions(
    capsys: Captured, right: str, wrong: str, text: str
) -> None:
    Path("small.jsonl").write_text(SMALL.replace(right, wrong))
    code, displayed = output(capsys, "validate", "small.jsonl")
    assert (code, text in displayed) == (ExitCode.VIOLATION, True), displayed


@pytest.mark.parametrize(
    ("required", "text"),
    [
        ("complete", "too few events show message in 0 of 2, sends in 0 of 4, writes in 0 of 4, 28 fields more"),
        ("effects", "too few events show sends in 0 of 4, writes in 0 of 4, refusal in 0 of 4"),
        ("state", "too few events show state.role in 3 of 4, state.epoch in 3 of 4, state.leader_id in 0 of 4, 24 "),
        ("ElectionSafety", "too few events show state.role in 3 of 4, state.epoch in 3 of 4"),
        ("HwMonotonic", "too few events show state.high_watermark in 0 of 4"),
    ],
)
def test_too_little_is_inconclusive_where_more_is_required(required: str, text: str, capsys: Captured) -> None:
    Path("small.jsonl").write_text(SMALL)
    code, out = output(capsys, "validate", "small.jsonl", "--require", required)
    assert code == ExitCode.INCONCLUSIVE
    assert f"  --require {required}: {text}" in out
    assert (
        output(capsys, "validate", str(sample_folder() / "chaos.jsonl"), "--require", required)[0]
        == ExitCode.CONFORMANT
    )


def test_what_may_be_required_has_a_name_and_a_kind_of_trace(capsys: Captured) -> None:
    partitions = str(sample_folder() / "partition-normal.jsonl")
    code, out = output(capsys, "validate", partitions, "--require", "complete", "--require", "HwMonotonic")
    assert (code, out.splitlines()[1:]) == (
        ExitCode.INCONCLUSIVE,
        ["  --require HwMonotonic: not judged on traces of this kind"],
    )
    assert main(["validate", partitions, "--require", "HwMonotone"]) == ExitCode.USAGE
    assert "--require HwMonotone: did you mean HwMonotonic?" in capsys.readouterr().err
    mutant = str(sample_folder() / "mutant.jsonl")
    assert output(capsys, "validate", mutant, "--require", "complete")[0] == ExitCode.VIOLATION


def test_a_folder_is_read_by_one_rule_and_lines_may_end_as_windows_has_it(capsys: Captured) -> None:
    Path("in/deep").mkdir(parents=True)
    windows = SMALL.replace("\n", "\r\n").encode()
    for name in ("b.ndjson", "a.jsonl", ".hidden.jsonl", "notes.txt"):
        Path("in", name).write_bytes(windows)
    Path("in/deep/c.ndjson.gz").write_bytes(gzip.compress(SMALL.encode()))
    _, out = output(capsys, "validate", "in", "--json")
    results = {verdict["source"]: verdict["kind"] for verdict in json.loads(out)}
    assert results == dict.fromkeys(("in/a.jsonl", "in/b.ndjson", "in/deep/c.ndjson.gz"), "accepted")
    assert list(results) == sorted(results)
    wrong = SMALL.replace('"voted_key":{"id":1,"directory_id":"A"}', '"voted_key":null').replace("\n", "\r\n")
    Path("wrong.ndjson").write_bytes(wrong.encode())
    assert output(capsys, "validate", "wrong.ndjson")[0] == ExitCode.VIOLATION
    assert Path("wrong.failing.jsonl").read_bytes().endswith(b"\r\n")


def test_parquet_is_read_by_the_commands_that_take_one_trace(capsys: Captured) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    for name, text in (("good", SMALL), ("bad", SMALL.replace('"Poll"', '"Pol"'))):
        parquet.write_table(arrow.table({"line": text.splitlines()}), f"{name}.parquet")
    code, out = output(capsys, "validate", "good.parquet")
    assert (code, out.splitlines()[0]) == (0, "good.parquet: accepted, 4 events, compared: partial")
    printed = 'bad.parquet:3: $.event: unknown event "Pol", did you mean Poll?'
    for words in (["validate"], ["view", "-o", "page.html"]):
        assert main([*words, "good.parquet"]) == ExitCode.CONFORMANT
        assert main([*words, "bad.parquet"]) == ExitCode.BAD_INPUT
        assert printed in capsys.readouterr().err


def test_what_a_line_leaves_out_stands_in_no_message(capsys: Captured) -> None:
    write = '"effects":[{"kind":"PersistQuorumState","epoch":7,"leader_id":null,"voted_key":null}]'
    Path("write.jsonl").write_text(SMALL.replace('"event":"Poll"', f'"event":"Poll",{write}'))
    code, out = output(capsys, "validate", "write.jsonl")
    assert code == ExitCode.VIOLATION
    assert "PersistQuorumState epoch 7" in " ".join(out.split())
    assert "UNSET" not in out


def test_a_very_long_value_is_shortened_and_whole_in_json(capsys: Captured) -> None:
    long = "x" * 100_000
    Path("long.jsonl").write_text(SMALL.replace('"voted_key":null', f'"voted_key":{{"id":1,"directory_id":"{long}"}}'))
    code, out = output(capsys, "validate", "long.jsonl")
    assert code == ExitCode.VIOLATION
    assert len(out) < 10_000
    assert "characters more" in " ".join(out.split())
    assert long in output(capsys, "validate", "long.jsonl", "--json")[1]
