"""`kraft-spec conformance` with adapters that conform, hide parts, or misbehave."""

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
from tests.conformance.altered_adapter import Altered
from tests.conformance.commands import (
    REFERENCE,
    Captured,
    altered,
    document,
    ends,
    error,
    lines,
    output,
    without_rule,
)

from kraft_cli.cli import main
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.random_runs.seats import LocalSession
from kraft_conformance.runner.outcome import Status
from kraft_conformance.runner.output.results import suite_version
from kraft_conformance.runner.running import run_vector
from kraft_mutants import omittable_rules
from kraft_vectors import profiles
from kraft_vectors.catalogue import Catalogue

Lines = list[dict[str, Any]]

PROFILES = "kafka-4, kafka-4.0, kafka-4.1, kip, kip-announces-by-timer, kip-asks-servers-too"


def ran(capsys: Captured, *words: str) -> tuple[int, Lines]:
    """Return the exit code and JSON lines of `kraft-spec conformance run`, without the head."""
    code, results = lines(capsys, "conformance", "run", "--adapter", *words)
    return code, results[1:]


def counts(results: Lines) -> dict[str, int]:
    counted: dict[str, int] = results[-1]["counts"]
    return counted


def of_status(results: Lines, status: str) -> Lines:
    return [result for result in results if result.get("status") == status]


# -------------------------------------------------------------------------------------------------------------
# Right ones.
# -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("profile", ["kip", pytest.param("kafka-4", marks=pytest.mark.nightly)])
def test_the_reference_passes_every_vector_of_its_profile(capsys: Captured, profile: str) -> None:
    code, results = ran(capsys, REFERENCE, "--profile", profile)
    assert code == ExitCode.CONFORMANT
    assert counts(results).keys() == {"pass", "skipped"}
    assert sum(counts(results).values()) == len(Catalogue().entries)
    assert all(statu["reason"].startswith("for profile ") for statu in of_status(results, "skipped"))


@pytest.mark.parametrize(
    "mode",
    [
        "history",
        pytest.param("wire", marks=pytest.mark.nightly),
        pytest.param("effects", marks=pytest.mark.nightly),
    ],
)
def test_without_injection_the_history_leads_to_the_same(capsys: Captured, mode: str) -> None:
    code, results = ran(capsys, altered(mode), "--jobs", "2")
    levels = {"history": (), "wire": ("effects", "state"), "effects": ("state",)}[mode]
    entries = Catalogue().entries
    ids = {status: {statu["id"] for statu in of_status(results, status)} for status in counts(results)}
    assert ids.keys() <= {"pass", "unobserved", "skipped", "unsupported"}
    assert ids["unsupported"] == {entry.id for entry in entries.values() if entry.history is None}
    unseen = {entry.id for entry in entries.values() if entry.level in levels}
    assert ids.get("unobserved", set()) == unseen - ids["skipped"] - ids["unsupported"]
    assert code == (ExitCode.INCONCLUSIVE if levels else ExitCode.CONFORMANT)


def test_the_order_of_the_outcomes_does_not_depend_on_the_jobs(capsys: Captured) -> None:
    words = (REFERENCE, "-k", "vote.")
    assert ran(capsys, *words) == ran(capsys, *words, "--jobs", "3")


