"""Table of the tools; those of the suite from the cheapest to the most expensive."""

from kraft_dev.mutants import checked, evidence, vectors
from kraft_dev.mutants.inside import in_own_process
from kraft_dev.mutants.naming import NAMED, UNKNOWN, name_rules
from kraft_dev.mutants.random_runs import run_random
from kraft_dev.mutants.tool import Tool
from kraft_dev.results import Cell, Row


def _inside(name: str, does: str) -> Tool:
    """Return a tool that runs inside the mutant's process."""
    return Tool(name, does, in_own_process(name), (name,))


VECTORS = Tool(
    "vectors",
    "the conformance vectors on the mutant behind its adapter, at each level of observability",
    vectors.ask_vectors,
    vectors.DETECTORS,
)
RANDOM = Tool(
    "random",
    "the random mode on clusters of the mutant, where no vector detects it",
    run_random,
    ("random",),
    lambda subject: bool(subject.edits) and subject.part == "replica",
)
NAMING = Tool(
    "naming",
    "the rules that the first failing vector names, with the mutant in the catalogue and without it",
    name_rules,
    (NAMED, UNKNOWN),
)
CHECKS = Tool(
    "checks",
    "the properties of the simulator and the trace checker that are the first to detect it, in their runs",
    checked.run_again,
    ("checks",),
    checked.is_evidence,
)
EVIDENCE = Tool(
    "evidence",
    "TLC on the broken model: the property that is violated, and the shortest counterexample",
    evidence.run_tlc,
    ("evidence",),
    lambda subject: subject.mutant is not None and subject.mutant.evidence is not None,
)

SUITE: tuple[Tool, ...] = (
    VECTORS,
    _inside("scenarios", "the scripts of the named scenarios and the properties they state"),
    _inside("partitions", "the scenarios of partition reassignment"),
    _inside("edges", "the model's state graph replayed on the reference"),
    _inside("invariants", "simulated runs with their invariants and the progress they owe"),
    _inside("traces", "simulated runs, each line judged by TLC"),
    _inside("partition-traces", "random runs of partition reassignment, each line judged by TLC"),
    RANDOM,
)
"""Tools that a mutant of the reference meets, up to the first that detects it."""

TOOLS = {tool.name: tool for tool in (*SUITE, NAMING, CHECKS, EVIDENCE)}

BY_DETECTOR = {detector: tool for tool in TOOLS.values() for detector in tool.detectors}

_OF_SUITE = frozenset(detector for tool in SUITE for detector in tool.detectors)


def detections(row: Row) -> tuple[Cell, ...]:
    """Return the cells in which the suite detects the mutant, the cheapest first."""
    return tuple(cell for cell in row.cells if cell.detects and cell.detector in _OF_SUITE)


def is_asked(row: Row) -> bool:
    """True if a tool of the suite ran on the mutant."""
    return any(cell.detector in _OF_SUITE for cell in row.cells)
