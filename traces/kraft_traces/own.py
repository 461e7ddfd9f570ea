"""The traces of this project's own reference: they carry every field, and the checker holds them to it."""

from importlib.metadata import version

from msgspec import UNSET

from kraft_traces.lines import Generator, HeaderLine

GENERATOR_NAME = "kraft-reference"


def own_generator(seed: int | None = None, workload: str | None = None) -> Generator:
    """The generator for the header of a trace of the reference."""
    return Generator(name=GENERATOR_NAME, version=version("kraft-spec"), seed=seed, workload=workload)


def is_own(header: HeaderLine) -> bool:
    """Was the trace written by this reference, and since it knows of voter changes?

    One that was written before leaves out what it did not know yet, as a trace of other software may.
    """
    named = header.generator.name == GENERATOR_NAME
    return named and all(replica.max_version is not UNSET for replica in header.replicas)
