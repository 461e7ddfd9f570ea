"""Directive `both`: a definition of the reference and its counterpart in the model, side by side.

```{both}
:reference: elections.grants_vote
:model: Elections.GrantsVote
```
"""

from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from tools.site.excerpts import Excerpt, ExcerptError, named_rules, operator_definition, python_definition

from kraft_spec.rules import load_registry


class Both(SphinxDirective):  # type: ignore[misc]  # Sphinx may not be installed where types are checked.
    """Two columns, stacked on narrow screens; below them the rules of both."""

    option_spec: ClassVar[dict[str, Any]] = {
        "reference": directives.unchanged_required,
        "model": directives.unchanged_required,
    }

    def run(self) -> list[nodes.Node]:
        """Return the two columns; either may hold several definitions, separated by blanks."""
        container = nodes.container(classes=["both"])
        texts = []
        for option, find, language in (
            ("reference", python_definition, "python"),
            ("model", operator_definition, "tla"),
        ):
            column = nodes.container(classes=["both-column"])
            for name in self.options.get(option, "").split():
                try:
                    excerpt = find(name)
                except ExcerptError as error:
                    raise self.error(str(error)) from error
                column += self._block(excerpt, language)
                texts.append(excerpt.text)
            container += column
        rules = nodes.paragraph(classes=["both-rules"])
        for rule in named_rules("\n".join(texts), load_registry()):
            rules += [nodes.literal("", rule), nodes.Text(" ")]
        container += rules
        return [container]

    def _block(self, excerpt: Excerpt, language: str) -> list[nodes.Node]:
        self.env.note_dependency(excerpt.path)
        caption = nodes.paragraph("", "", nodes.literal("", f"{excerpt.path}:{excerpt.line}"), classes=["both-caption"])
        block = nodes.literal_block(excerpt.text, excerpt.text, language=language)
        block["highlight_args"] = {"linenostart": excerpt.line}
        return [caption, block]


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive with Sphinx."""
    app.add_directive("both", Both)
    app.add_css_file("both.css")
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
