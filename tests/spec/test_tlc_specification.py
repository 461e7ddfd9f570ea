"""The bridge to TLC: parsing, successors, invariants, errors, explanations; each test in a separate process."""

import multiprocessing
import os
import tempfile
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest
from tests.spec.own_process import TOYS, in_own_process

from kraft_spec.tlc.explanation import FalseConjunct, false_conjunct
from kraft_spec.tlc.jar import TlcBridgeError
from kraft_spec.tlc.jvm import JvmError, start
from kraft_spec.tlc.parsing import SpecificationError
from kraft_spec.tlc.specification import Specification
from kraft_spec.tlc.values import Function, TlaValue, ValueConversionError, decode


def _traffic() -> Specification:
    return Specification(TOYS, "Traffic")


def _says_what_it_holds() -> None:
    traffic = _traffic()
    assert traffic.variables == ("colour", "switches", "event")
    assert tuple(traffic.actions) == ("TurnGreen", "TurnRed", "TurnAny", "Either", "Misspelt")
    assert traffic.invariants == ("OneGreen", "NoGreen")
    assert traffic.action_properties == ("SwitchesGrow", "SwitchesFixed")
    lines = (TOYS / "Traffic.tla").read_text().splitlines()
    for name, action in traffic.actions.items():
        assert action.module == "Traffic"
        assert lines[action.line - 1].startswith(f"{name} ==")


GREEN = {"name": "TurnGreen", "lamp": "east", "colour": "green", "switches": 1}


def _steps_judges_and_evaluates() -> None:
    traffic = _traffic()
    (initial,) = traffic.initial_states()
    turn_green = traffic.actions["TurnGreen"]

    def reached(action: str, event: dict[str, object]) -> list[tuple[TlaValue, TlaValue]]:
        states = traffic.step(traffic.actions[action], initial, "event", event)
        return [(traffic.decoded(state, "colour"), traffic.decoded(state, "switches")) for state in states]

    # Successors that agree with the event.
    assert reached("TurnGreen", GREEN) == [(Function({"east": "green", "west": "red"}), 1)]
    assert reached("TurnGreen", {**GREEN, "switches": 2}) == []
    assert reached("TurnAny", GREEN) == reached("TurnGreen", GREEN)
    before = traffic.bind(initial, "event", GREEN)
    (after,) = traffic.successors(turn_green, before)
    assert traffic.is_valid("OneGreen", after)
    assert traffic.holds("OneGreen", after)
    assert not traffic.is_valid("NoGreen", after)
    assert traffic.action_property("SwitchesGrow", before, after)
    assert not traffic.action_property("SwitchesFixed", before, after)
    assert decode(traffic.evaluate("Summary", after)) == {
        "colour": {"east": "green", "west": "red"},
        "green": frozenset({"east"}),
        "upTo": frozenset({0, 1}),
    }
    assert decode(traffic.evaluate("Raised", before, after)) == 1
    assert decode(traffic.evaluate("Lamps", after)) == frozenset({"east", "west"})
    assert traffic.decoded(initial, "event") == {"name": "init"}
    (again,) = traffic.successors(turn_green, before)
    assert traffic.fingerprint(after) == traffic.fingerprint(again) != traffic.fingerprint(before)


