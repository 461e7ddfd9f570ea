"""Table of the model checks: read, written for TLC, and rejected with the entry and the field."""

import re
from functools import cache
from pathlib import Path

import msgspec
import pytest

from kraft_mutants.models import mutated_model
from kraft_spec.fingerprint import PARTITION_TRACE_MODULES, TRACE_MODULES, partition_spec_hash, spec_hash
from kraft_spec.models import (
    CHECKS,
    GROUPS,
    CheckTableError,
    Configuration,
    ModelCheck,
    find_check,
    model_directory,
    read_checks,
    write_model,
)

TABLES = model_directory().parent / "models" / "checks"
CLOSED_THOUGH_NO_SWITCH = {"HealLink", "DropMessage", "FetchTargets"}
"""Operators that are closed without a switch."""

TABLE = """
[base.closed]
module = "MCElection"
replaces = ["MayCrash <- Never", "MayAppend <- Never"]
invariants = ["TypeOk"]

[check.mine]
groups = ["ci"]
bounds = "few"
leaves_out = "the rest"
like = "closed"
opens = ["MayCrash"]
replaces = ["MayAppend <- Once"]
view = "Seen"
properties = ["Lives"]

[check.other]
groups = ["ci"]
bounds = "fewer"
like = "mine"
specification = "Spec"
properties = []
"""


def checks_in(folder: Path, text: str) -> tuple[ModelCheck, ...]:
    (folder / "table.toml").write_text(text, encoding="utf-8")
    return read_checks(folder, GROUPS)


def test_an_entry_states_only_its_differences(tmp_path: Path) -> None:
    mine, other = checks_in(tmp_path, TABLE)
    assert (mine.leaves_out, other.leaves_out) == ("the rest", "the rest")
    assert mine.configuration == Configuration(
        "MCElection",
        replaces={"MayAppend": "Once"},
        view="Seen",
        invariants=("TypeOk",),
        properties=("Lives",),
    )
    assert (
        mine.configuration.text
        == """INIT Init
NEXT Next
CONSTANTS
  MayAppend <- Once
VIEW Seen
INVARIANTS
  TypeOk
PROPERTIES
  Lives
"""
    )
    assert (
        other.configuration.text
        == """SPECIFICATION Spec
CONSTANTS
  MayAppend <- Once
VIEW Seen
INVARIANTS
  TypeOk
"""
    )


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('bounds = "few"', 'bound = "few"', "table.toml: Object contains unknown field `bound`"),
        ('bounds = "few"', "", "table.toml: Object missing required field `bounds`"),
        ('leaves_out = "the rest"', "", "mine: no leaves_out"),
        ('"fewer"', '"fewer"\nleaves_out = "the rest"', "other: leaves_out is that of mine"),
        ('module = "MCElection"', "", "mine: no module"),
        ("check.other", "check.mine", "table.toml: "),
        ("check.other", "check.closed", "there is another entry 'closed'"),
        ('like = "mine"', 'like = "yours"', "other: like names 'yours', and there is no such entry"),
        ('like = "mine"', 'like = "other"', "other is like itself"),
        ('opens = ["MayCrash"]', 'opens = ["MayCut"]', "mine: opens names MayCut, which closed does not replace"),
        ("MayAppend <- Once", "MayAppend", "mine: replaces has 'MayAppend', expected OPERATOR <- OPERATOR"),
        ("MayAppend <- Once", "MayAppend <- Never", "mine: MayAppend <- Never is that of closed"),
        ('properties = ["Lives"]', 'invariants = ["TypeOk"]', "mine: invariants is that of closed"),
        ('"fewer"', '"fewer"\ngroups = "ci"', "table.toml: "),
        ('"fewer"', '"fewer"\nviolates = "Lives"', "other: violates names Lives, which is not checked"),
        ('"fewer"', '"fewer"\nfires = ["Poll"]', "other: fires is only looked at with coverage = true"),
    ],
)
def test_a_wrong_table_is_refused_by_entry_and_field(tmp_path: Path, old: str, new: str, words: str) -> None:
    assert TABLE.count(old) == 1
    with pytest.raises(CheckTableError) as raised:
        checks_in(tmp_path, TABLE.replace(old, new))
    assert words in str(raised.value)


def test_an_unknown_group_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CheckTableError, match="mine: groups names weekly, expected some of smoke"):
        checks_in(tmp_path, TABLE.replace('"ci"', '"weekly"', 1))


