"""`python -m kraft_dev kafka-add`: pin a release of Apache Kafka, and record the result of running it."""

import re
from collections.abc import Mapping
from contextlib import ExitStack
from typing import Annotated

import typer

from kraft_conformance.console import progress
from kraft_conformance.failure import usage_error
from kraft_dev.commands.kafka_matrix import FOLDER, current_runs, merge_runs, run_release, show_runs
from kraft_kafka.recorded import FILE_NAME
from kraft_kafka.releases import Jar, nearest, number, releases
from kraft_kafka.unpinned import classes_digest, is_version, unpinned_jars
from kraft_traces.streams import atomic_file

RELEASES, CONTROLLERS = "releases.toml", "controllers.toml"

Version = Annotated[str, typer.Argument(metavar="VERSION", help="A release that is not pinned yet.")]


def kafka_add(version: Version) -> int:
    """Pin a release of Apache Kafka, and record the result of running it.

    Write the rows of the release in the tables of jars, provided that it runs.  The exit code is 1 if it
    does something that neither its profile nor the table of known differences describes; that is recorded, too.
    """
    if version in releases():
        raise usage_error(f"{version} is pinned already: kafka-matrix runs it")
    if not is_version(version):
        raise usage_error(f"no release {version!r}, expected a version such as {', '.join(releases())}")
    recorded = current_runs()
    classes = classes_digest(unpinned_jars(version, "replica").values())
    rows = {
        RELEASES: release_row(version, [*unpinned_jars(version, "partitions")], classes),
        CONTROLLERS: controller_row(version, [*unpinned_jars(version, "controller")]),
    }
    texts = {name: insert_row((FOLDER / name).read_text(encoding="utf-8"), version, row) for name, row in rows.items()}
    with progress(f"Apache Kafka {version}"):
        run = run_release(version)
    _write({**{name: text.encode() for name, text in texts.items()}, FILE_NAME: merge_runs(recorded, [run])})
    return show_runs([run])


def _write(contents: Mapping[str, bytes]) -> None:
    """Write files of the package; replace none before the contents of all are on disk."""
    with ExitStack() as stack:
        for name, content in contents.items():
            stream = stack.enter_context(atomic_file(FOLDER / name))
            stream.write(content)
            stream.flush()


def release_row(version: str, jars: list[Jar], classes: str) -> str:
    """Return the row of a release in `releases.toml`, with the jars in the order of the other rows."""
    sums = {jar.artifact: jar.sha256 for jar in jars}
    like = nearest(version)
    tables = [
        f"[release.{name}]\n" + "".join(f'"{jar.artifact}" = "{sums[jar.artifact]}"\n' for jar in pinned)
        for name, pinned in (("jars", like.jars), ("partition_jars", like.partition_jars))
    ]
    return f'[[release]]\nversion = "{version}"\nclasses = "{classes}"\n{"".join(tables)}'


def controller_row(version: str, jars: list[Jar]) -> str:
    """Return the row of a release in `controllers.toml`."""
    names = {":".join(filter(None, (jar.group, jar.artifact, jar.version, jar.classifier))): jar for jar in jars}
    lines = "".join(f'"{name}" = "{names[name].sha256}"\n' for name in sorted(names))
    return f'[[controller]]\nversion = "{version}"\n[controller.jars]\n{lines}'


def insert_row(text: str, version: str, row: str) -> str:
    """Insert the row of a version into a table; versions ascend, and an empty line ends a row."""
    rows = re.finditer(r'^\[\[\w+\]\]\nversion = "(.+)"\n(?:.+\n)*', text, re.MULTILINE)
    older = [match for match in rows if number(match[1]) < number(version)]
    end = older[-1].end() if older else text.index("\n[[") + 1
    return f"{text[:end]}\n{row}{text[end:]}" if older else f"{text[:end]}{row}\n{text[end:]}"
