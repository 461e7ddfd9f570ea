"""The inferred trace as a file, for the ordinary checker."""

from importlib.metadata import version
from typing import IO

from kraft_kafka.live.start import Start
from kraft_traces.checkpoints import checkpoint_line
from kraft_traces.encode import encode_line, header_line
from kraft_traces.inference.inferring import Inferred
from kraft_traces.lines import EndLine, Generator


def write_inferred(stream: IO[bytes], start: Start, inferred: Inferred) -> None:
    """Write the header, the start's checkpoint if there is one, the events and the end."""
    generator = Generator("kraft-spec live infer", version("kraft-spec"))
    stream.write(encode_line(header_line(start.configuration, generator, kip_levels={})))
    if start.checkpoint is not None:
        stream.write(encode_line(checkpoint_line(start.checkpoint)))
    for line in inferred.lines:
        stream.write(encode_line(line))
    stream.write(encode_line(EndLine(len(inferred.lines), complete=inferred.failure is None)))
