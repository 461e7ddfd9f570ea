"""Common parts of scenarios of the quorum and of partitions: variants, and named expectations."""

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
    """Variant of a scenario: with the deciding rule, with a mutant that omits it, or a corner case."""

    name: str
    """Name, such as `with-the-rule` or `without-pre-vote`; unique in its scenario."""
    configuration: ConfigurationT
    script: Callable[[StageT], None]
    outcome: str
    """Outcome that the script asserts: the first sentence of its docstring."""
    violates: tuple[str, ...] = ()
    """Properties that the run violates, in alphabetical order; with every rule in force only if a rule is wrong."""
    mutants: tuple[str, ...] = ()
    """Mutants of the replicas, by the rules that they omit: `kraft_mutants` makes them."""


class AnyVariants(list[AnyVariant[ConfigurationT, StageT]]):
    """Variants of a scenario, each declared at its script."""

    def variant(
        self,
        name: str,
        configuration: ConfigurationT,
        *violates: str,
        mutants: tuple[str, ...] = (),
        outcome: str | None = None,
    ) -> Callable[[ScriptT], ScriptT]:
        """Declare a variant (`AnyVariant`) of the decorated script; the default outcome is the script's docstring."""

        def declared(script: ScriptT) -> ScriptT:
            description = title_of(script) if outcome is None else outcome
            self.append(AnyVariant(name, configuration, script, description, violates, mutants))
            return script

        return declared


@dataclass(frozen=True, slots=True)
class AnyScenario(Generic[NumberT, VariantT]):
    """A scenario of either protocol."""

    number: NumberT
    """Label in the list of scenarios: 7, or `S25` for one of partitions."""
    name: str
    title: str
    source: str
    """Text that it comes from."""
    rules: tuple[str, ...]
    """Ids of the rules that decide it."""
    variants: tuple[VariantT, ...]

    def variant(self, name: str) -> VariantT:
        """Return the variant with this name.

        Raises:
            KeyError: there is no such variant.
        """
        for variant in self.variants:
            if variant.name == name:
                return variant
        names = ", ".join(variant.name for variant in self.variants)
        raise KeyError(f"scenario {self.name} has no variant {name!r}; it has: {names}")


def title_of(script: Callable[[Any], None]) -> str:
    """Return the first paragraph of a script's docstring, without its full stop."""
    return " ".join(cleandoc(script.__doc__ or "").split("\n\n")[0].split()).removesuffix(".")


class ScenarioFailure(AssertionError):  # noqa: N818 - a failed expectation, not an error of the code
    """The reference differs from the scenario."""

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
    """Expectations of a scenario, step by step."""

    def __init__(self, scenario: str) -> None:
        self.shown: set[str] = set()
        """Liveness properties that the script shows to be violated."""
        self.start: int | None = None
        """Sequence number of the first occurrence after the starting situation."""
        self._scenario = scenario
        self._step = "the starting situation"

    @property
    @abstractmethod
    def sequence(self) -> int:
        """Sequence number of the last occurrence."""

    def step(self, text: str) -> None:
        """Name the next step; the first one ends the starting situation."""
        self._step = text
        if self.start is None:
            self.start = self.sequence + 1

    def check(self, subject: str, actual: object, expected: object) -> None:
        """Fail unless two values are equal."""
        if actual != expected:
            self.fail(subject, expected, actual)

    def fail(self, subject: str, expected: object, actual: object) -> NoReturn:
        """Raise a `ScenarioFailure` for the current step."""
        raise ScenarioFailure(self._scenario, self._step, subject, expected, actual, self.sequence)
