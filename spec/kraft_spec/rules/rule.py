"""A rule of the catalogue, and errors about rules."""

import dataclasses
from dataclasses import dataclass

from kraft_spec.rules.vocabulary import Level, Status


class RuleFileError(ValueError):
    """A file of the registry is invalid.

    Attributes:
        file: name of the file, e.g. `election.toml`.
        rule_id: id of the rule or entry; None if the problem is not in a single rule.
        field: the key; None if the problem is not in a single key.
        problem: description, as a sentence without a full stop.
    """

    def __init__(self, file: str, rule_id: str | None, field: str | None, problem: str) -> None:
        """Compose the message `file: rule id: field: problem` from the known parts."""
        self.file = file
        self.rule_id = rule_id
        self.field = field
        self.problem = problem
        place = [file]
        if rule_id is not None:
            place.append(f"rule {rule_id}")
        if field is not None:
            place.append(f"field {field}")
        super().__init__(f"{': '.join(place)}: {problem}")


class UnknownRuleError(LookupError):
    """No rule has this id.

    Attributes:
        rule_id: the requested id.
        suggestions: similar existing ids, best first; may be empty.
    """

    def __init__(self, rule_id: str, suggestions: tuple[str, ...]) -> None:
        """Compose a message with the suggestions."""
        self.rule_id = rule_id
        self.suggestions = suggestions
        hint = f"; did you mean {' or '.join(suggestions)}?" if suggestions else "; `kraft-spec rules` lists them"
        super().__init__(f"no rule has the id {rule_id!r}{hint}")


@dataclass(frozen=True, slots=True)
class Rule:
    """A normative rule with a permanent id.

    Attributes:
        id: permanent name, at least two dotted segments, e.g. `vote.log-check`.
        title: one line.
        statement: the rule itself, in this project's own words.
        source: the passages it comes from; "(referenced)" marks what a text takes for granted.
        level: MUST, SHOULD or MAY.
        states: the roles it concerns, and Observer; empty if the catalogue does not say.
        safety: True if omitting the rule breaks safety.
        breaks: names of the properties that a model checker then reports, in the order of the text.
        breaks_text: the whole field as written, with its conditions and reasons.
        kafka: the known difference of Apache Kafka; empty if none is known.
        open: a contradiction in the texts and its resolution; empty if there is none.
        example: a schedule in which the rule decides, in the notation at the head of the catalogue.
        status: superseded and retired rules keep their id and need no implementation.
        by: ids of the successor rules.
        catalogue: its file without the ending, `election` or `membership`.
    """

    id: str
    title: str
    statement: str
    source: tuple[str, ...]
    level: Level
    states: tuple[str, ...]
    safety: bool
    breaks: tuple[str, ...]
    breaks_text: str
    kafka: str
    open: str
    example: str
    status: Status
    by: tuple[str, ...]
    catalogue: str

    @property
    def group(self) -> str:
        """Id up to its first dot: `prevote` of `prevote.request.contents`."""
        return self.id.partition(".")[0]

    @property
    def is_active(self) -> bool:
        """True if the rule is in force, and so needs an implementation."""
        return self.status == "active"

    def as_dict(self) -> dict[str, str | bool | list[str]]:
        """Return all fields under their own names, as JSON values; tuples become lists."""
        fields: dict[str, str | bool | list[str]] = {}
        for field in dataclasses.fields(self):
            content: str | bool | tuple[str, ...] = getattr(self, field.name)
            fields[field.name] = list(content) if isinstance(content, tuple) else content
        return fields
