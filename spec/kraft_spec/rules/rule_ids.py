"""Recognition of rule ids in text: whole ids, and misspelt ones.

An id such as `fetch.timer` may be a prefix of another id, of a file name or of an attribute access, so a match is
always the longest dotted word, and a longer word (`fetch.timer_ms`, `fetch.timer.reset`,
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
"""Similarity (difflib's ratio) at which a dotted word of no known group counts as a misspelt id."""


@dataclass(frozen=True, slots=True)
class RuleIds:
    """The existing ids, prepared for lookup of words."""

    known: frozenset[str]
    groups: frozenset[str]

    @classmethod
    def of(cls, rule_ids: Collection[str]) -> "RuleIds":
        """Prepare the ids."""
        return cls(frozenset(rule_ids), frozenset(rule_id.partition(".")[0] for rule_id in rule_ids))

    def near(self, word: str, at_most: int = 3) -> tuple[str, ...]:
        """Return existing ids similar to `word`: first those that it is a prefix of, then those that resemble it."""
        begun = sorted(rule_id for rule_id in self.known if rule_id.startswith(f"{word.rstrip('.')}."))
        alike = difflib.get_close_matches(word, sorted(self.known), n=at_most)
        return tuple(dict.fromkeys([*begun, *alike]))[:at_most]

    def is_misspelt(self, word: str) -> bool:
        """Return True if `word`, in running text, is a misspelt rule id.

        `state.role` in running text is an attribute far more often than a misspelt `state.roles`, so only a word with a
        hyphen, which no attribute has, counts. A `Rules:` line needs no such caution.
        """
        if word in self.known or "-" not in word or word.rpartition(".")[2] in _FILE_ENDINGS:
            return False
        if word.partition(".")[0] in self.groups:
            return True
        return bool(difflib.get_close_matches(word, self.known, n=1, cutoff=_MISSPELT_SIMILARITY))


def dotted_words(text: str) -> Iterator[str]:
    """Yield the whole words of a text that have the form of a rule id, in order."""
    for match in _WORD.finditer(text):
        yield match.group()
