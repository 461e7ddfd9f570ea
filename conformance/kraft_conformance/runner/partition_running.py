"""Run of a vector of the subject `partitions` on an adapter."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from kraft_conformance.protocol.partitions import (
    LEADER_AND_ISR_LEAST,
    PartitionObserve,
    PartitionObserveReply,
    PartitionReset,
    PartitionResetReply,
    PartitionStep,
    PartitionStepReply,
)
from kraft_conformance.runner.asking import NotApplicable
from kraft_conformance.runner.comparison import compare_refusals
from kraft_conformance.runner.concluding import conclude
from kraft_conformance.runner.outcome import RULES_MAX, Failed, Outcome, Status
from kraft_conformance.runner.partition_attribution import attribute_controller_step, steps_of_controllers
from kraft_conformance.runner.partition_choices import Choices
from kraft_conformance.runner.partition_items import STORED, Item, items, label, partition_fields, sent_to, view_fields
from kraft_conformance.runner.plain import Comparison, compare, text, wrong_order
from kraft_conformance.runner.session import Adapter
from kraft_conformance.runner.vector_run import VectorRun
from kraft_mutants import load_catalogue
from kraft_mutants.attribution import GivenToControllers
from kraft_partitions.occurrence import PartitionOccurrence
from kraft_spec.difference import Difference
from kraft_spec.rules import strictest_level
from kraft_traces.partitions.encode import line_of, traced_state
from kraft_traces.partitions.lines import Name
from kraft_vectors.features import Level
from kraft_vectors.partitions.format import PartitionLatitude, PartitionVector, PartitionVectorStep
from kraft_vectors.partitions.shown import ControllerView, ShownEffect
from kraft_vectors.partitions.view_changes import apply_view_changes, by_name

# ---------------------------------------------------------------------------------------------------------
# Comparing.
# ---------------------------------------------------------------------------------------------------------


class ControllerComparison:
    """Comparison of the observable effects of a step.

    Args:
        step: the expected step.
        effects: the actual effects.
        after: the vector's state after the step.
        choices: choices of the implementation, including this step's.
        observability: of the adapter.
        never_shown: kinds of effects that the adapter declares hidden.
    """

    def __init__(
        self,
        step: PartitionVectorStep,
        effects: Sequence[ShownEffect],
        after: ControllerView,
        choices: Choices,
        observability: Level,
        never_shown: Sequence[str],
    ) -> None:
        hidden = {*never_shown, *([] if observability != "wire" else [kind.__struct_config__.tag for kind in STORED])}
        self._after = choices.adopted(after)
        wanted = list(items(step.outputs))
        self._expected = {item.name: choices.item(item) for item in wanted if item.kind not in hidden}
        self._actual = [item for item in items(effects) if item.kind not in hidden]
        self._places: dict[str, int] = {}
        for place, item in enumerate(self._actual):
            self._places.setdefault(item.name, place)
        self._errors = {
            path: tuple(map(str, latitude.any_of or ()))
            for latitude in step.latitude
            if latitude.field == "error"
            for path in _error_paths(latitude)
        }
        self._pairs = [
            (self._followed(first_item, choices), other.name)
            for first, second in step.before
            for first_item in wanted
            for other in wanted
            if (first_item.position, other.position) == (first, second)
            and (first_item.partition == other.partition or other.partition is None)
        ]

    @staticmethod
    def _followed(item: Item, choices: Choices) -> str:
        """Return the item's name, with the chosen leader for a request to the new leader."""
        leader = item.fields.get("leader")
        if item.kind != "LeaderAndIsr" or item.partition is None or leader is None:
            return item.name
        return sent_to(item.kind, item.partition, choices.leader(item.partition, leader))

    def compared(self) -> Comparison:
        """Return the differences and the expected items that are not shown."""
        return Comparison.of([*self._contents(), *wrong_order(self._pairs, self._places, self._places)])

    def _contents(self) -> Iterator[Difference | str]:
        actual: dict[str, Item] = {}
        for item in self._actual:
            # A repeated request with the same content changes nothing at the broker.
            told_again = (
                item.kind in ("LeaderAndIsr", "StopReplica") and actual.get(item.name, item).fields == item.fields
            )
            if item.name in actual and not told_again and item.kind != "StoreReassignPartitions":
                yield Difference(item.name, "once", "twice")
            actual[item.name] = item
        for name, expected in self._expected.items():
            if name in actual:
                for field in _compared_fields(name, expected.fields, actual[name].fields):
                    allowed = () if isinstance(field, str) else self._errors.get(field.field, ())
                    if isinstance(field, str) or field.actual not in map(text, allowed):
                        yield field
            else:
                yield Difference(name, _worded(expected), "nothing")
        for name, item in actual.items():
            if name not in self._expected and not self._only_repeats(item):
                yield Difference(name, "nothing", _worded(item))

    def _only_repeats(self, item: Item) -> bool:
        """True if the item only repeats the current state to a broker, which is always allowed."""
        if item.kind != "LeaderAndIsr" or item.partition not in by_name(self._after):
            return False
        row = partition_fields(by_name(self._after)[item.partition])
        holds = [sent_to("LeaderAndIsr", item.partition, broker) for broker in row["replicas"]]
        return item.name in holds and not list(_compared_fields("", row, item.fields, left_out=False))


