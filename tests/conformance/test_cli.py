"""Command line: output, messages, exit codes."""

import gzip
import json
import os
import shlex
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.commands import Captured, assert_said, block, document, error, output

from kraft_cli.cli import main
from kraft_conformance.exit_codes import ExitCode
from kraft_dev.samples import sample_folder
from kraft_kafka.findings.finding import find_finding
from kraft_kafka.findings.showing import counterexample_file
from kraft_simulation.scenarios import SCENARIOS
from kraft_traces.check import Verdict, check_reader
from kraft_traces.reader import TraceReader


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    target = tmp_path / "run.jsonl"
    assert main(["simulate", "--seed", "5", "--steps", "200", "-o", str(target)]) == ExitCode.CONFORMANT
    return target


pytestmark = pytest.mark.usefixtures("elsewhere")


def altered(trace: Path, line: int, before: str, after: str) -> Path:
    """The trace with one line changed; `line` counts from 1 and is the first at or after it with `before`."""
    lines = trace.read_text().splitlines(keepends=True)
    at = next(index for index in range(line - 1, len(lines)) if before in lines[index])
    lines[at] = lines[at].replace(before, after, 1)
    target = trace.with_name("altered.jsonl")
    target.write_text("".join(lines))
    return target


def test_traces_of_both_kinds_are_checked_in_one_run(trace: Path, capsys: Captured, tmp_path: Path) -> None:
    """The model of the quorum is in this process, that of partitions in another."""
    mutant = sample_folder() / "partition-mutant.jsonl"
    zipped = tmp_path / "normal.jsonl.gz"
    zipped.write_bytes(gzip.compress((sample_folder() / "partition-normal.jsonl").read_bytes()))
    words = ("validate", str(zipped), str(trace), str(mutant))
    code, out = output(capsys, *words)
    assert code == ExitCode.VIOLATION
    assert f"{zipped}: accepted, 7 events" in out
    assert f"{trace}: accepted, " in out
    assert f"{mutant}:31: event 30 (CompleteReassignment): the recorded outcome differs from the model" in out
    assert "explained by   breaking rule partition-reassign.add-before-remove" in out
    assert "  read the rule  kraft-spec rules partition-reassign.add-before-remove" in out
    prefix = tmp_path / "partition-mutant.failing.jsonl"
    assert prefix.read_bytes().splitlines() == mutant.read_bytes().splitlines()[:31]
    _, (normal, quorum, bug) = document(capsys, *words)
    assert normal.pop("compared")["whole"] == quorum["compared"]["whole"] == "complete"
    assert normal == {
        "kind": "accepted",
        "schema": "kraft-partition-trace/1",
        "source": str(zipped),
        "events": 7,
        "rejection": None,
        "given_up": [],
        "switched_off": [],
        "other_model": False,
        "failing_prefix": None,
        "lacking": {},
    }
    assert (quorum["kind"], quorum["complete"], quorum["candidates_max"]) == ("accepted", True, 1)
    assert (quorum["rejection"], bug["kind"]) == (None, "rejected")
    assert bug["rejection"]["explained_by"] == ["partition-reassign.add-before-remove"]
    assert bug["failing_prefix"] == "partition-mutant.failing.jsonl"


def test_a_malformed_partition_trace_is_named_by_line_and_field(capsys: Captured, tmp_path: Path) -> None:
    sample = tmp_path / "sample.jsonl"
    sample.write_bytes((sample_folder() / "partition-normal.jsonl").read_bytes())
    bad = str(altered(sample, 2, '"name":"AlterPartition"', '"name":"AlterPartitoin"'))
    printed = f'{bad}:5: $.event.name: unknown event "AlterPartitoin", d'
    assert_said(capsys, ExitCode.BAD_INPUT, printed, "validate", bad)


