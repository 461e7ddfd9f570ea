"""The generated pages, as text."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.site.conftest import RELEASE
from tools.site.api_facts import public_modules
from tools.site.command_facts import EXAMPLES, NAMES, READ_MORE, codes, tidy_help
from tools.site.docstrings import as_restructured_text, with_raised_in_full
from tools.site.facts import Material, RuleFacts
from tools.site.markup import code_block, options_as_code, prose, split_resolution
from tools.site.model_facts import IN_PYTHON, MODULES
from tools.site.names import ALL_SCENARIOS
from tools.site.pages import environment

from kraft_conformance.exit_codes import ExitCode
from kraft_dev.markdown import table
from kraft_simulation.workload import WORKLOADS
from kraft_spec.rules import PROPERTIES, RuleFileError
from kraft_spec.rules.sources import checkout_sources

HEADINGS = (
    "Source", "What the text leaves open", "Apache Kafka", "When it decides", "Without it", "Python", "TLA+", "Proofs",
    "Scenarios", "Vectors", "Mutants",
)  # fmt: skip


def test_prose_means_nothing_but_itself() -> None:
    assert prose("a*b_c [x] {1,2} <y> `z`") == r"a\*b\_c \[x\] \{1,2\} \<y\> \`z\`"
    assert prose("1. first\n  and - second") == r"1\. first and - second"
    assert prose("see vote.log-check.", {"vote.log-check"}) == "see `vote.log-check`."


def test_a_cell_holds_no_border() -> None:
    assert table(("a", "b"), [("x | y", r"p \| q")]) == ["| a | b |", "|---|---|", r"| x \| y | p \| q |"]


def test_a_fence_is_longer_than_those_inside() -> None:
    assert code_block("```\nx\n```\n") == "````text\n```\nx\n```\n````"


def test_a_summary_is_plain_text() -> None:
    templates = environment({"rules": {}, "properties": {}})
    page = templates.from_string('{% from "macros.jinja" import folded %}{% call folded("a < b & c") %}x{% endcall %}')
    assert "\n<details><summary>a &lt; b &amp; c</summary>\n\nx\n" in page.render()


def test_the_facts_are_data_that_refers_by_name(published: dict[str, Any]) -> None:
    assert (published["schema"], published["release"]) == ("kraft-site-facts/1", RELEASE)
    assert json.loads(json.dumps(published)) == published
    for rule in published["rules"].values():
        for member, key in (("scenarios", "scenarios"), ("mutants", "mutants"), ("slices", "checks")):
            assert set(rule[member]) <= set(published[key]), rule["id"]
        assert set(rule["breaks"]) <= set(published["properties"])


def test_every_rule_has_a_page_under_its_id(made: Mapping[str, str], material: Material) -> None:
    pages = {path for path in made if path.startswith("rules/")}
    assert pages - {f"rules/{rule.id}.md" for rule in material.registry} == {"rules/index.md", "rules/open-points.md"}
    assert len(pages) == 342
    for rule in material.registry:
        text = made[f"rules/{rule.id}.md"]
        assert f"\n# `{rule.id}` {prose(rule.title)}\n" in text
        if rule.is_active:
            for heading in HEADINGS:
                assert f"\n## {heading}\n" in text, (rule.id, heading)


def test_a_rule_page(made: Mapping[str, str]) -> None:
    text = made["rules/vote.log-check.md"]
    for expected in (
        "\n**MUST** · a *safety* rule · group [vote](index.md#vote), 7 of 20 · concerns Unattached, Prospective, ",
        f"Cite as <q>kraft-spec {RELEASE}, rule vote.log-check</q> ",
        "Permanent address: [rules/vote.log-check.html](vote.log-check.md).\n",
        "\n- scenarios [1](#scenarios)\n",
        "\n| <code>vote.log-check</code> | A replica refuses a Vote with a shorter log, but learns its epoch |",
        "Expected violations, from the catalogue: `LeaderCompleteness`; `CommittedNeverLost`.",
        "```{literalinclude} ../../reference/kraft_reference/elections.py\n",
        ":caption: `grants_vote` in reference/kraft_reference/elections.py, lines ",
        ":caption: [GrantsVote](../model/Elections.md#grantsvote) in spec/kraft_spec/tla/Elections.tla, lines ",
        "violated after 14 states. Reproduce with `python -m kraft_dev mutants vote.log-check --tool evidence`.",
    ):
        assert expected in text


def test_a_superseded_rule_says_so_and_by_what(made: Mapping[str, str], material: Material) -> None:
    superseded = [rule for rule in material.registry if not rule.is_active]
    assert superseded
    for rule in superseded:
        text = made[f"rules/{rule.id}.md"]
        assert ":::{admonition} This rule is no longer in force" in text
        assert f"\n{rule.level}, **superseded** · " in text
        assert all(f"`{successor}`" in text for successor in rule.by)


def test_a_rule_that_nothing_implements_says_so(made: Mapping[str, str]) -> None:
    text = made["rules/cli.reassign-list.md"]
    assert ":::{admonition} Outside this specification: nothing here implements it" in text
    assert "\nkafka-topics prints this from a response" in made["rules/cli.topics-describe.md"]


def test_a_rule_that_was_turned_down_names_the_rule_in_force(
    facts: Mapping[str, RuleFacts], made: Mapping[str, str]
) -> None:
    turned_down = [fact.rule.id for fact in facts.values() if fact.turned_down]
    assert "reassign.zombie-leader" in turned_down
    assert "vote.log-check" not in turned_down
    text = made["rules/reassign.zombie-leader.md"]
    assert ":::{admonition} Turned down: this specification departs from the text" in text
    assert "\nA Leader that nobody fetches from resigns, by `check-quorum.zombie-leader`. The rule keeps" in text
    assert "| `reassign.zombie-leader` | MUST, turned down |" in made["rules/index.md"]


def test_a_missing_item_has_a_reason(facts: Mapping[str, RuleFacts], made: Mapping[str, str]) -> None:
    reason = facts["metric.current-state"].model_reason
    assert reason
    assert f"## TLA+\n\nNone: {prose(reason)}\n" in made["rules/metric.current-state.md"]


def test_every_rule_is_in_the_table_once(made: Mapping[str, str], material: Material) -> None:
    lines = made["rules/index.md"].splitlines()
    for rule in material.registry:
        assert len([line for line in lines if line.startswith(f"| `{rule.id}` |")]) == 1, rule.id


def test_every_open_point_is_listed_with_its_resolution(made: Mapping[str, str], material: Material) -> None:
    text = made["rules/open-points.md"]
    for rule in material.registry:
        assert (f"\n`{rule.id}`\n: " in text) == bool(rule.open), rule.id
    assert split_resolution("It is silent. Resolution: at least as long.") == ("It is silent.", "at least as long.")
    assert split_resolution("It is silent.") == ("It is silent.", "")
    assert split_resolution("It is silent; recommended: refuse.") == ("It is silent.", "refuse.")
    assert split_resolution("Both are said. Recommended: the first.") == ("Both are said.", "the first.")


def test_every_scenario_has_a_page_and_a_place_for_its_picture(made: Mapping[str, str]) -> None:
    pages = {path for path in made if path.startswith("scenarios/")}
    assert pages == {"scenarios/index.md", *(f"scenarios/{scenario.name}.md" for scenario in ALL_SCENARIOS)}
    for scenario in ALL_SCENARIOS:
        for variant in scenario.variants:
            assert f"<svg>{scenario.name}/{variant.name}</svg>" in made[f"scenarios/{scenario.name}.md"]


def test_every_workload_is_listed(made: Mapping[str, str]) -> None:
    assert all(f"\n| `{name}` | " in made["scenarios/index.md"] for name in WORKLOADS)


def test_every_property_is_defined_in_a_module_that_is_shown(made: Mapping[str, str]) -> None:
    names = ("index", "properties", "quorums", "roles", *MODULES)
    assert {path for path in made if path.startswith("model/")} == {f"model/{name}.md" for name in names}
    page = made["model/properties.md"]
    assert all(f"\n## {name}\n" in page for name in PROPERTIES)
    assert "events whose lines show `state.epoch`, `state.voted_key`, or `sends`, `writes`." in page
    assert "events whose lines show `message`, `writes`, `state`." in page
    assert "a violation that shows is a Fetch to itself, or a wrong leader id; one" in page


@pytest.mark.parametrize("module", MODULES)
def test_every_line_of_a_module_is_shown(module: str, material: Material, made: Mapping[str, str]) -> None:
    text = (material.repository / f"spec/kraft_spec/tla/{module}.tla").read_text(encoding="utf-8").splitlines()
    spans = [
        line.removeprefix(":lines: ").split("-")
        for line in made[f"model/{module}.md"].splitlines()
        if line.startswith(":lines: ")
    ]
    lines = {number for first, last in spans for number in range(int(first), int(last) + 1)}
    missing = [line for number, line in enumerate(text, start=1) if number not in lines and line.strip("-= ")]
    assert [line for line in missing if "MODULE" not in line] == []


def test_counterparts_of_modules_have_pages() -> None:
    repository = Path(__file__).parents[2]
    assert set(IN_PYTHON) <= set(MODULES)
    assert set(IN_PYTHON.values()) <= {name for name, _ in public_modules(repository)}


def test_every_exit_code_is_explained_and_every_command_says_where_to_read_on() -> None:
    assert [code for code, _ in codes()] == sorted(ExitCode)
    assert set(READ_MORE) == set(NAMES)
    for name, pages in READ_MORE.items():
        assert all((Path("docs") / f"{page}.md").is_file() for page in pages), name
    assert {file.stem for file in EXAMPLES.glob("*.txt")} <= set(NAMES)


def test_every_command_has_a_page(made: Mapping[str, str]) -> None:
    pages = {path for path in made if path.startswith("commands/")}
    assert pages == {f"commands/{name}.md" for name in ("index", *NAMES)}
    text = made["commands/rules.md"]
    assert "\n# kraft-spec rules\n" in text
    assert "* `--json`: One JSON document on standard output." in text
    assert "--help" not in text


def test_placeholders_and_bounds_are_plain() -> None:
    assert tidy_help("--n <int range>") == "--n N"
    assert tidy_help("--p <list[Path]>") == "--p PATH"
    assert tidy_help("y [default: 3; x>=1]") == "y [default: 3; 1 or more]"
    assert tidy_help("y [1<=x<=9]") == "y [1 to 9]"
    assert options_as_code("See --w-x and `--y`.") == "See `--w-x` and `--y`."


def test_every_public_module_has_a_page(made: Mapping[str, str], material: Material) -> None:
    pages = {path for path in made if path.startswith("api/")}
    assert pages == {"api/index.md", *(f"api/{name}.rst" for name, _ in public_modules(material.repository))}
    package = made["api/kraft_spec.rules.rst"]
    assert ".. automodule:: kraft_spec.rules\n" in package
    assert "- :doc:`kraft_spec.rules.registry`" in package
    assert "`kraft_simulation`" not in package


@pytest.mark.parametrize(
    ("line", "rendered"),
    [
        ("Different `Edge`s.", "Different ``Edge``\\ s."),
        ("`header: ` before it", "``header:`` before it"),
        ("As vote.log-check, by name.", "As ``vote.log-check``, by name."),
        ("in `vote.log-check` and ``x``", "in ``vote.log-check`` and ``x``"),
        ("see :func:`x`", "see :func:`x`"),
    ],
)
def test_code_in_a_docstring(line: str, rendered: str) -> None:
    assert as_restructured_text([line], {"vote.log-check"}) == [rendered]


def test_tables_and_lists_in_a_docstring() -> None:
    lines = ["Text", "| a |", "|---|", "More:", "- one", "  and on", "- two"]
    expected = ["Text", "", "::", "", "    | a |", "    |---|", "", "More:", "", "- one", "  and on", "- two"]
    assert as_restructured_text(lines, ()) == expected


def test_exceptions_have_their_whole_name_and_sentences_stay() -> None:
    lines = [
        ":raises EvidenceError: with.",
        ":raises OSError, KeyError: it.",
        ":raises As the other.:",
        ":raises Far: x.",
    ]
    assert with_raised_in_full(lines, {"EvidenceError": RuleFileError}) == [
        ":raises ~kraft_spec.rules.rule.RuleFileError: with.",
        ":raises OSError, KeyError: it.",
        "",
        "Raises: As the other.",
        "",
        "Raises: Far: x.",
    ]


def test_generated_pages_are_ignored_by_git_and_by_the_check_of_citations(material: Material) -> None:
    extension = pytest.importorskip("tools.site.extension")
    ignored = (material.repository / ".gitignore").read_text(encoding="utf-8").splitlines()
    (docs,) = [each for each in checkout_sources(material.repository) if each.name == "docs"]
    assert [folder for folder in extension.FOLDERS if f"/docs/{folder}/" not in ignored] == []
    assert set(extension.FOLDERS) <= docs.without


def test_obsolete_pages_are_deleted(tmp_path: Path) -> None:
    extension = pytest.importorskip("tools.site.extension")
    (tmp_path / "written.md").write_text("by hand", encoding="utf-8")
    extension.write_pages(tmp_path, {"rules/a.md": "a", "rules/b.md": "b"})
    before = (tmp_path / "rules/a.md").stat().st_mtime_ns
    extension.write_pages(tmp_path, {"rules/a.md": "a"})
    assert sorted(file.name for file in tmp_path.rglob("*.md")) == ["a.md", "written.md"]
    assert (tmp_path / "rules/a.md").stat().st_mtime_ns == before
