"""Generated pages: templates that render the facts."""

import difflib
import operator
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from tools.site import markup
from tools.site.diagrams import quorums, roles
from tools.site.result_pages import result_pages

from kraft_dev.markdown import cell, code, codes
from kraft_spec.rules import Registry

FOLDERS = ("api", "commands", "model", "results", "rules", "scenarios")
"""Folders below docs/ that contain only generated pages."""

DiagramOf = Callable[[str, str], str]
"""Function from the names of a scenario and of a variant to the HTML of its diagram."""


def environment(facts: Mapping[str, Any]) -> Environment:
    """Return the environment of the templates, with the facts."""
    # No autoescape: the pages are Markdown, which `prose` escapes.
    made = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    names = frozenset({*facts["rules"], *facts["properties"]})
    made.globals.update(facts)
    made.tests["contains"] = operator.contains
    made.filters.update(
        capital=lambda text: text[:1].upper() + text[1:],
        cell=cell,
        code=code,
        codes=codes,
        counted=markup.counted,
        difference=_difference,
        fenced=markup.code_block,
        figure=markup.figure,
        linked=lambda text: markup.prose(text, names),
        options_as_code=markup.options_as_code,
        prose=markup.prose,
        sentence=markup.sentence,
        split_resolution=markup.split_resolution,
        with_code=markup.with_code,
    )
    return made


def _difference(edit: Mapping[str, str]) -> str:
    """Return the lines of both texts of an edit, with - and + before those that differ."""
    old, new = (edit[name].rstrip("\n").split("\n") for name in ("old", "new"))
    _, _, _, *lines = difflib.unified_diff(old, new, n=len(old), lineterm="")
    return "\n".join(f"{line[0]} {line[1:]}" for line in lines)


def render(templates: Environment, name: str, **context: Any) -> str:
    """Render a page; consecutive empty lines become one.

    Args:
        templates: The environment.
        name: Name of the template, without the last ending.
        context: Variables of this page.
    """
    text: str = templates.get_template(f"{name}.jinja").render(context)
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def pages(facts: Mapping[str, Any], registry: Registry, diagram_of: DiagramOf) -> dict[str, str]:
    """Render every generated page: path below docs, and its text."""
    templates = environment(facts)
    # A template in a folder is one page; the others make a page per item.
    names = [name.removesuffix(".jinja") for name in templates.list_templates() if "/" in name]
    made = {name: render(templates, name) for name in names}
    for path, name, about in (
        ("rules/{}.md", "rule.md", "rule"),
        ("scenarios/{}.md", "scenario.md", "scenario"),
        ("model/{}.md", "module.md", "module"),
        ("commands/{}.md", "command.md", "command"),
    ):
        for key, subject in facts[f"{about}s"].items():
            made[path.format(key)] = render(templates, name, **{about: subject, "diagram_of": diagram_of})
    for key, module in facts["api"]["modules"].items():
        made[f"api/{key}.rst"] = render(templates, "api_module.rst", module=module)
    arrows = roles.edges()
    made["model/roles.md"] = render(templates, "roles.md", arrows=arrows, diagram=roles.role_diagram(arrows))
    quorum_cases = list(quorums.quorum_cases())
    competing = quorums.competing_changes()
    made["model/quorums.md"] = render(templates, "quorums.md", cases=quorum_cases, competing=competing)
    return {**made, **dict(result_pages(registry))}
