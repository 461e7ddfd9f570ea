"""Shortened signatures of the API reference."""

from typing import NamedTuple

import pytest
from tools.site.annotations import is_readable, public_bases, with_names, with_short_defaults, without_metadata


@pytest.mark.parametrize(
    ("written", "shortened"),
    [
        ("(id: Annotated[int, Meta(ge=0, description='Of a [replica], or \\'none\\'.')] = 0)", "(id: int = 0)"),
        ("(of: ~typing.Annotated[str, ~msgspec.Meta(pattern='a]')] | None, to: int)", "(of: str | None, to: int)"),
        ("(one: Annotated[tuple[Annotated[int, Meta(ge=0)], ...], Meta(min_length=1)])", "(one: tuple[int, ...])"),
        ("(one: dict[str, int], two: Annotation)", "(one: dict[str, int], two: Annotation)"),
    ],
)
def test_metadata_of_a_type_is_omitted(written: str, shortened: str) -> None:
    assert without_metadata(written) == shortened


def test_a_bracket_that_is_not_closed() -> None:
    with pytest.raises(ValueError, match="a bracket is not closed"):
        without_metadata("Annotated[int, Meta(")


def test_a_union_gets_its_name_back() -> None:
    names = (("~a.Poll | ~a.Crash | ~a.Restart", "a.Event"), ("~a.Poll | ~a.Crash", "a.Part"))
    assert with_names("(event: ~a.Poll | ~a.Crash | ~a.Restart | None)", names) == "(event: ~a.Event | None)"
    assert with_names("(event: ~a.Poll | ~a.Crash)", names) == "(event: ~a.Part)"
    assert with_names("(event: ~a.Poll | ~a.CrashOfAll)", names) == "(event: ~a.Poll | ~a.CrashOfAll)"


def test_a_default_that_is_a_whole_configuration_is_left_out() -> None:
    long = "Configuration(rules=frozenset({" + ", ".join(f"'rule.{n}'" for n in range(20)) + "}), seed=1)"
    assert with_short_defaults(f"(one: int = 3, two: Configuration = {long}, three: str = 'x')") == (
        "(one: int = 3, two: Configuration = ..., three: str = 'x')"
    )
    assert with_short_defaults(f"(two: Configuration = {long})") == "(two: Configuration = ...)"
    assert with_short_defaults("(run: Run = <function run>)") == "(run: Run = ...)"


class _Private(NamedTuple):
    field: int


_Private.__module__ = "kraft_reference.example"


class Public(_Private):
    pass


def test_a_private_base_is_not_named() -> None:
    assert public_bases(Public.__bases__) == [tuple]
    assert public_bases([object]) == []


@pytest.mark.parametrize(
    ("value", "readable"), [("30_000", True), ("<function f>", False), ("(" + "1, " * 40 + ")", False)]
)
def test_values_that_say_something(value: str, readable: bool) -> None:
    assert is_readable(value) is readable
