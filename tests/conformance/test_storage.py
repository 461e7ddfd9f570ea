"""`kraft-spec admin storage format`: what is on the disk afterwards, and what is refused."""

import json
import re
from pathlib import Path

import pytest
from tests.conformance.cluster_folder import THREE, broker, format_node, formatting, properties, quorum, three_voters
from tests.conformance.commands import Captured, assert_said, error

from kraft_conformance.cli import main
from kraft_conformance.exit_codes import ExitCode

pytestmark = pytest.mark.usefixtures("elsewhere")


def meta(node_id: int) -> dict[str, str]:
    lines = Path(f"node-{node_id}/meta.properties").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines)


def checkpoint_voters(node_id: int) -> list[tuple[int, str, str, int]]:
    """(id, directory id, host, port) of each voter of a bootstrap checkpoint."""
    records = [json.loads(line) for line in Path(f"node-{node_id}/0-0.checkpoint").read_text().splitlines()]
    assert [record["record"] for record in records] == ["SnapshotHeader", "KRaftVersion", "Voters", "SnapshotFooter"]
    assert records[1]["kRaftVersion"] == 1
    return [
        (one["voterId"], one["voterDirectoryId"], one["endpoints"][0]["host"], one["endpoints"][0]["port"])
        for one in records[2]["voters"]
    ]


def test_standalone_makes_the_node_the_only_voter() -> None:
    assert format_node(properties(1), "--standalone") == ExitCode.CONFORMANT
    written = meta(1)
    assert (written["cluster.id"], written["node.id"]) == ("C", "1")
    assert checkpoint_voters(1) == [(1, written["directory.id"], "h1", 9093)]


def test_two_formattings_give_two_directory_ids() -> None:
    assert format_node(properties(1), "--no-initial-controllers") == ExitCode.CONFORMANT
    assert format_node(properties(2), "--no-initial-controllers") == ExitCode.CONFORMANT
    assert meta(1)["directory.id"] != meta(2)["directory.id"]
    assert len(meta(1)["directory.id"]) == 22


@pytest.mark.parametrize("option", ["--initial-controllers", "--controller-quorum-voters"])
def test_a_listed_node_takes_its_directory_id_from_the_list_in_either_form(option: str) -> None:
    listed = "1-U1@h1:9093, 2@h2:9093:U2,3-U3@h3:9093"
    assert format_node(properties(2), option, listed) == ExitCode.CONFORMANT
    assert meta(2)["directory.id"] == "U2"
    assert checkpoint_voters(2) == [(1, "U1", "h1", 9093), (2, "U2", "h2", 9093), (3, "U3", "h3", 9093)]


def test_a_node_outside_the_list_gets_a_random_directory_id() -> None:
    assert format_node(properties(4), "--initial-controllers", THREE) == ExitCode.CONFORMANT
    assert meta(4)["directory.id"] not in ("U1", "U2", "U3")
    assert len(checkpoint_voters(4)) == 3


@pytest.mark.parametrize("options", [(), ("--no-initial-controllers",)])
def test_without_a_list_there_is_no_checkpoint(options: tuple[str, ...], capsys: Captured) -> None:
    assert format_node(properties(4), *options) == ExitCode.CONFORMANT
    assert not Path("node-4/0-0.checkpoint").exists()
    assert "waits to be added" in capsys.readouterr().out


def test_static_voters_make_a_quorum_at_level_0(capsys: Captured) -> None:
    name = properties(1, "controller.quorum.voters=1@h1:9093,2@h2:9093")
    assert format_node(name, "--json") == ExitCode.CONFORMANT
    document = json.loads(capsys.readouterr().out)
    assert (document["kraft_version"], document["voters"]) == (0, ["1", "2"])
    assert not Path("node-1/0-0.checkpoint").exists()


def test_formatting_twice_is_refused_and_changes_nothing(capsys: Captured) -> None:
    assert format_node(properties(1), "--standalone") == ExitCode.CONFORMANT
    before = meta(1)
    assert_said(capsys, ExitCode.VIOLATION, "formatted already", *formatting("1.properties", "--standalone"))
    assert meta(1) == before


def test_a_failure_in_the_middle_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("kraft_conformance.directories.formatting.os.fsync", fail)
    assert format_node(properties(1), "--standalone") == ExitCode.CANNOT_WRITE
    assert sorted(path.name for path in Path().iterdir()) == ["1.properties"]


def test_a_configuration_of_kafka_is_read_and_its_advertised_controller_listener_counts() -> None:
    Path("server.properties").write_text(
        "# both\nprocess.roles = broker,controller\nnode.id: 7\nnum.partitions=3\n"
        "listeners=PLAINTEXT://:9092,\\\n    CTRL://[::1]:9093\ncontroller.listener.names=CTRL\n"
        "advertised.listeners=CTRL://c7.example:9193\nmetadata.log.dir=disks/seven\nlog.dirs=elsewhere\n"
    )
    assert format_node("server.properties", "--standalone") == ExitCode.CONFORMANT
    voters = json.loads(Path("disks/seven/0-0.checkpoint").read_text().splitlines()[2])["voters"]
    assert voters[0]["endpoints"] == [{"name": "CONTROLLER", "host": "c7.example", "port": 9193}]


