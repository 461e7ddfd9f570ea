"""The directive `both`: a definition of the reference and its counterpart of the model, side by side.

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
from tools.site.excerpts import Excerpt, ExcerptError, operator_definition, python_definition


class Both(SphinxDirective):  # type: ignore[misc]  # Sphinx may not be installed where types are checked.
    """Two columns where there is room, one below the other where there is none."""

    option_spec: ClassVar[dict[str, Any]] = {
        "reference": directives.unchanged_required,
        "model": directives.unchanged_required,
    }

    def run(self) -> list[nodes.Node]:
        """The two columns; either may hold several definitions, separated by blanks."""
        container = nodes.container(classes=["both"])
        for option, find, language in (
            ("reference", python_definition, "python"),
            ("model", operator_definition, "tla"),
        ):
            column = nodes.container(classes=["both-column"])
            for name in self.options.get(option, "").split():
                try:
                    column += self._block(find(name), language)
                except ExcerptError as error:
                    raise self.error(str(error)) from error
            container += column
        return [container]

    def _block(self, excerpt: Excerpt, language: str) -> list[nodes.Node]:
        self.env.note_dependency(excerpt.path)
        caption = nodes.paragraph("", "", nodes.literal("", f"{excerpt.path}:{excerpt.line}"), classes=["both-caption"])
        block = nodes.literal_block(excerpt.text, excerpt.text, language=language)
        block["highlight_args"] = {"linenostart": excerpt.line}
        return [caption, block]


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.add_directive("both", Both)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
