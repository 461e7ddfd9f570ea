"""The JSON Schema of a file of pairs, generated from the types and kept in the package.

`python -m kraft_conformance.wire.json_schema FILE` writes it anew, and a test holds it to the types.
"""

from functools import partial

from kraft_conformance.wire.format import SCHEMA, WireFile
from kraft_traces.committed_schema import CommittedSchema, body_of, write_schemas

WIRE_SCHEMA = CommittedSchema(
    SCHEMA, f"The pairs of a {SCHEMA}", "kraft_conformance", "wire", partial(body_of, WireFile)
)
"""The schema of a file of pairs."""


if __name__ == "__main__":
    write_schemas(WIRE_SCHEMA)