def _says_what_is_wrong() -> None:
    traffic = _traffic()
    (initial,) = traffic.initial_states()
    before = traffic.bind(initial, "event", GREEN)
    (after,) = traffic.successors(traffic.actions["TurnGreen"], before)
    misspelt = traffic.bind(initial, "event", {"name": "Misspelt"})
    questions: list[tuple[Callable[[], object], type[TlcBridgeError], tuple[str, ...]]] = [
        (lambda: traffic.lookup(initial, "colours"), SpecificationError, ("colours", "colour, switches, event")),
        (lambda: traffic.is_valid("TwoGreen", initial), SpecificationError, ("TwoGreen", "OneGreen")),
        (lambda: traffic.action_property("Shrink", before, after), SpecificationError, ("Shrink", "SwitchesGrow")),
        (lambda: traffic.evaluate("Sumary", initial), SpecificationError, ("Sumary",)),
        (lambda: traffic.evaluate("Green", initial), SpecificationError, ("Green takes 1 parameters",)),
        (lambda: traffic.holds("Summary", initial), SpecificationError, ("Summary is no BOOLEAN",)),
        (lambda: traffic.evaluate("Raised", initial), SpecificationError, ("Raised", "in Traffic")),
        (
            lambda: traffic.successors(traffic.actions["Misspelt"], misspelt),
            SpecificationError,
            ("action Misspelt", 'nonexistent field "nothing"', "line 4"),
        ),
        (lambda: traffic.bind(initial, "event", None), ValueConversionError, ("None",)),
        (
            lambda: Specification(TOYS, "Counter", "CounterOk"),
            JvmError,
            ("has already loaded", "process of its own"),
        ),
    ]
    for ask, kind, fragments in questions:
        with pytest.raises(kind) as caught:
            ask()
        assert [fragment for fragment in fragments if fragment not in str(caught.value)] == []


def _explains_what_is_false() -> None:
    traffic = _traffic()
    (initial,) = traffic.initial_states()
    (later,) = traffic.step(traffic.actions["TurnGreen"], initial, "event", GREEN)

    def explained(action: str, state: object, event: Mapping[str, object]) -> FalseConjunct | None:
        return false_conjunct(traffic, traffic.actions[action], traffic.bind(state, "event", event))

    seven, west = {**GREEN, "switches": 7}, {**GREEN, "lamp": "west"}
    lines = (TOYS / "Traffic.tla").read_text().splitlines()
    for conjunct, text, operators, operands in (
        (
            explained("TurnGreen", initial, {**GREEN, "name": "TurnRed"}),
            'event.name = "TurnGreen"',
            ("TurnGreen",),
            ('"TurnRed"', '"TurnGreen"'),
        ),
        (
            explained("TurnGreen", initial, {**GREEN, "colour": "red"}),
            "colour'[event.lamp] = event.colour",
            ("TurnGreen", "Observed"),
            ('"green"', '"red"'),
        ),
        (explained("TurnGreen", initial, seven), "switches' = event.switches", ("TurnGreen", "Observed"), ("1", "7")),
        (
            explained("TurnGreen", later, west),
            'colour[other] = "red"',
            ("TurnGreen", "Green", "OthersRed"),
            ('"green"', '"red"'),
        ),
        (explained("TurnAny", initial, seven), "switches' = event.switches", ("TurnAny", "Observed"), ("1", "7")),
        (explained("Either", initial, seven), 'colour[l] = "green"', ("Either", "Red"), ('"red"', '"green"')),
        (
            explained("Either", later, {"lamp": "west"}),
            'colour[other] = "red"',
            ("Either", "Green", "OthersRed"),
            ('"green"', '"red"'),
        ),
    ):
        assert conjunct is not None
        assert (conjunct.module, conjunct.text, conjunct.operators, conjunct.operands) == (
            "Traffic",
            text,
            operators,
            operands,
        )
        assert lines[conjunct.line - 1][conjunct.column - 1 : conjunct.end_column] == text
    assert explained("TurnGreen", initial, GREEN) is None
    with pytest.raises(SpecificationError, match="nonexistent field"):
        explained("Misspelt", initial, {"name": "Misspelt"})


@pytest.mark.parametrize(
    "what", [_says_what_it_holds, _steps_judges_and_evaluates, _says_what_is_wrong, _explains_what_is_false]
)
def test_a_specification(what: Callable[[], None]) -> None:
    in_own_process(what)


def _parse(directory: Path, module: str, configuration: str | None = None) -> None:
    Specification(directory, module, configuration)


