"""The heads of the configurations: read, and refused with the file and the field."""

from pathlib import Path

import pytest

from kraft_spec.fingerprint import TRACE_MODULES
from kraft_spec.models import GROUPS, CheckFileError, ModelCheck, model_directory, read_check, read_checks

HEAD = """\\* name = "mine"
\\* module = "MCElection"
\\* groups = ["ci"]
\\* bounds = "few"
\\* leaves_out = "the rest"
INIT Init
"""


def test_a_head_is_a_check_and_no_head_is_none() -> None:
    expected = ModelCheck("mine", "MCElection", "MCMine", ("ci",), bounds="few", leaves_out="the rest")
    assert read_check("MCMine", HEAD) == expected
    assert read_check("Trace", "INIT TraceInit\n") is None


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (
            '\\* bounds = "few"',
            '\\* bound = "few"',
            "MCMine.cfg: unknown field bound, expected bounds, brief,",
        ),
        ('\\* module = "MCElection"\n', "", "MCMine.cfg: Object missing required field `module`"),
        ('groups = ["ci"]', 'groups = "ci"', "MCMine.cfg: Expected `array`, got `str` - at `$.groups`"),
        ('groups = ["ci"]', 'groups = ["weekly"]', "MCMine.cfg: groups names weekly, expected some of smoke"),
        ('"the rest"', '"the rest"\n\\* fires = ["Poll"]', "MCMine.cfg: fires is only looked at with coverage = true"),
        ('"mine"', '"mine', "MCMine.cfg: "),
    ],
)
def test_a_wrong_head_is_refused_by_file_and_field(tmp_path: Path, old: str, new: str, words: str) -> None:
    assert HEAD.count(old) == 1
    (tmp_path / "MCMine.cfg").write_text(HEAD.replace(old, new), encoding="utf-8")
    with pytest.raises(CheckFileError) as raised:
        read_checks(tmp_path, GROUPS)
    assert words in str(raised.value)


def test_two_checks_of_one_name_are_refused(tmp_path: Path) -> None:
    for name in ("MCMine", "MCOther"):
        (tmp_path / f"{name}.cfg").write_text(HEAD, encoding="utf-8")
    with pytest.raises(CheckFileError, match=r"name 'mine' is that of MCMine\.cfg"):
        read_checks(tmp_path, GROUPS)


def test_the_hash_of_the_model_is_over_all_modules_of_the_trace() -> None:
    folder, reached, left = model_directory(), set[str](), ["Trace"]
    while left:
        module = left.pop()
        reached.add(module)
        lines = (folder / f"{module}.tla").read_text(encoding="utf-8").splitlines()
        named = ", ".join(line.removeprefix("EXTENDS ") for line in lines if line.startswith("EXTENDS "))
        left += [name for name in named.split(", ") if (folder / f"{name}.tla").exists()]
    assert set(TRACE_MODULES) == reached
