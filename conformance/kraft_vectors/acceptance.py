"""Check of a vector's run against the model, under each profile."""

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
"""Message id of a request from outside of the cluster, which the model does not see."""

AnyVerdict: TypeAlias = Verdict | PartitionVerdict
_Profile = TypeVar("_Profile", Profile, ReassignmentProfile)

Accepts = Callable[[Run], tuple[str, ...]]
"""Maps a run to the profiles under which the model accepts it."""


def occurrences_for_model(occurrences: Iterable[Occurrence], configuration: Configuration) -> Iterator[Occurrence]:
    """Yield the occurrences for the model, in which all requests have a cluster id and a voter key.

    Requests from outside of the cluster are omitted; a missing cluster id or voter key is filled in.
    """
    for occurrence in occurrences:
        if occurrence.message_id == UNSENT:
            continue
        if not isinstance(occurrence.event, Receive):
            yield occurrence
            continue
        message = occurrence.event.message
        voters = {voter.id: voter for voter in configuration.voters}
        named = {"cluster_id": configuration.cluster_id, "voter_key": voters.get(message.destination)}
        absent = {field: value for field, value in named.items() if value and getattr(message, field, value) is None}
        yield occurrence._replace(event=Receive(replace_fields(message, **absent))) if absent else occurrence


def replace_fields(message: Message, **fields: Any) -> Message:
    """Return a message of the same type with these fields changed."""
    return replace(message, **fields)


class NotAcceptedError(AssertionError):
    """The model rejects a run under the run's own profile."""

    def __init__(self, source: str, verdict: AnyVerdict) -> None:
        reason = getattr(verdict, "reason", None) if verdict.rejection is None else verdict.rejection.headline()
        super().__init__(f"{source}: {verdict.kind}: {reason}")


def accepted_by_model(run: Run) -> tuple[str, ...]:
    """Return the profiles under which TLC accepts the run, its own first.

    Raises:
        NotAcceptedError: TLC rejects it under its own profile.
    """
    return _accepted(run, PROFILES.values())


def accepted_under_own_profile(run: Run) -> tuple[str, ...]:
    """Return the run's own profile, under which TLC accepts it.

    Raises:
        NotAcceptedError: TLC rejects it.
    """
    return _accepted(run, ())


def _accepted(run: Run, profiles: Iterable[Profile]) -> tuple[str, ...]:
    own = run.configuration.profile

    def judged(profile: Profile) -> Verdict:
        # A rejection under another profile is no error, and nobody reads which rule is behind it.
        return _checked(run, replace(run.configuration, profile=profile), attributes=profile is own)

    return accepted_profiles(run.source, own, profiles, judged)


def accepted_profiles(
    source: str, own: _Profile, others: Iterable[_Profile], judged: Callable[[_Profile], AnyVerdict]
) -> tuple[str, ...]:
    """Return the names of the profiles under which the model accepts a run, its own first.

    Raises:
        NotAcceptedError: the model rejects it under its own profile.
    """
    verdict = judged(own)
    if verdict.kind is not VerdictKind.ACCEPTED:
        raise NotAcceptedError(source, verdict)
    named: list[_Profile] = [profile for profile in others if profile.name != own.name]
    return (own.name, *[profile.name for profile in named if judged(profile).kind is VerdictKind.ACCEPTED])


def _checked(run: Run, configuration: Configuration, *, attributes: bool) -> Verdict:
    occurrences = tuple(occurrences_for_model(run.occurrences, configuration))
    if run.construction is None:
        return check_occurrences(occurrences, configuration, run.source, attributes=attributes)
    return _checked_from(replace(run, occurrences=occurrences), run.construction, configuration, attributes=attributes)


def _checked_from(run: Run, construction: Construction, configuration: Configuration, *, attributes: bool) -> Verdict:
    """Check every step from a constructed state on, with its properties.

    Invariants of the whole cluster are not checked, because they hold only for reachable states.
    """
    line = checkpoint_line(construction.checkpoint)
    checker = TraceChecker(trace_model(), configuration, run.source, own=True, start=line, attributes=attributes)
    (there,) = checker.states
    if not trace_model().specification.is_valid("TypeOk", there):
        raise AssertionError(f"{run.source}: the constructed state is not well-typed")
    rejection: Rejection | None = None
    steps = [occurrence for occurrence in run.occurrences if occurrence.sequence >= run.start]
    for number, occurrence in enumerate(steps, 1):
        rejection = checker.feed(number, event_line(occurrence))
        if rejection is not None or checker.is_over:
            return checker.finish(complete=True, rejection=rejection)
    return Verdict(VerdictKind.ACCEPTED, run.source, len(steps), complete=True, candidates_max=1, every=0)