@pytest.mark.parametrize(
    ("module", "configuration", "fragments"),
    [
        ("---- MODULE Odd ----\nVARIABLE x\nInit == x = = 1\n====\n", "INIT Init", ["Odd", "line 3"]),
        (
            "---- MODULE Odd ----\nVARIABLE x\nInit == x = y\nNext == x' = x\n====\n",
            "INIT Init\nNEXT Next",
            ["line 3, col 13", "Unknown operator: `y'"],
        ),
        ("---- MODULE Odd ----\nEXTENDS Absent\n====\n", "INIT Init", ["Absent"]),
        (
            "---- MODULE Odd ----\nVARIABLE x\nInit == x = 1\nNext == x' = x\n====\n",
            "INIT Init\nNEXT Nixt",
            ["Nixt", "not defined"],
        ),
        (
            "---- MODULE Odd ----\nVARIABLE x\nInit == x = 1\nNext == x' = x\n====\n",
            "INIT Init\nNEXT Next\nCONSTANT A",
            ["Odd.cfg", "line 3"],
        ),
    ],
)
def test_parse_errors_carry_the_words_of_tlc(
    tmp_path: Path, module: str, configuration: str, fragments: list[str]
) -> None:
    (tmp_path / "Odd.tla").write_text(module)
    (tmp_path / "Odd.cfg").write_text(configuration + "\n")
    with pytest.raises(SpecificationError) as caught:
        in_own_process(_parse, tmp_path, "Odd")
    for fragment in fragments:
        assert fragment in str(caught.value)


def test_missing_files_are_named() -> None:
    with pytest.raises(SpecificationError, match=r"Absent\.tla"):
        _parse(TOYS, "Absent")
    with pytest.raises(SpecificationError, match=r"Absent\.cfg"):
        _parse(TOYS, "Traffic", "Absent")


def _walk_counter(width: int) -> int:
    """Count the reachable states of the counter toy in this process."""
    counter = Specification(TOYS, "Counter", f"CounterWidth{width}")
    waiting = counter.initial_states()
    fingerprints = {counter.fingerprint(waiting[0])}
    while waiting:
        state = waiting.pop()
        for action in counter.actions.values():
            for successor in counter.successors(action, state):
                if counter.fingerprint(successor) not in fingerprints:
                    fingerprints.add(counter.fingerprint(successor))
                    waiting.append(successor)
    return len(fingerprints)


def test_processes_side_by_side_do_not_disturb_each_other() -> None:
    spawning = multiprocessing.get_context("spawn")
    pools = [ProcessPoolExecutor(max_workers=1, mp_context=spawning) for _ in range(4)]
    try:
        counts = [pool.submit(_walk_counter, 2 + index % 2) for index, pool in enumerate(pools)]
        # As many as a model check reaches.
        assert [count.result(timeout=120) for count in counts] == [13, 55, 13, 55]
    finally:
        for pool in pools:
            pool.shutdown()


def _print_much() -> tuple[TlaValue, ...]:
    chatty = Specification(TOYS, "Chatty")
    (initial,) = chatty.initial_states()
    (successor,) = chatty.successors(chatty.actions["Next"], initial)
    return (chatty.decoded(successor, "x"),)


def test_nothing_of_tlc_reaches_standard_output(capfd: pytest.CaptureFixture[str]) -> None:
    assert in_own_process(_print_much) == (1,)
    captured = capfd.readouterr()
    assert captured.out == ""
    assert captured.err == ""


def _temporary_folder_left(directory: str) -> list[str]:
    os.environ["TMPDIR"] = directory
    tempfile.tempdir = None
    _traffic()
    return os.listdir(directory)


def test_temporary_folder_is_gone_once_the_specification_is_parsed(tmp_path: Path) -> None:
    assert in_own_process(_temporary_folder_left, str(tmp_path)) == []


def _use_after_fork() -> str:
    start()
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            start()
            answer = "nothing"
        except JvmError as error:
            answer = str(error)
        os.write(writer, answer.encode())
        os._exit(0)
    os.waitpid(child, 0)
    return os.read(reader, 4096).decode()


def test_virtual_machine_of_a_forked_parent_is_refused() -> None:
    assert "forked" in in_own_process(_use_after_fork)
