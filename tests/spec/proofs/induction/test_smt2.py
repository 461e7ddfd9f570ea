import os
import subprocess
import sys

import pytest
import z3

from kraft_proofs.induction.obligations import obligations, prove_induction
from kraft_proofs.induction.prover import Answer, premises, refutes
from kraft_proofs.induction.smt2 import file_name, questions, smt2


@pytest.mark.nightly
def test_an_exported_obligation_is_read_back_and_proved() -> None:
    answers = prove_induction(["quorums", "safety", "vote", "become-leader", "truncate"])
    exported = questions(answers)
    assert len(exported) == len(answers)
    assert [name for name, question in exported.items() if not refutes(z3.parse_smt2_string(question))] == []


def test_a_question_states_its_expected_answer_and_subject() -> None:
    (answer,) = prove_induction(["quorums/majorities-of-neighbours"])
    lines = smt2(answer).splitlines()
    assert lines[:3] == ["; expect: unsat", "; quorums/majorities-of-neighbours", "(set-logic UFLIA)"]
    assert lines[-1] == "(check-sat)"
    assert "; the denial of the goal" in lines
    assert {f"; {premise}" for premise in premises(answer)} <= set(lines)


def test_an_unproved_obligation_has_no_question() -> None:
    assert questions((Answer(obligations()[0], None, None, 0.0),)) == {}


def test_names_of_files_are_plain_and_different() -> None:
    names = [file_name(obligation.name) for obligation in obligations()]
    assert len(set(names)) == len(names)
    assert file_name("HandleVoteRequest/vote/sent, its vote") == "-andle-ote-equest--vote--sent-its-vote"


@pytest.mark.nightly
def test_the_same_bytes_in_another_process() -> None:
    program = (
        "from kraft_proofs.induction.obligations import prove_induction\n"
        "from kraft_proofs.induction.smt2 import questions\n"
        "print(sorted(questions(prove_induction(['commit', 'truncate'])).items()))"
    )

    def run(seed: str) -> str:
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        command = [sys.executable, "-c", program]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout

    assert run("1") == run("2") != ""
