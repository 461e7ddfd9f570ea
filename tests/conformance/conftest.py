"""Shared fixtures: an empty folder, and Kafka."""

from pathlib import Path

import pytest
from tests.conformance.adapter_builds import ToolchainMissing, skipped_if_missing, toolchain
from tests.conformance.commands import VERSION

from kraft_cli.commands.conformance_template import Language
from kraft_kafka.jars import Kafka, released
from kraft_kafka.releases import releases


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder in which the test runs."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def kafka() -> Kafka:
    """Return a release and the compiler of its adapter, or skip with a message in capitals."""
    try:
        toolchain(Language.JAVA)
    except ToolchainMissing as missing:
        pytest.skip(str(missing).replace("THE JAVA TEMPLATE", "KAFKA'S ADAPTER"))
    with skipped_if_missing():
        return released(releases()[VERSION])
