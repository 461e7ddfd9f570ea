"""Cross-check of Z3's proofs: cvc5 solves every exported question again.

`python -m kraft_dev.proofs_cross_check DIR...` reads the files `*.smt2` of each folder. The first line of each says
which answer to expect, `; expect: unsat` or `; expect: sat`. cvc5 is a development dependency, the extra `cross-check`.
"""

import re
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter

LIMIT_MILLISECONDS = 5_000
"""Time limit for each attempt of cvc5."""

_WAYS: tuple[dict[str, str], ...] = (
    {},
    {"full-saturate-quant": "true"},
    {"enum-inst": "true", "user-pat": "ignore"},
)
"""Options for cvc5, tried in this order: only questions with quantifiers need more than the first."""

_EXPECTED = re.compile(r"; expect: (sat|unsat)")

Solve = Callable[[str], str]
"""Function from the text of a question to `sat`, `unsat`, or anything else."""


class NotAQuestionError(Exception):
    """A file does not state its expected answer, or a folder has no files."""


def expected_answer(file: Path, text: str) -> str:
    """Return the expected answer from the first line of a question, `sat` or `unsat`.

    Raises:
        NotAQuestionError: It states neither.
    """
    first = text.partition("\n")[0]
    match = _EXPECTED.fullmatch(first)
    if match is None:
        raise NotAQuestionError(f"{file}: line 1: expected '; expect: unsat' or '; expect: sat', found {first!r}")
    return match.group(1)


def check(folder: Path, solve: Solve) -> bool:
    """Solve every file of a folder and print the results; True if every answer is the expected one.

    Raises:
        NotAQuestionError: The folder is empty, or a file does not state its expected answer.
    """
    files = sorted(folder.glob("*.smt2"))
    if not files:
        raise NotAQuestionError(f"{folder}: expected files *.smt2, found none")
    started = perf_counter()
    agreed: Counter[str] = Counter()
    unexpected: list[str] = []
    for file in files:
        text = file.read_text(encoding="utf-8")
        expected, began = expected_answer(file, text), perf_counter()
        answer = solve(text)
        if answer == expected:
            agreed[answer] += 1
        else:
            unexpected.append(f"{file}: expected {expected}, cvc5 says {answer} after {perf_counter() - began:.1f} s")
    counted = ", ".join(f"{agreed[answer]} {answer}" for answer in ("unsat", "sat") if agreed[answer])
    print(f"{folder}: {agreed.total()} of {len(files)} agree ({counted or 'none'}), {perf_counter() - started:.1f} s")
    for other in unexpected:
        print(other)
    return not unexpected


def cvc5_answer(text: str) -> str:
    """Return cvc5's answer: `sat`, `unsat`, or its last output if it decided neither.

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
    output = ""
    try:
        while not (command := parser.nextCommand()).isNull():
            output += str(command.invoke(solver, parser.getSymbolManager()))
    except RuntimeError as error:
        return f"an error: {error}"
    words = output.split()
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
            all_agree = check(folder, solve) and all_agree
        except ImportError:
            print("cvc5 is not installed: pip install 'kraft-spec[cross-check]'", file=sys.stderr)
            return 1
        except NotAQuestionError as error:
            print(error, file=sys.stderr)
            return 1
    return 0 if all_agree else 1


if __name__ == "__main__":
    sys.exit(main())
