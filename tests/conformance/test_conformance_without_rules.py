"""The reference with a rule left out, as the README shows the suite failing."""

import os
import subprocess
import sys

import pytest

MODULE = "kraft_conformance.adapters.without_rules"


@pytest.mark.parametrize(
    ("rules", "said"), [((), "no rule, expected some of "), (("vote.no",), "no such rule: vote.no, expected some of ")]
)
def test_wrong_rules(rules: tuple[str, ...], said: str) -> None:
    ended = subprocess.run([sys.executable, "-m", MODULE, *rules], capture_output=True, text=True, env=os.environ)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.startswith(said)
