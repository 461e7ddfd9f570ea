"""Pages of what developers measure: the recorded results, and how old they are."""

from collections.abc import Iterable

from kraft_dev.detectors import table as detectors
from kraft_dev.detectors.checks import all_checks
from kraft_dev.detectors.evidence import load_evidence
from kraft_dev.detectors.observability import mutant_rows
from kraft_dev.grading import record as grading
from kraft_dev.grading.naming import load_naming
from kraft_dev.grading.table import load_table
from kraft_dev.mutation import load_bearing
from kraft_dev.mutation import record as mutation
from kraft_dev.mutation.killers import load_killers
from kraft_dev.probes import report as probes
from kraft_dev.results import load_result
from kraft_spec.mutants import load_catalogue
from kraft_spec.mutants.load_bearing import rows
from kraft_spec.rules import Registry
from kraft_spec.rules.scope import load_scope

FOLDER = "results"


def result_pages(registry: Registry) -> Iterable[tuple[str, str]]:
    """Yield (path below docs, Markdown)."""
    catalogue, graded = load_catalogue(), load_table()
    checks = detectors.check_rows(all_checks(), catalogue, load_evidence())
    seen = mutant_rows(catalogue, graded, load_killers())
    killed = load_result("mutants", mutation.Recorded)
    probed = load_result("probes", probes.Probed)
    made = {
        "load-bearing": load_bearing.markdown(rows(catalogue, registry, load_scope().later)),
        "mutants": not_yet("Which tool kills which mutant") if killed is None else mutation.markdown(killed),
        "grading": grading.markdown(graded, load_naming()),
        "detectors": detectors.markdown(checks, seen, load_result("fields", detectors.Fields)),
        "probes": not_yet("Probes: what is reached") if probed is None else probes.markdown(probed),
    }
    for name, text in made.items():
        yield f"{FOLDER}/{name}.md", text


def not_yet(title: str) -> str:
    """The page of a result that is not there."""
    return f"# {title}\n\nNot measured yet.\n"
