"""What tests of commands that write into the current folder share."""

from pathlib import Path

import pytest


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder in which the test runs, and no other cluster directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("KRAFT_SPEC_CLUSTER_DIR", raising=False)
    return tmp_path
