"""What a scenario of the quorum and one of partitions have in common: variants, and expectations that fail by name."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from inspect import cleandoc
from typing import Any, Generic, NoReturn, TypeVar

ConfigurationT = TypeVar("ConfigurationT")
StageT = TypeVar("StageT")
NumberT = TypeVar("NumberT")
ScriptT = TypeVar("ScriptT", bound=Callable[[Any], None])
VariantT = TypeVar("VariantT", bound="AnyVariant[Any, Any]")


@dataclass(frozen=True, slots=True)
class AnyVariant(Generic[ConfigurationT, StageT]):
    """One way to run a scenario: with the deciding rule, with a mutant that omits it, or in a corner case."""

    name: str
    """`with-the-rule`, `without-pre-vote` and so on; unique in its scenario."""
    configuration: ConfigurationT
    script: Callable[[StageT], None]
    outcome: str
    """What the script asserts, in a sentence: the first one of its docstring."""
    violates: tuple[str, ...] = ()
    """Properties that the run violates, in alphabetical order; with every rule in force only where a rule is wrong."""
    mutants: tuple[str, ...] = ()
    """Mutants that what runs has, by the rules that they omit: `kraft_mutants` makes them."""


class AnyVariants(list[AnyVariant[ConfigurationT, StageT]]):
    """The variants of a scenario, each declared at its script."""

    def variant(
        self,
        name: str,
        configuration: ConfigurationT,
        *violates: str,
        mutants: tuple[str, ...] = (),
        outcome: str | None = None,
    ) -> Callable[[ScriptT], ScriptT]:
        """The script below it is that of a variant (`AnyVariant`) and says the outcome, if none is given."""

        def declared(script: ScriptT) -> ScriptT:
            said = said_of(script) if outcome is None else outcome
            self.append(AnyVariant(name, configuration, script, said, violates, mutants))
            return script

        return declared


@dataclass(frozen=True, slots=True)
class AnyScenario(Generic[NumberT, VariantT]):
    """A scenario, of whichever protocol."""

    number: NumberT
    """In the list of scenarios: 7, or `S25` for one of partitions."""
    name: str
    title: str
    source: str
    """The text it comes from."""
    rules: tuple[str, ...]
    """Ids of the rules that decide it."""
    variants: tuple[VariantT, ...]

    def variant(self, name: str) -> VariantT:
        """The variant with this name.

        Raises:
            KeyError: there is none.
        """
        for variant in self.variants:
            if variant.name == name:
                return variant
        known = ", ".join(variant.name for variant in self.variants)
        raise KeyError(f"scenario {self.name} has no variant {name!r}; it has: {known}")


def said_of(script: Callable[[Any], None]) -> str:
    """The first paragraph of what a script says of itself, without its full stop."""
    return " ".join(cleandoc(script.__doc__ or "").split("\n\n")[0].split()).removesuffix(".")


class ScenarioFailure(AssertionError):  # noqa: N818 - a failed expectation, not an error of the code
    """The reference does something else than the scenario says."""

    def __init__(self, scenario: str, step: str, subject: str, expected: object, actual: object, sequence: int) -> None:
        super().__init__(
            f"scenario {scenario}, step {step!r}: {subject}: expected {expected}, actual {actual}"
            f" (after occurrence {sequence})"
        )
        self.scenario = scenario
        self.step = step
        self.subject = subject
        self.expected = expected
        self.actual = actual


class Expectations(ABC):
    """What is expected of a scenario, step by step."""

    def __init__(self, scenario: str) -> None:
        self.shown: set[str] = set()
        """Liveness properties that the script has shown to be violated."""
        self.start: int | None = None
        """The sequence of the first occurrence after the starting situation."""
        self._scenario = scenario
        self._step = "the starting situation"

    @property
    @abstractmethod
    def sequence(self) -> int:
        """That of the last occurrence."""

    def step(self, text: str) -> None:
        """Name the step of the text that comes next; the first one ends the starting situation."""
        self._step = text
        if self.start is None:
            self.start = self.sequence + 1

    def check(self, subject: str, actual: object, expected: object) -> None:
        """Fail unless two values are equal."""
        if actual != expected:
            self.fail(subject, expected, actual)

    def fail(self, subject: str, expected: object, actual: object) -> NoReturn:
        """Raise a `ScenarioFailure` for the step in progress."""
        raise ScenarioFailure(self._scenario, self._step, subject, expected, actual, self.sequence)
