"""Pages of recorded results: what is older than the code it is about says so."""

import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from kraft_dev import results
from kraft_dev.results import DESCRIBES, ResultError, load_result, measured_now, origin, result_bytes, result_file
from kraft_proofs.induction.theory import theory


def test_a_recorded_result_is_on_a_page_that_says_how_old_it_is(made: Mapping[str, str]) -> None:
    text = made["results/mutants.md"]
    assert "**Older than the code:** " in text or "Measured at commit " in text
    assert text.count("\n| ") > 100


@pytest.mark.parametrize("name", DESCRIBES)
def test_a_result_is_of_this_code_until_the_code_changes(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    now = measured_now(name)
    assert origin(name, now).startswith(f"Measured at commit {now.commit}; ")
    monkeypatch.setitem(DESCRIBES, name, (*DESCRIBES[name], "kraft_kafka.wire"))
    assert origin(name, now).startswith(f"**Older than the code:** measured at commit {now.commit}; ")


def test_a_result_carries_its_commit() -> None:
    words = ["git", "rev-parse", "--short=12", "HEAD"]
    head = subprocess.run(words, cwd=results.FOLDER, capture_output=True, text=True, check=False).stdout.strip()
    assert measured_now("naming").commit.removesuffix("-dirty") == (head or "unknown")


def test_what_is_not_measured_yet_has_no_result() -> None:
    assert load_result("nothing") is None


@pytest.mark.parametrize("name", DESCRIBES)
def test_a_result_is_written_as_it_is_read(name: str) -> None:
    recorded = load_result(name)
    assert recorded is not None
    assert result_bytes(recorded) == result_file(name).read_bytes()


def test_a_result_that_is_none_is_refused_with_its_field(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(results, "FOLDER", tmp_path)
    (tmp_path / "naming.json").write_text('{"schema": "kraft-matrix/1", "name": 7}')
    with pytest.raises(ResultError, match=r"naming.json: Expected `str`, got `int` - at `\$.name`"):
        load_result("naming")


def test_each_action_of_the_proof_is_reached_from_a_rule_of_a_kip(made: Mapping[str, str]) -> None:
    lines = made["results/proved.md"].splitlines()
    (line,) = [one for one in lines if one.startswith("| [vote.log-check]")]
    assert "KIP-853, Leader election" in line
    assert "| `HandleVoteRequest` | `vote` |" in line
    rows = "".join(one for one in lines if one.startswith("| ["))
    assert [action.name for action in theory().actions if f"`{action.name}`" not in rows] == []
