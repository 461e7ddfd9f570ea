"""A second opinion on what Z3 proved: cvc5 answers every exported question again.

`python -m kraft_dev.proofs_cross_check DIR...` reads the files `*.smt2` of each folder. The first line of each says
which answer to expect, `; expect: unsat` or `; expect: sat`. cvc5 is a development dependency, the extra `cross-check`.
"""

import re
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

LIMIT_MILLISECONDS = 5_000
"""How long cvc5 may think about a question, each way it is told to."""

_WAYS: tuple[dict[str, str], ...] = (
    {},
    {"full-saturate-quant": "true"},
    {"enum-inst": "true", "relational-triggers": "true"},
)
"""Options for cvc5, tried in this order: only questions with quantifiers need more than the first."""

_EXPECTED = re.compile(r"; expect: (sat|unsat)")

Solve = Callable[[str], str]
"""From the text of a question to `sat`, `unsat`, or anything else."""


class NotAQuestionError(Exception):
    """A file does not say which answer to expect, or a folder has no files."""


class Answer(NamedTuple):
    """What a second solver says about a file."""

    file: Path
    expected: str
    answer: str
    seconds: float

    @property
    def agrees(self) -> bool:
        """Is it what was expected?"""
        return self.answer == self.expected


def questions_in(folder: Path) -> tuple[Path, ...]:
    """The files of a folder, by name.

    Raises:
        NotAQuestionError: there are none.
    """
    files = tuple(sorted(folder.glob("*.smt2")))
    if not files:
        raise NotAQuestionError(f"{folder}: expected files *.smt2, found none")
    return files


def expected_answer(file: Path, text: str) -> str:
    """What the first line of a question says, `sat` or `unsat`.

    Raises:
        NotAQuestionError: it says neither.
    """
    first = text.partition("\n")[0]
    found = _EXPECTED.fullmatch(first)
    if found is None:
        raise NotAQuestionError(f"{file}: line 1: expected '; expect: unsat' or '; expect: sat', found {first!r}")
    return found.group(1)


def ask(folder: Path, solve: Solve) -> tuple[Answer, ...]:
    """Ask about every file of a folder.

    Raises:
        NotAQuestionError: the folder is empty, or a file does not say which answer to expect.
    """
    answers = []
    for file in questions_in(folder):
        text = file.read_text(encoding="utf-8")
        expected = expected_answer(file, text)
        started = perf_counter()
        answers.append(Answer(file, expected, solve(text), perf_counter() - started))
    return tuple(answers)


def summary(folder: Path, answers: Sequence[Answer]) -> str:
    """One line about a folder, and one about each file that is not as expected."""
    counted = Counter(one.answer for one in answers if one.agrees)
    agreed = ", ".join(f"{counted[answer]} {answer}" for answer in ("unsat", "sat") if counted[answer])
    seconds = sum(one.seconds for one in answers)
    lines = [f"{folder}: {sum(counted.values())} of {len(answers)} agree ({agreed or 'none'}), {seconds:.1f} s"]
    lines += [
        f"{one.file}: expected {one.expected}, cvc5 says {one.answer} after {one.seconds:.1f} s"
        for one in answers
        if not one.agrees
    ]
    return "\n".join(lines)


def cvc5_answer(text: str) -> str:
    """What cvc5 says: `sat`, `unsat`, or the last thing that it said when it knew neither.

    Raises:
        ImportError: cvc5 is not installed.
    """
    answer = "nothing"
    for options in _WAYS:
        answer = _once(text, options)
        if answer in ("sat", "unsat"):
            break
    return answer


def _once(text: str, options: dict[str, str]) -> str:
    import cvc5

    solver = cvc5.Solver(cvc5.TermManager())
    solver.setOption("tlimit-per", str(LIMIT_MILLISECONDS))
    for name, value in options.items():
        solver.setOption(name, value)
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text, "question")
    said = ""
    try:
        while not (command := parser.nextCommand()).isNull():
            said += str(command.invoke(solver, parser.getSymbolManager()))
    except RuntimeError as error:
        return f"an error: {error}"
    words = said.split()
    return words[-1] if words else "nothing"


def main(arguments: Sequence[str] | None = None, solve: Solve = cvc5_answer) -> int:
    """Check folders: 0 if every answer is the expected one, 1 if one is not or there is none, 64 without folders."""
    folders = [Path(word) for word in (sys.argv[1:] if arguments is None else arguments)]
    if not folders:
        print("usage: python -m kraft_dev.proofs_cross_check DIR...", file=sys.stderr)
        return 64
    all_agree = True
    for folder in folders:
        try:
            answers = ask(folder, solve)
        except ImportError:
            print("cvc5 is not installed: pip install 'kraft-spec[cross-check]'", file=sys.stderr)
            return 1
        except NotAQuestionError as error:
            print(error, file=sys.stderr)
            return 1
        print(summary(folder, answers))
        all_agree = all_agree and all(one.agrees for one in answers)
    return 0 if all_agree else 1


if __name__ == "__main__":
    sys.exit(main())
