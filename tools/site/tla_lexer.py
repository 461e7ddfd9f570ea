"""Pygments lexer for TLA+."""

from typing import ClassVar

from pygments.lexer import RegexLexer, words
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Text

_KEYWORDS = (
    "ASSUME", "ASSUMPTION", "AXIOM", "CASE", "CHOOSE", "CONSTANT", "CONSTANTS", "DOMAIN", "ELSE", "ENABLED", "EXCEPT",
    "EXTENDS", "IF", "IN", "INSTANCE", "LAMBDA", "LET", "LOCAL", "MODULE", "OTHER", "RECURSIVE", "SUBSET", "THEN",
    "THEOREM", "UNCHANGED", "UNION", "VARIABLE", "VARIABLES", "WITH",
)  # fmt: skip


class TlaLexer(RegexLexer):  # type: ignore[misc]  # Pygments has no types.
    """TLA+ as in the modules of this project: ASCII operators, comments of both kinds."""

    name = "TLA+"
    aliases: ClassVar[list[str]] = ["tla"]
    filenames: ClassVar[list[str]] = ["*.tla"]
    url = "https://lamport.azurewebsites.net/tla/tla.html"

    tokens: ClassVar = {
        "root": [
            (r"\s+", Text),
            (r"\\\*.*", Comment.Single),
            (r"\(\*", Comment.Multiline, "comment"),
            (r'"(?:\\.|[^"\\])*"', String),
            (r"^(\w+)(?=(?:\([^=]*\))?\s*==)", Name.Function),
            (words(_KEYWORDS, prefix=r"\b", suffix=r"\b"), Keyword),
            (r"\b(?:TRUE|FALSE|BOOLEAN|STRING)\b", Keyword.Constant),
            (r"\b(?:WF|SF)_\w+", Keyword),
            (r"\\[A-Za-z]+", Operator.Word),
            (r"\b\d+\b", Number.Integer),
            (r"\w+'?", Name),
            (r"-{4,}|={4,}", Punctuation),
            (r"[-+*/<>=#~!@^&|.:$%?\\']+", Operator),
            (r"[()\[\]{},;]", Punctuation),
        ],
        "comment": [
            (r"\(\*", Comment.Multiline, "#push"),
            (r"\*\)", Comment.Multiline, "#pop"),
            (r"[^(*]+|[(*]", Comment.Multiline),
        ],
    }
