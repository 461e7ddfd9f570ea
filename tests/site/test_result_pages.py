"""Pages of recorded results: a result that is older than its code is marked."""

import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from tools.site.result_pages import result_pages

from kraft_dev import kafka_seeds, results
from kraft_dev.results import (
    DESCRIBES,
    SCHEMA,
    Cell,
    Measured,
    Result,
    ResultError,
    Row,
    load_result,
    measured_now,
    origin,
    record_result,
    result_file,
)
from kraft_proofs.induction.theory import theory
from kraft_spec.rules import load_registry


def test_a_page_without_a_recorded_result_says_so_in_one_line_with_the_command(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(results, "FOLDER", tmp_path)
    monkeypatch.setattr(kafka_seeds, "FILE", tmp_path / "kafka-seeds.json")
    for path, text in result_pages(load_registry()):
        assert text.count("No result was recorded in this build: `python -m kraft_dev ") == 1, path


@pytest.mark.parametrize("name", DESCRIBES)
def test_a_result_is_of_this_code_until_the_code_changes(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    now = measured_now(name)
    result = Result(schema=SCHEMA, name=name, command="", measured=now)
    assert origin(result).startswith(f"Measured at commit {now.commit}; ")
    monkeypatch.setitem(DESCRIBES, name, (*DESCRIBES[name], "kraft_kafka.wire"))
    assert origin(result).startswith(f"**Older than the code:** measured at commit {now.commit}; ")


def test_a_result_carries_its_commit() -> None:
    words = ["git", "rev-parse", "--short=12", "HEAD"]
    head = subprocess.run(words, cwd=Path(__file__).parent, capture_output=True, text=True, check=False).stdout.strip()
    assert measured_now("mutants").commit.removesuffix("-dirty") == (head or "unknown")


def test_an_unmeasured_name_has_no_result() -> None:
    assert load_result("nothing") is None


def test_a_result_is_written_as_it_is_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(results, "FOLDER", tmp_path / "build" / "results")
    rows = (Row("a", ("r",), "b", (Cell("wire", True, where="v"),)), Row("c", kind="foreign"))
    result = Result(schema=SCHEMA, name="mutants", command="x", measured=Measured("abc", "0"), rows=rows)
    record_result(result)
    assert load_result("mutants") == result
    assert result_file("mutants").read_text().count("\n  {") == len(rows)


def test_an_invalid_result_is_rejected_with_its_field(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(results, "FOLDER", tmp_path)
    (tmp_path / "mutants.json").write_text('{"schema": "kraft-mutants/1", "name": 7}')
    with pytest.raises(ResultError, match=r"mutants.json: Expected `str`, got `int` - at `\$.name`"):
        load_result("mutants")


def test_each_action_of_the_proof_is_reached_from_a_rule_of_a_kip(made: Mapping[str, str]) -> None:
    lines = made["results/proved.md"].splitlines()
    (line,) = [row for row in lines if row.startswith("| [vote.log-check]")]
    assert "KIP-853, Leader election" in line
    assert "| `HandleVoteRequest` | `vote` |" in line
    rows = "".join(row for row in lines if row.startswith("| ["))
    assert [action.name for action in theory().actions if f"`{action.name}`" not in rows] == []
