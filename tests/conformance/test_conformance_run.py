"""`kraft-spec conformance`: what an implementer sees, with adapters that are right, show less, or misbehave."""

import json
import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from junitparser import JUnitXml

from kraft_conformance.cli import main
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.vectors import profiles
from kraft_conformance.vectors.catalogue import Catalogue
from kraft_conformance.vectors.smoke import SMOKE
from kraft_spec.experiments import switchable_rules

REFERENCE = f"{shlex.quote(sys.executable)} -m kraft_conformance.adapters.reference"
LIMITED = Path(__file__).with_name("limited_adapter.py")


def limited(mode: str, value: str = "") -> str:
    return shlex.join([sys.executable, str(LIMITED), mode, *([value] if value else [])])


def ran(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, list[dict[str, Any]]]:
    """The exit code and the JSON lines of `kraft-spec conformance run`, without the first, about the run itself."""
    capsys.readouterr()
    code = main(["conformance", "run", *words, "--json"])
    return code, [json.loads(line) for line in capsys.readouterr().out.splitlines()[1:]]


def counts(lines: list[dict[str, Any]]) -> dict[str, int]:
    counted: dict[str, int] = lines[-1]["counts"]
    return counted


# -------------------------------------------------------------------------------------------------------------
# Right ones.
# -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("profile", ["kip", "kafka-4"])
def test_the_reference_passes_every_vector_of_its_profile(capsys: pytest.CaptureFixture[str], profile: str) -> None:
    code, lines = ran(capsys, "--adapter", REFERENCE, "--profile", profile)
    assert code == ExitCode.CONFORMANT
    assert counts(lines).keys() == {"pass", "skipped"}
    assert sum(counts(lines).values()) == len(Catalogue().entries)
    others = {one["reason"] for one in lines if one.get("status") == "skipped"}
    assert all(reason.startswith("of the profile ") for reason in others)


@pytest.mark.parametrize("mode", ["history", "wire", "effects"])
def test_without_injection_the_history_leads_to_the_same(capsys: pytest.CaptureFixture[str], mode: str) -> None:
    code, lines = ran(capsys, "--adapter", limited(mode), "--jobs", "2")
    levels = {"history": (), "wire": ("effects", "state"), "effects": ("state",)}[mode]
    entries = Catalogue().entries
    unobserved = {one["id"] for one in lines if one.get("status") == "unobserved"}
    skipped = {one["id"] for one in lines if one.get("status") == "skipped"}
    constructed = {one.id for one in entries.values() if one.history is None}
    assert {one["id"] for one in lines if one.get("status") == "unsupported"} == constructed
    assert unobserved == {one.id for one in entries.values() if one.level in levels} - skipped - constructed
    assert counts(lines).keys() <= {"pass", "unobserved", "skipped", "unsupported"}
    assert code == (ExitCode.INCONCLUSIVE if levels else ExitCode.CONFORMANT)


