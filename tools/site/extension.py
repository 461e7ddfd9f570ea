"""The Sphinx extension: writes the generated pages, and makes links of the names that have a page.

The pages stand beside the written ones while Sphinx reads them (`FOLDERS`, which Git ignores), so that a rule has the
address `rules/<id>.html` and every link between pages is a relative one.
"""

import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.ext.napoleon import Config, GoogleDocstring
from sphinx.util import logging
from tools.site import (
    api_pages,
    command_pages,
    coverage_page,
    docstrings,
    field_tables,
    induction_page,
    kafka_page,
    model_pages,
    open_points_page,
    profiles_page,
    proof_mutants_page,
    proved_page,
    result_pages,
    rule_pages,
    scenario_pages,
    theorems_page,
)
from tools.site.diagrams import diagram_of, quorums, roles
from tools.site.facts import Material, RuleFacts, gather
from tools.site.gate import EvidenceError, require_evidence, require_names
from tools.site.names import ALL_SCENARIOS
from tools.site.tla_lexer import TlaLexer

from kraft_spec.rules import PROPERTIES, Registry, load_registry

FOLDERS = ("api", "commands", "model", "results", "rules", "scenarios")
"""The folders below docs/ that hold generated pages, and nothing else."""

_OUTSIDE = re.compile(r"\]\((\.\./[^)\s#]+)\)")
_GOOGLE = Config(napoleon_google_docstring=True, napoleon_numpy_docstring=False, napoleon_use_ivar=True)
_log = logging.getLogger(__name__)


def pages(material: Material, facts: Mapping[str, RuleFacts], release: str) -> dict[str, str]:
    """Every generated page: path below docs, and its Markdown."""
    registry, repository = material.registry, material.repository
    made: list[Iterable[tuple[str, str]]] = [
        rule_pages.rule_pages(facts, registry, release),
        [(coverage_page.PAGE, coverage_page.coverage_page(facts, registry))],
        [(open_points_page.PAGE, open_points_page.open_points_page(registry))],
        scenario_pages.scenario_pages(registry, diagram_of),
        model_pages.model_pages(repository, registry, material.report),
        [(roles.PAGE, roles.role_page()), (quorums.PAGE, quorums.quorum_page())],
        command_pages.command_pages(),
        result_pages.result_pages(registry),
        [(kafka_page.PAGE, kafka_page.kafka_page(registry))],
        [
            (profiles_page.PAGE, profiles_page.profiles_page()),
            (proved_page.PAGE, proved_page.proved_page(registry)),
            (induction_page.PAGE, induction_page.induction_page()),
            (theorems_page.PAGE, theorems_page.theorems_page()),
            (proof_mutants_page.PAGE, proof_mutants_page.proof_mutants_page()),
        ],
        api_pages.api_pages(repository),
    ]
    return dict(page for each in made for page in each)


def write_pages(docs: Path, made: Mapping[str, str]) -> None:
    """Put the pages where they belong, leave alone those that are there already, and take away what is no page."""
    for path, text in made.items():
        file = docs / path
        if not file.is_file() or file.read_text(encoding="utf-8") != text:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
    for folder in FOLDERS:
        for file in (docs / folder).rglob("*.*"):
            if file.relative_to(docs).as_posix() not in made:
                file.unlink()


def _generate(app: Sphinx) -> None:
    """At the start of a build: gather, judge, write.

    Raises:
        SystemExit: the site may not be built, and the message says why.  Sphinx shows its own errors with a traceback
            and asks to report them.
    """
    docs = Path(app.srcdir)
    material = Material.of(docs.parent)
    facts = gather(material)
    try:
        require_names(material.report, material.titles.keys())
    except EvidenceError as error:
        raise SystemExit(f"The site is not built, because of rules that are named wrongly:\n{error}") from None
    try:
        require_evidence(facts.values())
    except EvidenceError as error:
        raise SystemExit(f"The site is not built, because of rules that nothing stands behind:\n{error}") from None
    write_pages(docs, pages(material, facts, app.config.release))


def named_pages(registry: Registry) -> dict[str, str]:
    """What an inline literal of exactly this text leads to: document, with an anchor where one is needed."""
    found = {rule.id: f"rules/{rule.id}" for rule in registry}
    found.update({name: f"model/properties#{name.lower()}" for name in PROPERTIES})
    for scenario in ALL_SCENARIOS:
        # A single word may mean something else, as `upgrade` does.
        if "-" in scenario.name:
            found[scenario.name] = f"scenarios/{scenario.name}"
    return found


def _link_names(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Make links of the literals that are the name of a page."""
    targets: dict[str, str] = app.config.site_named_pages
    for literal in list(doctree.findall(nodes.literal)):
        target = targets.get(literal.astext())
        if target is None or isinstance(literal.parent, nodes.reference | nodes.title | nodes.caption):
            continue
        document, _, anchor = target.partition("#")
        if document == docname and not anchor:
            continue
        address = app.builder.get_relative_uri(docname, document) + (f"#{anchor}" if anchor else "")
        link = nodes.reference("", "", literal.deepcopy(), refuri=address, internal=True)
        literal.replace_self(link)


def _offer_files(app: Sphinx, docname: str, source: list[str]) -> None:
    """Puts tables of fields in; a link out of docs/ names a file of the repository: the site offers it for download."""
    folder = Path(app.env.doc2path(docname)).parent

    def offered(match: re.Match[str]) -> str:
        if not (folder / match.group(1)).is_file():
            _log.warning("no file %s in the repository", match.group(1), location=docname, type="site", subtype="file")
        return f"](path:{match.group(1)})"

    source[0] = _OUTSIDE.sub(offered, field_tables.with_tables(source[0]))


def _process_docstring(app: Sphinx, kind: str, name: str, thing: object, options: Any, lines: list[str]) -> None:
    made = docstrings.as_restructured_text(lines, app.config.site_named_pages)
    if kind not in ("attribute", "data", "property"):
        # Of those it would take what stands before a colon for the type.
        made = GoogleDocstring(made, _GOOGLE, app, kind, name, thing, options).lines()
        module = sys.modules.get(getattr(thing, "__module__", None) or name)
        made = docstrings.with_raised_in_full(made, {} if module is None else vars(module))
    lines[:] = made


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    registry = load_registry()
    app.add_config_value("site_named_pages", named_pages(registry), "env")
    app.add_lexer("tla", TlaLexer)
    app.connect("builder-inited", _generate)
    app.connect("source-read", _offer_files)
    app.connect("doctree-resolved", _link_names)
    app.connect("autodoc-process-docstring", _process_docstring)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
