"""Inputs and outputs of `kraft-spec prove`: files of voters, folders of questions, exclusive options."""

from pathlib import Path

import pytest
from tests.conformance.commands import Captured, prove

from kraft_conformance.exit_codes import ExitCode

pytestmark = pytest.mark.usefixtures("elsewhere")


@pytest.mark.parametrize(
    ("voters", "message"),
    [
        ("1,2,2", "--to: entry 3: the voter 2 is there already: --to: entry 2"),
        ("1-A,1-A", "--to: entry 2: the voter 1-A is there already: --to: entry 1"),
        ("01,1", "--to: entry 2: the voter 1 is there already: --to: entry 1"),
        ("", "--to: no voters, expected at least one: 1,2,3 or 1-U1,2-U2 or @FILE"),
        ("  ", "--to: no voters"),
        ("1,,2", "--to: entry 2: '', expected an id or id-directory, as 1 or 1-U1\n"),
        ("1,x", "--to: entry 2: 'x', expected an id or id-directory, as 1 or 1-U1: 'x', expected a number"),
        ("-1", "--to: entry 1: '-1', expected an id or id-directory, as 1 or 1-U1: there is no id\n"),
        ("2147483648", "--to: entry 1: '2147483648', expected an id or id-directory"),
        ("1-", "--to: entry 1: '1-', expected an id or id-directory, as 1 or 1-U1: there is no directory id\n"),
        ("1@host:9093", "'host:9093', expected a directory id"),
        ("1-AAAAAAAAAAAAAAAAAAAAAA", "is the UUID that stands for no directory id"),
        ("1-[red]A", "'1-[red]A', expected"),
    ],
)
def test_a_malformed_set_is_named_with_its_place(voters: str, message: str, capsys: Captured) -> None:
    assert prove("transition", "--from", "1", f"--to={voters}") == ExitCode.USAGE
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("1\n2\n\n1\n", "line 4: the voter 1 is there already: --from @f: line 1"),
        ("1\n2 3\n", "line 2: '2 3', expected an id or id-directory"),
        ("1\r\n2\r\nx\r\n", "line 3: 'x', expected an id or id-directory"),
        ("1\u20282\n", "line 1: '1\\u20282', expected an id or id-directory"),
        ("1\r2\n", "line 1: '1\\r2', expected an id or id-directory"),
        ("1\n2\x0c\n", "line 2: '2\\x0c', expected an id or id-directory"),
        ("\ufeff1\nx", "line 2: 'x', expected an id or id-directory"),
        ("# none\n", "no voters, expected at least one"),
        ("[]", "no voters, expected at least one"),
        ("[1, 1]", "$[1]: the voter 1 is there already: --from @f: $[0]"),
        ('[1, {"id": "2"}]', "Expected `int`, got `str` - at `$[1].id`"),
        ('[{"id": 2}]', "Object missing required field `directory_id` - at `$[0]`"),
        ('[{"id": 2, "directory_id": "", "x": 1}]', "Object contains unknown field `x` - at `$[0]`"),
        ('[{"id": 2, "directory_id": ""}]', "$[0]: '', expected a directory id"),
        ("[true]", "Expected `int | str | object`, got `bool` - at `$[0]`"),
        ('{"voters": [1, 2]}', 'expected a list, as [1, 2] or ["1-U1"], found an object\n'),
        ('"1"', 'expected a list, as [1, 2] or ["1-U1"], found a text\n'),
        ("[1,", "line 1, column 4: Expecting value\n"),
        ("[1,\n 2,\n 3 4]", "line 3, column 4: Expecting ',' delimiter\n"),
        ("{", "line 1, column 2: "),
        ("\xff".encode("latin-1"), "byte 0 is no UTF-8"),
    ],
)
def test_a_malformed_file_is_named_with_its_option_and_line_or_field(
    content: str | bytes, message: str, capsys: Captured
) -> None:
    Path("f").write_bytes(content if isinstance(content, bytes) else content.encode())
    assert prove("transition", "--from", "@f", "--to", "1") == ExitCode.BAD_INPUT
    assert f"--from @f: {message}" in capsys.readouterr().err


