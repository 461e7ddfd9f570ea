"""Conversion of values in both directions, in this process: it needs the virtual machine but no specification."""

from typing import Any

import jpype
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraft_spec.tlc.values import (
    INTEGER_MAX,
    INTEGER_MIN,
    Function,
    ModelValue,
    TlaValue,
    ValueConversionError,
    codec,
    decode,
    encode,
)

_names = st.text(alphabet="abcdefgh_XYZ0123456789", min_size=1, max_size=6)
_integers = st.integers(min_value=INTEGER_MIN, max_value=INTEGER_MAX)
_strings = st.text(alphabet=st.characters(codec="ascii", categories=["L", "N", "P"]), max_size=8)
_atoms = st.one_of(_integers, st.booleans(), _strings)


def _compounds(parts: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(
        st.lists(parts, max_size=4).map(tuple),
        st.dictionaries(_names, parts, max_size=5).map(Function),
        st.dictionaries(_integers, parts, max_size=4).map(Function),
        # TLC orders the elements of a set, so they must be of one kind.
        st.frozensets(_integers, max_size=4),
        st.frozensets(_strings, max_size=4),
        st.frozensets(st.tuples(_integers, _strings), max_size=3),
    )


_values = st.recursive(_atoms, _compounds, max_leaves=12)


def canonical(value: Any) -> Any:
    """Normalise values that TLA+ does not distinguish: functions over 1..n are sequences, the empty one is <<>>."""
    if isinstance(value, Function):
        entries = {key: canonical(entry) for key, entry in value.items()}
        if set(entries) == set(range(1, len(entries) + 1)) and all(type(key) is int for key in entries):
            return tuple(entries[key] for key in range(1, len(entries) + 1))
        return Function(entries)
    if isinstance(value, tuple):
        return tuple(canonical(element) for element in value)
    if isinstance(value, frozenset):
        return frozenset(canonical(element) for element in value)
    return value


def _typed(value: object) -> object:
    """Make 1 and True differ, which Python takes for equal."""
    if isinstance(value, Function):
        return {(type(key), key): _typed(entry) for key, entry in value.items()}
    if isinstance(value, tuple):
        return [_typed(element) for element in value]
    return (type(value), value)


@given(_values)
def test_values_come_back_as_they_went(value: object) -> None:
    assert _typed(decode(encode(value))) == _typed(canonical(value))


@given(_values)
def test_equal_values_are_equal_in_tlc(value: object) -> None:
    assert encode(value).equals(encode(canonical(value)))


@given(st.dictionaries(_names, _atoms, min_size=1), st.randoms(use_true_random=False))
def test_records_do_not_depend_on_the_order_of_their_fields(record: dict[str, object], random: object) -> None:
    names = list(record)
    random.shuffle(names)  # type: ignore[attr-defined]
    assert encode(record).equals(encode({name: record[name] for name in names}))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1, "1"),
        (True, "TRUE"),
        ("a b", '"a b"'),
        ((1, ("x",)), '<<1, <<"x">>>>'),
        ([1, 2], "<<1, 2>>"),
        (frozenset({3, 1, 2}), "{1, 2, 3}"),
        ({"only": {"inner": frozenset()}}, "[only |-> [inner |-> {}]]"),
        ({5: "five", 4: "four"}, '(4 :> "four" @@ 5 :> "five")'),
        ({1: "a", 2: "b"}, '<<"a", "b">>'),
        ({}, "<<>>"),
    ],
)
def test_values_read_as_tla(value: object, text: str) -> None:
    assert str(encode(value).toString()) == text


@pytest.mark.parametrize(
    "value",
    [
        None,
        1.5,
        b"bytes",
        INTEGER_MAX + 1,
        INTEGER_MIN - 1,
        {"field": None},
        (1, object()),
        frozenset({1, "one"}),
        {1: 1, "a": 2},
        ModelValue("m1"),
    ],
)
def test_values_outside_tla_are_rejected(value: object) -> None:
    with pytest.raises(ValueConversionError):
        encode(value)


def test_lazy_values_are_enumerated() -> None:
    codec()
    interval = jpype.JClass("tlc2.value.impl.IntervalValue")(1, 3)
    assert decode(interval) == frozenset({1, 2, 3})
    subsets = decode(jpype.JClass("tlc2.value.impl.SubsetValue")(interval))
    assert isinstance(subsets, frozenset)
    assert len(subsets) == 8
    assert frozenset({1, 3}) in subsets


@pytest.mark.parametrize("last", [25, 60])
def test_sets_too_large_to_enumerate_are_refused(last: int) -> None:
    codec()
    interval = jpype.JClass("tlc2.value.impl.IntervalValue")(1, last)
    with pytest.raises(ValueConversionError):
        decode(jpype.JClass("tlc2.value.impl.SubsetValue")(interval))


def test_function_is_an_immutable_mapping() -> None:
    entries: dict[object, TlaValue] = {"a": 1}
    function = Function(entries)
    entries["a"] = 2
    assert function == {"a": 1}
    assert hash(function) == hash(Function({"a": 1}))
    assert function != Function({"a": 2})
    assert function != 1
