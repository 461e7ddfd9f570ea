"""Sphinx extension: writes the generated pages, and links the names that have a page.

The pages are stored beside the written ones while Sphinx reads them (`FOLDERS`, which Git ignores), so that a rule has
the address `rules/<id>.html` and every link between pages is a relative one.
"""

import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.ext.napoleon import Config, GoogleDocstring
from sphinx.util import logging
from tools.site import docstrings
from tools.site.diagrams import diagram_of
from tools.site.facts import Material, gather
from tools.site.gate import EvidenceError, require_evidence, require_names
from tools.site.names import ALL_SCENARIOS
from tools.site.pages import FOLDERS, pages
from tools.site.site_facts import site_facts
from tools.site.tla_lexer import TlaLexer

from kraft_spec.rules import PROPERTIES, Registry, load_registry

_OUTSIDE = re.compile(r"\]\((\.\./[^)\s#]+)\)")
_GOOGLE = Config(napoleon_google_docstring=True, napoleon_numpy_docstring=False, napoleon_use_ivar=True)
_log = logging.getLogger(__name__)


def write_pages(docs: Path, made: Mapping[str, str]) -> None:
    """Write the changed pages, and delete the files that are no longer pages."""
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
    """Gather the facts, check the evidence, and write the facts and pages, at the start of a build.

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
        raise SystemExit(f"The site is not built, because these rule ids do not exist:\n{error}") from None
    try:
        require_evidence(facts.values())
    except EvidenceError as error:
        raise SystemExit(f"The site is not built, because these rules lack evidence:\n{error}") from None
    published = site_facts(material, facts, app.config.release)
    write_pages(docs, pages(published, material.registry, diagram_of))
    if app.builder.format == "html":
        (Path(app.outdir) / "facts.json").write_bytes(msgspec.json.encode(published))


def named_pages(registry: Registry) -> dict[str, str]:
    """Return the link target of each inline literal: document, with an anchor if needed."""
    targets = {rule.id: f"rules/{rule.id}" for rule in registry}
    targets.update({name: f"model/properties#{name.lower()}" for name in PROPERTIES})
    for scenario in ALL_SCENARIOS:
        # Only names of several words: a single word such as `upgrade` may mean something else.
        if "-" in scenario.name:
            targets[scenario.name] = f"scenarios/{scenario.name}"
    return targets


def _link_names(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Link the literals that are the name of a page."""
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
    """Offer for download the files of the repository that links out of docs/ name."""
    folder = Path(app.env.doc2path(docname)).parent

    def offered(match: re.Match[str]) -> str:
        if not (folder / match.group(1)).is_file():
            _log.warning("no file %s in the repository", match.group(1), location=docname, type="site", subtype="file")
        return f"](path:{match.group(1)})"

    source[0] = _OUTSIDE.sub(offered, source[0])


def _process_docstring(app: Sphinx, kind: str, name: str, thing: object, options: Any, lines: list[str]) -> None:
    made = docstrings.as_restructured_text(lines, app.config.site_named_pages)
    if kind not in ("attribute", "data", "property"):
        # For these kinds GoogleDocstring would read the text before a colon as the type.
        made = GoogleDocstring(made, _GOOGLE, app, kind, name, thing, options).lines()
        module = sys.modules.get(getattr(thing, "__module__", None) or name)
        made = docstrings.with_raised_in_full(made, {} if module is None else vars(module))
    lines[:] = made


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension with Sphinx."""
    registry = load_registry()
    app.add_config_value("site_named_pages", named_pages(registry), "env")
    app.add_lexer("tla", TlaLexer)
    app.connect("builder-inited", _generate)
    app.connect("source-read", _offer_files)
    app.connect("doctree-resolved", _link_names)
    app.connect("autodoc-process-docstring", _process_docstring)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
