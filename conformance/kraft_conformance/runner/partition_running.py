"""One vector of the subject `partitions` on one adapter."""

from dataclasses import replace as replace_outcome

from msgspec import UNSET
from msgspec.structs import replace

from kraft_conformance.protocol.features import shows
from kraft_conformance.protocol.messages import HelloReply
from kraft_conformance.protocol.partitions import (
    ControllerView,
    PartitionObserve,
    PartitionObserveReply,
    PartitionReset,
    PartitionResetReply,
    PartitionStep,
    PartitionStepReply,
)
from kraft_conformance.runner.faults import Unsupported
from kraft_conformance.runner.outcome import RULES_MAX, Outcome, Status
from kraft_conformance.runner.partition_attribution import attributed_controllers
from kraft_conformance.runner.partition_choices import Choices
from kraft_conformance.runner.partition_comparison import ControllerComparison, compared_refusal, compared_view, rows
from kraft_conformance.runner.partition_items import items
from kraft_conformance.runner.plain import Difference
from kraft_conformance.runner.session import Adapter
from kraft_conformance.vectors.partitions.format import PartitionVector, PartitionVectorStep
from kraft_conformance.vectors.partitions.view_changes import applied
from kraft_conformance.vectors.profiles import shown_profile
from kraft_spec.mutants import load_catalogue
from kraft_spec.rules import strictest_level


def run_partition_vector(
    session: Adapter,
    vector: PartitionVector,
    profile: str,
    *,
    attributes: bool = False,
    left_out: frozenset[str] = frozenset(),
) -> Outcome:
    """Run a vector; the arguments are those of `run_vector`.

    Raises:
        AdapterFault: the adapter does not answer as the protocol says; its process is to be ended.
    """
    not_asked = why_not_asked(vector, session.hello, profile)
    if not_asked is not None:
        return not_asked
    try:
        run = _Run(session, vector, profile)
        outcome = run.outcome()
        return run.attributed(outcome, left_out) if attributes else outcome
    except Unsupported as fault:
        return Outcome(vector.id, Status.UNSUPPORTED, f"the adapter says: {fault}")


def why_not_asked(vector: PartitionVector, hello: HelloReply, profile: str) -> Outcome | None:
    """The outcome of a vector that is not for this implementation; None if it is."""
    requires = vector.requires
    missing = [kip for kip in requires.kips if hello.kip_levels.get(kip, "none") == "none"]
    lacking = [feature for feature in requires.features if feature in hello.unsupported]
    if "partitions" not in hello.subjects:
        return Outcome(vector.id, Status.UNSUPPORTED, "needs the subject partitions")
    if missing or lacking:
        return Outcome(vector.id, Status.UNSUPPORTED, f"needs {', '.join(missing or lacking)}")
    if profile not in requires.profiles:
        named = " and ".join(map(shown_profile, requires.profiles))
        reason = f"of the profile {named}, not {shown_profile(profile)}"
        return Outcome(vector.id, Status.SKIPPED, reason)
    return None