def test_the_order_of_the_outcomes_does_not_depend_on_the_jobs(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--adapter", REFERENCE, "-k", "vote.")
    assert ran(capsys, *words) == ran(capsys, *words, "--jobs", "3")


def test_files_are_read_by_one_thread(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Two threads that begin to decode the same type of msgspec's end the process with a segmentation fault."""
    readers = set()

    def watched() -> profiles.KafkaFile:
        readers.add(threading.current_thread())
        return read()

    read = profiles.read_kafka_file
    monkeypatch.setattr(profiles, "read_kafka_file", watched)
    code, _ = ran(capsys, "--adapter", REFERENCE, "-k", "check-quorum.", "--jobs", "3")
    assert (code, readers) == (ExitCode.CONFORMANT, {threading.main_thread()})


def test_smoke_is_short_and_passes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["conformance", "smoke", "--adapter", REFERENCE]) == ExitCode.CONFORMANT
    assert capsys.readouterr().out == f"{len(SMOKE)} vectors: {len(SMOKE)} pass\n"


# -------------------------------------------------------------------------------------------------------------
# Those that have less, or show less.
# -------------------------------------------------------------------------------------------------------------


def test_what_an_adapter_lacks_is_unsupported(capsys: pytest.CaptureFixture[str]) -> None:
    code, lines = ran(capsys, "--adapter", limited("unsupported"), "-k", "change.")
    assert code == ExitCode.CONFORMANT
    reasons = {one["reason"] for one in lines if one.get("status") == "unsupported"}
    assert reasons == {"needs voter-changes", "needs observers", "needs observers, voter-changes"}


def test_a_kip_that_is_not_implemented_is_unsupported(capsys: pytest.CaptureFixture[str]) -> None:
    code, lines = ran(capsys, "--adapter", limited("kip-595-only"), "-k", "prevote.request")
    assert code == ExitCode.NOTHING_JUDGED
    assert {one["reason"] for one in lines[:-1] if one["status"] == "unsupported"} >= {"needs KIP-996"}


def test_a_field_that_is_left_out_is_unobserved_where_something_hangs_on_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ("-k", "prevote.")
    code, lines = ran(capsys, "--adapter", limited("without-field", "voted_key"), *words)
    assert code == ExitCode.INCONCLUSIVE
    unobserved = [one for one in lines if one.get("status") == "unobserved"]
    assert unobserved
    assert {one["reason"] for one in unobserved} == {"not shown: voted_key"}
    assert all(Catalogue().entries[one["id"]].level == "state" for one in unobserved)
    code, lines = ran(capsys, "--adapter", limited("without-field", "reports"), *words)
    assert code == ExitCode.CONFORMANT
    assert all("state.reports" in one["left_out"] for one in lines if one.get("status") == "pass")


# -------------------------------------------------------------------------------------------------------------
# Wrong ones.
# -------------------------------------------------------------------------------------------------------------


def test_a_failure_names_rule_expected_actual_and_the_command_that_repeats_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    adapter = limited("grants-all")
    assert main(["conformance", "replay", "vote.once-per-epoch", "--adapter", adapter]) == ExitCode.VIOLATION
    told = capsys.readouterr().out
    assert told.startswith('> {"type":"hello","id":1,"schema":"kraft-adapter/1"')
    assert told[told.index("FAIL") :].splitlines() == [
        "FAIL vote.once-per-epoch (MUST)",
        "  step 1 of 1, HandleVoteRequest",
        "  Send VoteResponse to 3.granted: expected false, actual true",
        "  rules: vote.decision-order, vote.once-per-epoch, vote.repeat-grant, "
        "vote.inconsistent-voter-set-gone, vote.unsupported-version",
        "  why: just what comes of this: a log that is good enough decides before the vote that was cast in the epoch",
        f"  repeat: kraft-spec conformance replay vote.once-per-epoch --adapter {shlex.quote(adapter)}",
        "1 vectors: 1 fail",
    ]


@pytest.mark.parametrize(
    ("mode", "vector", "said"),
    [
        (
            "sends-first",
            "vote.granted",
            "expected PersistQuorumState before Send VoteResponse to 1, "
            "actual Send VoteResponse to 1 before PersistQuorumState",
        ),
        ("never-syncs", "fetch.follower", "FlushLog: expected synced up to 4, actual synced up to 3"),
        ("grants-all", "vote.stale-epoch", "Send VoteResponse to 3.granted: expected false, actual true"),
    ],
)
def test_what_is_wrong_fails(capsys: pytest.CaptureFixture[str], mode: str, vector: str, said: str) -> None:
    code, lines = ran(capsys, "--adapter", limited(mode), "-k", vector)
    failed = next(one for one in lines if one.get("id") == vector)
    assert (code, failed["status"]) == (ExitCode.VIOLATION, "fail")
    assert said in failed["reason"]


def test_a_timer_that_a_rule_with_should_asks_for_may_be_missing(capsys: pytest.CaptureFixture[str]) -> None:
    code, lines = ran(capsys, "--adapter", limited("never-restarts"), "-k", "vote.granted")
    assert (code, counts(lines)) == (ExitCode.CONFORMANT, {"pass": 1})
    code, lines = ran(capsys, "--adapter", limited("never-restarts"), "-k", "candidate.loses")
    assert code == ExitCode.VIOLATION
    assert "StartTimer election: expected" in lines[0]["reason"]


def test_what_a_rule_with_may_leaves_open_stays_open_in_later_steps(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("-k", "restart.voted-static")
    code, lines = ran(capsys, "--adapter", limited("keeps-the-disk-it-voted-for", "U1"), *words)
    assert (code, counts(lines)) == (ExitCode.CONFORMANT, {"pass": 1})
    code, lines = ran(capsys, "--adapter", limited("keeps-the-disk-it-voted-for", "U9"), *words)
    assert code == ExitCode.VIOLATION
    assert "voted_key" in lines[0]["reason"]


@pytest.mark.slow
@pytest.mark.parametrize("rule", switchable_rules())
def test_each_rule_that_can_be_left_out_is_noticed_by_a_vector_about_it(
    capsys: pytest.CaptureFixture[str], rule: str
) -> None:
    code, lines = ran(capsys, "--adapter", limited("without-rule", rule), "-k", rule)
    assert code == ExitCode.VIOLATION
    assert rule in {name for one in lines if one.get("status") == "fail" for name in one["rules"]}


def test_syncing_with_every_append_is_right(capsys: pytest.CaptureFixture[str]) -> None:
    """What a crash would have lost is then not lost: such a vector is skipped."""
    code, lines = ran(capsys, "--adapter", limited("syncs-at-once"), "-k", "fetch.follower")
    assert (code, counts(lines)) == (ExitCode.CONFORMANT, {"pass": 1})
    _, lines = ran(capsys, "--adapter", limited("syncs-at-once"), "-k", "restart.unsynced")
    assert lines[0]["reason"] == "a crash leaves 3 records, and the implementation has synced 4"


@pytest.mark.parametrize(
    ("mode", "vector", "said"),
    [
        ("cuts-all-first", "fetch.diverging", "TruncateLog: expected a cut at 3, actual a cut at 0 before that"),
        ("votes-for-another-first", "vote.granted", '"id": 9, "directory_id": "U9"'),
        ("appends-elsewhere-first", "fetch.follower", "AppendRecords: expected records from "),
    ],
)
def test_each_write_of_a_step_is_judged(capsys: pytest.CaptureFixture[str], mode: str, vector: str, said: str) -> None:
    code, lines = ran(capsys, "--adapter", limited(mode), "-k", vector)
    failed = next(one for one in lines if one.get("id") == vector)
    assert (code, failed["status"]) == (ExitCode.VIOLATION, "fail")
    assert said in failed["reason"]


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["writes-again", "syncs-what-it-cuts"])
def test_writing_in_portions_or_again_is_right(capsys: pytest.CaptureFixture[str], mode: str) -> None:
    code, lines = ran(capsys, "--adapter", limited(mode))
    assert (code, set(counts(lines))) == (ExitCode.CONFORMANT, {"pass", "skipped"})


def test_a_failure_that_other_vectors_caused_is_told_from_others(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--adapter", limited("forgets-little"), "-k", "prevote.follower")
    code, lines = ran(capsys, *words)
    failed = [one for one in lines if one.get("status") == "fail"]
    assert code == ExitCode.VIOLATION
    told = "pass in a process of its own: reset does not forget what other vectors have left"
    # The first few are asked again.
    assert [one.get("remark") for one in failed[:3]] == [told] * 3
    main(["conformance", "run", *words])
    assert f"  note: {told}\n" in capsys.readouterr().out


def test_another_hello_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    code, lines = ran(capsys, "--adapter", limited("another-hello"), "-j", "2", "-k", "vote.", "--profile", "kip")
    assert code == ExitCode.VIOLATION
    assert "another hello than that of the first process" in {one.get("reason") for one in lines}


def test_who_shows_its_state_cannot_refuse_to(capsys: pytest.CaptureFixture[str]) -> None:
    code, lines = ran(capsys, "--adapter", limited("unobservable"), "-k", "vote.granted")
    assert (code, lines[0]["status"]) == (ExitCode.VIOLATION, "error")
    assert lines[0]["reason"] == "at reset: its hello says that its state can be observed, and it says: not today"


@pytest.mark.parametrize("command", [("run", "-k", "vote.granted"), ("smoke",), ("replay", "vote.granted")])
def test_a_hello_with_a_profile_that_there_is_not(capsys: pytest.CaptureFixture[str], command: tuple[str, ...]) -> None:
    assert main(["conformance", *command, "--adapter", limited("raft")]) == ExitCode.BAD_INPUT
    said = " ".join(capsys.readouterr().err.split())
    assert "the adapter's hello names the profile 'raft', expected one of kafka-4, kip, kip-642-votes; " in said


def test_the_command_line_may_say_a_profile_for_such_an_adapter(capsys: pytest.CaptureFixture[str]) -> None:
    code, lines = ran(capsys, "--adapter", limited("raft"), "-k", "vote.granted", "--profile", "kip")
    assert (code, counts(lines)) == (ExitCode.CONFORMANT, {"pass": 1})


def test_a_profile_that_no_vector_has(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["conformance", "run", "--adapter", REFERENCE, "--profile", "raft"]) == ExitCode.USAGE
    assert "no profile 'raft', expected one of kafka-4, kip, kip-642-votes" in capsys.readouterr().err


def test_the_repetition_has_the_time_that_was_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--adapter", limited("grants-all"), "-k", "vote.once-per-epoch", "--timeout", "7.5")
    _, lines = ran(capsys, *words)
    assert all(one["repeat"].endswith(" --timeout 7.5") for one in lines if one.get("status") == "fail")


def test_expected_failures_are_counted_apart_and_reported_when_they_pass(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    listed = tmp_path / "expected.txt"
    listed.write_text("# ours\n\nvote.once-per-epoch  # issue 12\n")
    words = ("-k", "vote.once-per-epoch", "--expected-failures", str(listed))
    every = [entry.id for entry in Catalogue().manifest.vectors if "vote.once-per-epoch" in (entry.id, *entry.rules)]
    assert "vote.once-per-epoch" in every
    _, lines = ran(capsys, "--adapter", limited("grants-all"), *words)
    expected = next(one for one in lines if one.get("id") == "vote.once-per-epoch")
    assert expected["status"] == "expected failure"
    assert expected["reason"].startswith("issue 12 (step 1 of 1: ")
    code, lines = ran(capsys, "--adapter", REFERENCE, *words)
    unexpected = next(one for one in lines if one.get("id") == "vote.once-per-epoch")
    assert (code, unexpected["status"]) == (ExitCode.VIOLATION, "unexpected pass")
    listed.write_text("vote.once-per-epoch\nvote.twice\n")
    assert main(["conformance", "run", "--adapter", REFERENCE, *words]) == ExitCode.BAD_INPUT
    assert f"{listed}:2: no vector 'vote.twice'" in capsys.readouterr().err.replace("\n", " ").replace("  ", " ")


def test_an_error_is_no_expected_failure(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    listed = tmp_path / "expected.txt"
    listed.write_text("vote.granted  # issue 12\n")
    words = ("-k", "vote.granted", "--expected-failures", str(listed))
    code, lines = ran(capsys, "--adapter", limited("exits"), *words)
    assert (code, counts(lines)) == (ExitCode.VIOLATION, {"error": 1})
    assert (lines[0]["fault"], "issue 12" in lines[0]["reason"]) == ("died", False)


def test_junit_counts_what_was_not_decided_as_skipped(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    target = tmp_path / "report.xml"
    main(["conformance", "run", "--adapter", limited("wire"), "-k", "prevote.", "--junit", str(target)])
    suite = next(iter(JUnitXml.fromfile(str(target))))
    lines = ran(capsys, "--adapter", limited("wire"), "-k", "prevote.")[1]
    neither = counts(lines).get("unobserved", 0) + counts(lines).get("skipped", 0)
    assert (suite.tests, suite.failures, suite.errors, suite.skipped) == (len(lines) - 1, 0, 0, neither)
    main(["conformance", "run", "--adapter", limited("grants-all"), "-k", "vote.stale-epoch", "--junit", str(target)])
    text = target.read_text()
    assert "Send VoteResponse to 3.granted: expected false, actual true" in text
    assert "repeat: kraft-spec conformance replay vote.stale-epoch" in text


# -------------------------------------------------------------------------------------------------------------
# Those that misbehave as programs.
# -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mode", "fault", "said"),
    [
        ("hangs", "hang", "no reply within 5 s"),
        ("half-a-line", "hang", 'its reply had no end within 5 s: \'{"type":"s\''),
        ("exits", "died", "it ended with exit code 101 where a reply was due"),
        ("killed", "died", "it was ended by SIGABRT where a reply was due"),
        ("oversized", "oversized", "its reply is longer than 16777216 bytes"),
        ("logs-to-stdout", "stray-output", "a line on standard output that is no reply: 'INFO became Candidate'"),
        ("only-a-log-line", "stray-output", "a line on standard output that is no reply: 'INFO became Candidate'"),
        ("unasked", "stray-output", "a line on standard output that is no reply: 'one line too many'"),
        ("twice", "stray-output", "it wrote more than one line in reply: "),
        ("truncated-json", "malformed", "standard output:4:"),
        ("unknown-field", "malformed", "$.efects: unknown field 'efects'"),
        ("other-id", "malformed", "a reply to request 14 where one to request 4 was due"),
        ("other-type", "malformed", "a reply of type reset, expected step"),
        ("refuses failed", "failed", "no such thing here"),
    ],
)
def test_each_fault_has_its_own_message(capsys: pytest.CaptureFixture[str], mode: str, fault: str, said: str) -> None:
    timeout = "5" if fault == "hang" else "20"
    words = ("--adapter", limited(*mode.split()), "-k", "vote.granted", "--timeout", timeout)
    code, lines = ran(capsys, *words)
    assert (code, lines[0]["status"], lines[0]["fault"]) == (ExitCode.VIOLATION, "error", fault)
    assert said in lines[0]["reason"]


def test_the_end_of_standard_error_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    _, lines = ran(capsys, "--adapter", limited("exits"), "-k", "vote.granted")
    assert lines[0]["stderr"] == "panicked at 'index out of bounds'\n"


def test_after_a_fault_the_next_vector_has_a_new_process(capsys: pytest.CaptureFixture[str]) -> None:
    _, lines = ran(capsys, "--adapter", limited("exits"), "-k", "vote.once-per-epoch")
    assert len(lines) > 2
    assert {one.get("fault") for one in lines[:-1] if one["status"] != "skipped"} == {"died"}


def test_an_adapter_may_say_that_it_cannot(capsys: pytest.CaptureFixture[str]) -> None:
    code, lines = ran(capsys, "--adapter", limited("refuses", "unsupported"), "-k", "vote.granted")
    assert (code, lines[0]["status"]) == (ExitCode.NOTHING_JUDGED, "unsupported")
    assert lines[0]["reason"] == "the adapter says: no such thing here"


def test_another_version_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["conformance", "run", "--adapter", limited("other-version")]) == ExitCode.BAD_INPUT
    assert "the adapter speaks kraft-adapter/2, this program kraft-adapter/1" in capsys.readouterr().err


def test_a_program_that_is_not_there_cannot_be_started(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["conformance", "smoke", "--adapter", "no-such-adapter-at-all"]) == ExitCode.UNAVAILABLE
    assert "the adapter cannot be started: no-such-adapter-at-all: No such file" in capsys.readouterr().err


def test_a_flood_on_standard_error_blocks_nobody(capsys: pytest.CaptureFixture[str]) -> None:
    assert ran(capsys, "--adapter", limited("floods-stderr"), "-k", "vote.granted")[0] == ExitCode.CONFORMANT


# -------------------------------------------------------------------------------------------------------------
# Nothing stays behind.
# -------------------------------------------------------------------------------------------------------------


def is_running(pid: int) -> bool:
    """A process whose parent does not ask for it is a zombie: it does not run."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def ends(pid: int) -> bool:
    for _ in range(500):
        if not is_running(pid):
            return True
        time.sleep(0.02)
    return False


def test_what_an_adapter_has_started_ends_with_it(tmp_path: Path) -> None:
    noted = tmp_path / "pid"
    adapter = limited("has-a-child", str(noted))
    assert main(["conformance", "run", "--adapter", adapter, "-k", "vote.granted"]) == ExitCode.CONFORMANT
    assert ends(int(noted.read_text()))


def test_a_run_that_is_terminated_takes_its_adapter_along(tmp_path: Path) -> None:
    noted = tmp_path / "pid"
    adapter = limited("has-a-child", str(noted))
    words = [sys.executable, "-m", "kraft_conformance.cli", "conformance", "run", "--adapter", adapter]
    runner = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=dict(os.environ))
    for _ in range(3000):
        if noted.exists() and noted.read_text():
            break
        time.sleep(0.01)
    runner.send_signal(signal.SIGTERM)
    assert runner.wait(timeout=60) == ExitCode.INTERRUPTED
    assert ends(int(noted.read_text()))


# -------------------------------------------------------------------------------------------------------------
# Looking things up.
# -------------------------------------------------------------------------------------------------------------


def test_list_and_explain(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["conformance", "list", "-k", "vote.once-per-epoch", "--json"]) == ExitCode.CONFORMANT
    listed = json.loads(capsys.readouterr().out)
    assert all("vote.once-per-epoch" in (one["id"], *one["rules"]) for one in listed)
    assert main(["conformance", "list", "--rules", "--json"]) == ExitCode.CONFORMANT
    by_rule = {one["rule"]: one for one in json.loads(capsys.readouterr().out)}
    assert "vote.once-per-epoch" in by_rule["vote.once-per-epoch"]["vectors"]
    assert by_rule["cli.add-controller"]["reason"].startswith("The command line ")
    assert main(["conformance", "explain", "vote.granted"]) == ExitCode.CONFORMANT
    shown = capsys.readouterr().out
    assert "MUST vote.persist-before-reply: The vote is on disk before the answer leaves" in shown
    assert "error NONE, epoch 1, leader_id null, leader_endpoint null, granted true, pre_vote false (after 1)" in shown


def test_explain_names_other_right_courses_and_what_is_open_of_a_fetch(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["conformance", "explain", "constructed.file-lost"]) == ExitCode.CONFORMANT
    course = capsys.readouterr().out.partition("As right, with vote_of_lost_file free:\n")[2].splitlines()
    assert course[:2] == ["   durable.restart.log-epoch says SHOULD", "1. Restart endpoint null"]
    assert "voted_key null" in course[2]
    assert course[-1] == "   Every other step as above."
    assert "of an answer to a Fetch" not in "".join(course)
    assert main(["conformance", "explain", "fetch.diverging-counted"]) == ExitCode.CONFORMANT
    assert "of an answer to a Fetch: when it comes" in capsys.readouterr().out


def test_the_page_for_implementers_says_the_truth(capsys: pytest.CaptureFixture[str]) -> None:
    page = (Path(__file__).parents[2] / "docs" / "conformance.md").read_text()
    blocks = [block.partition("\n")[2].rstrip("`\n") for block in page.split("```")[1::2]]
    explained = next(block for block in blocks if block.startswith("1. HandleVoteRequest"))
    assert main(["conformance", "explain", "vote.granted"]) == ExitCode.CONFORMANT
    assert capsys.readouterr().out.rstrip().endswith(explained)
    failed = next(block for block in blocks if block.startswith("FAIL vote.granted"))
    main(["conformance", "run", "-k", "vote.granted", "--adapter", limited("sends-first")])
    shown = [line for line in capsys.readouterr().out.splitlines() if "repeat:" not in line]
    assert shown == [line for line in failed.splitlines() if "repeat:" not in line]
    entries = Catalogue().entries.values()
    levels = [sum(one.level == level for one in entries) for level in ("wire", "effects", "state")]
    scenarios = sum(one.id.startswith("scenario.") for one in entries)
    counted = f"{scenarios} from scenarios and {len(entries) - scenarios} from scripts"
    of_levels = f"{levels[0]} of the level `wire`, {levels[1]} `effects`, {levels[2]} `state`"
    assert f"There are {len(entries)} vectors: {counted}; {of_levels}." in page
    assert f"\n{sum(one.history is None for one in entries)} begin in a constructed state." in page


def test_the_first_adapter_of_the_page_gets_as_far_as_the_page_says(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (Path(__file__).parents[2] / "docs" / "conformance.md").read_text()
    blocks = [block.partition("\n") for block in page.split("```")[1::2]]
    (tmp_path / "first.py").write_text(next(code for language, _, code in blocks if language == "python"))
    monkeypatch.chdir(tmp_path)
    adapter = f"{shlex.quote(sys.executable)} first.py"
    assert main(["conformance", "smoke", "--adapter", adapter]) == ExitCode.VIOLATION
    shown = capsys.readouterr().out.replace(shlex.quote(adapter), "'python first.py'")
    said = next(block for _, _, block in blocks if block.startswith("FAIL vote.once-per-epoch"))
    assert shown.startswith(said)
    assert shown.splitlines()[-1].startswith("12 vectors: 1 pass, 1 fail, 1 unobserved, ")


def test_ids_that_do_not_exist_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["conformance", "explain", "vote.once"]) == ExitCode.USAGE
    assert "no vector has the id 'vote.once'; did you mean vote.once-per-epoch" in capsys.readouterr().err
    assert main(["conformance", "run", "--adapter", REFERENCE, "-k", "quantum"]) == ExitCode.USAGE
    assert "no vector fits quantum" in capsys.readouterr().err