def test_files_are_read_by_one_thread(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    """msgspec crashes if two threads first decode the same type at the same time."""
    readers = set()

    def watched() -> profiles.KafkaFile:
        readers.add(threading.current_thread())
        return read()

    read = profiles.read_kafka_file
    monkeypatch.setattr(profiles, "read_kafka_file", watched)
    code, _ = ran(capsys, REFERENCE, "-k", "check-quorum.", "--jobs", "3")
    assert (code, readers) == (ExitCode.CONFORMANT, {threading.main_thread()})


# -------------------------------------------------------------------------------------------------------------
# Those that have less, or show less.
# -------------------------------------------------------------------------------------------------------------


def test_software_without_pre_vote_is_asked_what_needs_none(capsys: Captured) -> None:
    code, findings = ran(capsys, altered("without-pre-vote"), "-k", "announcement.")
    assert code == ExitCode.CONFORMANT
    results = {finding["id"]: finding["status"] for finding in findings[:-1]}
    # Pre-Votes lead to the first; the second is about a replica that sends them.
    assert results["announcement.accepted"] == "pass"
    assert results["announcement.of-the-known-leader"] == "unsupported"
    code, findings = ran(capsys, altered("without-pre-vote"), "-k", "prevote.votes")
    assert (code, findings[0]["reason"]) == (ExitCode.NOTHING_JUDGED, "needs KIP-996")


def test_software_without_pre_vote_does_what_the_reference_does_as_such_software(capsys: Captured) -> None:
    """The replica's configuration says so, because the reference behind this adapter would send Pre-Votes otherwise."""
    code, results = ran(capsys, altered("without-pre-vote", "history"), "--jobs", "2")
    assert code == ExitCode.CONFORMANT
    assert counts(results)["pass"] >= 240
    assert {statu["reason"] for statu in of_status(results, "unsupported") if "KIP-996" in statu["reason"]} >= {
        "needs KIP-996"
    }


@pytest.mark.parametrize(("modes", "status"), [(("without-pre-vote",), "pass"), ((), "fail")])
def test_a_vote_beside_a_leader_is_kept_for_pre_vote(capsys: Captured, modes: tuple[str, ...], status: str) -> None:
    adapter = altered(*modes, "forgets-votes-beside-a-leader", "history")
    _, results = ran(capsys, adapter, "-k", "announcement.accepted", "--profile", "kip")
    assert [result["status"] for result in results[:-1]] == [status]


@pytest.mark.parametrize(
    ("modes", "word", "code", "status", "reasons"),
    [
        (
            "unsupported",
            "change.",
            ExitCode.CONFORMANT,
            "unsupported",
            {"needs voter-changes", "needs observers", "needs observers, voter-changes"},
        ),
        ("kip-595-only", "prevote.request", ExitCode.NOTHING_JUDGED, "unsupported", {"needs KIP-996"}),
        (
            "refuses=unsupported",
            "vote.granted",
            ExitCode.NOTHING_JUDGED,
            "unsupported",
            {"the adapter says: no such thing here"},
        ),
        ("without-field=voted_key", "prevote.", ExitCode.INCONCLUSIVE, "unobserved", {"not shown: voted_key"}),
    ],
)
def test_what_an_adapter_lacks_is_not_judged(
    capsys: Captured, modes: str, word: str, code: int, status: str, reasons: set[str]
) -> None:
    found_code, results = ran(capsys, altered(modes), "-k", word)
    assert found_code == code
    assert {statu["reason"] for statu in of_status(results, status)} >= reasons
    if status == "unobserved":
        assert all(Catalogue().entries[statu["id"]].level == "state" for statu in of_status(results, status))


def test_a_field_on_which_nothing_hangs_may_be_left_out(capsys: Captured) -> None:
    code, results = ran(capsys, altered("without-field=reports"), "-k", "prevote.")
    assert code == ExitCode.CONFORMANT
    assert all("state.reports" in statu["left_out"] for statu in of_status(results, "pass"))


def test_a_timer_and_a_field_can_be_left_out(capsys: Captured) -> None:
    """The adapter hides election timers and two fields, which it shows wrong; everything else is judged."""
    names = ("StartTimer.election", "VoteResponse.leader_id", "state.voted_key")
    modes: tuple[str, ...] = ("never-restarts", "misreads")

    def judged(word: str, *hidden: str) -> tuple[int, dict[str, dict[str, Any]]]:
        code, results = ran(capsys, altered(f"unobserved={'+'.join(hidden)}", *modes), "-k", word)
        return code, {result["id"]: result for result in results[:-1]}

    code, votes = judged("vote.granted", *names)
    assert (code, "VoteResponse to 1.leader_id" in votes["vote.granted"]["reason"]) == (ExitCode.NOTHING_JUDGED, True)
    code, candidates = judged("candidate.", *names)
    assert code == ExitCode.INCONCLUSIVE, [
        candidate for candidate in candidates.values() if candidate["status"] == "fail"
    ]
    assert candidates["candidate.loses"]["reason"] == "not shown: StartTimer.election"
    assert candidates["candidate.wins"]["status"] == "pass"
    for name in names:
        observed = [item for item in names if item != name]
        assert ExitCode.VIOLATION in (judged("vote.granted", *observed)[0], judged("candidate.", *observed)[0]), name
    modes = (*modes, "sends-first")
    assert judged("vote.granted", *names)[0] == ExitCode.VIOLATION


# -------------------------------------------------------------------------------------------------------------
# Wrong ones.
# -------------------------------------------------------------------------------------------------------------


def test_a_failure_names_rule_expected_actual_and_the_command_that_repeats_it(capsys: Captured) -> None:
    adapter = altered("grants-all")
    code, printed = output(capsys, "conformance", "replay", "vote.once-per-epoch", "--adapter", adapter)
    assert code == ExitCode.VIOLATION
    assert printed.startswith('> {"type":"hello","id":1,"schema":"kraft-adapter/1"')
    assert printed[printed.index("FAIL") :].splitlines() == [
        "FAIL vote.once-per-epoch (MUST)",
        "  step 1 of 1, HandleVoteRequest",
        "  Send VoteResponse to 3.granted: expected false, actual true",
        "  rule vote.decision-order: Order of the decision for a standard vote",
        "  related rules: vote.once-per-epoch, prevote.request.check-order,",
        "    prevote.reply.contents, vote.inconsistent-voter-set-gone",
        "  same outcome as the reference with this bug: a log that is good enough decides",
        "    before the vote that was cast in the epoch",
        f"  repeat: kraft-spec conformance replay vote.once-per-epoch --adapter {shlex.quote(adapter)}",
        "1 vector: 1 fail",
    ]
    _, results = ran(capsys, adapter, "-k", "vote.once-per-epoch", "--timeout", "7.5")
    assert all(statu["repeat"].endswith(" --timeout 7.5") for statu in of_status(results, "fail"))


@pytest.mark.parametrize(
    ("mode", "vector", "printed"),
    [
        (
            "sends-first",
            "vote.granted",
            "expected PersistQuorumState before Send VoteResponse to 1, "
            "actual Send VoteResponse to 1 before PersistQuorumState",
        ),
        ("never-syncs", "fetch.follower", "FlushLog: expected synced up to 4, actual synced up to 3"),
        ("never-restarts", "candidate.loses", "StartTimer election: expected"),
        ("history keeps-the-disk-it-voted-for=U9", "restart.voted-static", "voted_key"),
    ],
)
def test_what_is_wrong_fails(capsys: Captured, mode: str, vector: str, printed: str) -> None:
    code, results = ran(capsys, altered(*mode.split()), "-k", vector)
    failed = next(result for result in results if result.get("id") == vector)
    assert (code, failed["status"]) == (ExitCode.VIOLATION, "fail")
    assert printed in failed["reason"]


@pytest.mark.parametrize(
    ("mode", "vector"),
    [
        ("never-restarts", "vote.granted"),  # a timer that a SHOULD asks for
        ("keeps-the-disk-it-voted-for=U1", "restart.voted-static"),  # what a MAY leaves open in later steps, too
        ("history ids-of-votes-alone", "restart.voted-static"),  # the file holds no more, so nothing is rewritten
        ("names-no-cluster", "candidate.asks"),
        ("syncs-at-once", "fetch.follower"),
        ("waits-as-it-did", "candidate.loses"),
    ],
)
def test_what_is_left_open_is_right(capsys: Captured, mode: str, vector: str) -> None:
    code, results = ran(capsys, altered(*mode.split()), "-k", vector)
    assert (code, counts(results)) == (ExitCode.CONFORMANT, {"pass": 1})


def test_a_loop_that_turns_with_nothing_to_do_is_wrong(capsys: Captured) -> None:
    """An immediate next poll is right if something is due."""
    code, results = ran(capsys, altered("polled-again-at-once"), "-k", "idle.searching-observer")
    (failed,) = of_status(results, "fail")
    assert (code, failed["reason"]) == (
        ExitCode.VIOLATION,
        "step 3 of 3: poll_again_ms: expected more than 0 where nothing is due, actual 0",
    )
    assert ran(capsys, altered("polled-again-at-once"), "-k", "start.observer-finds")[0] == ExitCode.CONFORMANT


def test_a_process_that_ends_by_itself_is_told_first(capsys: Captured) -> None:
    code, results = ran(capsys, altered("dies=HandleVoteRequest"), "-k", "vote.granted")
    printed = "step 1 of 1: died: expected a running process, actual IllegalStateException: no such vote"
    assert (code, results[0]["reason"]) == (ExitCode.VIOLATION, printed)


def test_what_is_synced_cannot_be_lost(capsys: Captured) -> None:
    _, results = ran(capsys, altered("syncs-at-once", "effects"), "-k", "restart.unsynced")
    assert results[0]["reason"] == "the crash leaves 3 records, but the implementation has synced 4"


UNREAD = "voters.set-from-snapshot-and-log"
"""Without the rule, a voter set is not adopted: the failures name the rules about that."""


@pytest.mark.parametrize("rule", [rule for rule in omittable_rules() if rule != UNREAD])
def test_each_rule_that_can_be_left_out_is_noticed_by_a_vector_about_it(rule: str) -> None:
    session, catalogue = LocalSession(Altered(f"without-rule={rule}")), Catalogue()
    about = [catalogue.vector(vector.id) for vector in catalogue.manifest.vectors if rule in (vector.id, *vector.rules)]
    results = [run_vector(session, vector, "kip", attributes=True) for vector in about]
    assert rule in {name for result in results if result.status is Status.FAIL for name in result.rules}


def test_a_voters_record_that_is_not_read_is_noticed() -> None:
    vector = Catalogue().vector("scenario.unread-voters.right.replica-1")
    result = run_vector(LocalSession(Altered(f"without-rule={UNREAD}")), vector, "kip", attributes=True)
    assert (result.status, "voters.effective-on-append" in result.rules) == (Status.FAIL, True)


def test_a_failure_that_other_vectors_caused_is_told_from_others(capsys: Captured) -> None:
    words = (altered("forgets-little"), "-k", "prevote.follower")
    code, results = ran(capsys, *words)
    assert code == ExitCode.VIOLATION
    message = "pass in a new process: reset does not clear the state of earlier vectors"
    # The first few are asked again.
    assert [statu.get("remark") for statu in of_status(results, "fail")[:3]] == [message] * 3
    printed = output(capsys, "conformance", "run", "--adapter", *words)[1]
    assert f" note: {message} " in " ".join(printed.split())


def test_what_only_a_should_decides_can_be_left_out(capsys: Captured) -> None:
    requested = (without_rule("update-voter.reply-time"), "-k", "update-voter.reply-time")
    code, results = ran(capsys, *requested)
    (failed,) = of_status(results, "fail")
    assert (code, failed["rule_level"]) == (ExitCode.VIOLATION, "SHOULD")
    code, results = ran(capsys, *requested, "--must-only")
    (left_out,) = [result for result in results if result.get("id") == failed["id"]]
    printed = "excluded by --must-only, because only a SHOULD decides it: update-voter.reply-time"
    assert (code, left_out["status"], left_out["reason"]) == (ExitCode.CONFORMANT, "skipped", printed)
    code, results = ran(capsys, without_rule("hw.own-epoch"), "--must-only", "-k", "candidate.")
    assert (code, {statu["rule_level"] for statu in of_status(results, "fail")}) == (ExitCode.VIOLATION, {"MUST"})


def test_expected_failures_are_counted_apart_and_reported_when_they_pass(capsys: Captured, tmp_path: Path) -> None:
    listed = tmp_path / "expected.txt"
    listed.write_text("# ours\n\nvote.once-per-epoch  # issue 12\n")
    words = ("-k", "vote.once-per-epoch", "--expected-failures", str(listed))
    (expected,) = of_status(ran(capsys, altered("grants-all"), *words)[1], "expected failure")
    assert expected["id"] == "vote.once-per-epoch"
    assert expected["reason"].startswith("issue 12 (step 1 of 1: ")
    code, results = ran(capsys, REFERENCE, *words)
    assert (code, len(of_status(results, "unexpected pass"))) == (ExitCode.VIOLATION, 1)
    # An error is no expected failure.
    code, results = ran(capsys, altered("exits"), *words)
    (died,) = [result for result in results if result.get("id") == "vote.once-per-epoch"]
    assert (code, died["status"], "issue 12" in died["reason"]) == (ExitCode.VIOLATION, "error", False)
    listed.write_text("vote.once-per-epoch\nvote.twice\n")
    code, printed = error(capsys, "conformance", "run", "--adapter", REFERENCE, *words)
    assert (code, f"{listed}:2: no vector 'vote.twice'" in printed) == (ExitCode.BAD_INPUT, True)


# -------------------------------------------------------------------------------------------------------------
# Those that misbehave as programs.
# -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mode", "fault", "printed"),
    [
        ("hangs", "hang", "no reply within 5 s"),
        ("half-a-line", "hang", 'no newline after the reply within 5 s: \'{"type":"s\''),
        ("exits", "died", "the adapter exited with code 101 instead of replying"),
        ("killed", "died", "the adapter was killed by SIGABRT instead of replying"),
        ("oversized", "oversized", "the reply is longer than 16777216 bytes"),
        ("logs-to-stdout", "stray-output", "a line on standard output is not a reply: 'INFO became Candidate'"),
        ("only-a-log-line", "stray-output", "a line on standard output is not a reply: 'INFO became Candidate'"),
        ("unasked", "stray-output", "a line on standard output is not a reply: 'one line too many'"),
        ("twice", "stray-output", "more than one line in reply: "),
        ("truncated-json", "malformed", "standard output:4:"),
        ("unknown-field", "malformed", "$.efects: unknown field 'efects'"),
        ("other-id", "malformed", "the reply has id 14, expected 4"),
        ("other-type", "malformed", "a reply of type reset, expected step"),
        ("refuses=failed", "failed", "no such thing here"),
        (
            "shows-epoch=7",
            "wrong-state",
            "the injected state is not the requested one: before.epoch: expected 0, actual 7",
        ),
        (
            "unobservable",
            "malformed",
            "its hello has observability state, but it rejects observe: not today",
        ),
    ],
)
def test_each_fault_has_its_own_message(capsys: Captured, mode: str, fault: str, printed: str) -> None:
    timeout = "5" if fault == "hang" else "20"
    code, results = ran(capsys, altered(mode), "-k", "vote.granted", "--timeout", timeout)
    assert (code, results[0]["status"], results[0]["fault"]) == (ExitCode.VIOLATION, "error", fault)
    assert printed in results[0]["reason"]


