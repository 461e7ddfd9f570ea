"""Cross-check of the proofs: the definition of agreement, and cvc5 itself if it is installed."""

import re
from pathlib import Path

import pytest

from kraft_dev.proofs_cross_check import cvc5_answer, main
from kraft_proofs.theorems import theorem

YES = "; expect: sat\n(check-sat)\n"
NO = "; expect: unsat\n(assert false)\n(check-sat)\n"
Captured = pytest.CaptureFixture[str]


def oracle(text: str) -> str:
    """Return the only word of the text, as a solver."""
    return "unsat" if "false" in text else "sat"


def folder(path: Path, **files: str) -> str:
    path.mkdir()
    for name, text in files.items():
        (path / f"{name}.smt2").write_text(text, encoding="utf-8")
    return str(path)


def printed(capsys: Captured) -> str:
    """Return standard output with every time as `T s`."""
    return re.sub(r"\d+\.\d s", "T s", capsys.readouterr().out)


def test_agreement_is_counted_by_folder(tmp_path: Path, capsys: Captured) -> None:
    agreeing, other = folder(tmp_path / "one", a=YES, b=NO, c=NO), folder(tmp_path / "other", a=NO)
    assert main([agreeing, other], oracle) == 0
    assert printed(capsys) == f"{agreeing}: 3 of 3 agree (2 unsat, 1 sat), T s\n{other}: 1 of 1 agree (1 unsat), T s\n"


@pytest.mark.parametrize("answer", ["sat", "unknown", "(TIMEOUT)", "nothing", "an error: at line 1"])
def test_whatever_is_not_the_expected_answer_fails(answer: str, tmp_path: Path, capsys: Captured) -> None:
    path = folder(tmp_path / "one", a=NO)
    assert main([path], lambda _: answer) == 1
    assert printed(capsys) == (
        f"{path}: 0 of 1 agree (none), T s\n{path}/a.smt2: expected unsat, cvc5 says {answer} after T s\n"
    )


def test_a_disagreement_in_the_first_folder_is_not_forgotten(tmp_path: Path) -> None:
    wrong = folder(tmp_path / "wrong", a="; expect: sat\n(assert false)\n")
    assert main([wrong, folder(tmp_path / "right", a=NO)], oracle) == 1


def test_an_empty_folder_is_no_agreement(tmp_path: Path, capsys: Captured) -> None:
    assert main([folder(tmp_path / "empty")], oracle) == 1
    assert main([str(tmp_path / "missing")], oracle) == 1
    assert capsys.readouterr().err == (
        f"{tmp_path}/empty: expected files *.smt2, found none\n{tmp_path}/missing: expected files *.smt2, found none\n"
    )


def test_a_file_that_expects_nothing_is_refused(tmp_path: Path, capsys: Captured) -> None:
    path = folder(tmp_path / "one", a="(check-sat)\n")
    assert main([path], oracle) == 1
    assert capsys.readouterr().err == (
        f"{path}/a.smt2: line 1: expected '; expect: unsat' or '; expect: sat', found '(check-sat)'\n"
    )


def test_wrong_use_is_explained(capsys: Captured) -> None:
    assert main([], oracle) == 64
    assert capsys.readouterr().err == "usage: python -m kraft_dev.proofs_cross_check DIR...\n"


def test_without_cvc5_the_message_names_the_installation(tmp_path: Path, capsys: Captured) -> None:
    def missing(text: str) -> str:
        raise ImportError(text)

    assert main([folder(tmp_path / "one", a=NO)], missing) == 1
    assert capsys.readouterr().err == "cvc5 is not installed: pip install 'kraft-spec[cross-check]'\n"


def test_cvc5_agrees_on_a_theorem(tmp_path: Path, capsys: Captured) -> None:
    pytest.importorskip(
        "cvc5", reason="the extra cross-check is not installed; `make cross-check` asks about everything"
    )
    files = {
        name: text for slug in ("add-one", "competing-changes") for name, text in theorem(slug).questions().items()
    }
    assert main([folder(tmp_path / "one", **files)]) == 0
    assert "17 of 17 agree (13 unsat, 4 sat)" in capsys.readouterr().out


def test_an_incomplete_or_empty_question_has_no_answer() -> None:
    pytest.importorskip(
        "cvc5", reason="the extra cross-check is not installed; `make cross-check` asks about everything"
    )
    assert cvc5_answer("(check-sat") == "an error: Expected a RPAREN_TOK, got `` (EOF_TOK)."
    assert cvc5_answer("(set-logic QF_LIA)") == "nothing"
