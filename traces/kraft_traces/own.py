"""The traces of this project's own reference: they carry every field, and the checker holds them to it."""

from importlib.metadata import version

from kraft_traces.lines import Generator

GENERATOR_NAME = "kraft-reference"


def own_generator(seed: int | None = None, workload: str | None = None) -> Generator:
    """The generator for the header of a trace of the reference."""
    return Generator(name=GENERATOR_NAME, version=version("kraft-spec"), seed=seed, workload=workload)
