"""`kraft-spec scenario` of a quorum reassignment: the records that say who votes, beside what every scenario shows."""

from tests.conformance.commands import Captured, document, output

from kraft_conformance.exit_codes import ExitCode

S24_LEADER_GOES = """\
49. s24-growing-and-shrinking/right-leader-goes
  1 hands over; 2 removes 1 and clears
  N1 F(2,2) N2 L(2) N3 F(2,2)
  97 events, accepted by the model
    @  epoch  record           voters     majority  target
    0      1  LeaderChange     leader 1
    1      1  KRaftVersion
    2      1  Voters           1,2,3      2 of 3
    3      1  VoterAssignment  1,2,3      2 of 3    2,3
    4      2  LeaderChange     leader 2
    5      2  VoterAssignment  2,3        2 of 2    2,3
    6      2  VoterAssignment  2,3        2 of 2
"""


def test_the_records_of_a_reassignment_are_shown(capsys: Captured) -> None:
    words = ("scenario", "s24", "--variant", "right-leader-goes")
    assert output(capsys, *words) == (ExitCode.CONFORMANT, S24_LEADER_GOES)


def test_they_are_in_the_json_and_only_of_a_reassignment(capsys: Captured) -> None:
    _, (displayed,) = document(capsys, "scenario", "s24", "--variant", "right-leader-goes")
    names = ("offset", "epoch", "record", "leader", "voters", "target")
    assert displayed["records"] == [
        dict(zip(names, values, strict=True))
        for values in (
            (0, 1, "LeaderChange", 1, None, None),
            (1, 1, "KRaftVersion", None, None, None),
            (2, 1, "Voters", None, [1, 2, 3], None),
            (3, 1, "VoterAssignment", None, [1, 2, 3], [2, 3]),
            (4, 2, "LeaderChange", 2, None, None),
            (5, 2, "VoterAssignment", None, [2, 3], [2, 3]),
            (6, 2, "VoterAssignment", None, [2, 3], None),
        )
    ]
    _, (other,) = document(capsys, "scenario", "s1", "--variant", "right")
    assert "records" not in other
