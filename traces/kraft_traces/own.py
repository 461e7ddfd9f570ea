"""Traces of this project's own reference, which must have every field."""

from importlib.metadata import version

from msgspec import UNSET

from kraft_traces.lines import Generator, HeaderLine

GENERATOR_NAME = "kraft-reference"


def own_generator(seed: int | None = None, workload: str | None = None) -> Generator:
    """Return the generator for the header of a trace of the reference."""
    return Generator(name=GENERATOR_NAME, version=version("kraft-spec"), seed=seed, workload=workload)


def is_own(header: HeaderLine) -> bool:
    """True if this reference wrote the trace, in a version with voter changes.

    A trace of an earlier version lacks later fields, and is checked like one of other software.  So is a trace that
    does not observe some replica, because its lines show messages that no line sends.
    """
    is_ours = header.generator.name == GENERATOR_NAME and not header.opaque
    return is_ours and all(replica.max_version is not UNSET for replica in header.replicas)
