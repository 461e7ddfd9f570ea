"""`python -m kraft_dev kafka-add`: the rows that it writes, and no row for a release that does not run."""

from pathlib import Path

import pytest

from kraft_conformance.exit_codes import ExitCode
from kraft_dev.cli import main
from kraft_dev.commands.kafka_add import CONTROLLERS, RELEASES, controller_row, insert_row, release_row
from kraft_dev.commands.kafka_matrix import FOLDER
from kraft_kafka.controllers import controllers
from kraft_kafka.recorded import FILE_NAME
from kraft_kafka.releases import releases


def rows(table: str) -> dict[str, str]:
    """Return the rows of a table by version, generated anew."""
    if table == CONTROLLERS:
        return {version: controller_row(version, list(jars)) for version, jars in controllers().items()}
    return {
        version: release_row(version, [*release.jars, *release.partition_jars], release.classes)
        for version, release in releases().items()
    }


@pytest.mark.parametrize("table", [RELEASES, CONTROLLERS])
def test_a_row_that_was_taken_out_is_written_as_it_was(table: str) -> None:
    text = (FOLDER / table).read_text(encoding="utf-8")
    for version, row in rows(table).items():
        before, written, after = text.partition(row)
        assert written, version
        without = before + after.removeprefix("\n") if after else before.removesuffix("\n")
        assert insert_row(without, version, row) == text


def test_a_release_that_is_pinned_or_none_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    for version, message in ((next(iter(releases())), "is pinned already"), ("latest", "expected a version such as")):
        assert main(["kafka-add", version]) == ExitCode.USAGE
        assert message in capsys.readouterr().err


def test_nothing_is_written_for_a_release_that_does_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The jars exist, but neither the logging library nor Maven."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    files = [FOLDER / name for name in (RELEASES, CONTROLLERS, FILE_NAME)]
    before = [file.read_bytes() for file in files]
    assert main(["kafka-add", "9.9.9"]) == ExitCode.UNAVAILABLE
    assert [file.read_bytes() for file in files] == before
    assert not list(FOLDER.glob(".*.part"))