@pytest.mark.parametrize("content", ["\ufeff1\n2\n", '\ufeff[1, "2"]', "1\r\n02 # second\r\n", " \t1\n2"])
def test_a_byte_order_mark_windows_lines_and_leading_zeros_are_read(content: str, capsys: Captured) -> None:
    Path("f").write_bytes(content.encode())
    assert prove("transition", "--from", "@f", "--to", "1,2") == ExitCode.CONFORMANT
    assert capsys.readouterr().out.startswith("1, 2 -> 1, 2: changes no voter\n")


def test_a_file_that_is_not_there(capsys: Captured) -> None:
    assert prove("transition", "--from", "@nowhere", "--to", "1") == ExitCode.NO_INPUT
    assert capsys.readouterr().err == "--from @nowhere: No such file or directory\n"


@pytest.mark.parametrize(
    "words",
    [
        ("transition", "--from", "1", "--to", "1"),
        ("plan", "--from", "1,2", "--to", "1"),
        ("theorems", "same-set"),
        ("induction", "safety"),
    ],
)
def test_the_folder_of_questions_is_one_and_holds_no_others(words: tuple[str, ...], capsys: Captured) -> None:
    Path("taken").write_text("")
    assert prove(*words, "--smt2", "taken") == ExitCode.CANNOT_WRITE
    assert capsys.readouterr().err == "--smt2 taken: a file, expected a folder, or a name for one\n"
    assert prove(*words, "--smt2", "taken/below") == ExitCode.CANNOT_WRITE
    assert capsys.readouterr().err.splitlines()[-1] == "--smt2 taken/below: Not a directory, expected a folder"
    assert prove(*words, "--smt2", "") == ExitCode.USAGE
    assert capsys.readouterr().err == "--smt2: '', expected a folder\n"
    assert prove(*words, "--smt2", "asked") == ExitCode.CONFORMANT
    before = {file.name: file.read_bytes() for file in Path("asked").iterdir()}
    Path("asked/readme.txt").write_text("not a question")
    assert prove(*words, "--smt2", "asked") == ExitCode.CONFORMANT
    Path("asked/readme.txt").unlink()
    Path("asked/older.smt2").write_text("; expect: sat\n")
    Path("asked", min(before)).write_text("as it was")
    capsys.readouterr()
    assert prove(*words, "--smt2", "asked") == ExitCode.CANNOT_WRITE
    assert "--smt2 asked: holds older.smt2, which this run does not write" in capsys.readouterr().err
    assert Path("asked", min(before)).read_text() == "as it was"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("theorems", "add-on"), "'add-on' is no theorem, did you mean add-one or add-two-even?"),
        (("theorems", "xyz"), "'xyz' is no theorem, expected one of "),
        (
            ("induction", "votes"),
            "no obligation 'votes'; expected ACTION or ACTION/INVARIANT of quorums, ",
        ),
        (("mutants", "nope"), "no mutant 'nope'; there are half-is-a-majority"),
        (("actions", "Crash"), "no action 'Crash' is proved; there are ElectionTimeout"),
        (("refinement", "--scenario", "s99"), "no scenario 's99'"),
    ],
)
def test_an_unknown_name_is_answered_with_what_there_is(words: tuple[str, ...], message: str, capsys: Captured) -> None:
    assert prove(*words) == ExitCode.USAGE
    assert message in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("theorems", "--list", "--smt2", "d"), "--list and --smt2: expected one of them"),
        (("induction", "--list", "--smt2", "d"), "--list and --smt2: expected one of them"),
        (("induction", "--trust", "append"), "--trust is about the whole proof, expected no names beside it: append"),
    ],
)
def test_options_that_exclude_each_other(words: tuple[str, ...], message: str, capsys: Captured) -> None:
    assert prove(*words) == ExitCode.USAGE
    assert capsys.readouterr().err == f"{message}\n"
    assert not Path("d").exists()
