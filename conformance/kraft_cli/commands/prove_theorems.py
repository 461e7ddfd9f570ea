"""`kraft-spec prove theorems`: proofs about voter sets of every size, with their limits."""

from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kraft_cli.commands.options import Json, Smt2, at_most_one
from kraft_cli.smt2_files import smt2_folder, write_smt2
from kraft_conformance.console import print_json, progress, say, show_table, stderr, stdout, table
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import usage_error
from kraft_proofs.changes import number_of

if TYPE_CHECKING:
    from kraft_proofs.theorems import Theorem
    from kraft_proofs.theorems.checking import Checked

Slugs = Annotated[list[str] | None, typer.Argument(metavar="[THEOREM]...", help="Which theorems; without one: all.")]
List = Annotated[bool, typer.Option("--list", help="Only say what they are; nothing is proved.")]


def theorems(slugs: Slugs = None, only_list: List = False, smt2: Smt2 = None, as_json: Json = False) -> int:
    """Prove the theorems about majorities, and refute each one's weakenings with the smallest counterexample.

    Exit code 1 when one is not proved, or a weakening is not refuted by the sets that are expected.
    """
    at_most_one(list=only_list, smt2=smt2)
    folder = smt2_folder(smt2)
    chosen = _select(slugs)
    if folder is not None:
        write_smt2(folder, {name: text for theorem in chosen for name, text in theorem.questions().items()})
    if only_list:
        return _list(chosen, as_json)
    # Imported here and below, because importing the theorems and the solver takes longer than most commands.
    from kraft_proofs.theorems.checking import check

    results: list[tuple[Checked, float]] = []
    with progress("proving", len(chosen)) as advance:
        for theorem in chosen:
            started = perf_counter()
            checked = check(theorem)
            results.append((checked, 1000 * (perf_counter() - started)))
            advance(1, theorem.slug)
    if as_json:
        print_json([_document(checked, milliseconds) for checked, milliseconds in results])
    else:
        _show(results)
    return ExitCode.VIOLATION if any(checked.problems for checked, _ in results) else ExitCode.CONFORMANT


def _select(slugs: list[str] | None) -> "tuple[Theorem, ...]":
    from kraft_proofs import theorems as registry

    try:
        return tuple(registry.theorem(slug) for slug in dict.fromkeys(slugs)) if slugs else registry.theorems()
    except registry.UnknownTheoremError as error:
        raise usage_error(str(error)) from error


def _list(chosen: "tuple[Theorem, ...]", as_json: bool) -> int:
    if as_json:
        print_json([{"theorem": item.slug, "statement": item.statement, "rules": item.rules} for item in chosen])
        return ExitCode.CONFORMANT
    rows = [(theorem.slug, theorem.statement, "\n".join(theorem.rules)) for theorem in chosen]
    show_table(number_of(len(chosen), "theorem"), ("theorem", "statement", "rules"), rows)
    return ExitCode.CONFORMANT


def _show(results: "list[tuple[Checked, float]]") -> None:
    proved = sum(not checked.problems for checked, _ in results)
    spent = sum(milliseconds for _, milliseconds in results)
    title = f"{proved} of {len(results)} theorems proved for voter sets of every size, in {spent / 1000:.1f} s"
    drawn = table(title, "theorem", "statement", "verdict", "certificates", "false if", "ms")
    # Short columns give way to long ones.
    drawn.columns[1].ratio, drawn.columns[4].ratio, drawn.columns[3].max_width = 2, 3, 14
    for checked, milliseconds in results:
        weakenings = [f"{weakening.change}: {weakening.counterexample}" for weakening in checked.theorem.weakenings]
        drawn.add_row(
            checked.theorem.slug,
            checked.theorem.statement,
            "NOT PROVED" if checked.problems else "proved",
            _count_certificates(checked),
            "\n".join(weakenings),
            f"{milliseconds:.0f}",
        )
    stdout.print(drawn)
    for checked, _ in results:
        for problem in checked.problems:
            say(problem, "red", stderr)


def _count_certificates(checked: "Checked") -> str:
    """Return the numbers of rows of the certificates, and of obligations without one, in words."""
    rows = [rows for rows in checked.certificate_rows if rows is not None]
    whole = len(checked.obligations) - len(rows)
    parts = [f"{' '.join(map(str, rows))} row{'s' * (rows != [1])}"] if rows else []
    if whole:
        parts.append(f"{whole} whole numbers only" if rows or whole > 1 else "whole numbers only")
    return "; ".join(parts)


def _document(checked: "Checked", milliseconds: float) -> dict[str, Any]:
    theorem = checked.theorem
    return {
        "theorem": theorem.slug,
        "statement": theorem.statement,
        "rules": theorem.rules,
        "proved": not checked.problems,
        "problems": checked.problems,
        "milliseconds": round(milliseconds, 3),
        "obligations": [
            {
                "case": obligation.case,
                "core": obligation.core,
                "certificate": None
                if obligation.certificate is None
                else [{"fact": part.fact, "weight": str(part.weight)} for part in obligation.certificate],
            }
            for obligation in checked.obligations
        ],
        "weakenings": [
            {
                "name": stated.name,
                "change": stated.change,
                "counterexample": None
                if result.counterexample is None
                else {"sets": result.counterexample.sets, "numbers": result.counterexample.numbers},
            }
            for stated, result in zip(theorem.weakenings, checked.weakenings, strict=True)
        ],
    }
