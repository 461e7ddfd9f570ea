"""`kraft-spec prove theorems`: the list, the proofs, the files, and what is said when something is wrong."""

import json

import pytest
from tests.conformance.commands import Captured

from kraft_cli.cli import main
from kraft_conformance.exit_codes import ExitCode
from kraft_proofs import theorems as registry
from kraft_proofs.theorems import theorem, theorems


def test_the_named_theorems_are_proved(capsys: Captured) -> None:
    assert main(["prove", "theorems", "add-one", "replace-one-even", "add-one"]) == ExitCode.CONFORMANT
    displayed = " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert displayed.startswith("2 of 2 theorems proved for voter sets of every size, in ")
    for text in ("add-one", "5 rows", "whole numbers", "New={1,2,3}", "proved"):
        assert text in displayed, text


def test_a_document_says_all_that_was_found(capsys: Captured) -> None:
    assert main(["prove", "theorems", "same-set", "--json"]) == ExitCode.CONFORMANT
    (document,) = json.loads(capsys.readouterr().out)
    assert document.pop("milliseconds") > 0
    assert document == {
        "theorem": "same-set",
        "statement": theorem("same-set").statement,
        "rules": ["update-voter.not-a-membership-change", "voters.at-most-one-difference"],
        "proved": True,
        "problems": [],
        "obligations": [
            {
                "case": "every",
                "core": ["majority-of-old", "majority-of-new", "same", "no-replica-in-both"],
                "certificate": [
                    {"fact": "majority-of-old", "weight": "1/2"},
                    {"fact": "majority-of-new", "weight": "1/2"},
                    {"fact": "same", "weight": "1/2"},
                    {"fact": "no-replica-in-both", "weight": "1"},
                ],
            }
        ],
        "weakenings": [
            {
                "name": "as-many",
                "change": "the new set has as many replicas as the old",
                "counterexample": {
                    "sets": {"Old": [1], "New": [2], "OldMajority": [1], "NewMajority": [2]},
                    "numbers": {},
                },
            }
        ],
    }


def test_a_theorem_that_is_not_proved_is_named(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    stated = theorem("same-set")
    wrong = registry.Theorem(
        stated.slug, stated.statement, stated.rules, (stated.weakenings[0].refuted,), stated.weakenings
    )
    monkeypatch.setitem(registry._BY_SLUG, "same-set", wrong)
    assert main(["prove", "theorems", "same-set"]) == ExitCode.VIOLATION
    captured = capsys.readouterr()
    assert captured.out.startswith("0 of 1 theorems proved")
    assert "NOT PROVED" in captured.out
    assert "same-set--every: false of Old={1} New={2} OldMajority={1} NewMajority={2}" in captured.err


def test_the_list_proves_nothing(capsys: Captured) -> None:
    assert main(["prove", "theorems", "--list"]) == ExitCode.CONFORMANT
    displayed = capsys.readouterr().out
    assert displayed.startswith(f"{len(theorems())} theorems")
    assert [item.slug for item in theorems() if item.slug not in displayed] == []
    assert main(["prove", "theorems", "--list", "--json", "add-one"]) == ExitCode.CONFORMANT
    stated = theorem("add-one")
    assert json.loads(capsys.readouterr().out) == [
        {"theorem": "add-one", "statement": stated.statement, "rules": list(stated.rules)}
    ]
