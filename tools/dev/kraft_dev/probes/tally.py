"""Counts of what was reached, by kind and name."""

from collections import Counter
from collections.abc import Iterable, Mapping


class Tally:
    """Counts; a name that no kind lists is kept, for the report to complain about."""

    def __init__(self, counts: Mapping[str, Mapping[str, int]] | None = None) -> None:
        """`counts` are those of `as_dict`."""
        self._counts: dict[str, Counter[str]] = {}
        for kind, of_kind in (counts or {}).items():
            self._counts[kind] = Counter(of_kind)

    def add(self, kind: str, name: str, times: int = 1) -> None:
        """Something was reached."""
        self._counts.setdefault(kind, Counter())[name] += times

    def add_all(self, kind: str, names: Iterable[str]) -> None:
        """Each of these was reached once."""
        for name in names:
            self.add(kind, name)

    def count(self, kind: str, name: str) -> int:
        """How often; 0 if never."""
        return self._counts.get(kind, Counter())[name]

    def names(self, kind: str) -> tuple[str, ...]:
        """What was reached of a kind, in alphabetical order."""
        return tuple(sorted(name for name, times in self._counts.get(kind, Counter()).items() if times))

    def as_dict(self) -> dict[str, dict[str, int]]:
        """For JSON."""
        return {kind: dict(sorted(of_kind.items())) for kind, of_kind in sorted(self._counts.items())}
