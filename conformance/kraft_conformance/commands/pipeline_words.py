"""What the words of `kraft-spec pipeline` stand for."""

import re
from typing import Annotated, Any

import typer

from kraft_conformance.failure import usage_error
from kraft_reference.cluster.workload import WORKLOADS
from kraft_traces.pipeline.failures import InputError

Conf = Annotated[list[str] | None, typer.Option("--conf", help="A setting of Spark, NAME=VALUE; repeatable.")]


def session_options(runs: Any, master: str, conf: list[str] | None, spark_log: bool) -> Any:
    """`runs.SessionOptions` of a command.

    Raises:
        CommandError: the master or a setting is not written as it should be.
    """
    settings: dict[str, str] = {}
    for setting in conf or ():
        name, equals, given = setting.partition("=")
        if not equals or not name.startswith("spark."):
            raise usage_error(f"--conf {setting}: expected a setting of Spark, spark.NAME=VALUE")
        settings[name] = given
    if not re.fullmatch(r"local(\[(\*|[1-9]\d*)(,[1-9]\d*)?\])?|local-cluster\[.+\]|[a-z0-9]+(:.+)?", master):
        raise usage_error(f"--master {master}: expected local[*], local[N] or spark://HOST:PORT")
    return runs.SessionOptions(master=master, spark_log=spark_log, settings=settings)


def plans_of(
    seeds: range,
    workloads: list[str] | None,
    profiles: list[str] | None,
    steps: int,
    replicas: int | None,
    **more: Any,
) -> Any:
    """The `Plans` of a command; None stands for every workload, and for the profile `kip`.

    Raises:
        CommandError: a name is not known, or there is nothing to simulate.
    """
    from kraft_traces.pipeline.plans import Plans

    workloads, profiles = workloads or list(WORKLOADS), profiles or ["kip"]
    try:
        return Plans(seeds.start, len(seeds), tuple(workloads), tuple(profiles), steps, replicas, **more)
    except InputError as error:
        raise usage_error(str(error)) from error
