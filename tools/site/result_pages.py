"""Pages of what developers measure: the recorded results, and how old they are."""

from collections.abc import Iterable

from kraft_dev import kafka_bugs, kafka_seeds
from kraft_dev.detectors.checks import all_checks
from kraft_dev.detectors.evidence import check_rows, checks_section, load_evidence
from kraft_dev.load_bearing import evidence
from kraft_dev.markdown import page
from kraft_dev.matrix import page as mutants
from kraft_dev.matrix.tools import KINDS
from kraft_dev.results import load_result
from kraft_mutants import load_catalogue
from kraft_mutants.load_bearing import rows
from kraft_spec.rules import Registry
from kraft_spec.rules.scope import load_scope

FOLDER = "results"


def result_pages(registry: Registry) -> Iterable[tuple[str, str]]:
    """Yield (path below docs, Markdown)."""
    catalogue = load_catalogue()
    checks = check_rows(all_checks(), catalogue, load_evidence())
    measured = [found for name in KINDS if (found := load_result(name)) is not None]
    made = {
        "load-bearing": evidence.markdown(rows(catalogue, registry, load_scope().outside)),
        "mutants": mutants.markdown(catalogue, measured),
        "detectors": page("Detectors: no check is there for nothing", (), [checks_section(checks)]),
        "kafka-bugs": kafka_bugs.markdown(load_result("kafka-bugs")),
        "kafka-seeds": kafka_seeds.markdown(kafka_seeds.load_campaigns()),
    }
    for name, text in made.items():
        yield f"{FOLDER}/{name}.md", text
