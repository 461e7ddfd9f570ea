"""Mutants against tools: each pair in a process of its own, several mutants at a time."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

from kraft_dev.child import ChildError, ChildTimeoutError, run_child
from kraft_dev.edges import stored_graph
from kraft_dev.mutation.edge_replay import record_edges
from kraft_dev.mutation.sighting import Attack, Outcome
from kraft_dev.mutation.tools import Tool
from kraft_spec.edits import Edit, edited_packages
from kraft_spec.mutants import Mutant, reference_edits

LIMIT_FACTOR = 10
LIMIT_SECONDS_MIN = 60.0
"""A tool that takes ten times as long as on the unbroken reference, and a minute at least, hangs."""

BASELINE_LIMIT_SECONDS = 900.0


class AttackError(Exception):
    """A tool cannot be used, or finds fault with the unbroken reference."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A broken reference.

    Attributes:
        name: Of the mutant.
        edits: Of `kraft_reference`.
    """

    name: str
    edits: tuple[Edit, ...] = ()


def subject_of(mutant: Mutant) -> Subject:
    """The broken reference of a mutant."""
    return Subject(mutant.name, reference_edits(mutant))


UNBROKEN = Subject("the unbroken reference")


@dataclass(frozen=True, slots=True)
class Campaign:
    """What is tried, and how.

    Attributes:
        tools: Cheapest first.
        edges: File with the model's edges; None if no tool replays them.
        stop_at_first: Whether a mutant that one tool has killed is left alone by the dearer ones.
        limits: Seconds for each tool.
        begin_with: Mutant to the tool that comes first if one kill is enough; the others follow in their order.
    """

    tools: tuple[Tool, ...]
    edges: Path | None
    stop_at_first: bool
    limits: Mapping[str, float]
    begin_with: Mapping[str, str] = field(default_factory=dict)

    def run(
        self, subjects: Sequence[Subject], jobs: int, on_outcome: Callable[[Outcome], None] | None = None
    ) -> tuple[Outcome, ...]:
        """Try everything; the outcomes are in the order of the subjects, whatever came first.

        Raises:
            EditError: An edit does not fit the reference.
            AttackError: A tool cannot be used.
        """

        def one(subject: Subject) -> Outcome:
            outcome = self._outcome(subject)
            if on_outcome is not None:
                on_outcome(outcome)
            return outcome

        with ThreadPoolExecutor(max_workers=jobs) as pool:
            futures = [pool.submit(one, subject) for subject in subjects]
            try:
                return tuple(future.result() for future in futures)
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def _outcome(self, subject: Subject) -> Outcome:
        attacks: list[Attack] = []
        with edited_packages({"kraft_reference": subject.edits}) as environment:
            for tool in self._in_order(subject):
                if reason := tool.why_not():
                    attacks.append(Attack(tool.name, skipped=reason))
                    continue
                attacks.append(_in_own_process(tool, subject, self.edges, environment, self.limits.get(tool.name)))
                if self.stop_at_first and attacks[-1].killed:
                    break
        return Outcome(subject.name, tuple(attacks))

    def _in_order(self, subject: Subject) -> list[Tool]:
        """The tools, the usual killer first: a kill is a kill, whoever was asked before."""
        first = self.begin_with.get(subject.name) if self.stop_at_first else None
        return sorted(self.tools, key=lambda tool: tool.name != first)


@contextmanager
def prepared(
    tools: Sequence[Tool], *, edges: Path | None = None, on_step: Callable[[str], None] | None = None
) -> Iterator[tuple[Campaign, Outcome]]:
    """Yield a campaign whose tools have all passed the unbroken reference, and what they said of it.

    Args:
        tools: Cheapest first.
        edges: File with the model's edges, enumerated afresh unless it has those of this very model; a temporary one if
            None.
        on_step: Told what happens meanwhile.

    Raises:
        AttackError: One did not pass, or cannot be used.
        ChildError: The model's edges cannot be enumerated.
    """
    say = on_step or (lambda _: None)
    with TemporaryDirectory(prefix="kraft-spec-edges-") as folder:
        if any(tool.name == "edges" for tool in tools):
            edges = edges or Path(folder) / "edges"
            if stored_graph(edges) is None:
                say("enumerating the model's edges")
                record_edges(edges)
        say("every tool on the unbroken reference")
        baseline = Campaign(tuple(tools), edges, False, {}).run([UNBROKEN], 1)[0]
        for attack in baseline.attacks:
            if attack.killed:
                raise AttackError(
                    f"{attack.tool} finds fault with the unbroken reference, so what it finds in a mutant says nothing "
                    f"({attack.where}: {attack.what})"
                )
        limits = {attack.tool: max(LIMIT_SECONDS_MIN, LIMIT_FACTOR * attack.seconds) for attack in baseline.attacks}
        yield Campaign(tuple(tools), edges, False, limits), baseline


def _in_own_process(
    tool: Tool, subject: Subject, edges: Path | None, environment: Mapping[str, str], limit: float | None
) -> Attack:
    words = [tool.name, *([] if edges is None else ["--edges", str(edges)])]
    seconds = limit or BASELINE_LIMIT_SECONDS
    began = monotonic()
    try:
        said = run_child("kraft_dev.mutation.attack", *words, environment=environment, seconds=seconds)
    except ChildTimeoutError:
        return Attack(tool.name, True, f"hangs: no end after {seconds:.0f} s", seconds=monotonic() - began)
    except ChildError as error:
        raise AttackError(f"{tool.name} on {subject.name}: {error}") from error
    return Attack(**json.loads(said))
