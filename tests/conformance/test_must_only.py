"""Failures say whether a MUST is broken, and `--must-only` leaves out the others."""

import json
import re
import sys
from pathlib import Path

import pytest

from kraft_conformance.cli import main
from kraft_conformance.exit_codes import ExitCode
from kraft_spec.rules import load_registry

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


def test_the_page_says_what_is_made_of_every_should_and_may() -> None:
    page = (Path(__file__).parents[2] / "docs" / "decisions.md").read_text(encoding="utf-8")
    table = page.partition("Every rule with SHOULD or MAY")[2].partition("\n\n### ")[0]
    optional = [one.id for one in load_registry() if one.level != "MUST"]
    named = re.findall(r"[a-z][a-z0-9-]*(?:\.[a-z0-9-]+)+", table)
    assert [one for one in optional if one not in named and not one.startswith(("metric.", "cli."))] == []