def test_after_a_fault_the_next_vector_has_a_new_process(capsys: Captured) -> None:
    _, results = ran(capsys, altered("exits=HandleBeginQuorumEpochRequest"), "-k", "announcement.")
    statuses = [result["status"] for result in results[:-1]]
    assert "pass" in statuses[statuses.index("error") :]
    assert {statu["stderr"] for statu in of_status(results, "error")} == {"panicked at 'index out of bounds'\n"}


def test_another_hello_is_an_error(capsys: Captured) -> None:
    code, results = ran(capsys, altered("profile"), "-j", "2", "-k", "vote.", "--profile", "kip")
    assert code == ExitCode.VIOLATION
    assert "its hello differs from that of the first process" in {result.get("reason") for result in results}


@pytest.mark.parametrize("command", [("run", "-k", "vote.granted"), ("smoke",), ("replay", "vote.granted")])
def test_a_hello_with_a_profile_that_there_is_not(capsys: Captured, command: tuple[str, ...]) -> None:
    code, printed = error(capsys, "conformance", *command, "--adapter", altered("profile=raft"))
    assert code == ExitCode.BAD_INPUT
    assert f"the adapter's hello names the profile 'raft', expected one of {PROFILES}; " in printed


def test_the_command_line_may_say_a_profile_for_such_an_adapter(capsys: Captured) -> None:
    code, results = ran(capsys, altered("profile=raft"), "-k", "vote.granted", "--profile", "kip")
    assert (code, counts(results)) == (ExitCode.CONFORMANT, {"pass": 1})