class _Run:
    def __init__(self, session: Adapter, vector: PartitionVector, profile: str) -> None:
        self._session = session
        self._vector = vector
        self._hello = session.hello
        self._cluster = replace(vector.cluster, profile=profile)
        self._sees_state = self._hello.observability == "state"
        self._choices = Choices()
        self._left_out: list[str] = []
        """Of what is done."""
        self._shown: tuple[PartitionStepReply, ControllerView] | None = None
        """In the last step."""
        self._unseen: list[str] = []
        """Of the state."""

    def outcome(self) -> Outcome:
        """Run it to its end, or to the first step that shows something else."""
        self._set_up()
        expected = self._vector.before
        if self._sees_state:
            differences = self._compared(self._observed(), "before", expected)
            if differences:
                return self._failed(0, None, differences)
        for number, step in enumerate(self._vector.steps, 1):
            expected = applied(expected, step.state)
            reason = self._choices.why_not(step, expected)
            if reason is not None:
                return Outcome(self._vector.id, Status.SKIPPED, reason)
            differences = self._happen(step, expected)
            if differences:
                return self._failed(number, type(step.event).__name__, differences)
        return self._concluded()

    def attributed(self, outcome: Outcome, left_out: frozenset[str]) -> Outcome:
        """A failure with the rules behind what differs."""
        if outcome.status is not Status.FAIL or not outcome.step or self._shown is None:
            return outcome
        reply, view = self._shown
        level = self._hello.observability
        found = attributed_controllers(self._vector, self._cluster, outcome.step, reply, view, level, left_out)
        # Many places of that part name several rules: without a mutant that does the same, the vector says more.
        if not found.suspects:
            return outcome
        catalogue = load_catalogue()
        broken = [rule for name in found.suspects for rule in catalogue[name].rules]
        rules = tuple(dict.fromkeys((*broken, *self._vector.rules)))[:RULES_MAX]
        return replace_outcome(outcome, rules=rules, why=found.why, suspects=found.suspects)

    def _set_up(self) -> None:
        vector = self._vector
        before = vector.before if self._hello.state_injection else UNSET
        self._session.ask(PartitionResetReply, PartitionReset, cluster=self._cluster, before=before)
        if before is UNSET:
            for event in vector.history:
                self._session.ask(PartitionStepReply, PartitionStep, event=event.event)

    def _happen(self, step: PartitionVectorStep, after: ControllerView) -> tuple[Difference, ...]:
        event = self._choices.event(step.event)
        reply = self._session.ask(PartitionStepReply, PartitionStep, event=event)
        actual = self._observed() if self._sees_state else ControllerView()
        self._shown = (reply, actual)
        self._choices.choose(step.latitude, after, [*items(reply.effects), *rows(actual)])
        hello = self._hello
        compared = ControllerComparison(
            step, reply.effects, after, self._choices, hello.observability, hello.unobserved
        ).compared()
        self._left_out.extend(compared.left_out)
        if not self._sees_state:
            return compared.differences
        refused = compared_refusal(step.refusal, reply.refusal)
        return (*compared.differences, *refused, *self._compared(actual, "state", after))

    def _observed(self) -> ControllerView:
        return self._session.ask(PartitionObserveReply, PartitionObserve).state

    def _compared(self, actual: ControllerView, path: str, expected: ControllerView) -> tuple[Difference, ...]:
        compared = compared_view(path, self._choices.adopted(expected), actual)
        self._unseen.extend(compared.left_out)
        return compared.differences

    def _failed(self, number: int, event: str | None, differences: tuple[Difference, ...]) -> Outcome:
        where = "before the first step" if number == 0 else f"step {number} of {len(self._vector.steps)}"
        reason = f"{where}: {differences[0]}"
        rules, level = self._vector.rules, strictest_level(self._vector.rules)
        return Outcome(self._vector.id, Status.FAIL, reason, rules, number, event, differences, rule_level=level)

    def _concluded(self) -> Outcome:
        vector, hello = self._vector, self._hello
        reason = ""
        if not shows(hello.observability, vector.level):
            reason = f"it needs the level {vector.level}, the adapter shows {hello.observability}"
        elif self._left_out:
            reason = f"not shown: {', '.join(dict.fromkeys(self._left_out))}"
        elif vector.level == "effects" and (hidden := self._hidden()):
            reason = f"not shown: {', '.join(hidden)}"
        elif vector.level == "state" and self._unseen:
            reason = f"not shown: {', '.join(dict.fromkeys(self._unseen))}"
        left_out = tuple(dict.fromkeys((*self._left_out, *self._unseen)))
        return Outcome(vector.id, Status.UNOBSERVED if reason else Status.PASS, reason, left_out=left_out)

    def _hidden(self) -> tuple[str, ...]:
        kinds = {item.kind for step in self._vector.steps for item in items(step.outputs)}
        return tuple([kind for kind in self._hello.unobserved if kind in kinds])
