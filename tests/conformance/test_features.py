"""`kraft-spec admin features`: kraft.version goes up once, and never down."""

import json

import pytest
from tests.conformance.cluster_folder import quorum, static_voters, three_voters
from tests.conformance.commands import Captured, assert_said, document

from kraft_conformance.cli import main
from kraft_conformance.exit_codes import ExitCode

pytestmark = pytest.mark.usefixtures("elsewhere")


def finalized(capsys: Captured) -> int:
    code, found = document(capsys, "admin", "features", "describe")
    assert (code, found["min"], found["max"]) == (0, 0, 1)
    return int(found["finalized"])


@pytest.mark.parametrize(
    "asked", [("--release-version", "4.1"), ("--feature", "kraft.version=1"), ("--metadata", "3.9-IV0")]
)
def test_an_upgrade_writes_the_voters_with_their_directory_ids(asked: tuple[str, ...], capsys: Captured) -> None:
    static_voters()
    assert finalized(capsys) == 0
    assert main(["admin", "features", "upgrade", *asked]) == ExitCode.CONFORMANT
    assert ("deprecated" in capsys.readouterr().err) is (asked[0] == "--metadata")
    assert finalized(capsys) == 1
    assert quorum("describe", "--status", "--json") == 0
    voters = json.loads(capsys.readouterr().out)["status"]["CurrentVoters"]
    assert [(voter["id"], voter["directoryId"]) for voter in voters] == [(1, "U1"), (2, "U2"), (3, "U3")]


@pytest.mark.parametrize("asked", [("--release-version", "3.8"), ("--feature", "kraft.version=0")])
def test_a_downgrade_is_refused_by_the_leader(asked: tuple[str, ...], capsys: Captured) -> None:
    three_voters()
    capsys.readouterr()
    assert main(["admin", "features", "downgrade", *asked]) == ExitCode.VIOLATION
    assert "INVALID_UPDATE_VERSION (95)" in capsys.readouterr().out
    assert finalized(capsys) == 1


def test_the_present_level_is_granted_and_an_unknown_one_refused(capsys: Captured) -> None:
    three_voters()
    assert main(["admin", "features", "upgrade", "--feature", "kraft.version=1"]) == ExitCode.CONFORMANT
    assert main(["admin", "features", "upgrade", "--feature", "kraft.version=2"]) == ExitCode.VIOLATION
    assert finalized(capsys) == 1


def test_an_upgrade_needs_reports_of_all_voters(capsys: Captured) -> None:
    static_voters()
    quorum("stop", "1", "2", "3", "--kill")
    assert quorum("start", "1", "2") == 0
    assert quorum("run", "--for-ms", "8000") == 0
    capsys.readouterr()
    assert main(["admin", "features", "upgrade", "--release-version", "4.1", "--json"]) == ExitCode.VIOLATION
    assert json.loads(capsys.readouterr().out)["error"] == "INVALID_UPDATE_VERSION"
    assert quorum("start", "3") == 0
    assert quorum("run", "--for-ms", "3000") == 0
    assert main(["admin", "features", "upgrade", "--release-version", "4.1"]) == ExitCode.CONFORMANT


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("upgrade",), "expected --release-version or --feature"),
        (("upgrade", "--feature", "metadata.version=20"), "only kraft.version"),
        (("upgrade", "--feature", "kraft.version"), "expected kraft.version=0 or kraft.version=1"),
        (("upgrade", "--release-version", "4"), "such as 4.1"),
        (("upgrade", "--release-version", "4.1", "--metadata", "4.1"), "expected one of the two"),
    ],
)
def test_wrong_use_is_explained(words: tuple[str, ...], said: str, capsys: Captured) -> None:
    assert_said(capsys, ExitCode.USAGE, said, "admin", "features", *words)


def test_without_a_leader_nobody_knows_the_level(capsys: Captured) -> None:
    three_voters()
    quorum("stop", "1", "2", "3")
    assert_said(capsys, ExitCode.VIOLATION, "nobody leads", "admin", "features", "describe")