@pytest.mark.parametrize("kind", ["quorum", "partitions"])
def test_another_model_is_reported_and_fatal_only_under_strict(trace: Path, capsys: Captured, kind: str) -> None:
    if kind == "partitions":
        assert main(["scenario", "s28", "-o", str(trace)]) == ExitCode.CONFORMANT
    assert main(["validate", "--strict", str(trace)]) == ExitCode.CONFORMANT
    written_for = json.loads(trace.read_text().splitlines()[0])["spec_hash"]
    other = str(altered(trace, 1, written_for, "0" * 64))
    code, displayed = output(capsys, "validate", other)
    assert (code, "written for another model" in displayed) == (ExitCode.CONFORMANT, True)
    printed = f"{other}:1: $.spec_hash: the trace was written for model 0"
    assert_said(capsys, ExitCode.BAD_INPUT, printed, "validate", "--strict", other)


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a.jsonl", "b.jsonl", "c.jsonl.gz"):
        assert main(["simulate", "--seed", "9", "--steps", "150", "-o", str(tmp_path / name)]) == ExitCode.CONFORMANT
    first = (tmp_path / "a.jsonl").read_bytes()
    assert (tmp_path / "b.jsonl").read_bytes() == first
    assert gzip.decompress((tmp_path / "c.jsonl.gz").read_bytes()) == first


def test_a_wrong_field_is_named_with_its_rules_and_a_failing_prefix(
    trace: Path, capsys: Captured, tmp_path: Path
) -> None:
    wrong = altered(trace, 20, '"granted":false', '"granted":true')
    code, out = output(capsys, "validate", str(wrong), "--prefixes", str(tmp_path))
    assert code == ExitCode.VIOLATION
    for text in ("the recorded outcome differs from the model", ".granted", "rules"):
        assert text in out
    prefix = tmp_path / "altered.failing.jsonl"
    assert str(prefix) in out.replace("\n", "")
    lines = prefix.read_text().splitlines()
    assert lines == wrong.read_text().splitlines()[: len(lines)]
    assert main(["validate", str(prefix)]) == ExitCode.VIOLATION
    shorter = tmp_path / "shorter.jsonl"
    shorter.write_text("".join(line + "\n" for line in lines[:-1]))
    assert main(["validate", str(shorter)]) == ExitCode.INCONCLUSIVE


@pytest.mark.parametrize(
    ("content", "printed"),
    [
        (b"", "empty"),
        (b"{", ":1"),
        (b'{"kind":"header","schema":"kraft-trace/9"}\n', "kraft-trace/9"),
        (b"\xff\n", ":1"),
    ],
)
def test_malformed_traces_are_named(content: bytes, printed: str, tmp_path: Path, capsys: Captured) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_bytes(content)
    code, message = error(capsys, "validate", str(bad))
    assert (code, printed in message, str(bad) in message) == (ExitCode.BAD_INPUT, True, True), message


@pytest.mark.parametrize("text", ["b\u00fccher", "back\\slash", 'quo"te'])
def test_any_text_may_be_an_id(text: str, trace: Path, capsys: Captured, tmp_path: Path) -> None:
    lines = [json.loads(line) for line in trace.read_text().splitlines()]
    written = json.dumps(lines, ensure_ascii=False)
    named = written.replace('"kraft-spec"', json.dumps(text, ensure_ascii=False)).replace(
        '"A1"', json.dumps(text, ensure_ascii=False)
    )
    assert named != written
    other = tmp_path / "other.jsonl"
    other.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in json.loads(named)), "utf-8")
    code, displayed = output(capsys, "validate", str(other), str(trace))
    assert (code, displayed.count("accepted, ")) == (ExitCode.CONFORMANT, 2)


