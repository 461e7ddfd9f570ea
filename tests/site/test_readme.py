"""README.md, the first page of the site: its figures, and the main command with its output."""

import re
from pathlib import Path

from tests.site.test_command_examples import comparable
from tools.site.command_facts import EXAMPLES
from tools.site.kafka_facts import counts

from kraft_cli.commands.run import MUTANTS
from kraft_kafka.recorded import load_recorded
from kraft_simulation.scenarios import SCENARIOS
from kraft_simulation.workload import WORKLOADS

PAGE = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
MAIN_JOB = PAGE.partition("```sh\nmake run\n```\n\n```\n")[2].partition("```")[0]


def test_the_counts_of_the_main_job_are_real() -> None:
    variants = sum(len(scenario.variants) for scenario in SCENARIOS)
    assert f"│ {len(SCENARIOS)} scenarios, {variants} variants, " in MAIN_JOB
    assert f"│ {3 * len(WORKLOADS)} runs of {len(WORKLOADS)} workloads, " in MAIN_JOB
    assert f"│ {len(MUTANTS)} of {len(MUTANTS)} rejected with the rule named " in MAIN_JOB


def test_the_main_job_is_the_example_of_its_command() -> None:
    """The example is compared with the command's real output at night."""
    example = (EXAMPLES / "run.txt").read_text(encoding="utf-8")
    assert comparable(MAIN_JOB) in comparable(example)


def test_releases_of_kafka_are_shown_as_they_were_recorded() -> None:
    rows = re.findall(r"^\| (\d+\.\d+\.\d+) \| (.+) \|$", PAGE, re.MULTILINE)
    assert rows == [(run.version, " | ".join(map(str, counts(run)))) for run in load_recorded().releases]
