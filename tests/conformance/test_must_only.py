"""Failures say whether a MUST is broken, and `--must-only` leaves out the others."""

import json
import sys

import pytest

from kraft_conformance.cli import main
from kraft_conformance.exit_codes import ExitCode

ADAPTER = f"{sys.executable} -m kraft_conformance.adapters.without_rules"


def ran(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, list[dict[str, object]]]:
    code = main(["conformance", "run", "--json", *words])
    return code, [json.loads(line) for line in capsys.readouterr().out.splitlines()][1:-1]


def test_what_only_a_should_decides_can_be_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ("-k", "update-voter.reply-time", "--adapter", f"{ADAPTER} update-voter.reply-time")
    code, found = ran(capsys, *asked)
    failed = [one for one in found if one["status"] == "fail"]
    assert (code, [one["rule_level"] for one in failed]) == (ExitCode.VIOLATION, ["SHOULD"])
    code, found = ran(capsys, "--must-only", *asked)
    assert code == ExitCode.CONFORMANT
    (left_out,) = [one for one in found if one["id"] == failed[0]["id"]]
    said = "left out by --must-only, decided by a SHOULD alone: update-voter.reply-time"
    assert (left_out["status"], left_out["reason"]) == ("skipped", said)


def test_a_broken_must_is_never_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    code, found = ran(capsys, "--must-only", "-k", "candidate.", "--adapter", f"{ADAPTER} hw.own-epoch")
    assert (code, {one["status"] for one in found}) == (ExitCode.VIOLATION, {"pass", "fail"})
    assert {one.get("rule_level") for one in found} == {None, "MUST"}
