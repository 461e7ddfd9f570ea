"""`kraft-spec kafka attach`: processes that it refuses, and traces that begin with a checkpoint."""

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.conformance.adapter_builds import skipped_if_missing
from tests.conformance.commands import Captured

from kraft_cli.cli import main
from kraft_conformance.exit_codes import ExitCode
from kraft_kafka.agent.building import agent_jar
from kraft_kafka.controllers import controller
from kraft_kafka.whole.under_agent import record_attached
from kraft_spec.tlc.jar import find_java

RECORDED = Path(__file__).parent / "kafka_files" / "agent-attached"
"""A leader and an observer of 4.3.1 that are attached to, and then the voter change that adds the observer."""
VERSIONS = ("4.3.1", "4.4.0")
ECHO = """
public class Echo {
    public static void main(String[] a) throws Exception {
        for (int letter = '>'; letter >= 0; letter = System.in.read()) { System.out.write(letter); System.out.flush(); }
    }
}
"""


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("4194305",), "there is no process 4194305: `jps` lists the JVMs"),
        (("1", "traces,rotate=12q"), "traces,rotate=12q: expected FOLDER,rotate=SIZE with a number of bytes"),
    ],
    ids=["no process", "no size"],
)
def test_what_names_no_process_or_size_is_refused(capsys: Captured, words: tuple[str, ...], message: str) -> None:
    assert main(["kafka", "attach", *words]) == ExitCode.USAGE
    assert message in capsys.readouterr().err


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_process_that_is_no_jvm_is_refused_and_runs_on(capsys: Captured) -> None:
    """The Attach API would end it with SIGQUIT."""
    with subprocess.Popen(["sleep", "60"]) as process:
        assert main(["kafka", "attach", str(process.pid)]) == ExitCode.USAGE
        assert f"process {process.pid} is no JVM" in capsys.readouterr().err
        assert process.poll() is None
        process.kill()


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("-Dnothing", "the agent is disabled: no KafkaRaftClient is loaded; expected a controller or broker of Kafka"),
        ("-XX:+DisableAttachMechanism", "has -XX:+DisableAttachMechanism: start it without, or start it with the flag"),
    ],
    ids=["without Kafka", "without attachment"],
)
def test_a_jvm_that_cannot_be_recorded_is_refused_and_runs_on(
    tmp_path: Path, capsys: Captured, option: str, message: str
) -> None:
    with skipped_if_missing():
        agent_jar()
    (tmp_path / "Echo.java").write_text(ECHO, encoding="utf-8")
    command = [str(find_java().executable), option, str(tmp_path / "Echo.java")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.read(1) == b">"
        assert main(["kafka", "attach", str(process.pid), str(tmp_path / "traces")]) == ExitCode.UNAVAILABLE
        (line,) = capsys.readouterr().err.splitlines()
        assert f"process {process.pid}" in line
        assert message in line
        process.stdin.write(b"still here")
        process.stdin.close()
        assert process.stdout.read() == b"still here"
    assert not (tmp_path / "traces").exists()


def judged(recorded: Path, trace: Path) -> int:
    """Return the exit code of `validate` for the files of the agent in a folder."""
    assert main(["kafka", "trace", str(recorded), "-o", str(trace)]) == ExitCode.CONFORMANT
    return main(["validate", str(trace)])


def changed(recorded: Path, folder: Path, change: Callable[[str], str]) -> Path:
    """Return a folder with copies of the files, of which at least one is changed."""
    folder.mkdir()
    texts = {path.name: path.read_text(encoding="utf-8") for path in recorded.iterdir()}
    assert any(change(text) != text for text in texts.values())
    for name, text in texts.items():
        (folder / name).write_text(change(text), encoding="utf-8")
    return folder


def test_a_voter_change_after_the_checkpoints_is_accepted(tmp_path: Path, capsys: Captured) -> None:
    assert judged(RECORDED, tmp_path / "trace.jsonl") == ExitCode.CONFORMANT, capsys.readouterr().out
    assert "43 events of 2 files" in capsys.readouterr().err


def test_a_wrong_state_after_the_checkpoints_is_rejected(tmp_path: Path) -> None:
    wrong = changed(
        RECORDED, tmp_path / "wrong", lambda text: text.replace('"high_watermark":18', '"high_watermark":19')
    )
    assert judged(wrong, tmp_path / "trace.jsonl") == ExitCode.VIOLATION


@pytest.mark.nightly
@pytest.mark.parametrize("version", VERSIONS)
def test_controllers_that_are_attached_to_are_accepted(tmp_path: Path, capsys: Captured, version: str) -> None:
    """They add a voter, and lose their leader, after the attachment."""
    with skipped_if_missing():
        kafka, _ = controller(version), agent_jar()
    traces, trace = tmp_path / "traces", tmp_path / "trace.jsonl"
    (tmp_path / "file").write_text("no folder", encoding="utf-8")
    codes: list[int] = []

    def attach(pid: int) -> None:
        folders = (tmp_path / "file" / "traces", traces, traces)
        codes.extend(main(["kafka", "attach", str(pid), str(folder)]) for folder in folders)

    record_attached(kafka, attach, tmp_path, print)
    assert codes == [ExitCode.CANNOT_WRITE, ExitCode.CONFORMANT, ExitCode.UNAVAILABLE] * 4
    assert f"has the agent already, which writes to {traces}; nothing was changed" in capsys.readouterr().err
    files = sorted(traces.iterdir())
    assert len(files) == 4
    assert all('{"kind":"checkpoint"' in path.read_text(encoding="utf-8").splitlines()[1] for path in files)
    code = judged(traces, trace)
    report = capsys.readouterr()
    assert code == ExitCode.CONFORMANT, report.out + report.err
    events = trace.read_text(encoding="utf-8")
    assert '"event":"AddVoter"' in events
    assert '"event":"HandleVoteResponse"' in events
    wrong = changed(
        traces, tmp_path / "wrong", lambda text: re.sub(r'("state":{"log_end_offset":\d+)', r"\g<1>1", text)
    )
    assert judged(wrong, trace) == ExitCode.VIOLATION
