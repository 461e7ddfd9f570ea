"""Theorems as SMT-LIB files: any solver can read them, and the first line states the expected answer."""

import hashlib
import os
import subprocess
import sys

import pytest
import z3

from kraft_proofs.theorems import theorem, theorems

TEXTS = {name: text for entry in theorems() for name, text in entry.questions().items()}


@pytest.mark.parametrize("name", TEXTS)
def test_z3_reads_each_file_and_gives_the_stated_answer(name: str) -> None:
    solver = z3.Solver()
    solver.from_string(TEXTS[name])
    assert TEXTS[name].startswith(f"; expect: {solver.check()}\n")


def test_each_obligation_and_each_weakening_has_a_file() -> None:
    assert len(TEXTS) == sum(len(entry.obligations) + len(entry.weakenings) for entry in theorems())
    assert list(theorem("plan-step").questions()) == [
        "plan-step--add",
        "plan-step--remove",
        "plan-step--weakened-add-and-remove",
    ]


def test_a_file_states_its_subject() -> None:
    questions = theorem("same-set").questions()
    assert {name: text.splitlines()[:3] for name, text in questions.items()} == {
        "same-set": ["; expect: unsat", f"; {theorem('same-set').statement}", "; same-set"],
        "same-set--weakened-as-many": [
            "; expect: sat",
            "; Weakened: the new set has as many replicas as the old.",
            "; same-set--weakened-as-many",
        ],
    }
    text = questions["same-set"]
    assert "(assert (! (<= (+ |only:New|" in text
    assert [line.rpartition(":named ")[2] for line in text.splitlines() if ":named" in line] == [
        "|majority-of-old|))",
        "|majority-of-new|))",
        "|same|))",
        "|no-replica-in-both|))",
    ]
    assert text.endswith("(check-sat)\n")


DIGEST = """
import hashlib
from kraft_proofs.theorems import theorems
print(hashlib.sha256(repr([one.questions() for one in theorems()]).encode()).hexdigest())
"""


def test_the_bytes_are_the_same_in_every_process() -> None:
    here = hashlib.sha256(repr([entry.questions() for entry in theorems()]).encode()).hexdigest()
    environment = {**os.environ, "PYTHONHASHSEED": "1"}
    run = subprocess.run([sys.executable, "-c", DIGEST], env=environment, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == here
