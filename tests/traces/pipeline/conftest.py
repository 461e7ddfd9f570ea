"""Shared Spark session of all tests of the pipeline; nothing is collected if the extra is not installed."""

from collections.abc import Iterator
from contextlib import nullcontext
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from tests.traces.pipeline.corpus import write_corpus

_LIBRARIES = ("pyspark", "pyarrow", "deltalake", "jinja2")
collect_ignore_glob = [] if all(find_spec(library) for library in _LIBRARIES) else ["test_*.py"]


QUICK_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""What runs once is not worth the second compiler."""

QUICK = {
    "spark.driver.extraJavaOptions": QUICK_JAVA,
    "spark.executor.extraJavaOptions": QUICK_JAVA,
    # Nor code made for the query.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
}
"""Settings for a session that does little."""


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """A session on two cores."""
    from kraft_pipeline.session import SessionOptions, spark_session

    with spark_session(SessionOptions("local[2]", settings=QUICK)) as session:
        yield session


@pytest.fixture
def shared(spark: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Makes the commands use the one session, because another one takes seconds to start."""
    from kraft_pipeline import runs

    monkeypatch.setattr(runs, "spark_session", lambda _options: nullcontext(spark))
    return spark


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of good and broken traces."""
    folder = tmp_path_factory.mktemp("corpus") / "in"
    write_corpus(folder)
    return folder


@pytest.fixture(scope="session")
def whole_run(spark: Any, corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The output of a run that nothing disturbs."""
    from kraft_pipeline import runs
    from kraft_pipeline.session import SessionOptions

    output = tmp_path_factory.mktemp("whole") / "out"
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(runs, "spark_session", lambda _options: nullcontext(spark))
        runs.run(SessionOptions(), [str(corpus)], output)
    return output
