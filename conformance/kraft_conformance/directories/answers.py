"""How the answer to an admin request is shown, and the exit code that it means."""

from kraft_conformance.console import print_json, say, stderr
from kraft_conformance.directories.admin import CLIENT_TIMEOUT_MS, Outcome
from kraft_conformance.directories.error_codes import CODES, described
from kraft_conformance.exit_codes import ExitCode
from kraft_reference.changes import ChangeKind
from kraft_reference.messages import Error

_LOST_EPOCH = (
    "the leader lost its epoch while it was at work: whether the change survives, the next leader decides "
    "(add-voter.leader-change-leaves-outcome-open)"
)
_APPENDED = "time ran out after the record was appended: it stays in the log and may be committed (add-voter.timeout)"


def show_outcome(asked: str, kind: ChangeKind, outcome: Outcome, as_json: bool) -> ExitCode:
    """Print what became of a request: conformant if it was granted, violation if it was refused.

    Unavailable if nobody was there to ask or to take it on, inconclusive if it is open what became of it.
    """
    reply = outcome.reply
    code = exit_code_of(outcome)
    if as_json:
        print_json(
            {
                "request": asked,
                "error": None if reply is None else str(reply.error),
                "error_code": None if reply is None else CODES[reply.error],
                "leader_id": None if reply is None else reply.leader_id,
                "leader_epoch": None if reply is None else reply.epoch,
                "outcome_open": code == ExitCode.INCONCLUSIVE,
                "hops": list(outcome.hops),
                "asked_at_ms": outcome.asked_at_ms,
                "answered_at_ms": outcome.answered_at_ms,
            }
        )
        return code
    for hop in outcome.hops:
        say(f"  {hop}")
    took_ms = outcome.answered_at_ms - outcome.asked_at_ms
    if reply is None:
        say(f"{asked}: {without_reply(outcome)}", console=stderr)
    else:
        meaning = f"{reply.error} ({CODES[reply.error]})" if outcome.was_appended else described(reply.error, kind)
        answer = f"{asked}: {meaning}"
        say(f"{answer}, after {took_ms} ms" if outcome.succeeded else answer)
        if outcome.is_open:
            say(_APPENDED if outcome.was_appended else _LOST_EPOCH, console=stderr)
    return code


def without_reply(outcome: Outcome) -> str:
    """What became of a request that nobody has answered."""
    became = "there was nobody to ask, nothing was sent"
    if outcome.was_sent:
        became = "what became of it is open" if outcome.is_open else "nobody took it on, nothing has changed"
    return f"no answer in {CLIENT_TIMEOUT_MS} ms; {became}"


def exit_code_of(outcome: Outcome) -> ExitCode:
    """What the outcome of a request means for the shell, as `show_outcome` says."""
    if outcome.succeeded:
        return ExitCode.CONFORMANT
    if outcome.is_open:
        return ExitCode.INCONCLUSIVE
    if outcome.reply is None:
        return ExitCode.UNAVAILABLE
    assert outcome.reply.error is not Error.NONE, "what succeeded was dealt with"
    return ExitCode.VIOLATION