@cache
def defined(module: str) -> frozenset[str]:
    """Return the operators that a module of the model defines or extends."""
    text = (model_directory() / f"{module}.tla").read_text(encoding="utf-8")
    names = set(re.findall(r"^(\w+)(?:\(.*?\))? ==", text, flags=re.MULTILINE))
    extended = re.search(r"^EXTENDS (.*(?:\n +.*)*)", text, flags=re.MULTILINE)
    for name in re.findall(r"\w+", extended[1]) if extended else ():
        if (model_directory() / f"{name}.tla").exists():
            names |= defined(name)
    return frozenset(names)


def unknown_names(configuration: Configuration) -> set[str]:
    """Return names in a configuration that its module does not define."""
    named = {configuration.specification or configuration.init, configuration.constraint, configuration.view}
    named |= {*configuration.replaces, *configuration.replaces.values(), *configuration.checked}
    return named - defined(configuration.module) - {""}


def test_the_model_has_every_operator_that_the_table_names() -> None:
    assert {check.name: unknown for check in CHECKS if (unknown := unknown_names(check.configuration))} == {}
    mistaken = Configuration("MCElection", replaces={"MayCrush": "Never"}, invariants=("TypeOk", "TypeKo"))
    assert unknown_names(mistaken) == {"MayCrush", "TypeKo"}


def open_switches(text: str) -> set[str]:
    """Return the switches of KRaft.tla that are on."""
    section = text[text.index("(* Switches.") : text.index("(* The network.")]
    return set(re.findall(r"^(\w+)(?:\(.*?\))? == TRUE", section, flags=re.MULTILINE))


def asking(switch: str, text: str) -> set[str]:
    """Return the operators of KRaft.tla that read a switch."""
    bodies = re.findall(r"^(\w+)(?:\(.*?\))? ==(.*?)(?=^\S|\Z)", text, flags=re.MULTILINE | re.DOTALL)
    return {name for name, body in bodies if re.search(rf"\b{switch}\(", body)}


def left_open(closed: Configuration, text: str) -> set[str]:
    """Return the switches that are on, are not replaced, and are read by an operator that is not replaced."""
    return {
        switch
        for switch in open_switches(text)
        if switch not in closed.replaces and not asking(switch, text) <= set(closed.replaces)
    }


def test_every_check_is_closed_except_for_its_stated_switches() -> None:
    closed = msgspec.toml.decode((TABLES / "closed.toml").read_text(encoding="utf-8"))["base"]["closed"]
    configuration = Configuration("MCBounds", replaces=dict(text.split(" <- ") for text in closed["replaces"]))
    text = (model_directory() / "KRaft.tla").read_text(encoding="utf-8")
    assert len(open_switches(text)) > 5
    assert left_open(configuration, text) == set()
    for operator in configuration.replaces:
        fewer = {name: by for name, by in configuration.replaces.items() if name != operator}
        still_open = left_open(Configuration("MCBounds", replaces=fewer), text)
        assert still_open or operator in CLOSED_THOUGH_NO_SWITCH, operator


def test_every_check_comes_from_the_closed_base() -> None:
    entries: dict[str, dict[str, object]] = {}
    for path in TABLES.glob("*.toml"):
        document = msgspec.toml.decode(path.read_text(encoding="utf-8"))
        entries |= {**document.get("base", {}), **document.get("check", {})}
    first = {name for name, entry in entries.items() if "like" not in entry}
    # The model of partitions is separate, with its own bounds.
    assert first == {"closed", "partition-slices"}


def test_a_check_is_written_for_tlc(tmp_path: Path) -> None:
    check = find_check("stability-without-refusal")
    with mutated_model(check.mutants) as directory:
        folder = write_model(check, tmp_path / "model", directory)
    assert (folder / "stability-without-refusal.cfg").read_text(encoding="utf-8") == check.configuration.text
    assert (folder / "MCStability.tla").is_file()
    changed = (folder / "Elections.tla").read_text(encoding="utf-8")
    assert changed != (model_directory() / "Elections.tla").read_text(encoding="utf-8")


@pytest.mark.parametrize(("main", "hashed"), [("Trace", TRACE_MODULES), ("PartitionTrace", PARTITION_TRACE_MODULES)])
def test_the_hash_of_a_model_is_over_all_modules_of_the_trace(main: str, hashed: tuple[str, ...]) -> None:
    folder, reached, left = model_directory(), set[str](), [main]
    while left:
        module = left.pop()
        reached.add(module)
        lines = (folder / f"{module}.tla").read_text(encoding="utf-8").splitlines()
        named = ", ".join(line.removeprefix("EXTENDS ") for line in lines if line.startswith("EXTENDS "))
        left += [name for name in named.split(", ") if (folder / f"{name}.tla").exists()]
    assert set(hashed) == reached
    assert partition_spec_hash() != spec_hash()
