"""`kraft-spec prove actions`."""

import json
from pathlib import Path

import pytest

from kraft_conformance.cli import main
from kraft_conformance.exit_codes import ExitCode


def test_the_list_says_what_is_proved_and_why_the_rest_is_not(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prove", "actions", "--list", "--json"]) == ExitCode.CONFORMANT
    listed = json.loads(capsys.readouterr().out)
    assert "HandleVoteRequest" in listed["proved"]
    assert listed["executed"]["DropMessage"] == "no replica acts"


def test_what_is_proved_is_written_for_another_solver(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prove", "actions", "others", "--json", "--smt2", str(tmp_path)]) == ExitCode.CONFORMANT
    (others,) = json.loads(capsys.readouterr().out)
    assert others["not_proved"] == []
    assert len(list(tmp_path.glob("*.smt2"))) == others["obligations"] == 16