def _worded(item: Item) -> str:
    return text(item.fields) if item.fields else "once"


def _error_paths(latitude: PartitionLatitude) -> tuple[str, ...]:
    """Return the paths of an error in the response to either request."""
    if latitude.partition is None:
        return ("AlterReassignmentsAnswer.error", "ListReassignmentsAnswer.error")
    return (f"AlterReassignmentsAnswer.results.{label(latitude.partition)}",)


def _compared_fields(path: str, expected: Any, actual: Any, *, left_out: bool = True) -> Iterator[Difference | str]:
    """Yield the differences of two items; any version from the first that has the lists is allowed."""
    wanted = {name: value for name, value in expected.items() if name != "version"}
    for name in ("results", "reassignments"):
        if isinstance(wanted.get(name), dict) and isinstance(actual.get(name), dict):
            yield from _compared_rows(f"{path}.{name}", wanted.pop(name), actual[name])
    if actual.get("version", LEADER_AND_ISR_LEAST) < LEADER_AND_ISR_LEAST:
        yield Difference(f"{path}.version", f"at least {LEADER_AND_ISR_LEAST}", text(actual["version"]))
    for difference in compare(path, wanted, actual):
        if left_out or not isinstance(difference, str):
            yield difference


def _compared_rows(path: str, expected: dict[str, Any], actual: dict[str, Any]) -> Iterator[Difference | str]:
    """Yield the differences of rows by partition; a missing row is a difference, not an omitted field."""
    for name in (*expected, *[more for more in actual if more not in expected]):
        if name in expected and name in actual:
            yield from compare(f"{path}.{name}", expected[name], actual[name])
        else:
            texts = [text(rows[name]) if name in rows else "nothing" for rows in (expected, actual)]
            yield Difference(f"{path}.{name}", *texts)


def compare_views(path: str, expected: ControllerView, actual: ControllerView) -> Comparison:
    """Return the differences of two states; `path` is the prefix of each field."""
    wanted, got = view_fields(expected), view_fields(actual)
    differences: list[Difference | str] = []
    if "partitions" in got:
        differences += _compared_rows(f"{path}.partitions", wanted.pop("partitions"), got["partitions"])
    return Comparison.of([*differences, *compare(path, wanted, got)])


def rows(view: ControllerView) -> Iterable[Item]:
    """Return the partitions of an observed state as items."""
    return [_row(name, partition_fields(partition)) for name, partition in by_name(view).items()]


def _row(name: Name, fields: dict[str, Any]) -> Item:
    return Item(f"state {label(name)}", "state", name, fields, 0)


