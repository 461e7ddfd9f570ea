"""The piece of a file around a line."""

import pytest
from tools.site.pieces import Piece, pieces, tla_blocks

PYTHON = '''"""About the module.

Rule: a.b.
"""

# About the limit.
LIMIT = 3
"""Why three."""


class Small:
    """Small.

    Rule: a.b.
    """

    size: int = 0
    """Of what."""

    def grow(self) -> None:
        """Grow."""
        # Rule: a.c.
        self.size += 1


# Rule: a.d.
@cached
def outer():
    def inner():
        return "a.e"

    return inner
'''

TLA = """----- MODULE Sample -----
(* About the module. *)
EXTENDS Integers

\\* Rules: a.b
LocalFirst(r) == TRUE
First == LocalFirst(1)
\\* Rule: a.c
Second(s, m) ==
  /\\ TRUE

  /\\ FALSE

(*********)
(* Third *)
(*********)
Third == {}
=====
"""


@pytest.mark.parametrize(
    ("line", "piece"),
    [
        (3, (1, 4, "")),
        (6, (6, 8, "LIMIT")),
        (8, (6, 8, "LIMIT")),
        (14, (11, 23, "Small")),
        (22, (11, 23, "Small")),
        (26, (26, 32, "outer")),
        (30, (26, 32, "outer")),
    ],
)
def test_a_line_of_python(line: int, piece: tuple[int, int, str]) -> None:
    assert pieces("sample.py", PYTHON, [line]) == (Piece("sample.py", *piece, (line,)),)


def test_of_a_long_class_only_the_method_or_the_head_is_shown() -> None:
    long = (
        "class Long:\n    '''Rule: a.b.'''\n\n    def one(self):\n        # Rule: a.c.\n        pass\n"
        + "\n    x = 1" * 60
    )
    assert [(piece.first, piece.last, piece.name) for piece in pieces("long.py", long, [2, 5])] == [
        (1, 2, "Long"),
        (4, 6, "Long.one"),
    ]


def test_of_a_long_function_only_the_statement_is_shown() -> None:
    long = "def long():\n    '''About it.'''\n" + "    pass\n" * 100 + "    # Rule: a.b.\n    go(1)\n"
    assert pieces("long.py", long, [103]) == (Piece("long.py", 103, 104, "long", (103,)),)


def test_lines_of_one_piece_are_shown_once() -> None:
    assert pieces("sample.py", PYTHON, [28, 26, 30]) == (Piece("sample.py", 26, 32, "outer", (26, 28, 30)),)


def test_a_module_of_the_model_is_cut_at_its_definitions() -> None:
    assert tla_blocks("Sample.tla", TLA) == (
        Piece("Sample.tla", 2, 3, ""),
        Piece("Sample.tla", 5, 12, "Second"),
        Piece("Sample.tla", 14, 17, "Third"),
    )


def test_a_line_of_the_model() -> None:
    assert pieces("Sample.tla", TLA, [5, 15]) == (
        Piece("Sample.tla", 5, 12, "Second", (5,)),
        Piece("Sample.tla", 14, 17, "Third", (15,)),
    )
