"""What the reference reaches: in simulated runs, in the named scenarios, in schedules made by hand.

The cause of a change of role is not in an occurrence, so rows of the transition table are counted where the reference
looks them up; `counted_transitions` puts a counting table in its place for as long as a probe lasts.
A step that is tried out for a crash point looks its rows up too.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product
from typing import Literal

from kraft_dev.probes.kinds import row_name
from kraft_dev.probes.misfortune import Misfortune
from kraft_dev.probes.schedules import BY_HAND
from kraft_dev.probes.tally import Tally
from kraft_reference import transitions
from kraft_reference.cluster.occurrence import Occurrence
from kraft_reference.cluster.plan import RunPlan
from kraft_reference.cluster.simulation import Simulation
from kraft_reference.cluster.workload import WORKLOADS
from kraft_reference.configuration import Configuration
from kraft_reference.effects import Answer, Send
from kraft_reference.events import Receive, event_name
from kraft_reference.messages import Message, Reply
from kraft_reference.profile import PROFILES
from kraft_reference.roles import TRANSITION, Cause, Role, Transition
from kraft_reference.scenarios import SCENARIOS
from kraft_spec.experiments.playing import play

Source = Literal["simulated", "scenarios", "by hand"]
SOURCES: tuple[Source, ...] = ("simulated", "scenarios", "by hand")

SEEDS = 8
STEPS = 600
_VOTERS = (3, 5, 1, 3)
"""Numbers of voters, one seed after the other."""


@dataclass(frozen=True, slots=True)
class Amount:
    """How much is simulated."""

    seeds: int = SEEDS
    steps: int = STEPS


_TABLE = "TRANSITION"
"""The name by which `kraft_reference.transitions.enter` finds its rows."""


class _Counting(Mapping[tuple[Role, Cause, Role], Transition]):
    """The transition table, which counts what is asked of it."""

    def __init__(self, tally: Tally) -> None:
        self._tally = tally

    def __getitem__(self, key: tuple[Role, Cause, Role]) -> Transition:
        row = TRANSITION[key]
        self._tally.add("transition", row_name(*key))
        return row

    def __iter__(self) -> Iterator[tuple[Role, Cause, Role]]:
        return iter(TRANSITION)

    def __len__(self) -> int:
        return len(TRANSITION)


@contextmanager
def counted_transitions(tally: Tally) -> Iterator[None]:
    """Count the rows of the transition table that the reference takes."""
    kept = getattr(transitions, _TABLE)
    setattr(transitions, _TABLE, _Counting(tally))
    try:
        yield
    finally:
        setattr(transitions, _TABLE, kept)


def count_occurrence(tally: Tally, occurrence: Occurrence) -> None:
    """Count what one occurrence shows."""
    event = occurrence.event
    tally.add("event", event_name(event))  # type: ignore[arg-type]  # the network's events are named by their class too
    if isinstance(event, Receive):
        tally.add("message", type(event.message).__name__)
    if occurrence.refusal is not None:
        tally.add("refusal", occurrence.refusal)
    tally.add_all("effect", (type(effect).__name__ for effect in occurrence.effects))
    sent: list[Message | Reply] = [effect.message for effect in occurrence.effects if isinstance(effect, Send)]
    sent += [effect.reply for effect in occurrence.effects if isinstance(effect, Answer)]
    if occurrence.answer is not None:
        sent.append(occurrence.answer)
    tally.add_all("error", (message.error for message in sent if hasattr(message, "error")))


def probe_reference(amount: Amount | None = None, on_run: Callable[[str], None] | None = None) -> dict[Source, Tally]:
    """Count what each source reaches; `on_run` hears the name of each run."""
    amount = amount or Amount()
    say = on_run or (lambda _: None)
    counted: dict[Source, Tally] = {source: Tally() for source in SOURCES}
    with counted_transitions(counted["simulated"]):
        for plan in plans(amount):
            say(f"{plan.workload}, seed {plan.seed}")
            _count_run(counted["simulated"], plan.simulation())
    with counted_transitions(counted["scenarios"]):
        for scenario, variant in ((one, variant) for one in SCENARIOS for variant in one.variants):
            say(f"{scenario.name}/{variant.name}")
            _count_all(counted["scenarios"], variant.configuration, play(scenario, variant).occurrences)
    with counted_transitions(counted["by hand"]):
        for schedule in BY_HAND:
            say(schedule.name)
            _count_all(counted["by hand"], None, schedule.occurrences())
    return counted


def plans(amount: Amount) -> Iterator[RunPlan]:
    """The simulated runs: every workload under every seed, the profiles in turn."""
    profiles = sorted(PROFILES, reverse=True)
    for seed, workload in product(range(amount.seeds), WORKLOADS):
        profile = profiles[seed % len(profiles)]
        yield RunPlan(
            seed, replicas=_VOTERS[seed % len(_VOTERS)], steps=amount.steps, workload=workload, profile=profile
        )


def _count_run(tally: Tally, simulation: Simulation) -> None:
    misfortune = Misfortune(simulation.configuration, simulation.world)
    for occurrence in simulation.run():
        count_occurrence(tally, occurrence)
        tally.add_all("fault", misfortune.seen(occurrence))
    if simulation.violation is not None:
        raise AssertionError(f"a probe runs the reference as it is: {simulation.violation}")
    tally.add_all("fault", misfortune.seen_at_end())


def _count_all(tally: Tally, configuration: Configuration | None, occurrences: Iterable[Occurrence]) -> None:
    misfortune = None if configuration is None else Misfortune(configuration, None)
    for occurrence in occurrences:
        count_occurrence(tally, occurrence)
        if misfortune is not None:
            tally.add_all("fault", misfortune.seen(occurrence))