def test_a_flood_on_standard_error_blocks_nobody(capsys: Captured) -> None:
    assert ran(capsys, altered("floods-stderr"), "-k", "vote.granted")[0] == ExitCode.CONFORMANT


@pytest.mark.parametrize(
    ("words", "code", "printed"),
    [
        (
            ("run", "--adapter", altered("other-version")),
            ExitCode.BAD_INPUT,
            "the adapter speaks kraft-adapter/2, this program kraft-adapter/1",
        ),
        (
            ("smoke", "--adapter", "no-such-adapter-at-all"),
            ExitCode.UNAVAILABLE,
            "the adapter cannot be started: no-such-adapter-at-all: No such file",
        ),
        (
            ("run", "--adapter", REFERENCE, "--profile", "raft"),
            ExitCode.USAGE,
            f"no profile 'raft', expected one of {PROFILES}",
        ),
        (("run", "--adapter", REFERENCE, "-k", "quantum"), ExitCode.USAGE, "no vector matches quantum"),
        (
            ("explain", "vote.once"),
            ExitCode.USAGE,
            "no vector has the id 'vote.once'; did you mean vote.once-per-epoch",
        ),
    ],
)
def test_what_cannot_be_run_is_told(capsys: Captured, words: tuple[str, ...], code: int, printed: str) -> None:
    found_code, message = error(capsys, "conformance", *words)
    assert (found_code, printed in message) == (code, True), message


