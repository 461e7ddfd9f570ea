"""The templates of adapters: copied as a user copies them, built, and run on every vector."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conformance.adapter_builds import built, cargo, skipped_if_missing, toolchain
from tests.conformance.commands import ROOT, Captured, lines

from kraft_cli.cli import main
from kraft_cli.commands.conformance_template import Language
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.protocol.messages import Hello, HelloReply, Reset, Software
from kraft_conformance.protocol.parsing import encode, parse_reply
from kraft_conformance.runner.asking import NotApplicable, check_applicable
from kraft_conformance.runner.process import AdapterProcess
from kraft_vectors.catalogue import Catalogue
from kraft_vectors.format import Vector

REPLY_S = 20.0
PASSED = 109
"""Vectors: the voter is the same one in each language."""


@pytest.fixture(scope="module", params=list(Language))
def adapter(request: pytest.FixtureRequest) -> str:
    """The command line of a template that was built."""
    with skipped_if_missing():
        return built(request.param)


@pytest.fixture(scope="module")
def process(adapter: str) -> Iterator[AdapterProcess]:
    with AdapterProcess(adapter, REPLY_S) as running:
        yield running


# -------------------------------------------------------------------------------------------------------------
# To have one.
# -------------------------------------------------------------------------------------------------------------


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("language", list(Language))
@pytest.mark.parametrize("exists", [False, True])
def test_a_template_is_copied_whole(capsys: Captured, tmp_path: Path, language: Language, exists: bool) -> None:
    folder = tmp_path / "mine" / "adapter"
    if exists:
        folder.mkdir(parents=True)
    assert main(["conformance", "template", language, str(folder)]) == ExitCode.CONFORMANT
    assert capsys.readouterr().out.startswith(f"{folder}/README.md says how to build and run it")
    assert contents(folder) == contents(Path(str(files("kraft_conformance"))) / "templates" / language)
    assert (folder / "README.md").is_file()
    assert not list(folder.glob(".template-*"))


def test_what_is_there_stays(capsys: Captured, tmp_path: Path) -> None:
    (tmp_path / "work.txt").write_text("mine")
    assert main(["conformance", "template", "java", str(tmp_path)]) == ExitCode.CANNOT_WRITE
    assert capsys.readouterr().err == f"{tmp_path}: a folder that is not empty, expected a new or an empty one\n"
    assert main(["conformance", "template", "java", str(tmp_path / "work.txt")]) == ExitCode.CANNOT_WRITE
    assert capsys.readouterr().err == f"{tmp_path}/work.txt: not a folder, expected a new or an empty one\n"
    assert contents(tmp_path) == {"work.txt": b"mine"}


def test_nothing_half_written(capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    moved: list[Path] = []

    def full(self: Path, target: Path) -> None:
        if moved:
            raise OSError(28, "No space left on device", str(target))
        shutil.move(self, target)
        moved.append(target)

    monkeypatch.setattr(Path, "rename", full)
    assert main(["conformance", "template", "rust", str(tmp_path / "a" / "b")]) == ExitCode.CANNOT_WRITE
    assert capsys.readouterr().err.endswith("cannot be written: No space left on device\n")
    assert moved
    assert not list(tmp_path.iterdir())


def test_the_go_template_is_clean(tmp_path: Path) -> None:
    with skipped_if_missing():
        gofmt = toolchain(Language.GO) / "gofmt"
    main(["conformance", "template", "go", str(tmp_path / "go")])
    assert subprocess.run([gofmt, "-l", tmp_path / "go"], capture_output=True, check=True).stdout == b""


@pytest.mark.parametrize("tool", ["clippy", "fmt"])
def test_the_rust_template_is_clean(tool: str, tmp_path: Path) -> None:
    # The program may be there and stand for one that is not installed.
    if (
        not shutil.which("cargo")
        or subprocess.run(["cargo", tool, "--version"], capture_output=True, check=False).returncode
    ):
        pytest.skip(f"SKIPPED: NO CARGO {tool.upper()}")
    main(["conformance", "template", "rust", str(tmp_path / "rust")])
    with skipped_if_missing():
        cargo(tmp_path / "rust", tool, *{"clippy": ("--", "-D", "warnings"), "fmt": ("--check",)}[tool])


def test_what_is_missing_is_said_in_capitals_and_fails_nothing(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "tests.conformance.adapter_builds"]
    bare = {name: value for name, value in os.environ.items() if name != "JAVA_HOME"} | {"PATH": str(tmp_path)}
    printed = subprocess.run(words, env=bare, cwd=ROOT, capture_output=True, text=True, check=True)
    assert printed.stderr.splitlines() == [
        "SKIPPED: NO GO 1.22 OR NEWER ON PATH: THE GO TEMPLATE IS NEITHER BUILT NOR RUN",
        "SKIPPED: NO JAVAC OF A JDK 17 OR NEWER IN JAVA_HOME OR ON PATH: THE JAVA TEMPLATE IS NEITHER BUILT NOR RUN",
        "SKIPPED: NO CARGO 1.71 OR NEWER ON PATH: THE RUST TEMPLATE IS NEITHER BUILT NOR RUN",
    ]


# -------------------------------------------------------------------------------------------------------------
# The vectors.
# -------------------------------------------------------------------------------------------------------------


def test_every_vector_that_applies_passes(capsys: Captured, adapter: str, process: AdapterProcess) -> None:
    hello = greeted(process)
    code, (_, *results, _) = lines(capsys, "conformance", "run", "--adapter", adapter)
    by_status: dict[str, set[str]] = {}
    for line in results:
        by_status.setdefault(line["status"], set()).add(line["id"])
    assert by_status.keys() <= {"pass", "unsupported", "skipped"}
    assert code == ExitCode.CONFORMANT
    # It says of some events that it does not have them only when they come.
    assert by_status["pass"] < {item.id for item in Catalogue().of_replicas() if is_asked(item, hello)}
    assert len(by_status["pass"]) == PASSED


def is_asked(vector: Vector, hello: HelloReply) -> bool:
    try:
        check_applicable(vector, hello, hello.profile)
    except NotApplicable:
        return False
    return True


# -------------------------------------------------------------------------------------------------------------
# The protocol.
# -------------------------------------------------------------------------------------------------------------


def greeted(process: AdapterProcess) -> HelloReply:
    reply = parse_reply(process.exchange(encode(Hello(id=1, schema="kraft-adapter/1", runner=Software("t", "0")))), 1)
    assert isinstance(reply, HelloReply)
    return reply


def said(process: AdapterProcess, request: dict[str, Any] | bytes) -> Any:
    raw = request if isinstance(request, bytes) else json.dumps(request).encode()
    return json.loads(process.exchange(raw + b"\n"))


@pytest.fixture
def replica(process: AdapterProcess) -> AdapterProcess:
    """An adapter after a reset."""
    vector = Catalogue().of_replica("prevote.unattached-grants")
    process.exchange(encode(Reset(id=2, replica=vector.replica, cluster=vector.cluster)))
    return process


BEYOND_DOUBLES = 2**53 + 1
DRAW = {"correlation_id": 2**63 - 1, "election_timeout_ms": BEYOND_DOUBLES, "election_backoff_ms": 0}


@pytest.mark.parametrize(
    ("request_line", "code"),
    [
        (b"not json", "failed"),
        (b"", "failed"),
        (b'{"type":"observe","id":3', "failed"),
        (b'{"type":"observe","id":3} {}', "failed"),
        (b'\xff{"type":"observe","id":3}', "failed"),
        (b'{"type":"observe","id":3,"x":' + b"[" * 100_000, "failed"),
        (b'{"id":3}', "failed"),
        (b'{"type":"step","id":3}', "failed"),
        (json.dumps({"type": "step", "id": 3, "event": "HandleVoteRequest", "draw": DRAW}).encode(), "failed"),
        (b'{"type":"crash","id":3,"log_end_offset":1.5}', "failed"),
        (b'{"type":"quit","id":3}', "unsupported"),
        (json.dumps({"type": "step", "id": 3, "event": "TakeSnapshot", "draw": DRAW}).encode(), "unsupported"),
        (json.dumps({"type": "restart", "id": 3, "endpoint": "else:1", "draw": DRAW}).encode(), "unsupported"),
        (
            json.dumps({"type": "step", "id": 3, "event": "Poll", "draw": DRAW, "crash": {"completed": 0}}).encode(),
            "unsupported",
        ),
    ],
)
def test_what_cannot_be_done_is_an_error_reply_and_no_end(
    replica: AdapterProcess, request_line: bytes, code: str
) -> None:
    reply = said(replica, request_line)
    assert (reply["type"], reply["code"]) == ("error", code)
    assert reply["detail"]
    assert said(replica, {"type": "observe", "id": 4})["state"]["role"] == "Unattached"


def test_another_profile_and_older_software_are_unsupported(replica: AdapterProcess) -> None:
    vector = Catalogue().of_replica("prevote.unattached-grants")
    reset = json.loads(encode(Reset(id=5, replica=vector.replica, cluster=vector.cluster)))
    other = reset | {"cluster": reset["cluster"] | {"profile": "kafka-4"}}
    assert said(replica, other)["code"] == "unsupported"
    older = [item | {"pre_vote": "unsupported"} for item in reset["cluster"]["replicas"]]
    assert said(replica, reset | {"cluster": reset["cluster"] | {"replicas": older}})["code"] == "unsupported"


def test_it_ends_with_its_input(adapter: str) -> None:
    done = subprocess.run(shlex.split(adapter), input=b"", capture_output=True, timeout=60, check=True)
    assert (done.stdout, done.stderr) == (b"", b"")


def test_it_ends_after_bye(adapter: str) -> None:
    """Although its input is still open."""
    with subprocess.Popen(shlex.split(adapter), stdin=subprocess.PIPE, stdout=subprocess.PIPE) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        running.stdin.write(b'{"type":"bye","id":1}\n')
        running.stdin.flush()
        assert json.loads(running.stdout.readline()) == {"type": "bye", "id": 1}
        assert running.wait(60) == 0


# -------------------------------------------------------------------------------------------------------------
# JSON.
# -------------------------------------------------------------------------------------------------------------

# Where doubles and 64 bits end, which random numbers seldom hit.
EDGES = st.sampled_from([0, 2**53 - 1, 2**53, 2**53 + 1, 2**63 - 1]) | st.integers(0, 2**63 - 1)
SCALAR = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
DOCUMENT = st.recursive(SCALAR, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=30)


@given(text=st.text(min_size=1), number=EDGES, later=DOCUMENT, escaped=st.booleans(), spaced=st.booleans())
def test_texts_and_numbers_come_back(
    process: AdapterProcess, text: str, number: int, later: Any, escaped: bool, spaced: bool
) -> None:
    """As the key that was voted for and the correlation id, beside a field of a later version."""
    vector = Catalogue().of_replica("prevote.unattached-grants")
    process.exchange(encode(Reset(id=2, replica=vector.replica, cluster=vector.cluster)))
    voted = {"id": 1, "directory_id": text}
    message = {
        "type": "VoteRequest",
        "source": 1,
        "destination": 2,
        "correlation_id": number,
        "epoch": 5,
        "later": later,
    }
    message |= {"replica_key": voted, "voter_key": None, "last_epoch": 4, "end_offset": number, "pre_vote": False}
    step = {"type": "step", "id": number, "event": "HandleVoteRequest", "message": message, "draw": DRAW}
    line = json.dumps(step, ensure_ascii=escaped, separators=(" ,\t", " : ") if spaced else (",", ":"))
    reply = said(process, line.encode())
    persisted, sent, timer = reply["effects"]
    assert (reply["id"], persisted["voted_key"], sent["message"]["correlation_id"]) == (number, voted, number)
    assert timer["duration_ms"] == BEYOND_DOUBLES
