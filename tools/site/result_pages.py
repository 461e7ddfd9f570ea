"""Pages of recorded results, with their age."""

from collections.abc import Iterable

from kraft_dev import kafka_bugs, kafka_seeds
from kraft_dev.mutants import tables
from kraft_dev.results import load_result
from kraft_spec.rules import Registry

FOLDER = "results"


def result_pages(registry: Registry) -> Iterable[tuple[str, str]]:
    """Yield (path below docs, Markdown)."""
    yield f"{FOLDER}/mutants.md", tables.markdown(registry, load_result("mutants"))
    yield f"{FOLDER}/kafka-bugs.md", kafka_bugs.markdown(load_result("kafka-bugs"))
    yield f"{FOLDER}/kafka-seeds.md", kafka_seeds.markdown(kafka_seeds.load_campaigns())