def test_a_failure_of_the_checker_costs_one_trace_its_verdict(
    trace: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_bytes(trace.read_bytes())

    def fails_on_bad(reader: TraceReader, **options: Any) -> Verdict:
        if reader.source == str(bad):
            raise KeyError("a line of this trace")
        return check_reader(reader, **options)

    monkeypatch.setattr("kraft_cli.commands.validate.check_reader", fails_on_bad)
    assert main(["validate", str(bad), str(trace)]) == ExitCode.INTERNAL_ERROR
    captured = capsys.readouterr()
    assert f"{trace}: accepted" in captured.out
    assert f"{bad}: the checker fails: KeyError" in captured.err
    _, printed = output(capsys, "validate", "--json", str(bad), str(trace))
    assert [load["kind"] for load in json.loads(printed)] == ["undecided", "accepted"]


def test_a_missing_file_and_a_good_one_beside_it(trace: Path, capsys: Captured) -> None:
    assert main(["validate", "no-such.jsonl", str(trace)]) == ExitCode.NO_INPUT
    captured = capsys.readouterr()
    assert "no-such.jsonl" in captured.err
    assert "accepted" in captured.out


@pytest.mark.parametrize(
    ("words", "printed"),
    [
        (["simulate", "--workload", "nope"], "calm"),
        (["simulate", "--mutant", "leader-of-its-epoch-grant"], "close ones: leader-removes-itself-first"),
        (["simulate", "--profile", "nope"], "kafka-4"),
        (["simulate", "--nope"], "nope"),
        (["scenario", "nope"], "no scenario 'nope'; kraft-spec scenario lists them"),
        (["scenario", "ping-pog"], "no scenario 'ping-pog'; did you mean ping-pong?"),
        (["scenario", "s30"], "no scenario 's30'; did you mean s29-old-znode?"),
        (["scenario", "999"], f"did you mean {SCENARIOS[-1].name}?"),
        (["scenario", "Catch-Up"], "did you mean s8-catch-up-first?"),
        (["scenario", "s27", "--variant", "kafka"], "kafka-4"),
        (["scenario", "ping-pong", "--variant", "nope"], "with-the-rule"),
        (["rules", "prevote.leader.reject"], "prevote.leader.rejects"),
        (["rules", "Pre-Vote", "xyzzy"], "no rule has the id or the words 'Pre-Vote xyzzy'"),
        (["model", "nope"], "no model check 'nope'; kraft-spec model lists them, and --help the groups"),
        (["model", "liveness-comit"], "no model check 'liveness-comit'; did you mean liveness-commit"),
        (["model", "smoke", "--profile", "nope"], "kafka-4.1"),
        (["model", "partition-reassignment", "--profile", "kafka-4"], "leaves nothing open"),
        (["nope"], "nope"),
    ],
)
def test_wrong_use_is_explained(words: list[str], printed: str, capsys: Captured) -> None:
    assert_said(capsys, ExitCode.USAGE, printed, *words)


def test_a_failing_simulation_prints_its_repetition_and_shrinks(capsys: Captured, tmp_path: Path) -> None:
    words = ["--seed", "0", "--steps", "800", "--workload", "storm", "--mutant", "state.resigned.timeout"]
    code, out = output(capsys, "simulate", *words)
    assert code == ExitCode.VIOLATION
    assert "repeat: kraft-spec simulate" in out
    assert "shrunk from" in out
    (shrunk,) = tmp_path.glob("*.shrunk.jsonl")
    assert main(["validate", str(shrunk)]) == ExitCode.VIOLATION


def test_scenarios_are_listed_run_and_written(capsys: Captured, tmp_path: Path) -> None:
    _, listed = document(capsys, "scenario")
    assert [row["number"] for row in listed if row["number"]] == list(range(1, len(SCENARIOS) + 1))
    assert [row["label"] for row in listed if row["number"] is None] == ["s25", "s26", "s27", "s28", "s29"]
    assert listed[-1] == {
        "number": None,
        "label": "s29",
        "name": "s29-old-znode",
        "title": "The old znode and the API mixed",
        "source": "KIP-455",
        "rules": ["partition-reassign.legacy-znode", "partition-reassign.legacy-znode-precedence"],
        "variants": ["right-failover", "right-ignored", "right-refused"],
    }
    code, text = output(capsys, "scenario")
    assert (code, f"{len(listed)} scenarios" in text, "s29-old-znode" in text) == (ExitCode.CONFORMANT, True, True)
    assert main(["scenario", "ping-pong", "-o", str(tmp_path / "p.jsonl")]) == ExitCode.CONFORMANT
    assert main(["validate", str(tmp_path / "p.jsonl")]) == ExitCode.CONFORMANT


@pytest.mark.parametrize(
    ("rule", "printed", "field", "value"),
    [
        ("prevote.leader.rejects", "elections.py", "level", "MUST"),
        ("prevote.leader.rejects", "Elections.tla", "status", "active"),
        ("end-quorum.stale", "tests/reference/test_vectors.py", "vectors", "resignation.stale"),
        ("vote.grant.resets-timer", "elections.py", "tests", "tests/reference/test_rules_without_vector.py:"),
        (
            "bootstrap.kip642-first-record",
            "does not hold any more: superseded by bootstrap.first-leader-writes-records, state.leader.first-leader",
            "by",
            "['bootstrap.first-leader-writes-records', 'state.leader.first-leader']",
        ),
        ("state.prospective.to-candidate", "'[majority - 1] of VoteResponse'", "status", "active"),
        ("cli.reassign-list", "nothing here implements it: kafka-reassign-partitions", "outside", "a server sees"),
        (
            "remove-voter.append-and-apply",
            "  remove-one: All majorities of a voter set and of the",
            "proved",
            "'remove-one'",
        ),
    ],
)
def test_a_rule_says_what_it_is_and_where_it_is_named(
    rule: str, printed: str, field: str, value: str, capsys: Captured
) -> None:
    code, out = output(capsys, "rules", rule)
    assert (code, printed in out) == (ExitCode.CONFORMANT, True), out
    _, results = document(capsys, "rules", rule)
    assert value in str(results[field])
    assert ("does not hold" in out) is (results["status"] == "superseded")


def test_the_list_of_rules_has_their_status(capsys: Captured) -> None:
    _, out = output(capsys, "rules", "bootstrap")
    rows = [[cell.strip() for cell in line.split("│")] for line in out.splitlines()]
    statuses = {row[1]: row[4] for row in rows if len(row) > 4 and row[1].startswith("bootstrap.")}
    assert statuses["bootstrap.standalone"] == "active"
    assert [rule for rule, status in statuses.items() if status == "superseded"] == [
        "bootstrap.discover-brokers-order",
        "bootstrap.discover-brokers-gossip",
        "bootstrap.discover-brokers-initial-voter",
        "bootstrap.kip642-first-record",
    ]
    _, listed = document(capsys, "rules", "bootstrap")
    assert {row["id"]: row["status"] for row in listed} == statuses


def test_rules_are_found_by_words_of_their_texts_and_sources(capsys: Captured) -> None:
    _, listed = document(capsys, "rules", "EPOCH", "directory id")
    texts = [" ".join(filter(None, map(str, row.values()))).casefold() for row in listed]
    assert texts
    assert all("epoch" in text and "directory id" in text for text in texts)


def test_text_from_a_trace_is_shown_as_it_is(trace: Path, capsys: Captured) -> None:
    hostile = altered(trace, 20, '"leader_endpoint":null', '"leader_endpoint":"[/red]\\u001b[2Jx"')
    code, out = output(capsys, "validate", str(hostile))
    assert (code, "[/red]" in out, "\x1b[2J" in out) == (ExitCode.VIOLATION, True, False)


def test_a_rule_without_a_switch_cannot_be_switched_off(trace: Path, capsys: Captured) -> None:
    assert_said(capsys, ExitCode.USAGE, "no mutant omits the rule", "simulate", "--mutant", "metric.current-state")
    header = altered(trace, 1, '"switched_off":[]', '"switched_off":["no.such-rule"]')
    assert_said(capsys, ExitCode.BAD_INPUT, f"{header}:1: $.switched_off[0]:", "validate", str(header))


def test_a_rejected_trace_from_a_pipe_leaves_its_prefix(tmp_path: Path) -> None:
    sample = sample_folder() / "mutant.jsonl"
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["sh", "-c", f"cat {shlex.quote(str(sample))} > {shlex.quote(str(pipe))}"]):
        assert main(["validate", str(pipe), "--prefixes", str(tmp_path)]) == ExitCode.VIOLATION
    prefix = (tmp_path / "pipe.failing.jsonl").read_bytes()
    assert sample.read_bytes().startswith(prefix)