def test_an_unknown_mutant_is_a_usage_error() -> None:
    ended = subprocess.run(shlex.split(without_rule("vote.no")), capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.endswith("error: no mutant 'vote.no'\n")


# -------------------------------------------------------------------------------------------------------------
# Nothing stays behind.
# -------------------------------------------------------------------------------------------------------------


def test_what_an_adapter_has_started_ends_with_it(tmp_path: Path) -> None:
    noted = tmp_path / "pid"
    adapter = altered(f"has-a-child={noted}")
    assert main(["conformance", "run", "--adapter", adapter, "-k", "vote.granted"]) == ExitCode.CONFORMANT
    assert ends(int(noted.read_text()))


@pytest.mark.parametrize("words", [("run",), ("random", "--workload", "calm", "--replicas", "1", "--seeds", "0:1000")])
def test_a_run_that_is_terminated_takes_its_adapter_along(tmp_path: Path, words: tuple[str, ...]) -> None:
    noted = tmp_path / "pid"
    adapter = altered(f"has-a-child={noted}")
    command = [sys.executable, "-m", "kraft_cli.cli", "conformance", *words, "--adapter", adapter]
    runner = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=dict(os.environ))
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


def test_list_and_explain(capsys: Captured) -> None:
    code, listed = document(capsys, "conformance", "list", "-k", "vote.once-per-epoch")
    assert code == ExitCode.CONFORMANT
    assert all("vote.once-per-epoch" in (row["id"], *row["rules"]) for row in listed)
    _, of_rules = document(capsys, "conformance", "list", "--rules")
    by_rule = {rule["rule"]: rule for rule in of_rules}
    assert "vote.once-per-epoch" in by_rule["vote.once-per-epoch"]["vectors"]
    assert by_rule["cli.add-controller"]["reason"].startswith("The command line ")
    _, displayed = output(capsys, "conformance", "explain", "vote.granted")
    assert "MUST vote.persist-before-reply: The vote is on disk before the answer leaves" in displayed
    assert "error NONE, epoch 1, granted true, pre_vote false\n      (after 1)" in displayed


