"""The parts of a night.  One entry of `PARTS` is one part; its items come from the part's own table."""

from kraft_conformance.findings.finding import load_findings
from kraft_dev.nightly.means import Means, Part
from kraft_dev.nightly.model_parts import load_bearing_item, model_item, short_checks_first
from kraft_dev.nightly.suite_parts import (
    MUTANT_SETS,
    detectors_item,
    edges_item,
    finding_item,
    grading_item,
    mutants_item,
    probes_item,
)
from kraft_spec.mutants import load_catalogue
from kraft_spec.mutants.load_bearing import with_evidence

PARTS: tuple[Part, ...] = (
    Part("edges", "every edge of the model on the reference", lambda: ("every edge",), edges_item),
    Part(
        "load-bearing",
        "each safety rule taken out of the model: what TLC finds violated",
        lambda: tuple(mutant.name for mutant in with_evidence(load_catalogue())),
        load_bearing_item,
    ),
    Part("mutants", "broken references against every tool", lambda: MUTANT_SETS, mutants_item),
    Part("grading", "broken references behind the adapter, against the vectors", lambda: ("named",), grading_item),
    Part("probes", "everything that can happen is reached", lambda: ("everything",), probes_item),
    Part("detectors", "every check detects a mutant, every field a lie", lambda: ("every check",), detectors_item),
    Part(
        "findings",
        "what was found wrong in the texts still shows",
        lambda: tuple(finding.name for finding in load_findings()),
        finding_item,
    ),
    Part("models", "every model check, the long ones with checkpoints", short_checks_first, model_item),
)


def find_part(name: str) -> Part:
    """The part of that name.

    Raises:
        KeyError: There is none.
    """
    for part in PARTS:
        if part.name == name:
            return part
    raise KeyError(f"no part {name!r} of a night; there are {', '.join(part.name for part in PARTS)}")


__all__ = ["PARTS", "Means", "Part", "find_part"]
