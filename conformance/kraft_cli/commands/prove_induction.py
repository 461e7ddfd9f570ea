"""`kraft-spec prove induction`: proof that elections and voter changes keep committed records, in any cluster."""

from collections.abc import Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

import typer
from msgspec import to_builtins

from kraft_cli.commands.options import Json, Profile, Smt2, at_most_one, one_of
from kraft_cli.smt2_files import refuse_other_questions, smt2_folder, write_smt2
from kraft_conformance.console import print_json, printable, progress, say, show_table, stderr
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import usage_error
from kraft_reference.profile import KIP, PROFILES

if TYPE_CHECKING:
    from kraft_proofs.induction.prover import Answer

Names = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[ACTION|ACTION/INVARIANT]...",
        help="Which obligations: of an action (or start, safety, quorums), or one; without a name: all.",
    ),
]
List = Annotated[bool, typer.Option("--list", help="Only say which obligations there are; nothing is proved.")]
WhereSafe = Annotated[
    bool,
    typer.Option("--where-safe", help="Under a profile of Apache Kafka: what of its restart is safe, and no more."),
]
Trust = Annotated[bool, typer.Option("--trust", help="What the machine proves, and what a human must review.")]


def induction(
    names: Names = None,
    only_list: List = False,
    trust: Trust = False,
    smt2: Smt2 = None,
    profile: Profile = KIP.name,
    where_safe: WhereSafe = False,
    as_json: Json = False,
) -> int:
    """Prove Election Safety, Leader Completeness and State Machine Safety by induction.

    Exit code 1 when an obligation is not proved.
    Under a profile of Apache Kafka some are not: a finding says what goes wrong.
    """
    at_most_one(list=only_list, trust=trust, smt2=smt2)
    if trust and names:
        raise usage_error(f"--trust is about the whole proof, expected no names beside it: {', '.join(names)}")
    folder = smt2_folder(smt2)
    if trust:
        return _show_trust(as_json)
    # Imported here, because importing the solver takes longer than most commands.
    from kraft_proofs.induction.obligations import obligations, select
    from kraft_proofs.induction.own_vote import where_safe as safe_restart
    from kraft_proofs.induction.prover import premises, prove
    from kraft_proofs.induction.smt2 import file_name, questions
    from kraft_proofs.induction.theory import theory

    is_refuted = PROFILES[one_of("profile", profile, PROFILES)].restart_precedence == "own-vote"
    if where_safe and not is_refuted:
        raise usage_error(f"--where-safe is of a profile that restarts by its own vote; {profile} does not")
    listed = obligations(safe_restart() if where_safe else theory(PROFILES[profile]))
    try:
        chosen = select(listed, names or ())
    except KeyError as error:
        parts = ", ".join(dict.fromkeys(obligation.part for obligation in listed))
        raise usage_error(f"no obligation {error.args[0]!r}; expected ACTION or ACTION/INVARIANT of {parts}") from error
    if only_list:
        names_of = [obligation.name for obligation in chosen]
        if as_json:
            print_json(names_of)
        else:
            print("\n".join(names_of))
        return ExitCode.CONFORMANT
    if folder is not None:
        # Checked before the proof, which takes a while.
        refuse_other_questions(folder, (file_name(obligation.name) for obligation in chosen))
    answers: list[Answer] = []
    started = perf_counter()
    with progress("proving", len(chosen)) as advance:
        for obligation in chosen:
            answers.append(prove(obligation))
            advance(1, obligation.part)
    seconds = perf_counter() - started
    if folder is not None:
        write_smt2(folder, questions(tuple(answers)))
    if as_json:
        print_json(
            [
                {
                    "obligation": answer.obligation.name,
                    "proved": answer.proved,
                    "premises": premises(answer) if answer.proved else None,
                    "milliseconds": round(answer.milliseconds, 3),
                }
                for answer in answers
            ]
        )
    else:
        _show(answers, seconds)
        if is_refuted and not where_safe:
            say(
                "A replica restarts as Candidate of an epoch whose leader it knows: "
                "kraft-spec scenario own-vote-before-known-leader shows two leaders of one epoch.",
                console=stderr,
            )
    return ExitCode.CONFORMANT if all(answer.proved for answer in answers) else ExitCode.VIOLATION


def _show_trust(as_json: bool) -> int:
    from kraft_proofs.induction.trust import CHECKED, REVIEWED

    if as_json:
        print_json({"machine": to_builtins(CHECKED), "human": to_builtins(REVIEWED)})
        return ExitCode.CONFORMANT
    show_table(
        "What the machine proves", ("what", "how"), [(printable(item.what), printable(item.how)) for item in CHECKED]
    )
    reviewed = [(item.name, printable(item.what), printable(item.where), printable(item.evidence)) for item in REVIEWED]
    show_table("What a human must review", ("name", "what", "where", "executed evidence"), reviewed)
    return ExitCode.CONFORMANT


def _show(answers: "Sequence[Answer]", seconds: float) -> None:
    proved = sum(answer.proved for answer in answers)
    title = f"{proved} of {len(answers)} obligations proved, for any number of replicas, in {seconds:.1f} s"
    rows = []
    for part in dict.fromkeys(answer.obligation.part for answer in answers):
        of_part = [answer for answer in answers if answer.obligation.part == part]
        slowest = max(of_part, key=lambda answer: answer.milliseconds)
        done = sum(answer.proved for answer in of_part)
        name, verdict = slowest.obligation.name.partition("/")[2], "proved" if done == len(of_part) else "NOT PROVED"
        rows.append((part, len(of_part), done, name, f"{slowest.milliseconds:.0f}", verdict))
    show_table(title, ("of", "obligations", "proved", "slowest", "ms", "verdict"), rows)
    for answer in answers:
        if not answer.proved:
            say(f"not proved: {answer.obligation.name}", "red", stderr)