OWN = "node.id=1\ncontroller.listener=h1:9093\n"


@pytest.mark.parametrize(
    ("text", "line", "field", "expected"),
    [
        ("controller.listener=h1:9093\n", None, "node.id", "is missing"),
        ("node.id=one\ncontroller.listener=h1:9093\n", 1, "node.id", "a number"),
        ("node.id=2147483648\ncontroller.listener=h1:9093\n", 1, "node.id", "from 0 to 2147483647"),
        ("node.id=1\n", None, "listeners", "NAME://host:port"),
        ("node.id=1\n\ncontroller.listener=h1\n", 3, "controller.listener", "host:port"),
        ("node.id=1\ncontroller.listener=h1:99999\n", 2, "controller.listener", "from 1 to 65535"),
        ("node.id=1\nlisteners=CONTROLLER://:9093\n", 2, "listeners", "host:port"),
        ("node.id=1\nlisteners=PLAINTEXT://h1:9093\n", 2, "listeners", "no listener CONTROLLER"),
        ("node.id=1\nnode.id=2\n", 2, "node.id", "twice, first in line 1"),
        ("node.id=1\nprocess.roles=observer\n", 2, "process.roles", "broker, controller or both"),
        (OWN + "controller.quorum.voters=1@h1\n", 3, "controller.quorum.voters", "host:port"),
        (OWN + "controller.quorum.voters=2@h2:9093\n", 3, "controller.quorum.voters", "lists no node 1"),
        (OWN + "controller.quorum.auto.join.enable=yes\n", 3, "controller.quorum.auto.join.enable", "true or false"),
        (OWN + "log.dirs=/var/lib/kafka\n", 3, "log.dirs", "below the cluster directory"),
        (OWN + "log.dirs=quorum.jsonl\n", 3, "log.dirs", "has a file of its own there"),
        (OWN + "controller.quorum.bootstrap.servers=h1:9093,h2\n", 3, "controller.quorum.bootstrap.servers", "'h2'"),
    ],
)
def test_wrong_properties_are_named_by_file_line_and_field(
    text: str, line: int | None, field: str, expected: str, capsys: Captured
) -> None:
    Path("n.properties").write_text(text)
    code, said = error(capsys, *formatting("n.properties", "--no-initial-controllers"))
    place = "n.properties" if line is None else f"n.properties:{line}"
    assert (code, f"{place}: {field}: " in said, expected in said) == (ExitCode.BAD_INPUT, True, True), said
    assert sorted(path.name for path in Path().iterdir()) == ["n.properties"]


def test_a_misspelt_property_is_warned_about(capsys: Captured) -> None:
    name = properties(1, "controller.quorum.bootstrap.server=h1:9093")
    assert_said(
        capsys,
        ExitCode.CONFORMANT,
        "did you mean controller.quorum.bootstrap.servers",
        *formatting(name, "--standalone"),
    )


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--standalone", "--no-initial-controllers"), "expected one of them"),
        (("--initial-controllers", "1@h1:9093,2-U2@h2:9093"), "has no directory id"),
        (("--initial-controllers", "1-U1@h1:9093,1-U2@h2:9093"), "node id 1 is in the list twice"),
        (("--initial-controllers", "1-U1@h1:9093,2-U1@h2:9093"), "directory id U1 is in the list twice"),
        (("--initial-controllers", "1-U1@h1:9093,2-U2@h1:9093"), "endpoint h1:9093 is in the list twice"),
        (("--initial-controllers", "h1:9093"), "id-uuid@host:port"),
        (("--initial-controllers", "1-AAAAAAAAAAAAAAAAAAAAAA@h1:9093"), "stands for no directory id"),
        (("--initial-controllers", "1-U1@elsewhere:9093"), "is at elsewhere:9093"),
        (("--initial-controllers", THREE, "--directory-id", "U9"), "another directory id"),
        (("--standalone", "--feature", "kraft.version=0"), "kraft.version 1"),
        (("--standalone", "--release-version", "3.8"), "kraft.version 1"),
        (("--standalone", "--release-version", "new"), "such as 4.1"),
        (("--standalone", "--feature", "metadata.version=20"), "only kraft.version"),
        (("--standalone", "--feature", "kraft.version=1", "--release-version", "3.8"), "expected one level"),
        (("--standalone", "--directory-id", "U 1"), "a directory id"),
        (("--standalone", "--feature", "kraft.version=7"), "expected kraft.version=0 or kraft.version=1"),
    ],
)
def test_contradicting_options_are_wrong_use(options: tuple[str, ...], said: str, capsys: Captured) -> None:
    assert_said(capsys, ExitCode.USAGE, said, *formatting(properties(1), *options))
    assert not Path("node-1").exists()


