"""The site: `make docs` builds it, from these pages and from those that tools/site writes out of the sources."""

import re
import sys
from importlib.metadata import version as installed_version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tools.site.api_facts import LEFT_OUT

project = "kraft-spec"
author = "the authors of kraft-spec"
project_copyright = author
release = installed_version("kraft-spec")
version = release

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.doctest",
    "tools.site.extension",
    "tools.site.signatures",
    "tools.site.both",
]

source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build"]
default_role = "literal"
highlight_language = "text"
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"

# Quotes and ellipses, but no dashes: two hyphens begin the name of an option.
smartquotes_action = "qe"
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence", "deflist"]

autodoc_default_options = {"members": True, "show-inheritance": True, "ignore-module-all": True}
# A longer signature has a line for each parameter.
python_maximum_signature_line_length = 88
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
autodoc_mock_imports = [
    "cosmic_ray",
    "cvc5",
    "hypothesis",
    "jinja2",
    "junitparser",
    "kafka",
    "markupsafe",
    "py4j",
    "pyarrow",
    "pyspark",
    "pytest",
]

nitpicky = True
# What a signature may name and no page describes.
nitpick_ignore_regex = [
    # Other libraries and the standard one: the build asks no network for their indexes.
    (
        "py:.*",
        r"(abc|argparse|ast|asyncio|collections|contextlib|dataclasses|datetime|enum|fractions|functools|importlib|io|jpype|json"
        r"|kio|logging|msgspec|multiprocessing|os|pathlib|pyarrow|pytest|pyspark|random|re|rich|string|subprocess|tempfile|threading|types|uuid"
        r"|typer|typing|z3)\..*",
    ),
    # Type variables, which have no entry of their own.
    ("py:.*", r"kraft_.*\.(Document|Vector|Verdict)T"),
    # Pieces of a type that Sphinx cuts at its commas: of one with what Typer or msgspec is told about it, and of bases.
    ("py:.*", r".*\[.*"),
    # Modules that have no page.
    ("py:.*", rf"({'|'.join(map(re.escape, LEFT_OUT))})\..*"),
    # Structs that are made from the reference's declarations, one for each effect.
    ("py:.*", r"kraft_traces\.partitions\.lines\.Shown\w+"),
    # Private names, type variables, and aliases that have no docstring.
    ("py:.*", r"(kraft_[\w.]*\.)?_\w+"),
    ("py:.*", r"kraft_[\w.]+\.(Answer|Value|Word)"),
]

html_theme = "furo"
html_theme_options = {
    "light_css_variables": {"site-named-line": "#fff3b0"},
    "dark_css_variables": {"site-named-line": "#3a3416"},
}
html_title = f"kraft-spec {release}"
html_static_path = ["_static"]
# Without one a browser asks for favicon.ico, and complains.
html_favicon = "_static/favicon.svg"
html_css_files = ["site.css"]
html_js_files = [
    ("accessible.js", {"defer": "defer"}),
    ("sort_tables.js", {"defer": "defer"}),
    ("copy_citation.js", {"defer": "defer"}),
]
html_search_scorer = str(Path(__file__).resolve().parent / "_static/search_scorer.js")
# Search finds what an index of thousands of names would list.
html_use_index = False
html_domain_indices = False
html_show_sphinx = False
html_copy_source = False
html_show_sourcelink = False