def test_explain_names_other_right_courses_and_what_is_open_of_a_fetch(capsys: Captured) -> None:
    _, printed = output(capsys, "conformance", "explain", "constructed.file-lost")
    course = printed.partition("Or, with vote_of_lost_file free\n")[2].splitlines()
    assert course[:2] == ["  durable.restart.log-epoch says SHOULD", "  Then 1, after Restart"]
    assert "voted_key null" in course[2]
    assert course[-1] == "  every other step as above"
    assert "Not judged in a Fetch response" not in "".join(course)
    _, printed = output(capsys, "conformance", "explain", "fetch.diverging-counted")
    assert "Not judged in a Fetch response: the delay while there is nothing to send" in printed


def test_a_pinned_suite_is_the_one_that_runs_or_nothing_does(capsys: Captured, tmp_path: Path) -> None:
    run = ("conformance", "run", "--adapter", REFERENCE, "-k", "vote.stale-epoch")
    assert main([*run, "--suite", suite_version()]) == ExitCode.CONFORMANT
    assert f"1 vector of suite {suite_version()}: 1 pass" in capsys.readouterr().out
    assert main([*run, "--suite", "9.9"]) == ExitCode.USAGE
    printed = f"this kraft-spec has the suite {suite_version()}; for another one, pip install 'kraft-spec==9.9.*'\n"
    assert capsys.readouterr().err == f"--suite 9.9: {printed}"
    assert main([*run, "--suite", suite_version(), "--vectors", str(tmp_path)]) == ExitCode.USAGE


def test_vectors_are_selected_by_the_kips_that_they_need(capsys: Captured) -> None:
    _, listed = document(capsys, "conformance", "list", "-k", "KIP-996", "-k", "prevote.")
    assert listed
    assert all("KIP-996" in entry["kips"] and isinstance(entry["features"], list) for entry in listed)
    _, every = document(capsys, "conformance", "list", "-k", "vote.")
    assert any("KIP-996" not in entry["kips"] for entry in every)