def test_static_voters_contradict_dynamic_options(capsys: Captured) -> None:
    name = properties(1, "controller.quorum.voters=1@h1:9093")
    for options in (("--standalone",), ("--no-initial-controllers",), ("--feature", "kraft.version=1")):
        assert_said(
            capsys, ExitCode.BAD_INPUT, "1.properties:3: controller.quorum.voters: ", *formatting(name, *options)
        )


def test_a_broker_names_no_voters(capsys: Captured) -> None:
    assert_said(capsys, ExitCode.USAGE, "process.roles=broker", *formatting(broker(11), "--standalone"))


def test_a_node_of_another_cluster_or_with_a_taken_id_or_endpoint_is_refused(capsys: Captured) -> None:
    assert format_node(properties(1), "--standalone") == ExitCode.CONFORMANT
    other = ("admin", "storage", "format", "-t", "D", "-c", properties(2), "-N")
    assert_said(capsys, ExitCode.VIOLATION, "belongs to cluster C, not to D", *other)
    assert_said(
        capsys, ExitCode.VIOLATION, "node 1 is formatted already", *formatting(properties(1, "log.dirs=other"), "-N")
    )
    assert_said(
        capsys, ExitCode.VIOLATION, "node 1 is at h1:9093 already", *formatting(properties(2, endpoint="h1:9093"), "-N")
    )


def test_unequal_lists_are_warned_about_because_no_quorum_notices(capsys: Captured) -> None:
    assert format_node(properties(1), "--initial-controllers", THREE) == ExitCode.CONFORMANT
    assert_said(capsys, ExitCode.CONFORMANT, "bootstrap.sets-must-be-equal", *formatting(properties(4), "--standalone"))


def test_a_disk_that_was_lost_comes_back_without_voters_and_under_a_new_id(capsys: Captured) -> None:
    three_voters()
    quorum("stop", "3")
    for path in Path("node-3").iterdir():
        path.unlink()
    Path("node-3").rmdir()
    history = Path("quorum.jsonl").read_bytes()
    assert_said(capsys, ExitCode.VIOLATION, "could bring back an old set", *formatting("3.properties", "--standalone"))
    assert_said(
        capsys,
        ExitCode.VIOLATION,
        "identity.directory-id-at-format",
        *formatting("3.properties", "-N", "--directory-id", "U3"),
    )
    assert format_node("3.properties", "-N", "--directory-id", "U3b") == ExitCode.CONFORMANT
    assert Path("quorum.jsonl").read_bytes() == history


def test_a_damaged_metadata_directory_is_named(capsys: Captured) -> None:
    assert format_node(properties(1), "--standalone") == ExitCode.CONFORMANT
    Path("node-1/meta.properties").write_text("cluster.id=C\ndirectory.id=U1\n")
    assert_said(capsys, ExitCode.BAD_INPUT, "meta.properties: node.id: is missing", "admin", "quorum", "start")
    Path("node-1/meta.properties").write_text("cluster.id=C\nnode.id=2\ndirectory.id=U1\n")
    assert_said(capsys, ExitCode.BAD_INPUT, "meta.properties:2: node.id: ", "admin", "quorum", "start")
    Path("node-1/meta.properties").write_text("cluster.id=C\nnode.id=1\ndirectory.id=U1\n")
    checkpoint = Path("node-1/0-0.checkpoint")
    checkpoint.write_text(checkpoint.read_text().replace('"host": "h1"', '"host": ""'))
    assert_said(capsys, ExitCode.BAD_INPUT, "0-0.checkpoint:3: $.voters[0]: ", "admin", "quorum", "start")
    assert not Path("quorum.jsonl").exists()


def test_a_directory_of_an_older_release_gets_its_directory_id_once() -> None:
    assert format_node(properties(1, "controller.quorum.voters=1@h1:9093")) == ExitCode.CONFORMANT
    meta = Path("node-1/meta.properties")
    meta.write_text("version=1\ncluster.id=C\nnode.id=1")
    assert quorum("start") == ExitCode.CONFORMANT
    given = meta.read_text()
    assert re.fullmatch(r"version=1\ncluster\.id=C\nnode\.id=1\ndirectory\.id=[\w-]{22}\n", given)
    assert quorum("stop", "1") == quorum("start") == ExitCode.CONFORMANT
    assert meta.read_text() == given


def test_random_uuids_differ(capsys: Captured) -> None:
    assert main(["admin", "storage", "random-uuid"]) == main(["admin", "storage", "random-uuid"]) == ExitCode.CONFORMANT
    first, second = capsys.readouterr().out.split()
    assert first != second
    assert not first.startswith("-")
