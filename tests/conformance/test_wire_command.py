"""`kraft-spec wire` as a user has it."""

import io
import json
import sys
import tarfile
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.commands import blocks

from kraft_cli.cli import main
from kraft_conformance.exit_codes import ExitCode
from kraft_dev.wire.generate import read_files

PAIRS = {pair.id: pair for file in read_files() for pair in file.pairs}
VOTE = PAIRS["vote-request-v2-typical"]
VOTERS = PAIRS["voters-record-v0-typical"]


class Shell:
    """Runs the command with something on standard input."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
        self._monkeypatch, self._captured = monkeypatch, capfdbinary

    def __call__(self, *words: str, stdin: bytes | str = b"") -> tuple[int, str, str]:
        """Exit code, standard output and standard error."""
        code, out, err = self.binary(*words, stdin=stdin)
        return code, out.decode(), err

    def binary(self, *words: str, stdin: bytes | str = b"") -> tuple[int, bytes, str]:
        """The same, with standard output as bytes."""
        content = stdin.encode() if isinstance(stdin, str) else stdin
        self._monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        code = main(["wire", *words])
        sys.stdout.flush()
        out, err = self._captured.readouterr()
        return code, out, err.decode()


@pytest.fixture
def wire(monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Shell:
    return Shell(monkeypatch, capfdbinary)


def test_a_request_says_itself_what_it_is(wire: Shell) -> None:
    code, out, err = wire("decode", str(VOTE.hex))
    assert (code, err) == (0, "")
    assert json.loads(out) == {"api": "Vote", "kind": "request", "version": 2} | VOTE.json
    assert wire("encode", stdin=out) == (0, f"{VOTE.hex}\n", "")


def test_a_response_needs_api_and_version(wire: Shell) -> None:
    pair = PAIRS["fetch-response-v17-typical"]
    code, out, _ = wire("decode", "--api", "fetch", "--version", "17", "-", stdin=f"{pair.hex}\n")
    assert (code, json.loads(out)) == (0, {"api": "Fetch", "kind": "response", "version": 17} | pair.json)
    assert wire("encode", stdin=out)[:2] == (0, f"{pair.hex}\n")
    code, _, err = wire("decode", "--api", "fetch", "-", stdin="00")
    assert code == ExitCode.USAGE
    assert err == "a response has no header: give --api and --version (a request names both)\n"


def test_a_body_alone_gets_a_header(wire: Shell, tmp_path: Path) -> None:
    file = tmp_path / "vote.json"
    file.write_text(json.dumps(VOTE.json["body"]), encoding="utf-8")
    words = ("--api", "Vote", "--version", "2", "--kind", "request", "--json-file", str(file))
    header = ("--correlation-id", "6", "--client-id", "raft-client-2")
    assert wire("encode", *words, *header) == (0, f"{VOTE.hex}\n", "")
    code, out, _ = wire("encode", *words)
    assert json.loads(wire("decode", out.strip())[1])["header"] == {
        "requestApiKey": 52,
        "requestApiVersion": 2,
        "correlationId": 0,
        "clientId": None,
    }
    assert code == 0


def test_bytes_in_place_of_hex(wire: Shell) -> None:
    raw = bytes.fromhex(str(VOTE.hex))
    document = json.dumps({"header": VOTE.json["header"], "body": VOTE.json["body"]})
    assert wire.binary("encode", "--api", "Vote", "--binary", stdin=document) == (0, raw, "")
    assert json.loads(wire("decode", "--binary", "-", stdin=raw)[1])["body"] == VOTE.json["body"]
    assert wire("decode", "--binary", "00")[0] == ExitCode.USAGE


def test_what_a_version_lacks_is_dropped_and_said_or_refused(wire: Shell) -> None:
    body = VOTE.json["body"]
    code, out, err = wire("encode", "--api", "Vote", "--version", "0", stdin=json.dumps(body))
    assert (code, out) == (ExitCode.BAD_INPUT, "")
    assert err == (
        "standard input: body.topics[0].partitions[0].preVote: expected its default before version 2, actual True "
        "(UNSUPPORTED_VERSION)\n"
    )
    body = json.loads(json.dumps(body))
    body["topics"][0]["partitions"][0]["preVote"] = False
    code, out, err = wire("encode", "--api", "Vote", "--version", "0", stdin=json.dumps(body))
    assert code == 0
    assert err.splitlines() == [
        f"dropped, since version 0 of VoteRequest lacks it: body.{path}"
        for path in (
            "voterId",
            "topics[0].partitions[0].replicaDirectoryId",
            "topics[0].partitions[0].voterDirectoryId",
            "topics[0].partitions[0].preVote",
        )
    ]
    assert "preVote" not in wire("decode", out.strip())[1]


def test_a_malformed_frame_is_bad_input(wire: Shell) -> None:
    code, out, err = wire("decode", str(VOTE.hex)[:-8])
    assert (code, out) == (ExitCode.BAD_INPUT, "")
    assert err == "the frame: byte 4: frame: expected 132 bytes, as its length says, actual 128 (truncated)\n"
    code, _, err = wire("decode", "-", stdin="0g")
    assert (code, err) == (
        ExitCode.BAD_INPUT,
        "standard input: hex: expected hex digits, actual 'g' as digit 1 (not-hex)\n",
    )
    code, _, err = wire("decode", "-", stdin=b"\xff")
    assert (code, err) == (ExitCode.BAD_INPUT, "standard input: byte 0: text: expected UTF-8, actual ff (bad-utf8)\n")


def test_lenient_takes_what_kafka_reads_and_says_so(wire: Shell) -> None:
    padded = "00000013" "0034" "0002" "00000006" "ffff" "00" "8000" "00000002" "01" "00"  # fmt: skip
    padded = f"{(len(padded) - 8) // 2:08x}{padded[8:]}"
    text = "byte 15: body.clusterId: expected a varint without padding, actual 8000 (not-canonical)\n"
    assert wire("decode", padded) == (ExitCode.BAD_INPUT, "", f"the frame: {text}")
    code, out, err = wire("decode", "--lenient", padded)
    assert (code, json.loads(out)["body"]) == (0, {"clusterId": None, "voterId": 2, "topics": []})
    assert err == f"taken, though Kafka never writes it: {text}"


def test_control_records_are_batches(wire: Shell) -> None:
    code, out, _ = wire("decode", "--record", "VotersRecord", str(VOTERS.hex))
    assert (code, json.loads(out)) == (0, VOTERS.json)
    assert wire("encode", "--record", "VotersRecord", stdin=out) == (0, f"{VOTERS.hex}\n", "")
    value = VOTERS.json["records"][0]["value"]
    code, out, _ = wire("encode", "--record", "VotersRecord", stdin=json.dumps({"voters": value["voters"]}))
    assert json.loads(wire("decode", "--record", "VotersRecord", out.strip())[1])["records"][0]["value"] == value
    of_others = (
        wire("decode", "--record", "KRaftVersionRecord", str(VOTERS.hex)),
        wire("encode", "--record", "KRaftVersionRecord", stdin=json.dumps(VOTERS.json)),
    )
    for code, out, err in of_others:
        assert (code, out) == (ExitCode.BAD_INPUT, "")
        assert "records[0].key.type: expected 5, a KRaftVersionRecord, actual 6" in err


def test_the_file_quorum_state_is_text(wire: Shell) -> None:
    pair = PAIRS["quorum-state-data-v1-typical"]
    code, out, _ = wire("decode", "--record", "QuorumStateData", str(pair.text))
    assert (code, json.loads(out)) == (0, pair.json)
    assert wire("encode", "--record", "QuorumStateData", stdin=out) == (0, f"{pair.text}\n", "")


def test_a_traced_message_becomes_kafkas(wire: Shell) -> None:
    traced: dict[str, Any] = {
        "type": "VoteResponse",
        "id": "3.1",
        "source": 2,
        "destination": 1,
        "correlation_id": 2,
        "error": "NONE",
        "epoch": 1,
        "leader_id": None,
        "leader_endpoint": None,
        "granted": True,
        "pre_vote": True,
    }
    code, out, err = wire("encode", "--trace", stdin=json.dumps(traced))
    assert code == 0
    assert err == (
        "not on Kafka's wire: pre_vote: Kafka's response has no such flag, and no receiver needs it "
        "(wire.vote-response)\n"
    )
    results = json.loads(wire("decode", "--api", "Vote", "--version", "2", out.strip())[1])
    partition = {"partitionIndex": 0, "errorCode": 0, "leaderId": -1, "leaderEpoch": 1, "voteGranted": True}
    assert results["body"]["topics"] == [{"topicName": "__cluster_metadata", "partitions": [partition]}]


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("encode",), "which message? --api and --kind name it, --record a record, --trace a traced message"),
        (("encode", "--api", "Foo"), "no 'Foo' on the wire: expected one of AddRaftVoter, "),
        (("encode", "--api", "Vote", "--version", "3"), "version 3: VoteRequest has 0-2"),
        (("encode", "--api", "Vote", "--kind", "reply"), "--kind reply: expected request or response"),
        (("encode", "--api", "Vote", "--trace"), "--api, --record and --trace name the same thing: only one of them"),
        (("encode", "--record", "VoterAssignment"), "no 'VoterAssignment' on the wire: expected one of LeaderChange"),
    ],
)
def test_wrong_use_says_what_there_is(wire: Shell, words: tuple[str, ...], text: str) -> None:
    code, out, err = wire(*words, stdin="{}")
    assert (code, out) == (ExitCode.USAGE, "")
    assert err.startswith(text)


def test_a_file_that_is_not_there(wire: Shell, tmp_path: Path) -> None:
    code, _, err = wire("encode", "--api", "Vote", "--json-file", str(tmp_path / "none.json"))
    assert (code, err) == (ExitCode.NO_INPUT, f"{tmp_path / 'none.json'}: No such file or directory\n")


@pytest.mark.parametrize(
    "document", ["{", "[]", "7", '{"api": 7, "kind": "request", "version": 0}', '{"a": 1, "a": 1}']
)
def test_json_that_is_no_message_is_no_defect(wire: Shell, document: str) -> None:
    for words in (("--api", "Vote"), (), ("--record", "VotersRecord"), ("--record", "QuorumStateData"), ("--trace",)):
        code, _, err = wire("encode", *words, stdin=document)
        assert code in (ExitCode.BAD_INPUT, ExitCode.USAGE), err


def test_without_the_extra_frames_are_decoded_and_records_say_what_to_install(
    wire: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.startswith("kraft_kafka.wire.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "kio", None)
    monkeypatch.setitem(sys.modules, "crc32c", None)
    assert wire("decode", str(VOTE.hex))[0] == 0
    code, out, err = wire("decode", "00", "--record", "VotersRecord")
    assert (code, out) == (ExitCode.UNAVAILABLE, "")
    assert err == "this command needs the package crc32c: pip install 'kraft-spec[conformance]'\n"


def test_list_says_what_there_is(wire: Shell) -> None:
    code, out, _ = wire("list", "--json")
    listed = {load["name"]: load for load in json.loads(out)}
    assert code == 0
    assert listed["VoteRequest"] == {
        "name": "VoteRequest",
        "api": "Vote",
        "key": 52,
        "kind": "request",
        "versions": "0-2",
        "flexible": "0+",
        "needed": "0-2",
        "rules": [
            "wire.vote-versions",
            "wire.quorum-rpcs-with-keys",
            "wire.api-keys",
            "wire.negotiation",
            "wire.versions-negotiated",
        ],
        "source": "apache/kafka 4.3.1 VoteRequest.json",
    }
    assert (listed["VotersRecord"]["key"], listed["VotersRecord"]["api"]) == (6, None)
    assert wire("list")[0] == 0


def test_the_examples_of_the_page_are_what_the_command_says(wire: Shell) -> None:
    """Each block `sh` with one command, and the block after it with what it prints."""
    examples = [
        (text, expected) for (_, text), (_, expected) in pairwise(blocks("wire")) if text.startswith("kraft-spec")
    ]
    assert len(examples) == 2
    for command, example in examples:
        _, out, err = wire(*command.split()[2:])
        assert (out or err).strip() == example.strip()


def test_the_files_of_a_controller_are_decoded(wire: Shell, tmp_path: Path) -> None:
    """A disk of Kafka 4.3.1: its voters are in the checkpoint, and a cut last batch is said."""
    with tarfile.open(Path(__file__).parent / "kafka_files" / "healthy-snapshot.tar.gz") as archive:
        archive.extractall(tmp_path, filter="data")
    disk = min(tmp_path.rglob("__cluster_metadata-0"))
    checkpoint, log = max(disk.glob("*.checkpoint")), min(disk.glob("*.log"))
    code, out, err = wire("decode", str(checkpoint))
    records = [record for batch in json.loads(out)["batches"] for record in batch.get("records", ())]
    assert (code, err) == (ExitCode.CONFORMANT, "")
    assert any(record["value"].get("voters") for record in records)
    assert json.loads(wire("decode", str(disk / "quorum-state"))[1])["leaderEpoch"] > 0
    code, out, err = wire("decode", str(log))
    assert (code, err) == (ExitCode.CONFORMANT, f"{log}: the last 69 bytes are no whole batch\n")
    log.write_bytes(log.read_bytes()[:-69])
    assert wire("decode", str(log)) == (code, out, "")
    (disk / "other").touch()
    assert wire("decode", str(disk / "other"))[0] == ExitCode.USAGE
