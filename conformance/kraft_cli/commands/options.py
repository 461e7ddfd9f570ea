"""Options that several commands share."""

import re
from collections.abc import Collection
from typing import Annotated

import typer

from kraft_conformance.failure import usage_error
from kraft_mutants import MutantError, find_mutants, omittable_rules, reference_edits
from kraft_reference.profile import PROFILES
from kraft_spec.rules import load_registry

Json = Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")]
Profile = Annotated[str, typer.Option(help=f"Answers to the open points of the KIPs: {', '.join(PROFILES)}.")]
OmittedRules = Annotated[
    list[str] | None,
    typer.Option("--mutant", metavar="RULE", help="Omit a rule on purpose; the trace names it. Repeatable."),
]
UntracedMutants = Annotated[
    list[str] | None,
    typer.Option("--mutant", metavar="NAME", help="Break a rule on purpose; the trace does not say so. Repeatable."),
]
StopAtFirst = Annotated[bool, typer.Option("-x", help="Stop at the first failure.")]
TimeoutS = Annotated[float, typer.Option("--timeout", min=0.01, max=86_400.0, help="Seconds that a reply may take.")]
Every = Annotated[int, typer.Option(min=1, help="Check the full invariants every so many events, and at the end.")]
Candidates = Annotated[int, typer.Option(min=1, help="Most candidate states of a trace that leaves fields out.")]
Steps = Annotated[int, typer.Option(min=1, help="Events before faults stop and the cluster must make progress.")]
Replicas = Annotated[int, typer.Option(min=1, max=9, help="Number of voters.")]

Seeds = Annotated[
    str,
    typer.Option("--seed", "--seeds", help="A seed, or FIRST:END, as 0:100 for 0 to 99; same seed, same trace."),
]


Smt2 = Annotated[
    str | None,
    typer.Option(
        "--smt2",
        metavar="DIR",
        help="Write each question to a file of this folder, in SMT-LIB 2. It may hold no other .smt2 files.",
    ),
]


def at_most_one(**options: object) -> None:
    """Reject options that exclude each other; an absent option is None or False.

    Raises:
        CommandError: more than one option is present.
    """
    names = [f"--{name}" for name, value in options.items() if value is not None and value is not False]
    if len(names) > 1:
        raise usage_error(f"{' and '.join(names)}: expected one of them")


def one_of(kind: str, name: str, allowed: Collection[str]) -> str:
    """Return a name of the command line if it is allowed.

    Raises:
        CommandError: it is not.
    """
    if name not in allowed:
        raise usage_error(f"no {kind} {name!r}; there are {', '.join(allowed)}")
    return name


def seeds_of(text: str, option: str = "--seed") -> range:
    """Return the seeds of an option.

    Raises:
        CommandError: the text is malformed.
    """
    match = re.fullmatch(r"(\d{1,15})(?::(\d{1,15}))?", text)
    seeds = range(0) if match is None else range(int(match[1]), int(match[2] or int(match[1]) + 1))
    if not seeds:
        raise usage_error(f"{option} {text}: expected a seed, or FIRST:END with FIRST below END, as 0:100")
    return seeds


def known_mutants(names: Collection[str] | None, *, in_trace: bool = False) -> tuple[str, ...]:
    """Return the mutants of the command line, in alphabetical order.

    Args:
        names: mutants of the reference, or ids of rules that a mutant omits.
        in_trace: True to allow only ids of the quorum's rules, which the header of a trace can name.

    Raises:
        CommandError: there is no such mutant; the message has near matches.
    """
    for name in names or ():
        try:
            mutants = find_mutants([name])
        except MutantError as error:
            if name in load_registry():
                raise usage_error(
                    f"no mutant omits the rule {name}; kraft-spec mutants --omits lists those that do"
                ) from error
            raise usage_error(f"{error}; kraft-spec mutants lists them") from error
        if not reference_edits(*mutants):
            raise usage_error(f"the mutant {name} changes the model alone, expected one of the reference")
        if in_trace and name not in omittable_rules():
            raise usage_error(
                f"a trace cannot name the mutant {name}; expected a rule that kraft-spec mutants --omits lists"
            )
    return tuple(sorted(set(names or ())))