def test_a_missing_folder_for_output_is_found_before_the_work(trace: Path) -> None:
    assert main(["validate", str(trace), "--prefixes", "no-such-folder"]) == ExitCode.CANNOT_WRITE


def test_a_verdict_needs_no_place_for_the_failing_prefix(capsys: Captured) -> None:
    Path("mutant.failing.jsonl").mkdir()
    assert main(["validate", str(sample_folder() / "mutant.jsonl")]) == ExitCode.VIOLATION
    captured = capsys.readouterr()
    assert "explained by   breaking rule prevote.follower.rejects-after-fetch" in captured.out
    printed = "mutant.failing.jsonl: Is a directory; --prefixes names another folder for it"
    assert printed in " ".join(captured.err.split())


@pytest.mark.parametrize(("folder", "why"), [("none", "No such file or directory"), ("file", "Not a directory")])
def test_a_file_that_cannot_be_written_goes_by_the_name_that_was_asked_for(
    folder: str, why: str, capsys: Captured
) -> None:
    Path("file").touch()
    code, printed = error(capsys, "simulate", "--steps", "20", "-o", f"{folder}/x.jsonl")
    assert code == ExitCode.CANNOT_WRITE
    assert printed.endswith(f"... {folder}/x.jsonl: {why}")


def test_a_closed_standard_output_is_no_violation() -> None:
    sample = shlex.quote(str(sample_folder() / "ping-pong.jsonl"))
    for streams in (">&-", "<&- >&- 2>&-"):
        words = f"{shlex.quote(sys.executable)} -m kraft_cli.cli validate {sample} {streams}"
        assert subprocess.run(["bash", "-c", words], check=False).returncode == ExitCode.CONFORMANT, streams