class PartitionRun(VectorRun[PartitionVector]):
    """Run of a vector on the adapter."""

    def __init__(self, session: Adapter, vector: PartitionVector, profile: str) -> None:
        super().__init__(session, vector, profile)
        self._cluster = replace(vector.cluster, profile=profile)
        self._sees_state = self.hello.observability == "state"
        self._choices = Choices()
        self._left_out: list[str] = []
        """Parts of effects that were not shown."""
        self._shown: tuple[PartitionStepReply, ControllerView] | None = None
        """Reply and state of the last step."""
        self._unseen: list[str] = []
        """Fields of the state that were not shown."""

    def outcome(self) -> Outcome:
        """See `VectorRun.outcome`."""
        self._set_up()
        expected = self.vector.before
        if self._sees_state:
            differences = self._compared(self._observed(), "before", expected)
            if differences:
                raise Failed(0, None, differences)
        for number, step in enumerate(self.vector.steps, 1):
            expected = apply_view_changes(expected, step.state)
            reason = self._choices.why_not(step, expected)
            if reason is not None:
                raise NotApplicable(Status.SKIPPED, reason)
            differences = self._happen(step, expected)
            if differences:
                raise Failed(number, type(step.event).__name__, differences)
        return conclude(self.vector, self.hello, self._left_out, self._unseen)

    def attributed(self, outcome: Outcome, left_out: frozenset[str]) -> Outcome:
        """Return a failure with the rules behind the differences."""
        outcome = replace(outcome, rule_level=strictest_level(self.vector.rules))
        if not outcome.step or self._shown is None:
            return outcome
        reply, view = self._shown
        level = self.hello.observability
        attribution = attribute_controller_step(self.vector, self._cluster, outcome.step, reply, view, level, left_out)
        # Many places of that code cite several rules: without a matching mutant, the vector's rules say more.
        if not attribution.suspects:
            return outcome
        catalogue = load_catalogue()
        broken = [rule for name in attribution.suspects for rule in catalogue[name].rules]
        rules = tuple(dict.fromkeys((*broken, *self.vector.rules)))[:RULES_MAX]
        return replace(outcome, rules=rules, why=attribution.why, suspects=attribution.suspects)

    @staticmethod
    def steps(vector: PartitionVector) -> Sequence[GivenToControllers]:
        """See `VectorRun.steps`."""
        return steps_of_controllers(vector, vector.cluster)

    @staticmethod
    def shown(step: PartitionOccurrence, level: Level) -> object:
        """See `VectorRun.shown`."""
        effects = line_of(step).effects
        return (effects, step.refusal, traced_state(step.state)) if level == "state" else effects

    def _set_up(self) -> None:
        vector = self.vector
        before = vector.before if self.hello.injects(has_history=True) else UNSET
        self.session.ask(PartitionResetReply, PartitionReset, cluster=self._cluster, before=before)
        if before is UNSET:
            for event in vector.history:
                self.session.ask(PartitionStepReply, PartitionStep, event=event.event)

    def _happen(self, step: PartitionVectorStep, after: ControllerView) -> tuple[Difference, ...]:
        event = self._choices.event(step.event)
        reply = self.session.ask(PartitionStepReply, PartitionStep, event=event)
        actual = self._observed() if self._sees_state else ControllerView()
        self._shown = (reply, actual)
        self._choices.choose(step.latitude, after, [*items(reply.effects), *rows(actual)])
        hello = self.hello
        compared = ControllerComparison(
            step, reply.effects, after, self._choices, hello.observability, hello.unobserved
        ).compared()
        self._left_out.extend(compared.left_out)
        if not self._sees_state:
            return compared.differences
        refused = compare_refusals(step.refusal, reply.refusal)
        return (*compared.differences, *refused, *self._compared(actual, "state", after))

    def _observed(self) -> ControllerView:
        return self.session.ask(PartitionObserveReply, PartitionObserve).state

    def _compared(self, actual: ControllerView, path: str, expected: ControllerView) -> tuple[Difference, ...]:
        compared = compare_views(path, self._choices.adopted(expected), actual)
        self._unseen.extend(compared.left_out)
        return compared.differences
