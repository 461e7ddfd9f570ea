"""The tools, each a row, from the cheapest to the most expensive; and the matrices that they make."""

from collections.abc import Mapping
from dataclasses import dataclass

from kraft_dev.matrix import vectors
from kraft_dev.matrix.inside import in_own_process
from kraft_dev.matrix.naming import NAMED, UNKNOWN, name_rules
from kraft_dev.matrix.random_runs import run_random
from kraft_dev.matrix.tool import Tool

VECTORS = Tool(
    "vectors",
    "the conformance vectors on the mutant behind its adapter, at each level of observability",
    "vectors",
    vectors.ask_vectors,
    vectors.DETECTORS,
)
RANDOM = Tool(
    "random",
    "the random mode on clusters of the mutant, where no vector detects it",
    "runs",
    run_random,
)


def _inside(name: str, does: str, unit: str = "events") -> Tool:
    """A tool that looks at a mutant from inside of its process."""
    return Tool(name, does, unit, in_own_process(name))


NAMING = Tool(
    "naming",
    "the rules that the first failing vector names, with the mutant in the catalogue and without it",
    "failures",
    name_rules,
    (NAMED, UNKNOWN),
)

SUITE: tuple[Tool, ...] = (
    VECTORS,
    _inside("scenarios", "the scripts of the named scenarios and the properties they state"),
    _inside("partitions", "the scenarios of partition reassignment"),
    _inside("edges", "the model's state graph replayed on the reference", "edges"),
    _inside("invariants", "simulated runs with their invariants and the progress they owe"),
    _inside("traces", "simulated runs, each line judged by TLC"),
    _inside("partition-traces", "random runs of partition reassignment, each line judged by TLC"),
)

TOOLS = {tool.name: tool for tool in (*SUITE, RANDOM, NAMING)}


ALL = 1.0
"""The share of whom each one that is missing is named."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A matrix of mutants.

    Attributes:
        tools: Each mutant meets them up to the first that detects it.
        target: Share of the seeded mutants that must be detected, those aside that nothing can detect.
        target_drawn: The same of the machine-made ones.
        one_vector: As `Means` has it.
        behind_adapter: Whether what no vector and no random run can detect does not count.
    """

    tools: tuple[Tool, ...]
    target: float = 0.0
    target_drawn: float = 0.0
    one_vector: bool = False
    behind_adapter: bool = False


KINDS: Mapping[str, Kind] = {
    "grading": Kind((VECTORS,), target=0.9, behind_adapter=True),
    "mutants": Kind((*SUITE, RANDOM), target=ALL, target_drawn=0.95, one_vector=True),
    "naming": Kind((NAMING,), behind_adapter=True),
}
"""By the name of the recorded result; where two say something of a vector, the one with all vectors comes first."""


def tool_of(detector: str) -> Tool | None:
    """The tool that has a detector; None of one that there is no more."""
    return next((tool for tool in TOOLS.values() if detector in (tool.detectors or (tool.name,))), None)