def test_a_message_without_a_correlation_id_is_named_where_traces_are_merged(capsys: Captured) -> None:
    Path("small.jsonl").write_text(block("trace-format", '{"kind":"header"'), encoding="utf-8")
    printed = "small.jsonl:4: VoteRequest from replica 1 (correlation id missing) was never sent"
    assert_said(capsys, ExitCode.BAD_INPUT, printed, "trace", "merge", "small.jsonl", "-o", "merged.jsonl")


def test_a_check_is_written_for_tlc_by_hand(capsys: Captured, tmp_path: Path) -> None:
    code, out = output(capsys, "model", "smoke", "--write", str(tmp_path / "model"))
    written = (tmp_path / "model" / "smoke.cfg").read_text(encoding="utf-8")
    assert code == ExitCode.CONFORMANT
    assert "CONSTRAINT Bounds" in written
    assert out.startswith(written)
    assert "-config smoke.cfg MCElection" in out
    assert main(["model", "smoke", "--write", str(tmp_path / "model")]) == ExitCode.CANNOT_WRITE
    assert main(["model", "ci", "--write", str(tmp_path / "group")]) == ExitCode.USAGE


def test_a_slice_where_kafka_decides(capsys: Captured) -> None:
    """Only its restart differs here, so that TLC finds the recorded counterexample of own-vote-before-known-leader."""
    words = ("model", "voters-known-leader", "--profile", "kafka-4")
    code, out = output(capsys, *words)
    assert code == ExitCode.VIOLATION
    assert out.startswith("FAIL voters-known-leader.kafka-4: violates ElectionSafety after")
    recorded = counterexample_file(find_finding("own-vote-before-known-leader")).read_text(encoding="utf-8")
    assert textwrap.indent(recorded, "  ") in out


def test_a_reader_that_goes_away_is_no_violation(trace: Path) -> None:
    words = f"{shlex.quote(sys.executable)} -m kraft_cli.cli rules --json | true; echo ${{PIPESTATUS[0]}}"
    ended = subprocess.run(["bash", "-c", words], capture_output=True, text=True, check=True)
    assert ended.stdout.strip() in {"0", str(int(ExitCode.CANNOT_WRITE))}


def test_help_is_a_command_too(capsys: Captured) -> None:
    assert main(["help", "validate"]) == ExitCode.CONFORMANT
    by_command = capsys.readouterr().out
    assert main(["validate", "--help"]) == ExitCode.CONFORMANT
    assert by_command == capsys.readouterr().out
    assert "Check traces line by line" in by_command


@pytest.mark.parametrize(("typed", "completed"), [("va", ["validate"]), ("kafka att", ["attach"])])
def test_a_shell_completes_commands(typed: str, completed: list[str]) -> None:
    words = ["kraft-spec", *typed.split()]
    variables = {"COMP_WORDS": " ".join(words), "COMP_CWORD": str(len(words) - 1)}
    done = subprocess.run(
        [sys.executable, "-c", "import sys; from kraft_cli.cli import main; sys.exit(main())"],
        env={**os.environ, "_KRAFT_SPEC_COMPLETE": "complete_bash", **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout.split()) == (ExitCode.CONFORMANT, completed), done.stderr
