"""Under which profiles the model accepts the run that a vector is cut from."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, TypeAlias, TypeVar

from kraft_partitions.decisions import ReassignmentProfile
from kraft_reference.configuration import Configuration
from kraft_reference.events import Receive
from kraft_reference.messages import Message
from kraft_reference.profile import PROFILES, Profile
from kraft_simulation.occurrence import Occurrence
from kraft_traces.check import Rejection, TraceChecker, Verdict, VerdictKind, check_occurrences
from kraft_traces.check.model import trace_model
from kraft_traces.checkpoints import checkpoint_line
from kraft_traces.encode import event_line
from kraft_traces.partitions.checker import PartitionVerdict
from kraft_vectors.recording import Construction, Run

UNSENT = "unsent"
"""In place of the id of a message: nobody in the cluster has sent it, and the model knows nothing of it."""

AnyVerdict: TypeAlias = Verdict | PartitionVerdict
_Profile = TypeVar("_Profile", Profile, ReassignmentProfile)

Accepts = Callable[[Run], tuple[str, ...]]
"""Under which profiles the model accepts a run."""


def in_terms_of_the_model(occurrences: Iterable[Occurrence], configuration: Configuration) -> Iterator[Occurrence]:
    """What the model is asked about, whose requests all name their cluster and the voter that they are for.

    What nobody in the cluster has sent is left out, and a request that names no cluster or voter names this one.
    """
    for one in occurrences:
        if one.message_id == UNSENT:
            continue
        if not isinstance(one.event, Receive):
            yield one
            continue
        message = one.event.message
        voters = {voter.id: voter for voter in configuration.voters}
        named = {"cluster_id": configuration.cluster_id, "voter_key": voters.get(message.destination)}
        absent = {field: value for field, value in named.items() if value and getattr(message, field, value) is None}
        yield one._replace(event=Receive(altered(message, **absent))) if absent else one


def altered(message: Message, **fields: Any) -> Message:
    """A message of the same type with other values in these fields, which not every type has."""
    return replace(message, **fields)


class NotAcceptedError(AssertionError):
    """The model rejects the run of a vector under the run's own profile."""

    def __init__(self, source: str, verdict: AnyVerdict) -> None:
        said = getattr(verdict, "reason", None) if verdict.rejection is None else verdict.rejection.headline()
        super().__init__(f"{source}: {verdict.kind}: {said}")


def accepted_by_model(run: Run) -> tuple[str, ...]:
    """The profiles under which TLC accepts the run; its own first.

    Raises:
        NotAcceptedError: not even under its own.
    """

    def judged(profile: Profile) -> Verdict:
        return _checked(run, replace(run.configuration, profile=profile))

    return accepted_profiles(run.source, run.configuration.profile, PROFILES.values(), judged)


def accepted_profiles(
    source: str, own: _Profile, others: Iterable[_Profile], judged: Callable[[_Profile], AnyVerdict]
) -> tuple[str, ...]:
    """The names of the profiles under which the model accepts a run, that of the run first.

    Raises:
        NotAcceptedError: not even under its own.
    """
    verdict = judged(own)
    if verdict.kind is not VerdictKind.ACCEPTED:
        raise NotAcceptedError(source, verdict)
    named: list[_Profile] = [one for one in others if one.name != own.name]
    return (own.name, *[one.name for one in named if judged(one).kind is VerdictKind.ACCEPTED])


def _checked(run: Run, configuration: Configuration) -> Verdict:
    occurrences = tuple(in_terms_of_the_model(run.occurrences, configuration))
    if run.construction is None:
        return check_occurrences(occurrences, configuration, run.source)
    return _checked_from(replace(run, occurrences=occurrences), run.construction, configuration)


def _checked_from(run: Run, construction: Construction, configuration: Configuration) -> Verdict:
    """Every step from a constructed state on, with the properties of each.

    What the whole cluster is to hold at any time is not asked: it speaks of states that there are.
    """
    line = checkpoint_line(construction.checkpoint)
    checker = TraceChecker(trace_model(), configuration, run.source, own=True, start=line)
    (there,) = checker.states
    if not trace_model().specification.is_valid("TypeOk", there):
        raise AssertionError(f"{run.source}: the constructed state is not well-typed")
    rejection: Rejection | None = None
    steps = [one for one in run.occurrences if one.sequence >= run.start]
    for number, occurrence in enumerate(steps, 1):
        rejection = checker.feed(number, event_line(occurrence))
        if rejection is not None or checker.is_over:
            return checker.finish(complete=True, rejection=rejection)
    return Verdict(VerdictKind.ACCEPTED, run.source, len(steps), complete=True, candidates_max=1, every=0)
