"""One vector of the subject `partitions` on one adapter."""

from dataclasses import replace as replace_outcome

from msgspec import UNSET
from msgspec.structs import replace

from kraft_conformance.protocol.partitions import (
    ControllerView,
    PartitionObserve,
    PartitionObserveReply,
    PartitionReset,
    PartitionResetReply,
    PartitionStep,
    PartitionStepReply,
)
from kraft_conformance.runner.asking import NotAsked
from kraft_conformance.runner.comparison import compared_refusal
from kraft_conformance.runner.concluding import concluded
from kraft_conformance.runner.outcome import RULES_MAX, Failed, Outcome, Status
from kraft_conformance.runner.partition_attribution import attributed_controllers
from kraft_conformance.runner.partition_choices import Choices
from kraft_conformance.runner.partition_comparison import ControllerComparison, compared_view, rows
from kraft_conformance.runner.partition_items import items
from kraft_conformance.runner.plain import Difference
from kraft_conformance.runner.session import Adapter
from kraft_conformance.vectors.partitions.format import PartitionVector, PartitionVectorStep
from kraft_conformance.vectors.partitions.view_changes import applied
from kraft_spec.mutants import load_catalogue
from kraft_spec.rules import strictest_level


class PartitionRun:
    """The vector on the adapter, as `run_vector` asks for it."""

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
        """Run it to its end, or to the first step that shows something else.

        Raises:
            Failed: there is one.
            NotAsked: the vector goes on from something else than the adapter has chosen.
        """
        self._set_up()
        expected = self._vector.before
        if self._sees_state:
            differences = self._compared(self._observed(), "before", expected)
            if differences:
                raise Failed(0, None, differences)
        for number, step in enumerate(self._vector.steps, 1):
            expected = applied(expected, step.state)
            reason = self._choices.why_not(step, expected)
            if reason is not None:
                raise NotAsked(Status.SKIPPED, reason)
            differences = self._happen(step, expected)
            if differences:
                raise Failed(number, type(step.event).__name__, differences)
        return concluded(self._vector, self._hello, self._left_out, self._unseen)

    def attributed(self, outcome: Outcome, left_out: frozenset[str]) -> Outcome:
        """A failure with the rules behind what differs."""
        outcome = replace_outcome(outcome, rule_level=strictest_level(self._vector.rules))
        if not outcome.step or self._shown is None:
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
        before = vector.before if self._hello.injects(has_history=True) else UNSET
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
