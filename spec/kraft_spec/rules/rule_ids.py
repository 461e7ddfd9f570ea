"""Recognising rule ids in text: whole ids only, and what is a misspelt id rather than something else.

An id such as `fetch.timer` may be the beginning of another id, of a file name or of an attribute access,
so a match is always the longest dotted word, and a word that goes on (`fetch.timer_ms`, `fetch.timer.reset`,
`kraft_spec.rules.citations`, `a/fetch.timer`) is not an id.
"""

import difflib
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

RULE_ID = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*(?:\.[a-z0-9]+(?:-[a-z0-9]+)*)+")
"""An id: lower-case words joined by hyphens, two or more such segments joined by dots."""

_WORD = re.compile(rf"(?<![\w./\\-]){RULE_ID.pattern}(?![\w/\\-]|\.[\w*])")

_FILE_ENDINGS = frozenset({"cfg", "html", "json", "jsonl", "md", "py", "rst", "svg", "tla", "toml", "txt"})

_MISSPELT_SIMILARITY = 0.88
"""Similarity (difflib's ratio) from which a dotted word of no known group counts as a misspelt id."""


@dataclass(frozen=True, slots=True)
class RuleIds:
    """The ids that exist, prepared for the questions asked of every word of a text."""

    known: frozenset[str]
    groups: frozenset[str]

    @classmethod
    def of(cls, rule_ids: Collection[str]) -> "RuleIds":
        """Prepare the given ids."""
        return cls(frozenset(rule_ids), frozenset(rule_id.partition(".")[0] for rule_id in rule_ids))

    def near(self, word: str, at_most: int = 3) -> tuple[str, ...]:
        """Existing ids that `word` probably stands for: first those it begins, then those it resembles."""
        begun = sorted(rule_id for rule_id in self.known if rule_id.startswith(f"{word.rstrip('.')}."))
        alike = difflib.get_close_matches(word, sorted(self.known), n=at_most)
        return tuple(dict.fromkeys([*begun, *alike]))[:at_most]

    def is_misspelt(self, word: str) -> bool:
        """Whether `word`, found in running text, is meant as a rule id and names none.

        `state.role` in running text is an attribute far more often than a misspelt `state.roles`, so only a
        word with a hyphen, which no attribute has, is suspected. Where a text declares that it names rules
        (a `Rules:` line) no such caution is needed.
        """
        if word in self.known or "-" not in word or word.rpartition(".")[2] in _FILE_ENDINGS:
            return False
        if word.partition(".")[0] in self.groups:
            return True
        return bool(difflib.get_close_matches(word, self.known, n=1, cutoff=_MISSPELT_SIMILARITY))


def dotted_words(text: str) -> Iterator[str]:
    """Yield the words of a text that have the shape of a rule id, whole, in order."""
    for match in _WORD.finditer(text):
        yield match.group()
