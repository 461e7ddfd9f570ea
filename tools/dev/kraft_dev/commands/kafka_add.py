"""`python -m kraft_dev kafka-add`: pin a release of Apache Kafka, and record what running it shows."""

import re
from collections.abc import Mapping
from contextlib import ExitStack
from typing import Annotated

import typer

from kraft_conformance.console import progress
from kraft_conformance.failure import usage_error
from kraft_dev.commands.kafka_matrix import FOLDER, current_runs, run_release, show_runs, with_runs
from kraft_kafka.recorded import FILE_NAME
from kraft_kafka.releases import Jar, nearest, number, releases
from kraft_kafka.unpinned import classes_digest, is_version, unpinned_jars
from kraft_traces.streams import atomic_file

RELEASES, CONTROLLERS = "releases.toml", "controllers.toml"

Version = Annotated[str, typer.Argument(metavar="VERSION", help="A release that is not pinned yet.")]


def kafka_add(version: Version) -> int:
    """Pin a release of Apache Kafka, and record what running it shows.

    It writes the rows of the release in the tables of jars; nothing is written unless it runs.  Exit code 1 when it
    does something that neither its profile nor the table of known differences says; that is recorded as well.
    """
    if version in releases():
        raise usage_error(f"{version} is pinned already: kafka-matrix runs it")
    if not is_version(version):
        raise usage_error(f"no release {version!r}, expected a version such as {', '.join(releases())}")
    others = current_runs()
    classes = classes_digest(unpinned_jars(version, "replica").values())
    rows = {
        RELEASES: release_row(version, [*unpinned_jars(version, "partitions")], classes),
        CONTROLLERS: controller_row(version, [*unpinned_jars(version, "controller")]),
    }
    texts = {name: with_row((FOLDER / name).read_text(encoding="utf-8"), version, row) for name, row in rows.items()}
    with progress(f"Apache Kafka {version}"):
        run = run_release(version)
    _write({**{name: text.encode() for name, text in texts.items()}, FILE_NAME: with_runs(others, [run])})
    return show_runs([run])


def _write(contents: Mapping[str, bytes]) -> None:
    """Write files of the package: all of them have their content before the first takes its name."""
    with ExitStack() as stack:
        for name, content in contents.items():
            stream = stack.enter_context(atomic_file(FOLDER / name))
            stream.write(content)
            stream.flush()


def release_row(version: str, jars: list[Jar], classes: str) -> str:
    """The row of a release in `releases.toml`, with the jars in the order of the other rows."""
    sums = {jar.artifact: jar.sha256 for jar in jars}
    like = nearest(version)
    tables = [
        f"[release.{name}]\n" + "".join(f'"{jar.artifact}" = "{sums[jar.artifact]}"\n' for jar in pinned)
        for name, pinned in (("jars", like.jars), ("partition_jars", like.partition_jars))
    ]
    return f'[[release]]\nversion = "{version}"\nclasses = "{classes}"\n{"".join(tables)}'


def controller_row(version: str, jars: list[Jar]) -> str:
    """The row of a release in `controllers.toml`."""
    names = {":".join(filter(None, (jar.group, jar.artifact, jar.version, jar.classifier))): jar for jar in jars}
    lines = "".join(f'"{name}" = "{names[name].sha256}"\n' for name in sorted(names))
    return f'[[controller]]\nversion = "{version}"\n[controller.jars]\n{lines}'


def with_row(text: str, version: str, row: str) -> str:
    """A table with the row of a version in its place: the oldest version is first, and an empty line ends a row."""
    rows = re.finditer(r'^\[\[\w+\]\]\nversion = "(.+)"\n(?:.+\n)*', text, re.MULTILINE)
    older = [found for found in rows if number(found[1]) < number(version)]
    end = older[-1].end() if older else text.index("\n[[") + 1
    return f"{text[:end]}\n{row}{text[end:]}" if older else f"{text[:end]}{row}\n{text[end:]}"
